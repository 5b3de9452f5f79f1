// A fit's result as a profile file.
#pragma once

#include "calibration/fit/calibration.hpp"

#include <string>

namespace replisim {

/// The whole text of calibration/profiles/NAME.yaml. What the figures do not determine is a guess there,
/// whatever the fit made of it.
std::string profile_text(const CalibrationResult& result);

/// A stated cost as people write it, with three digits: "7.00us", "0.200ns", "0.733" for cpu_speed.
std::string format_stated(const std::string& name, double value);

} // namespace replisim
