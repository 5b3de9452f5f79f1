#include "calibration/readers/log_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace replisim::readers {

namespace {

struct Abbreviation {
  std::string_view name;
  int minutes;
  bool is_ambiguous;
};

/// Zone abbreviations servers write. Of those with several meanings the one of PostgreSQL's default list
/// (src/timezone/tznames/Default) is taken, and they are marked.
constexpr std::array abbreviations = {
    Abbreviation{"UTC", 0, false},    Abbreviation{"GMT", 0, false},     Abbreviation{"Z", 0, false},
    Abbreviation{"WET", 0, false},    Abbreviation{"WEST", 60, false},   Abbreviation{"CET", 60, false},
    Abbreviation{"CEST", 120, false}, Abbreviation{"EET", 120, false},   Abbreviation{"EEST", 180, false},
    Abbreviation{"MSK", 180, false},  Abbreviation{"MSD", 240, false},   Abbreviation{"SAST", 120, false},
    Abbreviation{"PKT", 300, false},  Abbreviation{"NPT", 345, false},   Abbreviation{"ICT", 420, false},
    Abbreviation{"WIB", 420, false},  Abbreviation{"HKT", 480, false},   Abbreviation{"AWST", 480, false},
    Abbreviation{"JST", 540, false},  Abbreviation{"KST", 540, false},   Abbreviation{"ACST", 570, false},
    Abbreviation{"AEST", 600, false}, Abbreviation{"ACDT", 630, false},  Abbreviation{"AEDT", 660, false},
    Abbreviation{"NZST", 720, false}, Abbreviation{"NZDT", 780, false},  Abbreviation{"BRT", -180, false},
    Abbreviation{"ART", -180, false}, Abbreviation{"NDT", -150, false},  Abbreviation{"ADT", -180, false},
    Abbreviation{"EDT", -240, false}, Abbreviation{"EST", -300, false},  Abbreviation{"CDT", -300, true},
    Abbreviation{"MDT", -360, false}, Abbreviation{"MST", -420, true},   Abbreviation{"PDT", -420, false},
    Abbreviation{"PST", -480, true},  Abbreviation{"AKDT", -480, false}, Abbreviation{"AKST", -540, false},
    Abbreviation{"HST", -600, false}, Abbreviation{"BST", 60, true},     Abbreviation{"IST", 120, true},
    Abbreviation{"CST", -360, true},  Abbreviation{"AST", -240, true},   Abbreviation{"SGT", 480, false},
    Abbreviation{"PHT", 480, false},  Abbreviation{"GST", 240, true},    Abbreviation{"UYT", -180, false},
};

bool is_digit(char c) { return c >= '0' and c <= '9'; }
bool is_letter(char c) { return (c >= 'A' and c <= 'Z') or (c >= 'a' and c <= 'z'); }

/// The number made of `count` digits at `at`; -1 when they are none.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size())
    return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (not is_digit(text[i]))
      return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/// Length of the zone at the start of `text`: letters, or a sign and hours, minutes if any.
std::size_t zone_length(std::string_view text) {
  std::size_t length = 0;
  if (not text.empty() and (text[0] == '+' or text[0] == '-')) {
    if (digits(text, 1, 2) < 0)
      return 0;
    length = 3;
    if (digits(text, 3, 2) >= 0)
      length = 5;
    else if (text.size() > 3 and text[3] == ':' and digits(text, 4, 2) >= 0)
      length = 6;
    return length;
  }
  while (length < text.size() and is_letter(text[length]))
    ++length;
  return length <= 6 ? length : 0;
}

} // namespace

Zone parse_zone(std::string_view text) {
  if (text.empty())
    return {};
  if (text[0] == '+' or text[0] == '-') {
    const std::size_t minutes_at = text.size() == 6 ? 4 : 3;
    const int hours = digits(text, 1, 2);
    const int minutes = text.size() > 3 ? digits(text, minutes_at, 2) : 0;
    if (zone_length(text) != text.size() or hours > 15 or minutes > 59)
      return {.offset_s = 0, .knowledge = ZoneKnowledge::Unknown};
    const int offset_s = hours * 3600 + minutes * 60;
    return {.offset_s = text[0] == '-' ? -offset_s : offset_s, .knowledge = ZoneKnowledge::Known};
  }
  const auto known = std::find_if(abbreviations.begin(), abbreviations.end(),
                                  [&](const Abbreviation& each) { return each.name == text; });
  if (known == abbreviations.end())
    return {.offset_s = 0, .knowledge = ZoneKnowledge::Unknown};
  return {.offset_s = known->minutes * 60,
          .knowledge = known->is_ambiguous ? ZoneKnowledge::Ambiguous : ZoneKnowledge::Known};
}

std::optional<std::int64_t> days_since_epoch(int year, int month, int day) {
  constexpr std::array<int, 12> lengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = (year % 4 == 0 and year % 100 != 0) or year % 400 == 0;
  if (month < 1 or month > 12 or day < 1 or
      day > lengths[static_cast<std::size_t>(month - 1)] + (month == 2 and is_leap ? 1 : 0))
    return {};
  // Years that begin in March put the leap day last: Howard Hinnant, "chrono-Compatible Low-Level Date
  // Algorithms".
  const int y = month <= 2 ? year - 1 : year;
  const int era = (y >= 0 ? y : y - 399) / 400;
  const int year_of_era = y - era * 400;
  const int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<std::int64_t>(era) * 146097 + day_of_era - 719468;
}

std::size_t LogClock::read(std::string_view text, TimeUs& at_us) {
  if (text.size() < 19 or text[4] != '-' or text[7] != '-' or (text[10] != ' ' and text[10] != 'T') or
      text[13] != ':' or text[16] != ':')
    return 0;
  if (text.substr(0, 10) != date_) {
    const int year = digits(text, 0, 4);
    const auto days = days_since_epoch(year, digits(text, 5, 2), digits(text, 8, 2));
    if (year < 0 or not days)
      return 0;
    date_ = text.substr(0, 10);
    date_s_ = *days * 86400;
  }
  const int hour = digits(text, 11, 2);
  const int minute = digits(text, 14, 2);
  const int second = digits(text, 17, 2);
  if (hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 60)
    return 0;
  std::size_t length = 19;
  std::int64_t fraction_us = 0;
  if (text.size() > 20 and (text[19] == '.' or text[19] == ',') and is_digit(text[20])) {
    std::int64_t unit = 100'000;
    for (length = 20; length < text.size() and is_digit(text[length]); ++length) {
      fraction_us += (text[length] - '0') * unit;
      unit /= 10;
    }
  }
  length += read_zone(text.substr(length));
  has_read_ = true;
  at_us = (date_s_ + hour * 3600 + minute * 60 + second - offset_s_) * 1'000'000 + fraction_us;
  return length;
}

std::size_t LogClock::read_zone(std::string_view text) {
  const std::size_t blank = not text.empty() and text[0] == ' ' ? 1 : 0;
  std::string_view zone = text.substr(blank);
  zone = zone.substr(0, zone_length(zone));
  // A word that is no zone (a severity, a host) belongs to what follows the time.
  if (blank == 1 and not zone.empty() and is_letter(zone[0]) and zone.size() < text.size() - 1 and
      text[1 + zone.size()] == ':' and text.substr(1 + zone.size()).starts_with(":  "))
    zone = {};
  if (zone != zone_text_) {
    zone_text_ = zone;
    const Zone found = parse_zone(zone);
    const bool is_replaced = found.knowledge != ZoneKnowledge::Known and zone_offset_s_.has_value();
    offset_s_ = is_replaced ? *zone_offset_s_ : found.offset_s;
    if (not is_replaced and found.knowledge > worst_) {
      worst_ = found.knowledge;
      worst_text_ = zone;
    }
  }
  return zone.empty() ? 0 : blank + zone.size();
}

std::string format_time(TimeUs at_us) {
  const std::int64_t day_us = 86'400'000'000;
  const std::int64_t days = at_us >= 0 ? at_us / day_us : -((-at_us + day_us - 1) / day_us);
  const std::int64_t us = at_us - days * day_us;
  // The inverse of days_since_epoch(), from the same source.
  const std::int64_t z = days + 719468;
  const std::int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const std::int64_t day_of_era = z - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const std::int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  const std::int64_t s = us / 1'000'000;
  const std::int64_t part_us = us % 1'000'000;
  const std::string fraction =
      part_us % 1000 == 0 ? fmt::format("{:03}", part_us / 1000) : fmt::format("{:06}", part_us);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{} UTC", year, month, day, s / 3600, s / 60 % 60,
                     s % 60, fraction);
}

} // namespace replisim::readers
