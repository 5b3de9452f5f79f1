// The zone of times that do not say their own: what the user gives, and what is said where nothing does.
#pragma once

#include "calibration/readers/log_time.hpp"
#include "calibration/readers/reader.hpp"

#include <optional>

namespace replisim::readers {

/// Of --time-zone; nothing when it was not given. Throws UsageError for a zone nobody knows.
std::optional<int> zone_offset(const ReadOptions& options);

/// Books a problem where times had a zone that is missing, unknown or ambiguous.
void say_zone(const LogClock& clock, LineInput& input);

} // namespace replisim::readers
