// Several settings of a question, each simulated with the same seeds (common random numbers).
#pragma once

#include "sim/run/fork_pool.hpp"
#include "sim/run/point_job.hpp"
#include "sim/run/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace replisim {

/// One setting. Results lack what sweeps leave out, too: timeline, transactions, stages, guesses.
struct Arm {
  std::string label;
  SweepEngine engine;
  std::vector<Override> overrides;
  std::vector<RunResult> runs; ///< of replications 1, 2, ...
  std::string error;           ///< of the first replication that failed; nothing more is run then
  ExitCode exit_code = ExitCode::Ok;

  bool failed() const { return exit_code != ExitCode::Ok; }
  /// All runs so far report the same: nothing in it is random. Requires two.
  bool repeats_itself() const;
  /// The metric of each run, absent ones as `absent`.
  std::vector<double> values(const std::string& metric, double absent) const;
};

struct ArmsOptions {
  std::uint64_t seed = 1;
  PoolOptions pool;
};

/// Simulates until each of `arms` has `replications` runs, all of what is missing at once. Throws
/// Interrupted.
void run_arms(const std::vector<Arm*>& arms, int replications, const ArmsOptions& options);

/// The figure a run reports under this name: of `metrics`, or of one entry (subscriptions.s.lag_s_p99,
/// sessions.clerks.blocked_s_p99). Null where it reports none.
const double* find_metric(const RunResult& run, const std::string& name);

/// All names find_metric() knows in this run.
std::vector<std::string> reported_metrics(const RunResult& run);

} // namespace replisim
