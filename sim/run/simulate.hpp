// One simulation in this process.
#pragma once

#include "sim/run/result.hpp"

namespace replisim {

/// Runs `scenario` once and returns everything observed. May be called once per process (SimGrid's
/// clock lives as long as the process): callers use the fork pool. Throws InvariantViolation or
/// DeadlockError for our own errors.
RunResult simulate(const Scenario& scenario, std::uint64_t seed);

} // namespace replisim
