#include "models/base/units.hpp"

#include "models/base/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

namespace replisim {

namespace {

/// `value * multiplier / divisor` is in the base unit; dividing keeps 200 ms exactly 0.2 s.
struct Unit {
  std::string_view name;
  double multiplier = 1;
  double divisor = 1;
};

constexpr double kibi = 1024;

constexpr std::array duration_units = {Unit{"ns", 1, 1e9}, Unit{"us", 1, 1e6}, Unit{"ms", 1, 1e3},
                                       Unit{"s", 1, 1},    Unit{"min", 60, 1}, Unit{"h", 3600, 1},
                                       Unit{"d", 86400, 1}};
constexpr std::array size_units = {Unit{"B"}, Unit{"kB", kibi}, Unit{"MB", kibi* kibi},
                                   Unit{"GB", kibi* kibi* kibi}, Unit{"TB", kibi* kibi* kibi* kibi}};
constexpr std::array byte_rate_units = {
    Unit{"B/s"},       Unit{"kB/s", kibi},   Unit{"MB/s", kibi* kibi}, Unit{"GB/s", kibi* kibi* kibi},
    Unit{"bps", 1, 8}, Unit{"kbps", 1e3, 8}, Unit{"Mbps", 1e6, 8},     Unit{"Gbps", 1e9, 8}};
constexpr std::array percent_units = {Unit{"%", 1, 100}};
constexpr std::array frequency_units = {Unit{"Hz"}, Unit{"kHz", 1e3}, Unit{"MHz", 1e6}, Unit{"GHz", 1e9}};
constexpr std::array event_rate_units = {Unit{"/s"}, Unit{"/min", 1, 60}, Unit{"/h", 1, 3600}};

struct DimensionRow {
  Dimension dimension;
  std::string_view noun;
  std::string_view example;
  std::span<const Unit> units;
};

constexpr std::array dimension_rows = {
    DimensionRow{Dimension::Duration, "a duration", "0.1ms", duration_units},
    DimensionRow{Dimension::ServerDuration, "a PostgreSQL duration", "200ms",
                 std::span(duration_units).subspan(1)},
    DimensionRow{Dimension::Size, "a size", "64kB", size_units},
    DimensionRow{Dimension::ByteRate, "a rate", "10Gbps", byte_rate_units},
    DimensionRow{Dimension::Percent, "a percentage", "20%", percent_units},
    DimensionRow{Dimension::Frequency, "a frequency", "2.8GHz", frequency_units},
    DimensionRow{Dimension::EventRate, "a number per time", "500/s", event_rate_units}};

const DimensionRow& row_of(Dimension dimension) {
  return *std::find_if(dimension_rows.begin(), dimension_rows.end(),
                       [&](const DimensionRow& row) { return row.dimension == dimension; });
}

const Unit* find_unit(const DimensionRow& row, std::string_view name) {
  const auto unit = std::find_if(row.units.begin(), row.units.end(),
                                 [&](const Unit& candidate) { return candidate.name == name; });
  return unit == row.units.end() ? nullptr : &*unit;
}

bool is_digit(char c) { return c >= '0' and c <= '9'; }

std::string_view trim(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const auto first = text.find_first_not_of(white);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

enum class NumberStatus { Ok, NotANumber, OutOfRange };

/// Takes a decimal number off the front of `text`. std::from_chars alone would also take "inf" and
/// "nan", and no plus sign.
NumberStatus take_number(std::string_view& text, double& value) {
  std::string_view rest = text;
  const bool negative = not rest.empty() and rest.front() == '-';
  if (not rest.empty() and (rest.front() == '-' or rest.front() == '+'))
    rest.remove_prefix(1);
  if (rest.empty() or not(is_digit(rest.front()) or rest.front() == '.'))
    return NumberStatus::NotANumber;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error == std::errc::result_out_of_range)
    return NumberStatus::OutOfRange;
  if (error != std::errc())
    return NumberStatus::NotANumber;
  if (negative)
    value = -value;
  text = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return NumberStatus::Ok;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The unit somebody who wrote `wrong` meant: another spelling of case, an abbreviation ("M"), a typo.
std::string nearest_unit(std::string_view wrong, const DimensionRow& row) {
  std::vector<std::string> names;
  for (const Unit& unit : row.units) {
    if (equal_ignoring_case(wrong, unit.name))
      return std::string(unit.name);
    names.emplace_back(unit.name);
  }
  for (const Unit& unit : row.units)
    if (equal_ignoring_case(wrong, unit.name.substr(0, wrong.size())))
      return std::string(unit.name);
  return wrong.size() < 2 ? std::string() : nearest_name(wrong, names);
}

std::string unit_problem(std::string_view wrong, const DimensionRow& row) {
  const std::string start = fmt::format("unit '{}' is not {}", wrong, row.noun);
  const auto other = std::find_if(dimension_rows.begin(), dimension_rows.end(), [&](const DimensionRow& r) {
    return r.noun != row.noun and find_unit(r, wrong) != nullptr;
  });
  const std::string near = nearest_unit(wrong, row);
  // "250MB" as a rate lacks its "/s"; "64kB" as a duration is another thing, not a typo.
  if (not near.empty() and (other == dimension_rows.end() or near.substr(0, wrong.size()) == wrong))
    return fmt::format("{}; did you mean '{}'?", start, near);
  if (other != dimension_rows.end())
    return fmt::format("{} but {}; use {}", start, other->noun, unit_names(row.dimension));
  return fmt::format("{}; use {}", start, unit_names(row.dimension));
}

ParsedQuantity failed(std::string problem) { return {false, 0, std::move(problem)}; }

} // namespace

ParsedQuantity parse_quantity(std::string_view text, Dimension dimension, std::string_view default_unit) {
  const DimensionRow& row = row_of(dimension);
  const std::string_view whole = trim(text);
  std::string_view rest = whole;
  double value = 0;
  switch (take_number(rest, value)) {
  case NumberStatus::NotANumber:
    return failed(
        fmt::format("'{}' is not {}; write a number and a unit, such as {}", whole, row.noun, row.example));
  case NumberStatus::OutOfRange:
    return failed(fmt::format("'{}' is too large or too small a number", whole));
  case NumberStatus::Ok:
    break;
  }
  rest = trim(rest);
  if (rest.empty() and value == 0)
    return {true, 0, {}};
  double units_of_default = 1;
  if (rest.empty()) {
    if (default_unit.empty())
      return failed(fmt::format("'{}' has no unit; use {}", whole, unit_names(dimension)));
    rest = default_unit;
    if (is_digit(rest.front()))
      take_number(rest, units_of_default);
  }
  if (std::any_of(rest.begin(), rest.end(), is_digit))
    return failed(fmt::format("'{}' is not one number with a unit, such as {}", whole, row.example));
  const Unit* unit = find_unit(row, rest);
  if (unit == nullptr)
    return failed(unit_problem(rest, row));
  const double result = value * units_of_default * unit->multiplier / unit->divisor;
  if (not std::isfinite(result))
    return failed(fmt::format("'{}' is too large or too small a number", whole));
  return {true, result, {}};
}

std::optional<double> parse_number(std::string_view text) {
  std::string_view rest = trim(text);
  double value = 0;
  if (take_number(rest, value) != NumberStatus::Ok or not rest.empty())
    return std::nullopt;
  return value;
}

std::string unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& unit : row_of(dimension).units)
    names.emplace_back(unit.name);
  return either_of(names);
}

std::string format_bytes(double bytes) {
  if (bytes < 0)
    return fmt::format("-{}", format_bytes(-bytes));
  std::size_t unit = 0;
  double value = bytes;
  // What would print as 1024.0 of a unit belongs to the next one.
  while (unit + 1 < size_units.size() and value >= (unit == 0 ? kibi - 0.5 : kibi - 0.05)) {
    value /= kibi;
    ++unit;
  }
  // Settings are whole numbers of a unit and read better without ".0".
  const bool whole = unit == 0 or value == std::floor(value);
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 1, size_units[unit].name);
}

std::string format_duration(double seconds) {
  if (seconds < 0)
    return fmt::format("-{}", format_duration(-seconds));
  if (seconds == 0)
    return "0 s";
  if (seconds < 119.95) {
    constexpr std::array<std::pair<double, std::string_view>, 3> small = {
        {{1e-6, "ns"}, {1e-3, "us"}, {1, "ms"}}};
    // What would print as 1000.0 of a unit belongs to the next one.
    for (const auto& [end_s, name] : small)
      if (seconds < end_s * (1 - 0.05e-3))
        return fmt::format("{:.1f} {}", seconds / (end_s / 1000), name);
    return fmt::format("{:.1f} s", seconds);
  }
  if (seconds < 3599.5) {
    const auto whole_s = std::llround(seconds);
    return fmt::format("{} min {:02} s", whole_s / 60, whole_s % 60);
  }
  const double minutes = std::round(seconds / 60);
  const double hours = std::floor(minutes / 60);
  return fmt::format("{:.0f} h {:02.0f} min", hours, minutes - 60 * hours);
}

std::string format_count(std::int64_t n) {
  std::string digits = fmt::format("{}", n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

} // namespace replisim
