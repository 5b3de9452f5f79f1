#include "calibration/fit/fit_request.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"
#include "models/base/units.hpp"
#include "models/cost_profile.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <string_view>

namespace replisim {

namespace {

/// "NAME=VALUE[:SPREAD]" taken apart; `option` is for sentences.
struct Argument {
  std::string option;
  std::string text;
  std::string name;
  std::string value;
  std::string spread;

  [[noreturn]] void refuse(const std::string& why) const {
    throw UsageError(fmt::format("{} '{}': {}", option, text, why));
  }
};

Argument split(const std::string& option, const std::string& text, bool with_spread) {
  Argument argument{option, text, {}, {}, {}};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    argument.refuse(fmt::format("there is no '='; allowed is NAME=VALUE{}", with_spread ? "[:SPREAD]" : ""));
  argument.name = text.substr(0, equals);
  argument.value = text.substr(equals + 1);
  if (const std::size_t colon = argument.value.find(':'); with_spread and colon != std::string::npos) {
    argument.spread = argument.value.substr(colon + 1);
    argument.value.resize(colon);
    if (argument.spread.empty())
      argument.refuse("there is no spread after the ':'");
  }
  return argument;
}

void require_known(const Argument& argument, const std::string& name) {
  if (name == cpu_speed_parameter or find_cost_parameter(name) != nullptr)
    return;
  std::vector<std::string> names = {cpu_speed_parameter};
  for (const CostParameter& parameter : cost_parameters())
    names.emplace_back(parameter.name);
  argument.refuse(fmt::format("unknown cost parameter '{}'{}", name, suggestion(name, names)));
}

double plain_number(const Argument& argument, const std::string& text, const std::string& what) {
  const std::optional<double> number = parse_number(text);
  if (not number or *number <= 0)
    argument.refuse(fmt::format("'{}' is no {}; allowed is a plain positive number", text, what));
  return *number;
}

constexpr const char* spread_words = "spread (standard deviation of the logarithm)";

double spread_of(const Argument& argument) {
  return argument.spread.empty() ? 0.0 : plain_number(argument, argument.spread, spread_words);
}

double stated_value(const Argument& argument) {
  if (argument.name == cpu_speed_parameter)
    return plain_number(argument, argument.value, "ratio of speeds");
  const ParsedQuantity quantity = parse_quantity(argument.value, Dimension::Duration);
  if (not quantity.ok)
    argument.refuse(quantity.problem);
  if (quantity.value < 0)
    argument.refuse("a cost cannot be negative");
  return quantity.value;
}

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

} // namespace

FreeParameter parse_parameter(const std::string& text) {
  const Argument argument = split("--parameter", text, true);
  require_known(argument, argument.name);
  const double start = stated_value(argument);
  if (start == 0)
    argument.refuse("the fit moves logarithms and cannot start from 0; hold it with --fix, or start above");
  return {{argument.name}, start, spread_of(argument)};
}

FreeParameter parse_together(const std::string& text) {
  const Argument argument = split("--together", text, true);
  const std::vector<std::string> names = comma_separated(argument.name);
  for (const std::string& name : names) {
    require_known(argument, name);
    if (name == cpu_speed_parameter)
      argument.refuse("cpu_speed is a ratio of its own, no cost that a common factor moves");
  }
  if (names.size() < 2)
    argument.refuse("one factor for a single parameter; use --parameter, or name several with commas");
  return {names, plain_number(argument, argument.value, "factor"), spread_of(argument)};
}

StatedCosts parse_fixed(const std::vector<std::string>& texts) {
  StatedCosts fixed;
  for (const std::string& text : texts) {
    const Argument argument = split("--fix", text, false);
    require_known(argument, argument.name);
    if (not fixed.emplace(argument.name, stated_value(argument)).second)
      argument.refuse(fmt::format("'{}' is fixed a second time", argument.name));
  }
  return fixed;
}

double parse_spread(const std::string& option, const std::string& text) {
  return plain_number({option, text, {}, {}, {}}, text, spread_words);
}

void check_request(const FitRequest& request) {
  if (request.parameters.empty())
    throw UsageError("there is nothing to fit; name a cost with --parameter or several with --together");
  std::set<std::string> seen;
  for (const FreeParameter& parameter : request.parameters)
    for (const std::string& name : parameter.names) {
      if (not seen.insert(name).second)
        throw UsageError(fmt::format("'{}' is fitted twice; name it in one --parameter or --together", name));
      if (not parameter.is_factor() and request.fixed.contains(name))
        throw UsageError(fmt::format("'{}' is both fitted and fixed; choose --parameter or --fix", name));
    }
}

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
