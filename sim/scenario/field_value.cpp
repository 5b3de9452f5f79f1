#include "sim/scenario/field_value.hpp"

#include "models/base/suggest.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace replisim {

namespace {

constexpr double day_s = 86400;

/// Digits, `_` between digits, an optional minus. A leading zero changes nothing: 010 is ten.
std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' and i > 0 and i + 1 < text.size() and
        std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0)
      continue;
    digits += text[i];
  }
  std::int64_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  if (digits.empty() or error != std::errc() or rest != end)
    return std::nullopt;
  return number;
}

std::optional<bool> parse_flag(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "on" or lower == "true" or lower == "yes")
    return true;
  if (lower == "off" or lower == "false" or lower == "no")
    return false;
  return std::nullopt;
}

Dimension dimension_of(FieldType type) {
  switch (type) {
  case FieldType::Size:
    return Dimension::Size;
  case FieldType::ByteRate:
    return Dimension::ByteRate;
  case FieldType::Percent:
    return Dimension::Percent;
  case FieldType::EventRate:
    return Dimension::EventRate;
  case FieldType::Frequency:
    return Dimension::Frequency;
  default:
    return Dimension::Duration;
  }
}

std::optional<FieldValue> in_range(const FieldDescriptor& field, std::string_view text, double number,
                                   std::string& problem) {
  constexpr double rounding = 1e-12; // 60000ns is 60us, though not to the last bit
  const double limited = std::clamp(number, field.minimum, field.maximum);
  if (std::abs(number - limited) <= rounding * std::abs(limited))
    return FieldValue{limited, std::string(text)};
  problem = fmt::format("{} is out of range; {}", text, show_range(field));
  return std::nullopt;
}

std::optional<FieldValue> read_choice(const FieldDescriptor& field, std::string_view text,
                                      std::string& problem) {
  const auto& allowed = field.allowed;
  const auto knows = [&](std::string_view word) {
    return std::find(allowed.begin(), allowed.end(), word) != allowed.end();
  };
  if (knows(text))
    return FieldValue{0, std::string(text)};
  // `true` and `false` are PostgreSQL's other spellings where on and off are among the choices.
  if (const auto flag = parse_flag(text); flag and knows(*flag ? "on" : "off"))
    return FieldValue{0, *flag ? "on" : "off"};
  const std::vector<std::string> names(allowed.begin(), allowed.end());
  const std::string near = nearest_name(text, names);
  problem = fmt::format("'{}' is none of {}{}", text, fmt::join(allowed, ", "),
                        near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near));
  return std::nullopt;
}

std::optional<FieldValue> read_quantity(const FieldDescriptor& field, std::string_view text,
                                        std::string& problem) {
  const bool has_word = field.type == FieldType::WordOrDuration;
  if (has_word and text == field.allowed.front())
    return FieldValue{0, std::string(text)};
  const ParsedQuantity parsed = parse_quantity(text, dimension_of(field.type));
  if (not parsed.ok) {
    problem = parsed.problem + (has_word ? fmt::format(", or `{}`", field.allowed.front()) : "");
    return std::nullopt;
  }
  return in_range(field, text, parsed.value, problem);
}

} // namespace

bool is_scalar_type(FieldType type) { return type < FieldType::Object; }

std::string wanted(const FieldDescriptor& field) {
  using T = FieldType;
  if (field.type == T::WordOrDuration)
    return fmt::format("`{}` or a duration such as 10ms", field.allowed.front());
  static constexpr std::array<std::string_view, static_cast<std::size_t>(T::Reserved) + 1> phrases = {
      "a text",
      "a name",
      "a file name",
      "a whole number",
      "a number",
      "a duration such as 50ms",
      "a size such as 64kB",
      "a rate such as 10Gbps or 250MB/s",
      "a percentage such as 20%",
      "a number per time such as 500/s",
      "a frequency such as 2.8GHz",
      "a word or a duration",
      "on or off",
      "one word",
      "a version such as 17 or 17.4",
      "a column type such as int4 or text(32)",
      "typical, sequence or an integer",
      "a map",
      "a map of named entries",
      "a list",
      "a list of names",
      "a map of PostgreSQL settings",
      "a map of cost groups such as apply: {insert_row: 8us}",
      "a map from column to value such as {d: 1000}",
      "a map from field path to a sentence",
      "a map from field path to a list of values",
      "a map from one field path to a list of two values",
      "a list of two quantities such as [0%, 100%]",
      "nothing"};
  return std::string(phrases[static_cast<std::size_t>(field.type)]);
}

std::string show_number(FieldType type, double number) {
  switch (type) {
  case FieldType::Size:
    return format_bytes(number);
  case FieldType::ByteRate:
    return format_bytes(number) + "/s";
  case FieldType::Percent:
    return fmt::format("{:.6g}%", number * 100);
  case FieldType::EventRate:
    return fmt::format("{:.8g}/s", number);
  case FieldType::Frequency:
    return fmt::format("{:.6g}GHz", number / 1e9);
  case FieldType::Duration:
  case FieldType::WordOrDuration:
    if (number == 0)
      return "0s";
    if (number >= day_s and std::fmod(number, day_s) == 0)
      return fmt::format("{:.6g}d", number / day_s);
    if (number < 1e-6)
      return fmt::format("{:.6g}ns", number * 1e9);
    if (number < 1e-3)
      return fmt::format("{:.6g}us", number * 1e6);
    return number < 1 ? fmt::format("{:.6g}ms", number * 1e3) : fmt::format("{:.6g}s", number);
  default:
    break;
  }
  return std::abs(number) < 1e15 and number == std::floor(number)
             ? format_count(static_cast<std::int64_t>(number))
             : fmt::format("{:.6g}", number);
}

std::string show_range(const FieldDescriptor& field) {
  const bool has_low = field.minimum > -no_limit;
  const bool has_high = field.maximum < no_limit;
  const std::string low = has_low ? show_number(field.type, field.minimum) : "";
  const std::string high = has_high ? show_number(field.type, field.maximum) : "";
  if (has_low and has_high)
    return low == high ? "allowed: " + low : "allowed: " + low + " to " + high;
  return has_low ? "allowed: " + low + " or more" : "allowed: " + high + " or less";
}

std::optional<FieldValue> read_scalar(const FieldDescriptor& field, std::string_view text,
                                      std::string& problem) {
  switch (field.type) {
  case FieldType::Integer:
    if (const auto number = parse_integer(text))
      return in_range(field, text, static_cast<double>(*number), problem);
    problem = fmt::format("'{}' is not a whole number; write digits, as in 5000000 or 5_000_000", text);
    return std::nullopt;
  case FieldType::Number:
    if (const auto number = parse_number(text))
      return in_range(field, text, *number, problem);
    problem = fmt::format("'{}' is not a number; {}", text, show_range(field));
    return std::nullopt;
  case FieldType::Duration:
  case FieldType::WordOrDuration:
  case FieldType::Size:
  case FieldType::ByteRate:
  case FieldType::Percent:
  case FieldType::EventRate:
  case FieldType::Frequency:
    return read_quantity(field, text, problem);
  case FieldType::Flag:
    if (const auto flag = parse_flag(text))
      return FieldValue{*flag ? 1.0 : 0.0, std::string(text)};
    problem = fmt::format("'{}' is neither on nor off", text);
    return std::nullopt;
  case FieldType::Choice:
    return read_choice(field, text, problem);
  case FieldType::Version: {
    Version version;
    if (not parse_version(std::string(text), version, problem))
      return std::nullopt;
    return FieldValue{static_cast<double>(version.major), std::string(text)};
  }
  case FieldType::ColumnType:
    if (not parse_column_type(text, problem))
      return std::nullopt;
    break;
  case FieldType::ColumnValue:
    if (not parse_column_value(text, problem))
      return std::nullopt;
    break;
  default:
    break;
  }
  if (text.empty()) {
    problem = fmt::format("an empty text stands where {} is wanted", wanted(field));
    return std::nullopt;
  }
  return FieldValue{0, std::string(text)};
}

namespace {

struct TypeName {
  std::string_view name;
  ColumnType type;
  bool has_width;
};

constexpr TypeName type_names[] = {{"bool", ColumnType::Bool, false},
                                   {"boolean", ColumnType::Bool, false},
                                   {"int2", ColumnType::Int2, false},
                                   {"smallint", ColumnType::Int2, false},
                                   {"int4", ColumnType::Int4, false},
                                   {"int", ColumnType::Int4, false},
                                   {"integer", ColumnType::Int4, false},
                                   {"int8", ColumnType::Int8, false},
                                   {"bigint", ColumnType::Int8, false},
                                   {"float4", ColumnType::Float4, false},
                                   {"real", ColumnType::Float4, false},
                                   {"float8", ColumnType::Float8, false},
                                   {"double precision", ColumnType::Float8, false},
                                   {"date", ColumnType::Date, false},
                                   {"timestamp", ColumnType::Timestamp, false},
                                   {"timestamptz", ColumnType::Timestamptz, false},
                                   {"timestamp with time zone", ColumnType::Timestamptz, false},
                                   {"uuid", ColumnType::Uuid, false},
                                   {"text", ColumnType::Text, true},
                                   {"varchar", ColumnType::Text, true},
                                   {"bytea", ColumnType::Bytea, true},
                                   {"numeric", ColumnType::Numeric, true},
                                   {"jsonb", ColumnType::Jsonb, true}};

/// The largest value that PostgreSQL stores, 1 GB less one byte (VARATT_MASK).
constexpr std::int64_t widest_value_bytes = (std::int64_t{1} << 30) - 1;

} // namespace

std::optional<ParsedColumnType> parse_column_type(std::string_view text, std::string& problem) {
  const std::size_t open = text.find('(');
  const std::string name(text.substr(0, open));
  const auto known = std::find_if(std::begin(type_names), std::end(type_names),
                                  [&](const TypeName& t) { return t.name == name; });
  if (known == std::end(type_names)) {
    std::vector<std::string> names;
    for (const TypeName& t : type_names)
      names.emplace_back(t.name);
    const std::string near = nearest_name(name, names);
    problem = fmt::format("unknown column type '{}'{}", text,
                          near.empty() ? "; known: bool, int2, int4, int8, float4, float8, date, timestamp, "
                                         "timestamptz, uuid, text(n), bytea(n), numeric(n), jsonb(n)"
                                       : fmt::format(" (did you mean '{}'?)", near));
    return std::nullopt;
  }
  if (not known->has_width) {
    if (open == std::string_view::npos)
      return ParsedColumnType{known->type, 0};
    problem = fmt::format("'{}': {} has a fixed width; leave the parentheses out", text, name);
    return std::nullopt;
  }
  std::optional<std::int64_t> width;
  if (open != std::string_view::npos and text.back() == ')')
    width = parse_integer(text.substr(open + 1, text.size() - open - 2));
  if (not width) {
    problem = fmt::format("'{}' needs the mean width of its values in bytes, as in {}(32)", text, name);
    return std::nullopt;
  }
  if (*width < 1 or *width > widest_value_bytes) {
    problem = fmt::format(
        "'{}': a mean width of 1 to {} bytes is allowed, the most that PostgreSQL stores in a value", text,
        widest_value_bytes);
    return std::nullopt;
  }
  return ParsedColumnType{known->type, static_cast<int>(*width)};
}

bool is_integer_type(ColumnType type) {
  return type == ColumnType::Int2 or type == ColumnType::Int4 or type == ColumnType::Int8;
}

std::optional<ColumnValue> parse_column_value(std::string_view text, std::string& problem) {
  if (text == "typical")
    return ColumnValue{};
  if (text == "sequence")
    return ColumnValue{ColumnValue::Kind::Sequence, 0};
  if (const auto number = parse_integer(text))
    return ColumnValue{ColumnValue::Kind::Constant, *number};
  problem = fmt::format("'{}' is neither typical, sequence nor an integer", text);
  return std::nullopt;
}

} // namespace replisim
