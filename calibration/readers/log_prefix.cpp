#include "calibration/readers/log_prefix.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace replisim::readers {

namespace {

/// Names, hosts and applications are at most this long (NAMEDATALEN, and host names).
constexpr std::size_t max_free_text = 256;
constexpr std::string_view known_escapes = "abcdehilmnpPqQrstuvxL%";

bool is_digit(char c) { return c >= '0' and c <= '9'; }
bool is_hex(char c) { return is_digit(c) or (c >= 'a' and c <= 'f'); }

std::size_t span(std::string_view text, bool (*accepts)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), accepts);
  return static_cast<std::size_t>(end - text.begin());
}

std::int64_t number_of(std::string_view digits) {
  std::int64_t value = 0;
  for (const char c : digits.substr(0, 18))
    value = value * 10 + (c - '0');
  return value;
}

/// Length of a field whose form is fixed, which stands at the start of `text`; nothing when it does not stand
/// there. Fields may be empty where processes have none.
std::optional<std::size_t> fixed_length(char escape, std::string_view text) {
  switch (escape) {
  case 'p':
  case 'l': {
    const std::size_t length = span(text, is_digit);
    return length > 0 ? std::optional(length) : std::nullopt;
  }
  case 'P':
  case 'x':
  case 'Q':
    return span(text.substr(text.starts_with('-') ? 1 : 0), is_digit) + (text.starts_with('-') ? 1 : 0);
  case 'c':
    return span(text, [](char c) { return is_hex(c) or c == '.'; });
  case 'v':
    return span(text, [](char c) { return is_digit(c) or c == '/'; });
  case 'e':
    return span(text, [](char c) { return is_digit(c) or (c >= 'A' and c <= 'Z'); });
  default:
    return {};
  }
}

bool is_free(char escape) { return std::string_view("abdhirsuL").find(escape) != std::string_view::npos; }

void store(char escape, std::string_view text, PrefixFields& fields) {
  switch (escape) {
  case 'a':
    fields.application = text;
    break;
  case 'b':
    fields.backend_type = text;
    break;
  case 'd':
    fields.database = text;
    break;
  case 'u':
    fields.user = text;
    break;
  case 'i':
    fields.command_tag = text;
    break;
  case 'p':
    fields.pid = number_of(text);
    break;
  default:
    break;
  }
}

/// "1622222222.123" of %n.
std::optional<std::size_t> epoch_time(std::string_view text, TimeUs& at_us) {
  const std::size_t whole = span(text, is_digit);
  if (whole < 9 or whole > 12)
    return {};
  at_us = number_of(text.substr(0, whole)) * 1'000'000;
  if (whole == text.size() or text[whole] != '.')
    return whole;
  const std::size_t fraction = span(text.substr(whole + 1), is_digit);
  std::string digits(text.substr(whole + 1, std::min<std::size_t>(fraction, 6)));
  digits.resize(6, '0');
  at_us += number_of(digits);
  return whole + 1 + fraction;
}

} // namespace

LogPrefix::LogPrefix(std::string format) : format_(std::move(format)) {
  for (std::size_t i = 0; i < format_.size(); ++i) {
    if (format_[i] != '%') {
      if (tokens_.empty() or tokens_.back().escape != 0)
        tokens_.push_back({});
      tokens_.back().literal += format_[i];
      tokens_.back().format_end = i + 1;
      continue;
    }
    std::size_t at = i + 1; // padding: a sign and a width
    while (at < format_.size() and (format_[at] == '-' or is_digit(format_[at])))
      ++at;
    const bool is_padded = at > i + 1;
    const char escape = at < format_.size() ? format_[at] : '\0';
    if (escape == '\0' or known_escapes.find(escape) == std::string_view::npos)
      throw UsageError(
          fmt::format("log_line_prefix '{}': '%{}' at character {} is no escape; PostgreSQL knows "
                      "%a %b %c %d %e %h %i %l %L %m %n %p %P %q %Q %r %s %t %u %v %x and %%",
                      format_, format_.substr(i + 1, at - i), i + 1));
    if (escape == '%') {
      tokens_.push_back({.escape = 0, .literal = "%", .format_end = at + 1});
    } else {
      tokens_.push_back({.escape = escape, .literal = is_padded ? " " : "", .format_end = at + 1});
      has_time_ = has_time_ or escape == 'm' or escape == 't' or escape == 'n';
      has_pid_ = has_pid_ or escape == 'p';
    }
    i = at;
  }
}

LogLabel LogPrefix::match(std::string_view line, LogClock& clock, PrefixFields& fields,
                          std::string_view& text) const {
  fields = {};
  Cursor cursor{.clock = &clock, .fields = &fields, .text = {}};
  if (not match_from(0, line, cursor))
    return LogLabel::None;
  text = cursor.text;
  return cursor.label;
}

std::optional<std::size_t> LogPrefix::session_part_after(std::string_view prefix) const {
  LogClock clock;
  PrefixFields fields;
  Cursor cursor{.clock = &clock, .fields = &fields, .text = {}, .wants_label = false};
  // Only where a field follows: %q before literal text alone would be without effect.
  for (cursor.end_token = 1; cursor.end_token < tokens_.size(); ++cursor.end_token)
    if (match_from(0, prefix, cursor))
      return tokens_[cursor.end_token - 1].format_end;
  return {};
}

bool LogPrefix::finish(std::string_view rest, Cursor& cursor) const {
  if (not cursor.wants_label)
    return rest.empty();
  std::size_t length = 0;
  cursor.label = take_label(rest, length);
  cursor.text = rest.substr(length);
  return cursor.label != LogLabel::None;
}

bool LogPrefix::match_from(std::size_t token, std::string_view rest, Cursor& cursor) const {
  for (; token < tokens_.size(); ++token) {
    if (not cursor.wants_label and token == cursor.end_token)
      return rest.empty();
    const Token& t = tokens_[token];
    if (t.escape == 0) {
      if (not rest.starts_with(t.literal))
        return false;
      rest.remove_prefix(t.literal.size());
      continue;
    }
    if (t.escape == 'q') {
      if (finish(rest, cursor))
        return true;
      continue;
    }
    if (not t.literal.empty()) // padded on the left
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (is_free(t.escape))
      return match_free(token, rest, cursor);
    std::size_t length = 0;
    if (t.escape == 'm' or t.escape == 't') {
      TimeUs at_us = 0;
      length = cursor.clock->read(rest, at_us);
      if (length == 0)
        return false;
      cursor.fields->at_us = at_us;
    } else if (t.escape == 'n') {
      TimeUs at_us = 0;
      const auto taken = epoch_time(rest, at_us);
      if (not taken)
        return false;
      length = *taken;
      cursor.fields->at_us = at_us;
    } else {
      const auto taken = fixed_length(t.escape, rest);
      if (not taken)
        return false;
      length = *taken;
      store(t.escape, rest.substr(0, length), *cursor.fields);
    }
    rest.remove_prefix(length);
    if (not t.literal.empty()) // padded on the right
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  }
  return finish(rest, cursor);
}

/// A field of any text: the shortest one after which the rest of the line fits.
bool LogPrefix::match_free(std::size_t token, std::string_view rest, Cursor& cursor) const {
  const std::size_t longest = std::min(rest.size(), max_free_text);
  const bool has_next = token + 1 < tokens_.size();
  const std::string_view next = has_next and tokens_[token + 1].escape == 0
                                    ? std::string_view(tokens_[token + 1].literal)
                                    : std::string_view();
  for (std::size_t length = 0; length <= longest; ++length) {
    if (not next.empty()) {
      length = rest.substr(0, longest + next.size()).find(next, length);
      if (length == std::string_view::npos)
        return false;
    }
    if (match_from(token + 1, rest.substr(length), cursor)) {
      store(tokens_[token].escape, rest.substr(0, length), *cursor.fields);
      return true;
    }
  }
  return false;
}

} // namespace replisim::readers
