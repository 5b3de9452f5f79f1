#include "sim/scenario/axis_range.hpp"

#include "models/base/suggest.hpp"
#include "sim/scenario/field_value.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace replisim {

namespace {

/// Bytes in "kB", "8kB", "MB", "B"; the number before the unit counts.
std::pair<double, std::string> size_unit(std::string_view unit) {
  if (unit == "8kB")
    return {8192, "kB"};
  if (unit == "kB")
    return {1024, "kB"};
  return unit == "MB" ? std::pair{1048576.0, std::string("MB")} : std::pair{1.0, std::string("B")};
}

double unit_bytes(std::string_view unit) { return unit == "kB" ? 1024 : unit == "MB" ? 1048576 : 1; }

double duration_unit_s(std::string_view unit) {
  if (unit == "ms")
    return 1e-3;
  return unit == "min" ? 60 : 1;
}

AxisRange writing_of_guc(const GucDescriptor& guc) {
  AxisRange out;
  if (guc.type == GucType::Size) {
    const auto [quantum, unit] = size_unit(guc.unit);
    out.quantum = quantum;
    out.unit = unit;
    out.unit_value = unit_bytes(unit);
  } else if (guc.type == GucType::Duration) {
    out.unit = guc.unit;
    out.quantum = out.unit_value = duration_unit_s(guc.unit);
  } else if (guc.type == GucType::Integer) {
    out.quantum = 1;
  }
  return out;
}

std::string written(const AxisRange& range, double value) {
  if (range.quantum <= 0)
    return fmt::format("{:.12g}{}", value / range.unit_value, range.unit);
  const double rounded = std::round(value / range.quantum) * range.quantum;
  return fmt::format("{:.0f}{}", std::round(rounded / range.unit_value), range.unit);
}

/// The values of a range with a step; nothing when there would be too many.
std::optional<std::vector<double>> stepped(const AxisRange& range, double step) {
  const double count = std::floor((range.high - range.low) / step * (1 + 1e-12) + 1e-9) + 1;
  if (not(count <= range_values_max))
    return std::nullopt;
  std::vector<double> out;
  for (int i = 0; i < static_cast<int>(count); ++i)
    out.push_back(range.low + i * step);
  return out;
}

std::optional<int> read_count(const std::string& text, std::string& problem) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() and end == text.data() + text.size() and count >= 2 and count <= range_values_max)
    return count;
  problem = fmt::format("'{}' is no number of values; allowed: 2 to {}", text, range_values_max);
  return std::nullopt;
}

bool read_scale(const std::string& text, AxisRange& range, std::string& problem) {
  range.log = text == "log";
  if (not text.empty() and text != "linear" and not range.log)
    problem = fmt::format("unknown scale '{}'{}", text, suggestion(text, {"linear", "log"}));
  else if (range.log and range.low <= 0)
    problem = "a logarithmic range begins above 0";
  return problem.empty();
}

/// Appends a value unless it is written like the one before.
void append(SweepAxis& axis, const AxisRange& range, double value) {
  std::string text = written(range, value);
  if (axis.values.empty() or axis.values.back().second != text)
    axis.values.emplace_back(text, text);
}

} // namespace

std::optional<double> read_quantity(const KnownField& known, const std::string& text, std::string& problem) {
  if (known.guc != nullptr) {
    const GucType type = known.guc->type;
    if (type == GucType::Bool or type == GucType::Enum or type == GucType::Text) {
      problem = fmt::format("`{}` is no quantity; only quantities have values in between", known.guc->name);
      return std::nullopt;
    }
    const auto value = parse_guc(*known.guc, text, problem);
    return value ? std::optional(value->number) : std::nullopt;
  }
  const FieldType type = known.field->type;
  const bool ordered = type >= FieldType::Integer and type <= FieldType::Frequency;
  if (known.is_entry or not ordered) {
    problem = fmt::format("`{}` is no quantity; only quantities have values in between", known.field->name);
    return std::nullopt;
  }
  const auto value = read_scalar(*known.field, text, problem);
  return value ? std::optional(value->number) : std::nullopt;
}

AxisRange writing_of(const KnownField& known) {
  if (known.guc != nullptr)
    return writing_of_guc(*known.guc);
  AxisRange out;
  switch (known.field->type) {
  case FieldType::Integer:
    out.quantum = 1;
    break;
  case FieldType::Size:
    out.quantum = 1;
    out.unit = "B";
    break;
  case FieldType::Duration:
    out.unit = "s";
    break;
  case FieldType::ByteRate:
    out.unit = "B/s";
    break;
  case FieldType::Percent:
    out.unit = "%";
    out.unit_value = 0.01;
    break;
  case FieldType::EventRate:
    out.unit = "/s";
    break;
  case FieldType::Frequency:
    out.unit = "Hz";
    break;
  default:
    break;
  }
  return out;
}

std::string range_value(const AxisRange& range, double share) {
  const double value = range.log ? range.low * std::pow(range.high / range.low, share)
                                 : range.low + (range.high - range.low) * share;
  return written(range, share >= 1 ? range.high : value);
}

std::optional<SweepAxis> range_axis(const std::string& path, const RangeText& text, std::string& problem) {
  const auto parsed = parse_path(path, problem);
  if (not parsed)
    return std::nullopt;
  const auto known = known_field(object_of("scenario"), *parsed);
  if (not known or known->field == nullptr) {
    problem = fmt::format("there is no field {}", path);
    return std::nullopt;
  }
  const auto low = read_quantity(*known, text.from, problem);
  const auto high = low ? read_quantity(*known, text.to, problem) : std::nullopt;
  if (not high)
    return std::nullopt;
  AxisRange range = writing_of(*known);
  range.low = *low;
  range.high = *high;
  if (range.low >= range.high) {
    problem = "the lowest value comes first, the highest second";
    return std::nullopt;
  }
  if (not read_scale(text.scale, range, problem))
    return std::nullopt;
  SweepAxis axis{path, {}};
  if (not text.step.empty()) {
    // A step of bytes or seconds is written like a value, but need not be one.
    const auto step = read_quantity(*known, text.step, problem);
    const auto values = step and *step > 0 and not range.log ? stepped(range, *step) : std::nullopt;
    if (not values) {
      problem = step and problem.empty()
                    ? fmt::format("a step of {} makes no range of 2 to {} values on a linear scale",
                                  text.step, range_values_max)
                    : problem;
      return std::nullopt;
    }
    for (const double value : *values)
      append(axis, range, value);
  } else if (not text.count.empty()) {
    const auto count = read_count(text.count, problem);
    if (not count)
      return std::nullopt;
    for (int i = 0; i < *count; ++i) {
      const std::string value = range_value(range, static_cast<double>(i) / (*count - 1));
      if (axis.values.empty() or axis.values.back().second != value)
        axis.values.emplace_back(value, value);
    }
  } else {
    axis.range = range;
  }
  return axis;
}

std::optional<SamplePlan> sample_plan(std::string_view method, std::string_view points,
                                      std::string& problem) {
  SamplePlan plan;
  if (method == "sobol") {
    plan.method = SampleMethod::Sobol;
  } else if (method != "latin-hypercube") {
    problem = fmt::format("unknown sampling method '{}'{}", method,
                          suggestion(std::string(method), {"latin-hypercube", "sobol"}));
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(points.data(), points.data() + points.size(), plan.points);
  if (error != std::errc() or end != points.data() + points.size() or plan.points < 1 or
      plan.points > samples_max) {
    problem = fmt::format("'{}' is no number of samples; allowed: 1 to {}", points, samples_max);
    return std::nullopt;
  }
  return plan;
}

std::string_view name_of(SampleMethod method) {
  return method == SampleMethod::Sobol ? "sobol" : "latin-hypercube";
}

std::vector<std::string> split_paths(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    while (not part.empty() and part.front() == ' ')
      part.remove_prefix(1);
    while (not part.empty() and part.back() == ' ')
      part.remove_suffix(1);
    out.emplace_back(part);
    if (comma == std::string_view::npos)
      return out;
    text.remove_prefix(comma + 1);
  }
}

} // namespace replisim
