// Simulations as jobs of the fork pool.
#pragma once

#include "sim/run/fork_pool.hpp"
#include "sim/run/replications.hpp"
#include "sim/run/result.hpp"

#include <cstdint>
#include <string>

namespace replisim {

/// simulate() in one child. Rethrows the child's error; throws Interrupted on Ctrl-C.
RunResult run_simulation(const Scenario& scenario, std::uint64_t seed);

/// A job that calls simulate() in the child and returns the encoded RunResult (decode_result() of
/// result_json.hpp reads it); the timeline is left out unless wanted.
Job simulation_job(std::string name, const Scenario& scenario, std::uint64_t seed,
                   bool with_timeline = false);

/// Simulates `count` >= 1 replications in the fork pool (timeline of the first one only), and where the
/// scenario asks for a precision more of them, until it is reached or its budget is spent. Rethrows the first
/// error; throws Interrupted when Ctrl-C comes before the first result.
Replications run_replications(const Scenario& scenario, std::uint64_t base_seed, int count,
                              const PoolOptions& options);

} // namespace replisim
