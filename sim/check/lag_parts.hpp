// The parts of a lag add up to it, checked at the end of every run, apart from the actors.
#pragma once

#include "sim/check/conservation.hpp"

namespace replisim {

/// For each transaction and slot: the stages from the commit record to the commit applied add up, to the
/// nanosecond, to the distance of the two dates as backend and apply worker wrote them down, with Executing
/// to that from BEGIN; no part is negative. For transactions that travel together the same over their sum.
/// Throws InvariantViolation with the figures.
void check_lag_parts(const RunLog& log, const PublisherOf& publisher_of);

} // namespace replisim
