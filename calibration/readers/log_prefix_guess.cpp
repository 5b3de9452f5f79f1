// Guessing log_line_prefix: known settings first, then formats put together from what lines show.
#include "calibration/readers/log_prefix.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace replisim::readers {

namespace {

/// Settings in wide use: the default, Debian's, RDS's, pgBadger's recommendations.
constexpr std::array usual_formats = {
    std::string_view("%m [%p] "),
    std::string_view("%m [%p] %q%u@%d "),
    std::string_view("%t [%p] "),
    std::string_view("%t [%p] %q%u@%d "),
    std::string_view("%t:%r:%u@%d:[%p]:"),
    std::string_view("%t [%p]: [%l-1] user=%u,db=%d,app=%a,client=%h "),
    std::string_view("%t [%p]: user=%u,db=%d,app=%a,client=%h "),
    std::string_view("%m [%p] %q%a "),
    std::string_view("%m %u@%d [%p] "),
    std::string_view("%m: %u@%d: [%p]: "),
    std::string_view("< %m > "),
    std::string_view("%t "),
    std::string_view("%m "),
    std::string_view(""),
};

struct Key {
  std::string_view name;
  std::string_view escape;
};

/// Words that stand before "=" or ":" in prefixes, and what follows them.
constexpr std::array keys = {
    Key{"user", "%u"},     Key{"usr", "%u"},     Key{"u", "%u"},        Key{"db", "%d"},
    Key{"database", "%d"}, Key{"dbname", "%d"},  Key{"d", "%d"},        Key{"host", "%h"},
    Key{"rhost", "%h"},    Key{"client", "%h"},  Key{"remote", "%h"},   Key{"ip", "%h"},
    Key{"h", "%h"},        Key{"app", "%a"},     Key{"appname", "%a"},  Key{"application", "%a"},
    Key{"a", "%a"},        Key{"pid", "%p"},     Key{"process", "%p"},  Key{"p", "%p"},
    Key{"vxid", "%v"},     Key{"txid", "%x"},    Key{"xid", "%x"},      Key{"tx", "%x"},
    Key{"session", "%c"},  Key{"sid", "%c"},     Key{"line", "%l"},     Key{"l", "%l"},
    Key{"sqlstate", "%e"}, Key{"state", "%e"},   Key{"error", "%e"},    Key{"cmd", "%i"},
    Key{"command", "%i"},  Key{"tag", "%i"},     Key{"type", "%b"},     Key{"backend", "%b"},
    Key{"qid", "%Q"},      Key{"queryid", "%Q"}, Key{"query_id", "%Q"}, Key{"lpid", "%P"},
    Key{"time", ""},       Key{"ts", ""},        Key{"date", ""},       Key{"start", "%s"},
};

constexpr std::array backend_types = {
    std::string_view("postmaster"),
    std::string_view("startup"),
    std::string_view("checkpointer"),
    std::string_view("background writer"),
    std::string_view("background worker"),
    std::string_view("client backend"),
    std::string_view("walsender"),
    std::string_view("walwriter"),
    std::string_view("walreceiver"),
    std::string_view("walsummarizer"),
    std::string_view("autovacuum launcher"),
    std::string_view("autovacuum worker"),
    std::string_view("logical replication launcher"),
    std::string_view("logical replication apply worker"),
    std::string_view("logical replication parallel worker"),
    std::string_view("logical replication tablesync worker"),
    std::string_view("logical replication sequencesync worker"),
    std::string_view("logical replication worker"),
    std::string_view("parallel worker"),
    std::string_view("slotsync worker"),
    std::string_view("archiver"),
    std::string_view("logger"),
    std::string_view("io worker"),
    std::string_view("standalone backend"),
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 or c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Puts a format together from one line's prefix, left to right.
class FormatBuilder {
public:
  explicit FormatBuilder(std::string_view prefix) : rest_(prefix) {}

  std::string build() {
    while (not rest_.empty())
      if (not(take_time() or take_backend_type() or take_key() or take_host() or take_brackets() or
              take_user_at_database() or take_number() or take_word()))
        take_literal(1);
    return format_;
  }

private:
  void take(std::size_t length, std::string_view escape) {
    format_ += escape;
    last_ = rest_[length - 1];
    rest_.remove_prefix(length);
  }
  void take_literal(std::size_t length) {
    for (std::size_t i = 0; i < length; ++i)
      format_ += rest_[i] == '%' ? std::string("%%") : std::string(1, rest_[i]);
    last_ = rest_[length - 1];
    rest_.remove_prefix(length);
  }
  bool has(std::string_view escape) const { return format_.find(escape) != std::string::npos; }
  bool at_word_start() const { return not is_word(last_); }
  std::size_t word_length() const {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), is_word);
    return static_cast<std::size_t>(end - rest_.begin());
  }

  bool take_time() {
    TimeUs at_us = 0;
    LogClock clock;
    const std::size_t length = at_word_start() ? clock.read(rest_, at_us) : 0;
    if (length == 0)
      return false;
    const bool has_fraction = rest_.substr(0, length).find('.') != std::string_view::npos;
    take(length, has("%m") or has("%t") ? "%s" : has_fraction ? "%m" : "%t");
    return true;
  }

  bool take_backend_type() {
    if (not at_word_start() or has("%b"))
      return false;
    const auto type = std::find_if(backend_types.begin(), backend_types.end(), [&](std::string_view each) {
      return rest_.starts_with(each) and (rest_.size() == each.size() or not is_word(rest_[each.size()]));
    });
    if (type == backend_types.end())
      return false;
    take(type->size(), "%b");
    return true;
  }

  /// "user=u", "(rhost=host)", "vxid:25/23577".
  bool take_key() {
    const std::size_t length = word_length();
    if (not at_word_start() or length == 0 or length >= rest_.size() or
        (rest_[length] != '=' and rest_[length] != ':'))
      return false;
    const std::string_view word = rest_.substr(0, length);
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const Key& each) { return each.name == word; });
    if (key == keys.end())
      return false;
    const char opening = last_;
    take_literal(length + 1);
    if (key->escape.empty())
      return true; // a time: what it is shows by itself
    const std::string_view closing = opening == '(' ? ")" : opening == '[' ? "]" : "";
    std::size_t end = rest_.find_first_of(",)];>| ");
    if (not closing.empty() and key->escape != "%v" and key->escape != "%x")
      end = rest_.find(closing);
    const std::string_view value = rest_.substr(0, end);
    const bool has_port =
        key->escape == "%h" and value.ends_with(')') == false and value.find('(') != value.npos;
    const std::string_view escape = has_port ? std::string_view("%r") : key->escape;
    if (has_port and end != std::string_view::npos and rest_[end] == ')')
      ++end; // host(port)
    if (end == 0 or value.empty()) {
      format_ += escape;
      return true;
    }
    take(std::min(end, rest_.size()), escape);
    return true;
  }

  /// "10.0.0.5", "10.0.0.5(5432)", "[local]".
  bool take_host() {
    if (not at_word_start() or has("%h") or has("%r"))
      return false;
    const std::string_view socket = "[local]";
    if (rest_.starts_with(socket)) {
      take(socket.size(), "%h");
      return true;
    }
    const std::size_t length = std::min(rest_.find_first_not_of("0123456789."), rest_.size());
    if (std::count(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(length), '.') != 3)
      return false;
    const std::size_t close =
        length < rest_.size() and rest_[length] == '(' ? rest_.find(')', length) : rest_.npos;
    take(close == rest_.npos ? length : close + 1, close == rest_.npos ? "%h" : "%r");
    return true;
  }

  /// "[4711]", "[3-1]", "[SELECT]".
  bool take_brackets() {
    if (rest_[0] != '[')
      return false;
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos or end < 2)
      return false;
    const std::string_view inner = rest_.substr(1, end - 1);
    const std::size_t digits = std::min(inner.find_first_not_of("0123456789"), inner.size());
    std::string_view escape;
    if (digits == inner.size())
      escape = has("%p") ? "[%l]" : "[%p]";
    else if (digits > 0 and inner.substr(digits) == "-1")
      escape = "[%l-1]";
    else if (std::all_of(inner.begin(), inner.end(),
                         [](char c) { return (c >= 'A' and c <= 'Z') or c == ' '; }))
      escape = "[%i]";
    if (escape.empty())
      return false;
    take(end + 1, escape);
    return true;
  }

  bool take_user_at_database() {
    const std::size_t length = word_length();
    if (not at_word_start() or length >= rest_.size() or rest_[length] != '@')
      return false;
    take(length + 1, "%u@%d");
    const std::size_t database = std::min(rest_.find_first_of(" :,)]>["), rest_.size());
    if (database > 0)
      take(database, "");
    return true;
  }

  /// A process id, a session id, a virtual transaction, a time since the epoch.
  bool take_number() {
    const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::size_t hex = std::min(rest_.find_first_not_of("0123456789abcdef."), rest_.size());
    if (not at_word_start() or hex == 0)
      return false;
    const std::string_view whole = rest_.substr(0, hex);
    const std::size_t dot = whole.find('.');
    const bool ends = hex == rest_.size() or not is_word(rest_[hex]);
    if (digits >= 9 and digits <= 12 and dot == digits and not has("%n")) {
      take(hex, "%n");
      return true;
    }
    if (dot != std::string_view::npos and dot >= 6 and dot + 1 < hex and
        whole.find('.', dot + 1) == whole.npos and ends and not has("%c")) {
      take(hex, "%c");
      return true;
    }
    if (digits > 0 and digits < rest_.size() and rest_[digits] == '/' and digits + 1 < rest_.size() and
        is_digit(rest_[digits + 1])) {
      const std::size_t second = rest_.substr(digits + 1).find_first_not_of("0123456789");
      take(second == std::string_view::npos ? rest_.size() : digits + 1 + second, "%v");
      return true;
    }
    if (digits > 0 and (digits == rest_.size() or not is_word(rest_[digits])) and not has("%p")) {
      take(digits, "%p");
      return true;
    }
    return false;
  }

  /// A word of no known meaning: the application's name, once.
  bool take_word() {
    const std::size_t length = word_length();
    if (not at_word_start() or length == 0)
      return false;
    if (has("%a"))
      take_literal(length);
    else
      take(length, "%a");
    return true;
  }

  std::string_view rest_;
  std::string format_;
  char last_ = ' ';
};

/// How well a format fits: lines taken, and then fields it gave a value to.
struct Fit {
  std::size_t lines = 0;
  std::size_t fields = 0;
  bool operator>(const Fit& other) const {
    return lines != other.lines ? lines > other.lines : fields > other.fields;
  }
};

Fit fit_of(const LogPrefix& prefix, const std::vector<std::string_view>& lines) {
  LogClock clock;
  PrefixFields fields;
  std::string_view text;
  Fit fit;
  for (const std::string_view line : lines) {
    if (prefix.match(line, clock, fields, text) == LogLabel::None)
      continue;
    ++fit.lines;
    fit.fields += fields.at_us.has_value() ? 1U : 0U;
    fit.fields += fields.pid != 0 ? 1U : 0U;
    for (const std::string_view value :
         {fields.user, fields.database, fields.application, fields.command_tag})
      fit.fields += value.empty() ? 0U : 1U;
    const bool is_known_type =
        std::find(backend_types.begin(), backend_types.end(), fields.backend_type) != backend_types.end();
    fit.fields += is_known_type ? 2U : fields.backend_type.empty() ? 0U : 1U;
  }
  return fit;
}

void add_unless_there(std::vector<std::string>& formats, std::string format) {
  if (std::find(formats.begin(), formats.end(), format) == formats.end())
    formats.push_back(std::move(format));
}

/// Formats as the lines show them, and each of them with %q where the shorter prefixes of processes without a
/// session end.
std::vector<std::string> shown_formats(const std::vector<std::string_view>& labelled) {
  constexpr std::size_t max_samples = 60;
  std::vector<std::string> formats;
  std::vector<std::string_view> prefixes;
  const std::size_t step = std::max<std::size_t>(labelled.size() / max_samples, 1);
  for (std::size_t i = 0; i < labelled.size(); i += step) {
    prefixes.push_back(labelled[i].substr(0, find_label(labelled[i])));
    add_unless_there(formats, FormatBuilder(prefixes.back()).build());
  }
  const std::size_t plain = std::min<std::size_t>(formats.size(), 12);
  for (std::size_t i = 0; i < plain; ++i)
    for (const std::string_view prefix : prefixes)
      if (const auto at = LogPrefix(formats[i]).session_part_after(prefix))
        add_unless_there(formats, formats[i].substr(0, *at) + "%q" + formats[i].substr(*at));
  return formats;
}

} // namespace

std::size_t find_label(std::string_view line) {
  for (std::size_t colon = line.find(':'); colon != std::string_view::npos;
       colon = line.find(':', colon + 1)) {
    std::size_t start = colon;
    while (start > 0 and is_word(line[start - 1]))
      --start;
    const bool is_label = label_of(line.substr(start, colon - start)) != LogLabel::None;
    if (is_label and line.substr(colon + 1, 2) == "  ")
      return start;
  }
  return std::string_view::npos;
}

PrefixGuess guess_prefix(const std::vector<std::string_view>& lines) {
  std::vector<std::string_view> labelled;
  for (const std::string_view line : lines)
    if (not line.starts_with('\t') and find_label(line) != std::string_view::npos)
      labelled.push_back(line);
  std::vector<std::string> formats(usual_formats.begin(), usual_formats.end());
  for (std::string& format : shown_formats(labelled))
    add_unless_there(formats, std::move(format));
  PrefixGuess best{.format = {}, .matched = 0, .labelled = labelled.size()};
  Fit best_fit;
  for (std::string& format : formats) {
    const Fit fit = fit_of(LogPrefix(format), labelled);
    if (fit > best_fit) {
      best_fit = fit;
      best.matched = fit.lines;
      best.format = std::move(format);
    }
  }
  return best;
}

} // namespace replisim::readers
