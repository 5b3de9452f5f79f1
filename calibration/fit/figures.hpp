// From a spec's choice of a suite's cells to what a fit minimises.
#pragma once

#include "calibration/fit/least_squares.hpp"
#include "calibration/fit/spec.hpp"
#include "calibration/suites/suite.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace replisim {

/// A suite's improvement as a ratio of two figures; indexes into Figures::cells.
struct FigureRatio {
  std::size_t before = 0;
  std::size_t after = 0;
  FitObservation observation;
};

struct Figures {
  std::vector<Cell> cells;
  std::vector<FitObservation> observations; ///< one per cell
  std::vector<FigureRatio> ratios;
  std::size_t left_out = 0; ///< cells with too short a time to fit to
};

/// The cells of `suite` that `data` names. Where `profile` is given, they run with it, whatever their
/// scenarios say: the profile that is made may not exist yet.
///
/// A figure's error joins the spec's, the step of CPU clocks (10 ms) or what else the cell's
/// reading leaves open, and the spread of repeats. The spread is
/// that of all repeats of a metric together, for two or three repeats say little about their own; a median of
/// n is known sqrt(n) times better. CPU seconds up to 20 ms and zeros are left out. Throws UsageError with a
/// sentence where the suite does not have what the spec names.
Figures select_figures(const CalibrationData& data, const Suite& suite, const std::string& profile);

/// Standard deviation of the logarithm of one measurement, pooled over all cells of a metric with repeats; 0
/// without any.
double pooled_spread(const Suite& suite, const std::string& metric);

} // namespace replisim
