#include "calibration/fit/profile_writer.hpp"

#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/field_value.hpp"
#include "sim/scenario/library_files.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace replisim {

namespace {

constexpr std::size_t page_width = 108;

/// A text as comment lines.
std::string comment(const std::string& text) {
  std::string out;
  std::string line;
  const auto flush = [&] {
    if (not line.empty())
      out += "# " + line + "\n";
    line.clear();
  };
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty())
      continue;
    if (line.size() + 1 + word.size() > page_width)
      flush();
    line += (line.empty() ? "" : " ") + word;
  }
  flush();
  return out;
}

/// YAML's double quotes.
std::string yaml_text(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' or c == '\\')
      out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "\"";
}

/// A source, written out the first time and referred to afterwards.
class Source {
public:
  Source(std::string anchor, std::string text) : anchor_(std::move(anchor)), text_(std::move(text)) {}

  std::string next() {
    const bool is_first = not is_written_;
    is_written_ = true;
    return is_first ? fmt::format("&{} {}", anchor_, yaml_text(text_)) : "*" + anchor_;
  }

private:
  std::string anchor_;
  std::string text_;
  bool is_written_ = false;
};

/// Reads back exactly.
std::string range_end(FieldType type, double value) {
  if (type == FieldType::Integer)
    return fmt::format("{:.0f}", value);
  if (type != FieldType::Size)
    return show_number(type, value);
  constexpr double kilobyte = 1024;
  constexpr double megabyte = kilobyte * kilobyte;
  if (value > 0 and std::fmod(value, megabyte) == 0)
    return fmt::format("{:.0f}MB", value / megabyte);
  return value > 0 and std::fmod(value, kilobyte) == 0 ? fmt::format("{:.0f}kB", value / kilobyte)
                                                       : fmt::format("{:.0f}B", value);
}

/// A flow mapping over as many lines as it needs: spaces outside of words may become line ends in YAML, in
/// quoted text, too. The comment at its end is not divided.
std::string wrapped(std::string_view line) {
  constexpr std::size_t width = 110;
  constexpr std::string_view indent = "      ";
  std::string out;
  while (line.size() > width) {
    const std::size_t last = std::min(line.rfind(" # "), width);
    std::size_t space = line.rfind(' ', last);
    if (const std::size_t comma = line.rfind(", ", last);
        comma != std::string_view::npos and comma > width / 2)
      space = comma + 1;
    if (space == std::string_view::npos or line.find_first_not_of(' ') > space)
      break;
    out += fmt::format("{}\n{}", line.substr(0, space), indent);
    line.remove_prefix(space + 1);
  }
  return fmt::format("{}{}\n", out, line);
}

bool is_determined(const FittedCost& cost) {
  return cost.determined != "not at all" and cost.determined != "by the prior alone";
}

class Writer {
public:
  explicit Writer(const CalibrationResult& result)
      : result_(result), fit_("fit", fit_source(result)),
        prior_("prior", "what the spec assumed; the figures of the fit do not determine it") {}

  std::string text() {
    const CalibrationSpec& spec = result_.spec;
    std::string out = comment(spec.about);
    out += comment(
        fmt::format("Made by `replisim calibrate calibration/specs/{}.yaml`; change the spec and not this "
                    "file.",
                    spec.name));
    out += fmt::format("replisim_profile: 1\nname: {}\n", spec.name);
    if (not spec.extends.empty())
      out += fmt::format("extends: {}\n", spec.extends);
    out += fmt::format("machine: {}\nserver_version: {}\n", spec.machine, spec.server_version);
    if (spec.cpu_speed)
      out += wrapped(fmt::format("cpu_speed: {}", fitted(result_.costs.front())));
    return out + parameters() + envelope();
  }

private:
  static std::string fit_source(const CalibrationResult& result) {
    std::vector<std::string> parts;
    for (const CalibrationData& data : result.spec.data) {
      std::string part = fmt::format("{} ({})", data.name(), fmt::join(data.metrics, ", "));
      if (std::find(parts.begin(), parts.end(), part) == parts.end())
        parts.push_back(std::move(part));
    }
    const std::size_t figures = result.cells.size() + result.ratios.size();
    return fmt::format("{} figure{} of {}", figures, figures == 1 ? "" : "s", fmt::join(parts, " and "));
  }

  std::string fitted(const FittedCost& cost) {
    std::string out = fmt::format("{{value: {}", format_stated(cost.name, cost.value));
    if (std::isfinite(cost.spread))
      out += fmt::format(", low: {}, high: {}", format_stated(cost.name, cost.low()),
                         format_stated(cost.name, cost.high()));
    return out + fmt::format(", determined: {}, provenance: {}, source: {}}}", cost.determined,
                             is_determined(cost) ? "fitted" : "guess",
                             is_determined(cost) ? fit_.next() : prior_.next());
  }

  std::string stated(const std::string& name, double value_s, const ParameterOrigin& origin) {
    return fmt::format("{{value: {}, provenance: {}, source: {}}}", format_stated(name, value_s),
                       to_string(origin.provenance), yaml_text(origin.source));
  }

  /// The value of one parameter, or nothing where the profile does not name it.
  std::string entry(const std::string& name) {
    for (const FittedCost& cost : result_.costs)
      if (cost.name == name)
        return fitted(cost);
    if (const auto found = result_.spec.stated.find(name); found != result_.spec.stated.end())
      return stated(name, found->second.value_s, found->second.origin);
    for (const DerivedCost& derived : result_.spec.derived)
      if (derived.name == name)
        return stated(
            name, effective_cost_s(result_.profile, *find_cost_parameter(name)),
            {Provenance::Guess, fmt::format("{}: {}", fmt::join(derived.sum_of, " + "), derived.source)});
    return {};
  }

  std::string parameters() {
    std::string out;
    std::string open_group;
    for (const CostParameter& parameter : cost_parameters()) {
      const std::string name(parameter.name);
      const std::string text = entry(name);
      if (text.empty())
        continue;
      const std::string group = name.substr(0, name.find('.'));
      if (out.empty())
        out += "parameters:\n";
      if (group != open_group)
        out += fmt::format("  {}:\n", group);
      open_group = group;
      out += wrapped(fmt::format("    {}: {} # {}", name.substr(group.size() + 1), text, parameter.unit));
    }
    return out;
  }

  std::string envelope() const {
    std::string out = "envelope:\n";
    for (const FieldDescriptor& field : object_of("envelope").fields)
      if (const auto found = result_.envelope.find(field.name); found != result_.envelope.end()) {
        const FieldType type = object_of(field.object).find("from")->type;
        out += fmt::format("  {}: {{from: {}, to: {}}}\n", field.name, range_end(type, found->second.from),
                           range_end(type, found->second.to));
      }
    return out;
  }

  const CalibrationResult& result_;
  Source fit_;
  Source prior_;
};

} // namespace

std::string profile_text(const CalibrationResult& result) { return Writer(result).text(); }

std::string format_stated(const std::string& name, double value) {
  struct Unit {
    double seconds;
    std::string_view name;
  };
  Unit unit{1, ""};
  if (name != cpu_speed_parameter) {
    constexpr double half_digit = 0.9995; // what rounds to a whole unit is written in that unit
    for (const Unit candidate : {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}, Unit{1e-9, "ns"}}) {
      unit = candidate;
      if (value >= candidate.seconds * half_digit)
        break;
    }
  }
  if (value == 0)
    return "0" + std::string(unit.name);
  const double number = value / unit.seconds;
  // '#' keeps zeros at the end, and from 100 on would append one that is no digit of the value.
  const std::string digits = number < 99.95 ? fmt::format("{:#.3g}", number) : fmt::format("{:.0f}", number);
  return digits + std::string(unit.name);
}

} // namespace replisim
