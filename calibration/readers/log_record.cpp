#include "calibration/readers/log_record.hpp"

#include <array>
#include <utility>

namespace replisim::readers {

LogLabel label_of(std::string_view word) {
  using Entry = std::pair<std::string_view, LogLabel>;
  static constexpr std::array entries = {
      Entry{"LOG", LogLabel::Log},
      Entry{"STATEMENT", LogLabel::Statement},
      Entry{"DETAIL", LogLabel::Detail},
      Entry{"ERROR", LogLabel::Error},
      Entry{"CONTEXT", LogLabel::Context},
      Entry{"HINT", LogLabel::Hint},
      Entry{"FATAL", LogLabel::Fatal},
      Entry{"WARNING", LogLabel::Warning},
      Entry{"NOTICE", LogLabel::Notice},
      Entry{"INFO", LogLabel::Info},
      Entry{"DEBUG", LogLabel::Debug},
      Entry{"PANIC", LogLabel::Panic},
      Entry{"QUERY", LogLabel::Query},
      Entry{"LOCATION", LogLabel::Location},
      Entry{"BACKTRACE", LogLabel::Backtrace},
  };
  for (const auto& [name, label] : entries)
    if (word == name)
      return label;
  if (word.size() == 6 and word.starts_with("DEBUG") and word[5] >= '1' and word[5] <= '5')
    return LogLabel::Debug;
  return LogLabel::None;
}

LogLabel take_label(std::string_view text, std::size_t& length) {
  length = 0;
  if (text.size() < 5 or text[0] < 'B' or text[0] > 'W')
    return LogLabel::None;
  const std::size_t colon = text.substr(0, 11).find(':');
  if (colon == std::string_view::npos)
    return LogLabel::None;
  const LogLabel label = label_of(text.substr(0, colon));
  if (label == LogLabel::None or (colon + 1 < text.size() and text[colon + 1] != ' '))
    return LogLabel::None;
  length = colon + 1;
  for (int blanks = 0; blanks < 2 and length < text.size() and text[length] == ' '; ++blanks)
    ++length;
  return label;
}

} // namespace replisim::readers
