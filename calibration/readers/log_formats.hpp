// The three forms of a server log (stderr, csvlog, jsonlog), each taken apart into records.
#pragma once

#include "calibration/readers/log_events.hpp"
#include "calibration/readers/log_prefix.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

/// stderr: lines with a prefix and a label, further parts and tabbed lines behind them; messages of several
/// processes are interleaved and joined by process id.
class StderrLog {
public:
  /// `formats` are tried in order; a line that fits none may teach one more.
  StderrLog(std::vector<LogPrefix> formats, bool may_learn, LogClock& clock, LogEvents& events,
            LineInput& input);

  void add(std::string_view line);
  void finish();

  std::uint64_t matched_lines() const { return matched_lines_; }
  std::uint64_t foreign_lines() const { return foreign_lines_; }
  const std::vector<LogPrefix>& formats() const { return formats_; }

private:
  struct Message {
    LogRecord record; ///< its texts are set when the message is handed out
    std::string text;
    std::string detail;
    std::string hint;
    std::string context;
    std::string statement;
    std::string user;
    std::string database;
    std::string application;
    std::string backend_type;
    std::string command_tag;
  };

  LogLabel match(std::string_view line, PrefixFields& fields, std::string_view& text);
  LogLabel learn(std::string_view line, PrefixFields& fields, std::string_view& text);
  void open_message(LogLabel level, const PrefixFields& fields, std::string_view text);
  void add_part(LogLabel label, const PrefixFields& fields, std::string_view text);
  void continue_part(std::string_view line);
  void hand_out(Message& message);
  std::string* part_of(Message& message, LogLabel label);

  std::vector<LogPrefix> formats_;
  bool may_learn_;
  LogClock& clock_;
  LogEvents& events_;
  LineInput& input_;
  std::map<std::int64_t, Message> open_; ///< by process id
  std::string* last_part_ = nullptr;     ///< where a tabbed line goes on
  Message* last_message_ = nullptr;
  std::uint64_t matched_lines_ = 0;
  std::uint64_t foreign_lines_ = 0;
  int lessons_left_ = 20;
};

/// csvlog: one record a message, quoted cells over several lines.
class CsvLog {
public:
  CsvLog(LogClock& clock, LogEvents& events, LineInput& input)
      : clock_(clock), events_(events), input_(input) {}
  void add(std::string_view line);
  void finish();
  std::uint64_t records() const { return records_; }
  std::size_t columns() const { return columns_; }

private:
  void take_record(std::string_view record);
  void restart_at(std::string_view line);

  LogClock& clock_;
  LogEvents& events_;
  LineInput& input_;
  std::string record_;            ///< an unfinished one
  std::uint64_t record_line_ = 0; ///< where it began
  bool in_quotes_ = false;
  std::vector<std::string_view> cells_;
  std::vector<std::string> unquoted_;
  std::uint64_t records_ = 0;
  std::size_t columns_ = 0; ///< of the first record
};

/// jsonlog: one object a line.
class JsonLog {
public:
  JsonLog(LogClock& clock, LogEvents& events, LineInput& input)
      : clock_(clock), events_(events), input_(input) {}
  void add(std::string_view line);
  std::uint64_t records() const { return records_; }

private:
  LogClock& clock_;
  LogEvents& events_;
  LineInput& input_;
  std::string texts_[12];
  std::uint64_t records_ = 0;
};

/// Whether a line begins a csvlog record: a time, then a comma.
bool begins_csv_record(std::string_view line);

/// The members of a flat JSON object, left to right; nested values are skipped.
class JsonScan {
public:
  explicit JsonScan(std::string_view line);
  /// The next member: its key and raw value (a string without quotes, escapes not resolved; or a literal).
  bool next(std::string_view& key, std::string_view& value);
  /// Whether the object was read to its closing brace, without a mistake.
  bool is_complete() const { return is_complete_; }

private:
  bool skip_blanks();
  bool take_string(std::string_view& raw);
  bool take_value(std::string_view& raw);

  std::string_view rest_;
  bool is_first_ = true;
  bool is_broken_ = false;
  bool is_complete_ = false;
};

/// A JSON string's content with its escapes resolved.
void unescape_json(std::string_view raw, std::string& text);

} // namespace replisim::readers
