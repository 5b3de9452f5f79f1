// A matrix of settings: axes, their points, one simulation a point.
#pragma once

#include "models/base/errors.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/result.hpp"
#include "sim/scenario/loader.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

/// Largest number of points one sweep may have.
inline constexpr std::size_t sweep_points_max = 100'000;

/// Reads `path=v1,v2,...`; commas inside brackets, braces or quotes belong to a value. Each value is YAML
/// text and its own label. Throws UsageError on a missing '=', an empty value or a repeated one.
SweepAxis parse_vary(const std::string& text);

/// The axes of a sweep and what is worth saying about them.
struct SweepPlan {
  std::vector<SweepAxis> axes;    ///< sorted by path
  std::vector<std::string> notes; ///< e.g. an axis of the scenario that --set fixes
};

/// The scenario's axes; an axis of `vary` replaces the one of the same path, an override of exactly an
/// axis' path takes that axis out. Throws UsageError when nothing is left to vary, a path is varied
/// twice, varied and fixed, or there are more than sweep_points_max points.
SweepPlan plan_sweep(const std::vector<SweepAxis>& scenario_axes, const std::vector<SweepAxis>& vary,
                     const std::vector<Override>& fixed);

/// One point: axis path and label of each axis, and the overrides that lead there.
struct SweepPoint {
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<Override> overrides;
};

/// The cartesian product, in order; the first axis varies slowest. No axes give one point.
std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes);

/// Where scenarios and results come from; both are called in a forked child.
struct SweepEngine {
  std::function<Scenario(const std::vector<Override>&)> load;
  std::function<RunResult(const Scenario&, std::uint64_t seed)> run;
};

/// What became of a point: a result (without timeline), or an error text and the exit code it means.
struct PointOutcome {
  std::optional<RunResult> result;
  std::string error;
  ExitCode exit_code = ExitCode::Ok;
};

/// Loads and simulates each list of overrides in the fork pool; outcomes in the same order. A failed
/// point is an outcome, not an exception.
std::vector<PointOutcome> run_points(const std::vector<std::vector<Override>>& points,
                                     const SweepEngine& engine, std::uint64_t seed,
                                     const PoolOptions& options);

struct SweepRow {
  SweepPoint point;
  PointOutcome outcome;
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
  std::vector<SweepAxis> axes;
  std::vector<std::string> notes;
  std::vector<SweepRow> rows;
  std::vector<BreakEvenRow> break_even;
  std::vector<Guess> guesses; ///< of the base scenario
  bool interrupted = false;
};

/// The worst exit code among the points: Ok, Interrupted, Usage or Internal.
ExitCode sweep_exit_code(const Sweep& sweep);

/// Runs the whole matrix of `base`, then its break_even questions. `overrides` are those of the command
/// line: they come before the points' own.
Sweep run_sweep(const Scenario& base, const std::vector<Override>& overrides,
                const std::vector<SweepAxis>& vary, std::uint64_t seed, const SweepEngine& engine,
                const PoolOptions& options);

} // namespace replisim
