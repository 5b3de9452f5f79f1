// csvlog and jsonlog.
#include "calibration/readers/log_formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace replisim::readers {

namespace {

/// A record that does not end within this much has lost a quote.
constexpr std::size_t max_record_bytes = std::size_t{8} << 20;
/// csvlog has had at least these columns since application_name came in 9.0.
constexpr std::size_t min_columns = 23;

/// Columns of csvlog, the same since 9.0; 13 added backend_type (24), 14 leader_pid and query_id (26).
enum Column : std::size_t {
  log_time = 0,
  user_name = 1,
  database_name = 2,
  process_id = 3,
  command_tag = 7,
  error_severity = 11,
  message = 13,
  detail = 14,
  hint = 15,
  context = 18,
  query = 19,
  application_name = 22,
  backend_type = 23,
};

std::int64_t number_of(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Splits a record into cells, quotes still around them. False when a quote stays open.
bool split_cells(std::string_view record, std::vector<std::string_view>& cells) {
  cells.clear();
  std::size_t start = 0;
  bool in_quotes = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    if (in_quotes) { // most of a record stands in quotes
      i = record.find('"', i);
      if (i == std::string_view::npos)
        break;
      in_quotes = false;
    } else if (record[i] == '"') {
      in_quotes = true;
    } else if (record[i] == ',') {
      cells.push_back(record.substr(start, i - start));
      start = i + 1;
    }
  }
  cells.push_back(record.substr(start));
  return not in_quotes;
}

/// A cell's text; `buffer` keeps it where quotes had to go.
std::string_view text_of(std::string_view cell, std::string& buffer) {
  if (cell.size() < 2 or cell.front() != '"')
    return cell;
  cell = cell.substr(1, cell.size() - 2);
  if (cell.find('"') == std::string_view::npos)
    return cell;
  buffer.clear();
  for (std::size_t i = 0; i < cell.size(); ++i) {
    buffer += cell[i];
    if (cell[i] == '"')
      ++i; // doubled
  }
  return buffer;
}

} // namespace

bool begins_csv_record(std::string_view line) {
  TimeUs at_us = 0;
  LogClock clock;
  const std::size_t length = clock.read(line, at_us);
  return length > 0 and length < line.size() and line[length] == ',';
}

void CsvLog::add(std::string_view line) {
  const bool has_odd_quotes = std::count(line.begin(), line.end(), '"') % 2 != 0;
  if (not in_quotes_) {
    record_line_ = input_.line_number();
    if (not has_odd_quotes)
      return take_record(line);
    record_ = line;
    in_quotes_ = true;
    return;
  }
  // A whole record within an open quote: the quote's other half is lost.
  if (not has_odd_quotes and begins_csv_record(line) and split_cells(line, cells_) and
      cells_.size() >= min_columns)
    return restart_at(line);
  if (record_.size() + line.size() > max_record_bytes)
    return restart_at({});
  record_ += '\n';
  record_ += line;
  if (has_odd_quotes) {
    in_quotes_ = false;
    take_record(record_);
  }
}

void CsvLog::restart_at(std::string_view line) {
  input_.report(
      "open_quote",
      fmt::format("the record that begins in line {} never ends: a quote is lost; left out", record_line_));
  in_quotes_ = false;
  record_line_ = input_.line_number();
  if (not line.empty())
    take_record(line);
}

void CsvLog::finish() {
  if (in_quotes_)
    input_.report("open_quote",
                  fmt::format("the record that begins in line {} does not end; left out", record_line_));
}

void CsvLog::take_record(std::string_view record) {
  if (record.empty())
    return;
  split_cells(record, cells_);
  if (cells_.size() < min_columns or cells_.size() > 40)
    return input_.report(
        "column_count",
        fmt::format("a csvlog record has 23 columns (up to PostgreSQL 12), 24 (13) or 26 (14 and "
                    "later); found {}; left out",
                    cells_.size()));
  if (columns_ == 0) {
    columns_ = cells_.size();
    if (columns_ != 23 and columns_ != 24 and columns_ != 26)
      input_.report("column_count",
                    fmt::format("{} columns are of no PostgreSQL release known here (23, 24 or 26); "
                                "the ones up to application_name are read",
                                columns_));
  }
  unquoted_.resize(10);
  LogRecord log;
  const std::size_t length = clock_.read(text_of(cells_[log_time], unquoted_[0]), log.at_us);
  if (length == 0)
    return input_.report("no_time", fmt::format("'{}' is no log_time; the record was left out",
                                                std::string(cells_[log_time].substr(0, 40))));
  ++records_;
  log.has_time = true;
  log.level = label_of(text_of(cells_[error_severity], unquoted_[0]));
  log.pid = number_of(cells_[process_id]);
  log.text = text_of(cells_[message], unquoted_[1]);
  log.first_line = record_line_;
  log.last_line = input_.line_number();
  events_.see(log);
  if (LogEvents::need_of(log.level, log.text) == LogEvents::Need::Nothing)
    return;
  log.detail = text_of(cells_[detail], unquoted_[2]);
  log.hint = text_of(cells_[hint], unquoted_[3]);
  log.context = text_of(cells_[context], unquoted_[4]);
  log.statement = text_of(cells_[query], unquoted_[5]);
  log.user = text_of(cells_[user_name], unquoted_[6]);
  log.database = text_of(cells_[database_name], unquoted_[7]);
  log.application = text_of(cells_[application_name], unquoted_[8]);
  if (cells_.size() > backend_type)
    log.backend_type = text_of(cells_[backend_type], unquoted_[9]);
  log.command_tag = cells_[command_tag];
  events_.accept(log);
}

JsonScan::JsonScan(std::string_view line) : rest_(line) {
  if (skip_blanks() and rest_.front() == '{')
    rest_.remove_prefix(1);
  else
    is_broken_ = true;
}

bool JsonScan::skip_blanks() {
  if (not rest_.empty() and rest_.front() > ' ') // as PostgreSQL writes it
    return true;
  rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r"), rest_.size()));
  return not rest_.empty();
}

bool JsonScan::take_string(std::string_view& raw) {
  if (not skip_blanks() or rest_.front() != '"')
    return false;
  std::size_t end = 0;
  bool is_escaped = true;
  while (is_escaped) {
    end = rest_.find('"', end + 1);
    if (end == std::string_view::npos)
      return false;
    std::size_t first = end; // of the backslashes before the quote: two of them are one
    while (rest_[first - 1] == '\\')
      --first;
    is_escaped = (end - first) % 2 != 0;
  }
  raw = rest_.substr(1, end - 1);
  rest_.remove_prefix(end + 1);
  return true;
}

bool JsonScan::take_value(std::string_view& raw) {
  if (not skip_blanks())
    return false;
  if (rest_.front() == '"')
    return take_string(raw);
  if (rest_.front() != '{' and rest_.front() != '[') {
    raw = rest_.substr(0, rest_.find_first_of(",}] \t"));
    rest_.remove_prefix(raw.size());
    return not raw.empty();
  }
  const std::string_view from = rest_;
  int depth = 0;
  do {
    if (rest_.empty())
      return false;
    const char c = rest_.front();
    if (c == '"') {
      std::string_view ignored;
      if (not take_string(ignored))
        return false;
      continue;
    }
    depth += c == '{' or c == '[' ? 1 : c == '}' or c == ']' ? -1 : 0;
    rest_.remove_prefix(1);
  } while (depth > 0);
  raw = from.substr(0, from.size() - rest_.size());
  return true;
}

bool JsonScan::next(std::string_view& key, std::string_view& value) {
  if (is_broken_ or is_complete_)
    return false;
  is_broken_ = true; // until the member has been read
  if (not skip_blanks())
    return false;
  if (rest_.front() == '}') {
    is_complete_ = true;
    return false;
  }
  if (not is_first_) {
    if (rest_.front() != ',')
      return false;
    rest_.remove_prefix(1);
  }
  is_first_ = false;
  if (not take_string(key) or not skip_blanks() or rest_.front() != ':')
    return false;
  rest_.remove_prefix(1);
  is_broken_ = not take_value(value);
  return not is_broken_;
}

void unescape_json(std::string_view raw, std::string& text) {
  text.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t escape = std::min(raw.find('\\', i), raw.size());
    text.append(raw, i, escape - i);
    if (escape + 1 >= raw.size()) {
      text.append(raw, escape);
      return;
    }
    i = escape + 1;
    switch (raw[i]) {
    case 'n':
      text += '\n';
      break;
    case 't':
      text += '\t';
      break;
    case 'r':
      text += '\r';
      break;
    case 'b':
      text += '\b';
      break;
    case 'f':
      text += '\f';
      break;
    case 'u': { // PostgreSQL writes these for control characters alone
      unsigned code = 0;
      const std::string_view digits = raw.substr(i + 1, 4);
      std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      text += code < 0x80 ? static_cast<char>(code) : '?';
      i += digits.size();
      break;
    }
    default:
      text += raw[i];
    }
  }
}

void JsonLog::add(std::string_view line) {
  if (line.empty())
    return;
  struct Slot {
    std::string_view key;
    std::string_view LogRecord::*field;
  };
  static constexpr Slot slots[] = {
      {"message", &LogRecord::text},
      {"detail", &LogRecord::detail},
      {"hint", &LogRecord::hint},
      {"context", &LogRecord::context},
      {"statement", &LogRecord::statement},
      {"user", &LogRecord::user},
      {"dbname", &LogRecord::database},
      {"application_name", &LogRecord::application},
      {"backend_type", &LogRecord::backend_type},
      {"ps", &LogRecord::command_tag},
  };
  LogRecord log;
  JsonScan scan(line);
  std::string_view key;
  std::string_view value;
  while (scan.next(key, value)) {
    if (key == "timestamp") {
      log.has_time = clock_.read(value, log.at_us) > 0;
    } else if (key == "pid") {
      log.pid = number_of(value);
    } else if (key == "error_severity") {
      log.level = label_of(value);
    } else {
      for (std::size_t i = 0; i < std::size(slots); ++i)
        if (key == slots[i].key) {
          const bool is_plain = value.find('\\') == std::string_view::npos;
          if (not is_plain)
            unescape_json(value, texts_[i]);
          log.*slots[i].field = is_plain ? value : std::string_view(texts_[i]);
          break;
        }
    }
  }
  if (not scan.is_complete())
    return input_.report("broken_json", "the line is no whole JSON object; it was left out");
  if (not log.has_time or log.level == LogLabel::None)
    return input_.report("no_log_entry", "the object has no timestamp or no error_severity; it was left out");
  ++records_;
  log.first_line = log.last_line = input_.line_number();
  events_.see(log);
  if (LogEvents::need_of(log.level, log.text) != LogEvents::Need::Nothing)
    events_.accept(log);
}

} // namespace replisim::readers
