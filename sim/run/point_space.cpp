#include "sim/run/point_space.hpp"

#include "models/base/check.hpp"
#include "models/base/errors.hpp"
#include "sim/run/sampling.hpp"
#include "sim/scenario/axis_range.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>

namespace replisim {

namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// "64kB..64MB/8/log" as a range; nothing when the text is an ordinary value.
std::optional<RangeText> range_text(const std::string& value) {
  const auto dots = value.find("..");
  const auto starts_number = [](const std::string& text) {
    return not text.empty() and (std::isdigit(static_cast<unsigned char>(text[0])) != 0 or text[0] == '.');
  };
  if (dots == std::string::npos or not starts_number(value) or not starts_number(value.substr(dots + 2)))
    return std::nullopt;
  RangeText out;
  out.from = value.substr(0, dots);
  std::string rest = value.substr(dots + 2);
  // From the end: what is no scale, step or count belongs to the upper end ("1MB/s").
  while (true) {
    const auto slash = rest.rfind('/');
    if (slash == std::string::npos)
      break;
    const std::string part = rest.substr(slash + 1);
    const bool digits = not part.empty() and std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    if (part == "log" or part == "linear")
      out.scale = part;
    else if (part.starts_with("step="))
      out.step = part.substr(5);
    else if (digits)
      out.count = part;
    else
      break;
    rest.resize(slash);
  }
  out.to = rest;
  return out;
}

SweepAxis vary_range(const std::string& text, const std::string& path, const RangeText& range) {
  std::string problem;
  if (not range.count.empty() and not range.step.empty())
    problem = "give a number of values or a step, not both";
  const auto axis = problem.empty() ? range_axis(path, range, problem) : std::nullopt;
  if (not axis)
    throw UsageError(fmt::format("--vary {}: {}", text, problem));
  return *axis;
}

/// The values of one zipped value, "[1, 2]".
std::vector<std::string> zipped_values(const std::string& text) {
  const std::string inner = trimmed(text);
  if (inner.size() < 2 or inner.front() != '[' or inner.back() != ']')
    return {};
  return split_values(inner.substr(1, inner.size() - 2));
}

/// Whether the values of an axis have names of their own.
bool has_names(const SweepAxis& axis) {
  return std::any_of(axis.values.begin(), axis.values.end(),
                     [](const auto& value) { return value.first != value.second; });
}

std::vector<std::string> columns_of(const SweepAxis& axis) {
  return axis.zipped.empty() or has_names(axis) ? std::vector{axis.path} : axis.zipped;
}

void add_value(SweepPoint& point, const SweepAxis& axis, std::size_t index) {
  const auto& [label, text] = axis.values[index];
  if (axis.zipped.empty()) {
    point.labels.emplace_back(axis.path, label);
    point.overrides.push_back({axis.path, text});
    return;
  }
  const auto values = zipped_values(text);
  REPLISIM_REQUIRE(values.size() == axis.zipped.size(), "a zipped axis of {} paths has the value {}",
                   axis.zipped.size(), text);
  const bool named = has_names(axis);
  if (named)
    point.labels.emplace_back(axis.path, label);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (not named)
      point.labels.emplace_back(axis.zipped[i], values[i]);
    point.overrides.push_back({axis.zipped[i], values[i]});
  }
}

} // namespace

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> out(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0)
      quote = c == quote ? '\0' : quote;
    else if (c == '"' or c == '\'')
      quote = c;
    else if (c == '[' or c == '{')
      ++depth;
    else if (c == ']' or c == '}')
      --depth;
    if (c == ',' and depth == 0 and quote == 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  std::transform(out.begin(), out.end(), out.begin(), trimmed);
  return out;
}

SweepAxis parse_vary(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos or trimmed(text.substr(0, equals)).empty())
    throw UsageError(fmt::format("--vary {}: expected path=value1,value2,...", text));
  const auto paths = split_paths(text.substr(0, equals));
  const auto values = split_values(text.substr(equals + 1));
  if (paths.size() == 1 and values.size() == 1)
    if (const auto range = range_text(values.front()))
      return vary_range(text, paths.front(), *range);
  SweepAxis axis{fmt::format("{}", fmt::join(paths, ", ")), {}};
  if (paths.size() > 1)
    axis.zipped = paths;
  for (const auto& value : values) {
    if (value.empty())
      throw UsageError(fmt::format("--vary {}: a value is empty; write '' for an empty text", text));
    const bool repeated = std::any_of(axis.values.begin(), axis.values.end(),
                                      [&](const auto& known) { return known.first == value; });
    if (repeated)
      throw UsageError(fmt::format("--vary {}: the value '{}' comes twice", text, value));
    if (paths.size() > 1 and zipped_values(value).size() != paths.size())
      throw UsageError(fmt::format("--vary {}: '{}' stands where a list of {} values is wanted, as in [1,2]",
                                   text, value, paths.size()));
    axis.values.emplace_back(value, value);
  }
  return axis;
}

SamplePlan parse_sample(const std::string& text) {
  const auto colon = text.find(':');
  std::string problem = "expected METHOD:POINTS, as in latin-hypercube:200";
  std::optional<SamplePlan> plan;
  if (colon != std::string::npos)
    plan = sample_plan(text.substr(0, colon), text.substr(colon + 1), problem);
  if (not plan)
    throw UsageError(fmt::format("--sample {}: {}", text, problem));
  return *plan;
}

std::vector<std::string> axis_paths(const SweepAxis& axis) {
  return axis.zipped.empty() ? std::vector{axis.path} : axis.zipped;
}

PointSpace::PointSpace(std::vector<SweepAxis> axes, std::optional<SamplePlan> sample)
    : axes_(std::move(axes)), sample_(sample) {
  std::size_t sampled = 0;
  for (const auto& axis : axes_) {
    if (axis.range) {
      ++sampled;
      continue;
    }
    if (axis.values.empty())
      throw UsageError(fmt::format("the axis '{}' has no values", axis.path));
    const bool fits = count_ <= std::numeric_limits<std::int64_t>::max() / axis.values.size();
    count_ = fits ? count_ * axis.values.size() : 0;
  }
  if (sampled == 0) {
    sample_.reset();
    return;
  }
  if (not sample_)
    throw UsageError("a range without a number of values is sampled: add --sample latin-hypercube:POINTS or "
                     "--sample sobol:POINTS");
  if (sample_->method == SampleMethod::Sobol and sampled > sobol_dimensions_max)
    throw UsageError(fmt::format("a Sobol design has at most {} ranges; latin-hypercube takes any number",
                                 sobol_dimensions_max));
  const bool fits = count_ <= std::numeric_limits<std::int64_t>::max() / sample_->points;
  count_ = fits ? count_ * sample_->points : 0;
}

std::vector<std::string> PointSpace::columns() const {
  std::vector<std::string> out;
  for (const auto& axis : axes_)
    for (auto& column : columns_of(axis))
      out.push_back(std::move(column));
  return out;
}

SweepPoint PointSpace::at(std::uint64_t index) const {
  std::vector<std::size_t> places(axes_.size(), 0);
  for (std::size_t i = axes_.size(); i-- > 0;) {
    if (axes_[i].range)
      continue;
    places[i] = static_cast<std::size_t>(index % axes_[i].values.size());
    index /= axes_[i].values.size();
  }
  SweepPoint point;
  std::size_t dimension = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const auto& axis = axes_[i];
    if (not axis.range) {
      add_value(point, axis, places[i]);
      continue;
    }
    const std::string text = range_value(*axis.range, sample_coordinate(*sample_, index, dimension++));
    point.labels.emplace_back(axis.path, text);
    point.overrides.push_back({axis.path, text});
  }
  return point;
}

nlohmann::json axes_json(const std::vector<SweepAxis>& axes) {
  nlohmann::json out = nlohmann::json::array();
  for (const auto& axis : axes) {
    nlohmann::json entry = {{"path", axis.path}};
    if (axis.range) {
      entry["from"] = range_value(*axis.range, 0);
      entry["to"] = range_value(*axis.range, 1);
      entry["scale"] = axis.range->log ? "log" : "linear";
    } else {
      entry["values"] = nlohmann::json::array();
      for (const auto& [label, text] : axis.values)
        entry["values"].push_back(label);
      if (has_names(axis))
        for (const auto& [label, text] : axis.values)
          entry["texts"].push_back(text);
    }
    out.push_back(std::move(entry));
  }
  return out;
}

nlohmann::json sample_json(const std::optional<SamplePlan>& sample) {
  if (not sample)
    return nullptr;
  return {{"method", name_of(sample->method)}, {"points", sample->points}, {"seed", sample->seed}};
}

std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes) {
  const PointSpace space(axes, std::nullopt);
  std::vector<SweepPoint> points;
  for (std::uint64_t i = 0; i < space.count(); ++i)
    points.push_back(space.at(i));
  return points;
}

} // namespace replisim
