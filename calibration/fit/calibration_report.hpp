// A fit's result for people and programs.
#pragma once

#include "calibration/fit/calibration.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace replisim {

/// One line: what was fitted to what, how well, and why the fit stopped.
std::string brief_report(const CalibrationResult& result);

/// Parameters with intervals and plausible ranges, what the figures cannot tell apart and what would, the
/// course of the fit, measured beside predicted.
std::string full_report(const CalibrationResult& result);

/// The same as an object, keys in this order: profile, suites[], parameters[] {name, start, value, low, high,
/// determined, together}, correlations[][] in their order, singular_values[], confusions[] {names[],
/// sentence, measurement}, mape_pct, max_error_pct, cells[] and ratios[] {id, measured, predicted, error_pct,
/// relative_error}, cost_before, cost_after, iterations, evaluations, stopped, converged. What has no meaning
/// is null.
nlohmann::ordered_json report_json(const CalibrationResult& result);

} // namespace replisim
