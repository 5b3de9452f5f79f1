// What executing a statement costs a backend, per row.
#pragma once

#include "models/cost_profile.hpp"
#include "models/table.hpp"

namespace replisim {

/// CPU seconds (reference core) of one row, WAL insertion, index entries, triggers and
/// foreign keys included (those of an UPDATE refer to what they did before).
double backend_row_seconds(const CostParameters& costs, const Table& table, Operation operation);

} // namespace replisim
