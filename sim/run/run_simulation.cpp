#include "sim/run/run_simulation.hpp"

#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace replisim {

Job simulation_job(std::string name, const Scenario& scenario, std::uint64_t seed, bool with_timeline) {
  return {std::move(name), [scenario, seed, with_timeline] {
            RunResult result = simulate(scenario, seed);
            if (not with_timeline)
              result.timeline = {};
            return encode_result(result);
          }};
}

RunResult run_simulation(const Scenario& scenario, std::uint64_t seed) {
  const auto outcomes = run_forked({simulation_job(scenario.name, scenario, seed, true)});
  return decode_result(outcomes.front().get());
}

Replications run_replications(const Scenario& scenario, std::uint64_t base_seed, int count,
                              const PoolOptions& options) {
  std::vector<Job> jobs;
  for (int r = 1; r <= count; ++r)
    jobs.push_back(simulation_job(fmt::format("{}, replication {}", scenario.name, r), scenario,
                                  replication_seed(base_seed, r), r == 1));
  std::vector<RunResult> runs;
  bool interrupted = false;
  for (const auto& outcome : run_forked(jobs, options)) {
    try {
      runs.push_back(decode_result(outcome.get()));
    } catch (const Interrupted&) {
      interrupted = true;
    }
  }
  if (runs.empty())
    throw Interrupted("interrupted before the first replication ended");
  Replications out = summarise_replications(std::move(runs));
  out.interrupted = interrupted;
  return out;
}

} // namespace replisim
