#include "sim/run/run_simulation.hpp"

#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
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

namespace {

/// Runs from..to, appended to `runs`; true when Ctrl-C came.
bool run_more(const Scenario& scenario, std::uint64_t base_seed, int from, int to, const PoolOptions& options,
              std::vector<RunResult>& runs) {
  std::vector<Job> jobs;
  for (int r = from; r <= to; ++r)
    jobs.push_back(simulation_job(fmt::format("{}, replication {}", scenario.name, r), scenario,
                                  replication_seed(base_seed, r), r == 1));
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
  return interrupted;
}

} // namespace

Replications run_replications(const Scenario& scenario, std::uint64_t base_seed, int count,
                              const PoolOptions& options) {
  constexpr int more_at_a_time = 4; // whatever the number of jobs: it may not change the answer
  const Statistics& asked = scenario.statistics;
  const auto started = std::chrono::steady_clock::now();
  std::vector<RunResult> runs;
  bool interrupted = run_more(scenario, base_seed, 1, count, options, runs);
  while (true) {
    Replications out = summarise_replications(runs);
    out.interrupted = interrupted;
    if (asked.precision <= 0)
      return out;
    out.precision = precision_of(out, asked);
    const int done = static_cast<int>(runs.size());
    const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    if (interrupted)
      out.precision.stop = "it was interrupted";
    else if (done >= asked.most_replications)
      out.precision.stop = fmt::format("the budget of {} replications is spent", asked.most_replications);
    else if (wall_s >= asked.most_wall_s)
      out.precision.stop = fmt::format("the budget of {:.4g} s is spent", asked.most_wall_s);
    if (out.precision.met)
      out.precision.stop.clear();
    if (out.precision.met or not out.precision.stop.empty())
      return out;
    interrupted = run_more(scenario, base_seed, done + 1,
                           std::min(asked.most_replications, done + more_at_a_time), options, runs);
  }
}

} // namespace replisim
