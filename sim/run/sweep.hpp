// A matrix of settings: axes, their points, one simulation a point.
#pragma once

#include "models/base/errors.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/point_job.hpp"
#include "sim/run/point_space.hpp"
#include "sim/run/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

/// Largest number of runs of a sweep whose rows are held in memory; a sweep into a results file may have
/// sweep_runs_max.
inline constexpr std::uint64_t sweep_points_max = 100'000;
inline constexpr std::uint64_t sweep_runs_max = 1'000'000'000;

/// The axes of a sweep and what is worth saying about them.
struct SweepPlan {
  std::vector<SweepAxis> axes; ///< sorted by path
  std::optional<SamplePlan> sample = {};
  std::vector<std::string> notes; ///< e.g. an axis of the scenario that --set fixes
};

/// The scenario's axes; an axis of `vary` replaces those that share a path with it, an override of exactly a
/// path of an axis takes that axis out. Throws UsageError when nothing is left to vary, a path is varied
/// twice or varied and fixed, or there are more than `points_max` points.
SweepPlan plan_sweep(const std::vector<SweepAxis>& scenario_axes, const std::vector<SweepAxis>& vary,
                     const std::vector<Override>& fixed, const std::optional<SamplePlan>& sample = {},
                     std::uint64_t points_max = sweep_points_max);

/// Loads and simulates each list of overrides in the fork pool; outcomes in the same order. A failed
/// point is an outcome, not an exception.
std::vector<PointOutcome> run_points(const std::vector<std::vector<Override>>& points,
                                     const SweepEngine& engine, std::uint64_t seed,
                                     const PoolOptions& options);

struct SweepRow {
  SweepPoint point;
  /// With replications: the first one with the metrics' means in it, or the first failure.
  PointOutcome outcome;
  std::map<std::string, double> half_width; ///< of the means' 95 % intervals; empty without replications
};

/// What all points of a sweep share.
struct SweepRequest {
  std::vector<Override> overrides; ///< of the command line: they come before the points' own
  std::vector<SweepAxis> vary;
  std::optional<SamplePlan> sample = {}; ///< instead of the scenario's
  std::uint64_t seed = 1;
  int replications = 1;
};

/// The answer to one break_even question at one combination of the other axes.
struct BreakEvenRow {
  BreakEven question;
  std::vector<std::pair<std::string, std::string>> labels; ///< path and label of the other axes
  std::optional<double> value;                             ///< of `over`, in the question's terms (fractions)
  int crossings = 0;                                       ///< sign changes seen on the grid
  std::string verdict;                                     ///< a sentence
  std::string error;
};

struct Sweep {
  std::string scenario;
  std::uint64_t seed = 1;
  int replications = 1;
  std::vector<SweepAxis> axes;
  std::optional<SamplePlan> sample;
  std::vector<std::string> notes;
  std::vector<SweepRow> rows;
  std::vector<BreakEvenRow> break_even;
  std::vector<Guess> guesses; ///< of the base scenario
  bool interrupted = false;
};

/// Ok; No when a point or a break-even question failed; Interrupted.
ExitCode sweep_exit_code(const Sweep& sweep);

/// Runs the whole matrix of `base`, each point with the seeds of replications 1, 2, ... (common random
/// numbers), then its break_even questions over the axes that are not sampled.
Sweep run_sweep(const Scenario& base, const SweepRequest& request, const SweepEngine& engine,
                const PoolOptions& options);

} // namespace replisim
