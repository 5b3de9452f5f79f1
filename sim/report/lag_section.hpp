// The section of a report that says where the lag went.
#pragma once

#include "sim/run/result.hpp"

#include <string>

namespace replisim {

/// A table of stages for each slot (the first few), the stages that took no time left out. Empty when nothing
/// was applied.
std::string lag_section(const RunResult& run);

} // namespace replisim
