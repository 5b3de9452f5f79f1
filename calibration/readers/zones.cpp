#include "calibration/readers/zones.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

namespace replisim::readers {

std::optional<int> zone_offset(const ReadOptions& options) {
  if (options.time_zone.empty())
    return {};
  const Zone zone = parse_zone(options.time_zone);
  if (zone.knowledge == ZoneKnowledge::Unknown)
    throw UsageError(
        fmt::format("time zone '{}' is not known; allowed are UTC, an offset such as +03 or -05:30, or "
                    "an abbreviation such as CET",
                    options.time_zone));
  return zone.offset_s;
}

void say_zone(const LogClock& clock, LineInput& input) {
  switch (clock.worst_zone()) {
  case ZoneKnowledge::Known:
    return;
  case ZoneKnowledge::Ambiguous:
    return input.report_file(
        "ambiguous_zone",
        fmt::format("the time zone '{}' has several meanings; read as UTC{:+d} min, as PostgreSQL "
                    "does by default. --time-zone says which one is meant",
                    clock.worst_zone_text(), parse_zone(clock.worst_zone_text()).offset_s / 60));
  case ZoneKnowledge::Unknown:
    return input.report_file(
        "unknown_zone",
        fmt::format("the time zone '{}' is not known; read as UTC. --time-zone says what it is",
                    clock.worst_zone_text()));
  case ZoneKnowledge::Missing:
    return input.report_file("no_zone",
                             "times bear no zone; read as UTC. --time-zone says which one is meant");
  }
}

} // namespace replisim::readers
