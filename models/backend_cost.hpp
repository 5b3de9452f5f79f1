// What executing a statement costs a backend, per row.
#pragma once

#include "models/cost_profile.hpp"
#include "models/table.hpp"

namespace replisim {

/// CPU seconds (reference core) of one row, WAL insertion and index entries included.
double backend_row_seconds(const CostParameters& costs, const Table& table, Operation operation);

} // namespace replisim
