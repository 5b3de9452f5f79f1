// What locks cost, one column a setting: the table behind a sweep whose runs have sessions on a subscriber.
#pragma once

#include "sim/run/sweep.hpp"

#include <string>

namespace replisim {

/// Lock holds, waits of sessions, lag, spill and CPU side by side, and a paragraph that says what they mean.
/// Empty unless the sweep has one axis of two to six points and all its runs have sessions.
std::string side_by_side(const Sweep& sweep);

} // namespace replisim
