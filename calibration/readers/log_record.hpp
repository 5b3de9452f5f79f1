// One message of a server log, whatever the format it was written in.
#pragma once

#include "calibration/readers/observation.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace replisim::readers {

/// What opens a line of a message: a level, or a label of one of its further parts.
enum class LogLabel {
  None,
  Debug,
  Info,
  Notice,
  Warning,
  Log,
  Error,
  Fatal,
  Panic,
  Detail, ///< from here on: further parts
  Hint,
  Context,
  Statement,
  Query,
  Location,
  Backtrace,
};

inline bool is_further_part(LogLabel label) { return label >= LogLabel::Detail; }

/// The label spelt by a whole word ("LOG", "DEBUG2"); None when it is no label.
LogLabel label_of(std::string_view word);

/// Takes "LABEL:  " from the start of `text`: the label, and how many characters it took with the blanks.
LogLabel take_label(std::string_view text, std::size_t& length);

/// A message with all its parts. Texts are good during the call that hands the record out.
struct LogRecord {
  TimeUs at_us = 0;
  bool has_time = false;
  std::int64_t pid = 0; ///< 0: unknown
  LogLabel level = LogLabel::None;
  std::string_view text = {};
  std::string_view detail = {};
  std::string_view hint = {};
  std::string_view context = {};
  std::string_view statement = {};
  std::string_view user = {};
  std::string_view database = {};
  std::string_view application = {};
  std::string_view backend_type = {};
  std::string_view command_tag = {};
  std::uint64_t first_line = 0;
  std::uint64_t last_line = 0;
};

} // namespace replisim::readers
