// Runs a suite and judges it.
#pragma once

#include "calibration/suites/predictor.hpp"

#include <optional>
#include <string>
#include <vector>

namespace replisim {

struct CellResult {
  double predicted = 0; ///< NaN where the run does not report the metric
  double error_pct = 0; ///< signed; NaN where it has no meaning (see error_pct())
  bool accepted = true; ///< by the cell's rule; true without one
};

/// One limit or rule, and how the suite stands to it.
struct BarResult {
  std::string name;
  std::string sentence;             ///< what is asked
  std::optional<double> limit = {}; ///< of a limit: what `value` may be at most
  double value = 0;
  std::size_t cells = 0; ///< of a rule: cells it judges, and those it accepts
  std::size_t kept = 0;
  bool ok = false;
};

struct MetricReport {
  std::string metric;
  double mape_pct = 0;        ///< of the predictions
  double noise_floor_pct = 0; ///< of one repeat predicted by the others
  double at_most_pct = 0;     ///< 0: not judged
};

/// A number that a suite's study found.
struct StudyFigure {
  std::string name;
  double value = 0;
  std::string unit;
  std::string sentence;
};

struct SuiteReport {
  Suite suite; ///< with the extra overrides in every cell
  std::vector<CellResult> cells;
  std::vector<double> derived;                       ///< predicted percentages
  std::vector<double> combined;                      ///< predicted figures of Suite::combined
  double mape_pct = 0;                               ///< over counted cells
  double max_error_pct = 0;                          ///< largest absolute error of a counted cell
  std::optional<std::size_t> fitted_parameters = {}; ///< where the suite depends on costs
  std::string profile;                               ///< names of the cells' cost profiles
  std::vector<BarResult> bars;
  std::vector<MetricReport> metrics; ///< where the suite knows the noise
  std::vector<StudyFigure> figures;  ///< of the suite's study
  std::vector<std::string> notes;    ///< sentences of it
  std::optional<bool> pass = {};     ///< none: the suite judges nothing
};

/// Predicts every cell of `suite` and judges the whole. `extra` ("path=value") is appended to the overrides
/// of every cell. Throws what loading and the simulator throw.
SuiteReport run_suite(Suite suite, const Library& library, const std::vector<std::string>& extra,
                      const Simulator& simulator);

/// Fills `bars` and `pass` from the cells, and appends `study_bars`.
void judge_again(SuiteReport& report, const std::vector<BarResult>& study_bars);

/// Judges predictions, one per cell of `suite`; `fitted_parameters` is the number the profile fitted.
SuiteReport judge_suite(Suite suite, const std::vector<double>& predictions, std::size_t fitted_parameters);

} // namespace replisim
