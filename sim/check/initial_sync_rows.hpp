// Rows of synchronised tables: each change is in the copy, applied by the table-sync worker, or by the
// leader.
#pragma once

#include "sim/actors/pipeline.hpp"

namespace replisim {

/// Throws InvariantViolation.
void check_initial_sync(const Scenario& scenario, const Pipeline& pipeline);

} // namespace replisim
