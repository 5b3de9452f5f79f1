// Nothing is lost: a client that is past the last commit has every committed change once, whatever happened
// on the way.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/check/conservation.hpp"

namespace replisim {

PublisherOf publishers_by_slot(const Pipeline& pipeline);

/// Throws InvariantViolation.
void check_completeness(const Scenario& scenario, const Pipeline& pipeline);

} // namespace replisim
