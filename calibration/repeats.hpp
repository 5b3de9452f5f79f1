// Repeated measurements: median, spread, and how well the repeats predict each other.
#pragma once

#include <vector>

namespace replisim {

/// Middle value; the mean of the two middle ones for an even count. Requires at least one value.
double median(std::vector<double> values);

/// Percent by which `after` lies below `before`: (before - after) / before * 100.
double improvement_pct(double before, double after);

/// Signed error of a prediction in percent of the measured value; NaN when `measured` is 0 and
/// `predicted` is not, 0 when both are 0.
double error_pct(double measured, double predicted);

/// The noise floor of one cell: for each repeat, the absolute error in percent of predicting it by
/// the median of the other repeats. Empty with fewer than two repeats; a repeat of 0 is left out.
std::vector<double> leave_one_out_errors_pct(const std::vector<double>& repeats);

} // namespace replisim
