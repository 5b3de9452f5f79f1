#include "models/settings.hpp"

#include "models/base/check.hpp"
#include "models/base/suggest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>

namespace replisim {

namespace {

/// One base unit in SI units is multiplier / divisor; dividing keeps 200 ms exactly 0.2 s.
struct BaseUnit {
  std::string_view name;
  double multiplier;
  double divisor;
  std::string_view printed_unit; ///< PostgreSQL prints blocks of 8kB as kB
  double printed_per_unit;

  double to_si(double count) const { return count * multiplier / divisor; }
  double from_si(double si) const { return si * divisor / multiplier; }
};

constexpr std::array base_units = {
    BaseUnit{"", 1, 1, "", 1},
    BaseUnit{"B", 1, 1, "B", 1},
    BaseUnit{"kB", 1024, 1, "kB", 1},
    BaseUnit{"8kB", 8 * 1024, 1, "kB", 8},
    BaseUnit{"MB", 1024 * 1024, 1, "MB", 1},
    BaseUnit{"ms", 1, 1000, "ms", 1},
    BaseUnit{"s", 1, 1, "s", 1},
    BaseUnit{"min", 60, 1, "min", 1},
};

const BaseUnit& base_unit_of(const GucDescriptor& guc) {
  const auto unit = std::find_if(base_units.begin(), base_units.end(),
                                 [&](const BaseUnit& candidate) { return candidate.name == guc.unit; });
  REPLISIM_REQUIRE(unit != base_units.end(), "setting {} has base unit '{}'", guc.name, guc.unit);
  return *unit;
}

bool is_numeric(GucType type) { return type != GucType::Enum and type != GucType::Text; }

std::string trimmed_lower(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const auto first = text.find_first_not_of(white);
  if (first == std::string_view::npos)
    return {};
  std::string out(text.substr(first, text.find_last_not_of(white) - first + 1));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// bool.c, parse_bool_with_len: any unambiguous beginning of a word will do.
std::optional<bool> parse_flag(const std::string& word) {
  struct Spelling {
    std::string_view whole;
    std::size_t least_letters;
    bool value;
  };
  constexpr std::array spellings = {Spelling{"true", 1, true}, Spelling{"false", 1, false},
                                    Spelling{"yes", 1, true},  Spelling{"no", 1, false},
                                    Spelling{"on", 2, true},   Spelling{"off", 2, false},
                                    Spelling{"1", 1, true},    Spelling{"0", 1, false}};
  for (const Spelling& spelling : spellings)
    if (word.size() >= spelling.least_letters and spelling.whole.starts_with(word))
      return spelling.value;
  return std::nullopt;
}

std::string printed(const BaseUnit& unit, double si) {
  return fmt::format("{:.15g}{}", unit.from_si(si) * unit.printed_per_unit, unit.printed_unit);
}

std::string allowed_range(const GucDescriptor& guc) {
  constexpr double practically_unlimited = 1e300;
  const BaseUnit& unit = base_unit_of(guc);
  const std::string low = guc.minimum < 0 ? "-1 or " + printed(unit, 0) : printed(unit, guc.minimum);
  if (guc.maximum > practically_unlimited)
    return low + " or more";
  return fmt::format("{} to {}{}", low, printed(unit, guc.maximum),
                     guc.power_of_two ? ", powers of two only" : "");
}

std::optional<GucValue> parse_enum(const GucDescriptor& guc, std::string_view text, std::string& problem) {
  const std::string word = trimmed_lower(text);
  const auto allows = [&](std::string_view name) {
    return std::find(guc.allowed.begin(), guc.allowed.end(), name) != guc.allowed.end();
  };
  if (allows(word))
    return GucValue{0, word};
  // Settings that grew out of on/off still take the other spellings of a Boolean, written in full.
  if (allows("on") and allows("off")) {
    if (word == "true" or word == "yes" or word == "1")
      return GucValue{0, "on"};
    if (word == "false" or word == "no" or word == "0")
      return GucValue{0, "off"};
  }
  const std::vector<std::string> names(guc.allowed.begin(), guc.allowed.end());
  const std::string near = nearest_name(word, names);
  problem = fmt::format("found '{}'; allowed {}{}", text, either_of(names),
                        near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
  return std::nullopt;
}

/// The number in SI units, before rounding and range.
std::optional<double> read_number(const GucDescriptor& guc, std::string_view text, std::string& problem) {
  if (guc.unit.empty()) {
    const std::optional<double> number = parse_number(text);
    if (not number)
      problem = fmt::format("found '{}'; allowed is a {} from {}", text,
                            guc.type == GucType::Integer ? "whole number" : "number", allowed_range(guc));
    return number;
  }
  const auto dimension = guc.type == GucType::Size ? Dimension::Size : Dimension::ServerDuration;
  const ParsedQuantity quantity = parse_quantity(text, dimension, guc.unit);
  if (not quantity.ok) {
    problem = fmt::format("{} (allowed {})", quantity.problem, allowed_range(guc));
    return std::nullopt;
  }
  return quantity.value;
}

std::optional<GucValue> parse_numeric(const GucDescriptor& guc, std::string_view text, std::string& problem) {
  const std::optional<double> number = read_number(guc, text, problem);
  if (not number)
    return std::nullopt;
  const BaseUnit& unit = base_unit_of(guc);
  // guc.c rounds integer settings to whole base units before it looks at the range.
  double count = unit.from_si(*number);
  if (guc.type != GucType::Real)
    count = std::nearbyint(count);
  if (count == -1 and guc.minimum == -1)
    return GucValue{-1, {}};
  const double si = unit.to_si(count);
  const bool in_range = si >= std::max(guc.minimum, 0.0) and si <= guc.maximum;
  if (not in_range or (guc.power_of_two and not std::has_single_bit(static_cast<std::uint64_t>(si)))) {
    const bool bare = not guc.unit.empty() and parse_number(text);
    problem = fmt::format("found {}{}; allowed {}", text, bare ? " (" + printed(unit, si) + ")" : "",
                          allowed_range(guc));
    return std::nullopt;
  }
  return GucValue{si, {}};
}

} // namespace

const GucDescriptor* find_guc(std::string_view name) {
  const auto& table = guc_table();
  const auto place =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const GucDescriptor& guc, std::string_view n) { return guc.name < n; });
  return place != table.end() and place->name == name ? &*place : nullptr;
}

std::optional<GucValue> parse_guc(const GucDescriptor& guc, std::string_view text, std::string& problem) {
  switch (guc.type) {
  case GucType::Text:
    return GucValue{0, std::string(text)};
  case GucType::Enum:
    return parse_enum(guc, text, problem);
  case GucType::Bool:
    if (const auto flag = parse_flag(trimmed_lower(text)))
      return GucValue{*flag ? 1.0 : 0.0, {}};
    problem = fmt::format("found '{}'; allowed on, off, true, false, yes, no, 1 or 0", text);
    return std::nullopt;
  case GucType::Integer:
  case GucType::Real:
  case GucType::Size:
  case GucType::Duration:
    break;
  }
  return parse_numeric(guc, text, problem);
}

namespace {

const GucDescriptor& known_guc(std::string_view name) {
  const GucDescriptor* guc = find_guc(name);
  REPLISIM_REQUIRE(guc != nullptr, "there is no setting {}", name);
  return *guc;
}

GucValue value_or_default(const std::map<std::string, GucValue, std::less<>>& values,
                          const GucDescriptor& guc) {
  if (const auto set = values.find(guc.name); set != values.end())
    return set->second;
  std::string problem;
  const auto value = parse_guc(guc, guc.default_value, problem);
  REPLISIM_REQUIRE(value.has_value(), "default of {}: {}", guc.name, problem);
  return *value;
}

} // namespace

void Settings::set(std::string_view name, GucValue value) {
  values_.insert_or_assign(std::string(known_guc(name).name), std::move(value));
}

double Settings::number(std::string_view name) const {
  const GucDescriptor& guc = known_guc(name);
  REPLISIM_REQUIRE(is_numeric(guc.type), "setting {} is not a number", name);
  return value_or_default(values_, guc).number;
}

std::string Settings::text(std::string_view name) const {
  const GucDescriptor& guc = known_guc(name);
  REPLISIM_REQUIRE(not is_numeric(guc.type), "setting {} is a number", name);
  return value_or_default(values_, guc).text;
}

} // namespace replisim
