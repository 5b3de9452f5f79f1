#include "models/sync_standbys.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace replisim {

namespace {

/// Words, quoted names, and the signs ( ) , as strings; a quoted name begins with a quotation mark.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++i;
    } else if (c == '(' or c == ')' or c == ',') {
      tokens.emplace_back(1, c);
      ++i;
    } else if (c == '"') {
      const auto end = std::min(text.find('"', i + 1), text.size());
      tokens.push_back(text.substr(i, end - i));
      i = end + 1;
    } else {
      const auto end = std::min(text.find_first_of(" \t\n(),\"", i), text.size());
      tokens.push_back(text.substr(i, end - i));
      i = end;
    }
  }
  return tokens;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_sign(const std::string& token) { return token == "(" or token == ")" or token == ","; }

bool whole_number(const std::string& token, int& out) {
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), out);
  return error == std::errc() and end == token.data() + token.size();
}

/// Names with commas between them, from `at` to `end`.
bool read_names(const std::vector<std::string>& tokens, std::size_t at, std::size_t end, SyncStandbys& out) {
  for (std::size_t i = at; i < end; ++i) {
    const bool comma = (i - at) % 2 == 1;
    if (comma != (tokens[i] == ",") or (not comma and is_sign(tokens[i])))
      return false;
    if (not comma)
      out.names.push_back(tokens[i].front() == '"' ? tokens[i].substr(1) : lower(tokens[i]));
  }
  return (end - at) % 2 == 1;
}

} // namespace

bool SyncStandbys::lists(const std::string& name) const {
  return std::any_of(names.begin(), names.end(), [&](const std::string& listed) {
    return listed == "*" or lower(listed) == lower(name);
  });
}

std::optional<SyncStandbys> parse_sync_standbys(const std::string& text, std::string& problem) {
  const auto tokens = tokens_of(text);
  if (tokens.empty())
    return std::nullopt;
  SyncStandbys out;
  std::size_t at = 0, end = tokens.size();
  const std::string first = lower(tokens[0]);
  out.any = first == "any";
  const std::size_t number = first == "any" or first == "first" ? 1 : 0;
  const bool counted = number < tokens.size() and whole_number(tokens[number], out.count);
  if (counted and number + 1 < tokens.size() and tokens[number + 1] == "(" and tokens.back() == ")") {
    at = number + 2;
    end = tokens.size() - 1;
  } else {
    out = {};
  }
  if (read_names(tokens, at, end, out) and out.count >= 1)
    return out;
  problem =
      fmt::format("'{}' is no list of standbys; write names with commas between them, or FIRST n (names) or "
                  "ANY n (names)",
                  text);
  return std::nullopt;
}

std::optional<Lsn> sync_released(const SyncStandbys& rule, const std::map<std::string, Lsn>& acknowledged) {
  std::vector<Lsn> chosen;
  for (const auto& listed : rule.names)
    for (const auto& [name, lsn] : acknowledged)
      if (listed == "*" or lower(listed) == lower(name))
        if (rule.any or chosen.size() < static_cast<std::size_t>(rule.count))
          chosen.push_back(lsn);
  const auto count = static_cast<std::size_t>(rule.count);
  if (chosen.size() < count)
    return std::nullopt;
  std::sort(chosen.begin(), chosen.end(), [](Lsn a, Lsn b) { return b < a; });
  return chosen[count - 1]; // of the first ones it is the oldest, of a quorum the n-th latest
}

SyncLevel sync_level(const std::string& synchronous_commit) {
  if (synchronous_commit == "remote_write")
    return SyncLevel::Write;
  if (synchronous_commit == "on")
    return SyncLevel::Flush;
  return synchronous_commit == "remote_apply" ? SyncLevel::Apply : SyncLevel::None;
}

bool commits_wait_for_standbys(const Settings& settings) {
  return not settings.text("synchronous_standby_names").empty() and
         sync_level(settings.text("synchronous_commit")) != SyncLevel::None;
}

} // namespace replisim
