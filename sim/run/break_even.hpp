// Where two settings are equal: bisection over a quantity of the scenario, per combination of the
// other axes of a sweep.
#pragma once

#include "sim/run/sweep.hpp"

#include <string>
#include <vector>

namespace replisim {

/// Axes that a question is asked for: all but its own `path`, `over`, and fields that contain `over`
/// (such as `workload.batch.transaction` for `workload.batch.transaction[0].rolled_back`).
std::vector<SweepAxis> break_even_axes(const BreakEven& question, const std::vector<SweepAxis>& axes);

/// A value of `over` as YAML text in the question's unit: 0.25 is "25%".
std::string over_text(const BreakEven& question, double value);

/// Answers `question` for every combination of break_even_axes(). The difference of the metric between
/// the two settings is looked at on a grid of five values; its first sign change is narrowed by
/// bisection to 0.1 % of the range and interpolated linearly within that.
std::vector<BreakEvenRow> find_break_even(const BreakEven& question, const std::vector<SweepAxis>& axes,
                                          const std::vector<Override>& overrides, std::uint64_t seed,
                                          const SweepEngine& engine, const PoolOptions& options);

} // namespace replisim
