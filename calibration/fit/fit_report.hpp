// A fit's result for people, and as part of a profile file.
#pragma once

#include "calibration/fit/fit_suite.hpp"

#include <string>

namespace replisim {

/// Parameters with intervals and plausible ranges, the course of the fit, measured beside predicted.
std::string fit_table(const SuiteFit& fit);

/// `cpu_speed:` and `parameters:` of a profile file. What was held or is undetermined is marked
/// as a guess: the fit says nothing about it.
std::string profile_snippet(const SuiteFit& fit);

} // namespace replisim
