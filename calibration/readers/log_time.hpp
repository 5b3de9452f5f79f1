// Times as PostgreSQL writes them into logs: "2021-05-23 12:18:46.569 UTC".
#pragma once

#include "calibration/readers/observation.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace replisim::readers {

/// What is known about the zone of a time.
enum class ZoneKnowledge {
  Known,     ///< a number, UTC, or an abbreviation with one meaning
  Ambiguous, ///< an abbreviation with several meanings (CST, IST, ...): read as PostgreSQL's default list has
             ///< it
  Unknown,   ///< an abbreviation nobody knows: read as UTC
  Missing,   ///< none stands there: read as UTC
};

/// Seconds east of UTC of "UTC", "Z", "+03", "-0530", "-05:30" or an abbreviation.
struct Zone {
  int offset_s = 0;
  ZoneKnowledge knowledge = ZoneKnowledge::Missing;
};
Zone parse_zone(std::string_view text);

/// Reads times; remembers date and zone of the last one, since the next one mostly has the same.
class LogClock {
public:
  /// `zone`: used where the text's own zone is not Known; nothing: the Zone's own reading.
  explicit LogClock(std::optional<int> zone_offset_s = {}) : zone_offset_s_(zone_offset_s) {}

  /// Reads a time at the start of `text`: date, time, fraction if any, blank and zone if any. Returns how
  /// many characters it took, 0 when there is no time.
  std::size_t read(std::string_view text, TimeUs& at_us);

  /// The least known zone met so far, and its text.
  ZoneKnowledge worst_zone() const { return worst_; }
  const std::string& worst_zone_text() const { return worst_text_; }
  /// Whether any time has been read.
  bool has_read() const { return has_read_; }

private:
  std::size_t read_zone(std::string_view text);

  std::optional<int> zone_offset_s_;
  std::string date_;
  std::int64_t date_s_ = 0;
  std::string zone_text_ = " ";
  int offset_s_ = 0;
  ZoneKnowledge worst_ = ZoneKnowledge::Known;
  std::string worst_text_;
  bool has_read_ = false;
};

/// Days since 1970-01-01 of a date of the Gregorian calendar; nothing when there is no such date.
std::optional<std::int64_t> days_since_epoch(int year, int month, int day);

/// "2021-05-23 12:18:46.569 UTC"; with microseconds where the milliseconds are not whole.
std::string format_time(TimeUs at_us);

} // namespace replisim::readers
