// What executing a statement costs a backend, per row.
#pragma once

#include "models/cost_profile.hpp"
#include "models/workload.hpp"

namespace replisim {

/// CPU seconds (reference core) of one row, WAL insertion, index entries, triggers and
/// foreign keys included (those of an UPDATE refer to what they did before).
double backend_row_seconds(const CostParameters& costs, const Table& table, Operation operation);

/// With the chunks that a statement's row inserts into and deletes from the TOAST table, each taken as a row
/// there.
double backend_row_seconds(const CostParameters& costs, const Table& table, const StatementStep& statement);

} // namespace replisim
