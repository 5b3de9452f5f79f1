// Whether a profile file is what its spec gives.
#pragma once

#include "calibration/fit/calibration.hpp"

#include <string>

namespace replisim {

struct ProfileCheck {
  bool ok = false;
  std::string text; ///< one line per parameter: stated, fitted, their distance
};

/// Fits from the values of the profile `name` (a name of the library or a file) on and compares each
/// parameter with what the profile states. The profile is what the spec gives when none moves by more than 1
/// %, three digits of a file being half of one in the worst case, or by a tenth of its own uncertainty.
/// Throws what loading and the fit throw.
ProfileCheck check_profile(const Calibration& calibration, const std::string& name, const Library& library,
                           const FitOptions& options);

} // namespace replisim
