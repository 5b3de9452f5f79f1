// One point of a sweep as a job of the fork pool, and what becomes of it.
#pragma once

#include "models/base/errors.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/result.hpp"
#include "sim/scenario/loader.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// Where scenarios and results come from; both are called in a forked child.
struct SweepEngine {
  std::function<Scenario(const std::vector<Override>&)> load;
  std::function<RunResult(const Scenario&, std::uint64_t seed)> run;
};

/// What became of a point: a result, or an error text and the exit code it means. The result has the metrics,
/// the bottleneck, hashes and warnings, but no timeline, transactions, stages or guesses.
struct PointOutcome {
  std::optional<RunResult> result;
  std::string error;
  ExitCode exit_code = ExitCode::Ok;
};

/// Loads the scenario with `overrides` and simulates it. The engine must outlive the job.
Job point_job(const SweepEngine& engine, std::vector<Override> overrides, std::uint64_t seed);

PointOutcome point_outcome(const JobOutcome& outcome);

} // namespace replisim
