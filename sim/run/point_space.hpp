// The points of a sweep by number: every combination of its axes, without a list of them.
#pragma once

#include "sim/scenario/loader.hpp"
#include "sim/scenario/scenario.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

/// One point: column and label of each axis, and the overrides that lead there.
struct SweepPoint {
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<Override> overrides;
};

/// Splits at the commas outside of brackets, braces and quotes; blanks around the parts are dropped.
std::vector<std::string> split_values(const std::string& text);

/// Reads `path=v1,v2,...`; commas inside brackets, braces or quotes belong to a value. Each value is YAML
/// text and its own label. Paths that change together stand with commas between, their values in lists:
/// `a,b=[1,2],[3,4]`. A range of a quantity is `path=64kB..64MB/8` (8 even values), `path=64kB..64MB/8/log`
/// (equal ratios), `path=1..9/step=2`, and for sampling `path=64kB..64MB` or `path=64kB..64MB/log`. Throws
/// UsageError on a missing '=', an empty value or a repeated one, or a range that is none.
SweepAxis parse_vary(const std::string& text);

/// Reads `METHOD:POINTS` (latin-hypercube or sobol). Throws UsageError with a sentence.
SamplePlan parse_sample(const std::string& text);

/// The paths an axis changes.
std::vector<std::string> axis_paths(const SweepAxis& axis);

class PointSpace {
public:
  /// Axes with a range are sampled together by `sample`, which they need. Throws UsageError where they have
  /// none, where there are too many for the method, or where an axis has no values.
  PointSpace(std::vector<SweepAxis> axes, std::optional<SamplePlan> sample);

  const std::vector<SweepAxis>& axes() const { return axes_; }
  /// Of the axes with a range; nothing where there are none.
  const std::optional<SamplePlan>& sample() const { return sample_; }
  /// 0 stands for more than 2^63.
  std::uint64_t count() const { return count_; }
  /// The names of the labels of every point, in order.
  std::vector<std::string> columns() const;
  /// Samples vary slowest, then the first axis; the last axis varies fastest.
  SweepPoint at(std::uint64_t index) const;

private:
  std::vector<SweepAxis> axes_;
  std::optional<SamplePlan> sample_;
  std::uint64_t count_ = 1;
};

/// [{path, values[]} or, where it is sampled, {path, from, to, scale}]; values with names of their own have
/// their YAML texts beside them.
nlohmann::json axes_json(const std::vector<SweepAxis>& axes);

/// {method, points, seed} or null.
nlohmann::json sample_json(const std::optional<SamplePlan>& sample);

/// All points of plain axes. No axes give one point.
std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes);

} // namespace replisim
