// Ranges of quantities as axes of a sweep: even values between two ends, or a range to sample from.
#pragma once

#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/field_path.hpp"
#include "sim/scenario/scenario.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace replisim {

/// Largest number of values that one range is expanded to.
inline constexpr int range_values_max = 1'000'000;

/// Most samples a plan may ask for.
inline constexpr std::uint64_t samples_max = 1'000'000'000;

/// A range as somebody wrote it. At most one of `count` and `step`; neither: the range is sampled.
struct RangeText {
  std::string from;
  std::string to;
  std::string count;
  std::string step;
  std::string scale; ///< "linear", "log", or empty for linear
};

/// The axis of a range of the quantity at `path`: `count` values evenly spaced from one end to the other (on
/// a logarithmic scale: with equal ratios), or every `step` from `from` on. Values are rounded to what the
/// field can hold (a setting's base unit, whole bytes, whole numbers); equal ones stand once. Without an
/// axis `problem` is a sentence.
std::optional<SweepAxis> range_axis(const std::string& path, const RangeText& text, std::string& problem);

/// The text of the value at `share` (0 to 1) of a range.
std::string range_value(const AxisRange& range, double share);

/// The number a quantity's text stands for, in base units; without one `problem` is a sentence.
std::optional<double> read_quantity(const KnownField& known, const std::string& text, std::string& problem);

/// How values of a quantity are written: unit and smallest step. Requires that read_quantity() can read it.
AxisRange writing_of(const KnownField& known);

/// `latin-hypercube` or `sobol`, and a number of points. Without a plan `problem` is a sentence.
std::optional<SamplePlan> sample_plan(std::string_view method, std::string_view points, std::string& problem);

std::string_view name_of(SampleMethod method);

/// The paths of a zipped axis, as written with commas between; a single path gives one.
std::vector<std::string> split_paths(std::string_view text);

} // namespace replisim
