// log_line_prefix: what stands before the label of each line of a stderr log, as a pattern that takes lines
// apart, and as a guess from lines whose setting nobody told.
#pragma once

#include "calibration/readers/log_record.hpp"
#include "calibration/readers/log_time.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

/// What a line's prefix says. Texts point into the line.
struct PrefixFields {
  std::optional<TimeUs> at_us;
  std::int64_t pid = 0;
  std::string_view user;
  std::string_view database;
  std::string_view application;
  std::string_view backend_type;
  std::string_view command_tag;
};

class LogPrefix {
public:
  /// `format`: as log_line_prefix is set, e.g. "%m [%p] ". Throws UsageError for an escape that PostgreSQL
  /// does not know.
  explicit LogPrefix(std::string format);

  /// Takes prefix and label from a line. Returns the label (None: the line is not of this form), the fields,
  /// and in `text` what follows the label.
  LogLabel match(std::string_view line, LogClock& clock, PrefixFields& fields, std::string_view& text) const;

  /// Whether `prefix`, a line up to its label, is taken as a whole by the part of the format before a place
  /// where %q could stand; returns that place in format(), nothing when there is none.
  std::optional<std::size_t> session_part_after(std::string_view prefix) const;

  const std::string& format() const { return format_; }
  bool has_time() const { return has_time_; }
  bool has_pid() const { return has_pid_; }

private:
  struct Token {
    char escape = 0; ///< the letter behind '%'; 0 for literal text
    std::string literal;
    std::size_t format_end = 0; ///< position in the format behind the token
  };
  struct Cursor {
    LogClock* clock;
    PrefixFields* fields;
    std::string_view text;
    bool wants_label = true;
    std::size_t end_token = 0; ///< with !wants_label: where the line's prefix ended
    LogLabel label = LogLabel::None;
  };

  bool match_from(std::size_t token, std::string_view rest, Cursor& cursor) const;
  bool match_free(std::size_t token, std::string_view rest, Cursor& cursor) const;
  bool finish(std::string_view rest, Cursor& cursor) const;

  std::string format_;
  std::vector<Token> tokens_;
  bool has_time_ = false;
  bool has_pid_ = false;
};

/// A guessed format, and how many of the lines with a label it takes.
struct PrefixGuess {
  std::string format;
  std::size_t matched = 0;
  std::size_t labelled = 0; ///< lines that seem to have a label at all
};

/// The format that takes the most of `lines`; of equally good ones the more usual one.
PrefixGuess guess_prefix(const std::vector<std::string_view>& lines);

/// Position of the first label in a line ("LOG:  " and the like behind a prefix); npos when there is none.
std::size_t find_label(std::string_view line);

} // namespace replisim::readers
