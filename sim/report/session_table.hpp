// The sessions of a run's subscribers, a line each.
#pragma once

#include "sim/run/result.hpp"

#include <string>

namespace replisim {

/// Empty when the run has none.
std::string session_table(const RunResult& run);

} // namespace replisim
