// A suite's report for people and for programs.
#pragma once

#include "calibration/suites/runner.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace replisim {

/// The object of `validate --format json`, keys in this order: suite, cells[] {id, measured, predicted,
/// unit, error_pct, scenario, overrides}, derived[] {id, measured, predicted, unit}, mape_pct,
/// max_error_pct, fitted_parameters (their number), profile, bars {name: {...}}, pass. A cell whose
/// repeats differ also has measured_low and measured_high. What has no meaning is null. Suites that know
/// the noise of their measurement add metrics[] {metric, mape_pct, noise_floor_pct}.
nlohmann::ordered_json suite_json(const SuiteReport& report);

/// The JSON as text, indented, with a newline at the end.
std::string suite_json_text(const SuiteReport& report);

/// Measured beside predicted beside error, then the derived percentages, then the bars.
std::string suite_table(const SuiteReport& report);

/// id,measured,predicted,unit,error_pct: cells, then derived figures (with an empty error).
std::string suite_csv(const SuiteReport& report);

} // namespace replisim
