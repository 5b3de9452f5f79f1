// One simulation in this process.
#pragma once

#include "sim/run/result.hpp"

namespace replisim {

class TraceRecorder;

/// Runs `scenario` once and returns everything observed. May be called once per process (SimGrid's
/// clock lives as long as the process): callers use the fork pool. Throws InvariantViolation or
/// DeadlockError for our own errors.
RunResult simulate(const Scenario& scenario, std::uint64_t seed);

/// The same, written down event by event as well. The result is the same.
RunResult simulate_traced(const Scenario& scenario, std::uint64_t seed, TraceRecorder& recorder);

} // namespace replisim
