// How well a profile's costs predict what they were not fitted to: leave figures out, fit again, predict
// them.
#pragma once

#include "calibration/fit/calibration.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace replisim {

/// One prediction of a figure that the fit did not see, with its 90 % interval: the uncertainty of the
/// parameters and the noise of a measurement together.
struct HeldOutCell {
  std::string id;
  std::string unit;
  double measured = 0;
  double predicted = 0;
  double low = 0;
  double high = 0;

  bool covered() const { return measured >= low and measured <= high; }
};

struct FoldResult {
  std::string name;
  double in_sample_mape_pct = 0; ///< of the same cells in the fit to everything
  double mape_pct = 0;
  double max_error_pct = 0;
  std::size_t covered = 0;
  std::vector<HeldOutCell> cells;
};

struct FoldBar {
  std::string sentence = {};
  double value = 0;
  double at_most = 0;
  bool ok = false;
};

struct CrossValidation {
  std::string suite;
  std::string profile;
  double in_sample_mape_pct = 0;
  double in_sample_max_pct = 0;
  std::vector<FoldResult> folds = {};
  double coverage_pct = 0; ///< of the 90 % intervals, over all folds
  std::vector<FoldBar> bars = {};

  bool pass() const;
};

/// The folds of a suite: cells that share the first part of their ids (the scenario), then the second (the
/// setting), then what the suite adds. A fold that would leave nothing to fit to is left out, and so is one
/// without any cell that the spec fits to.
std::vector<Fold> folds_of(const Suite& suite, const std::vector<Cell>& fitted);

/// Fits to everything from `start` on (the costs a profile states), then without each fold in turn. The
/// refits begin at the solution and use its derivatives as long as steps made with them lower the cost.
/// Throws what the fit throws, and UsageError when no fold is left.
CrossValidation cross_validate(const Suite& suite, const Calibration& calibration, const CostProfile& start,
                               FitOptions options);

/// The calibration of the profile that the cells of a suite use. Throws UsageError when there is no spec for
/// it, or the spec does not fit to the suite.
CalibrationSpec spec_for(const Suite& suite, const Library& library);

std::string cross_validation_table(const CrossValidation& result);

/// Keys in this order: suite, profile, in_sample {mape_pct, max_error_pct}, folds[] {name, cells[] {id,
/// measured, predicted, low, high, unit, error_pct, covered}, in_sample_mape_pct, mape_pct, max_error_pct,
/// covered}, coverage_pct, bars[] {rule, value, limit, ok}, pass.
nlohmann::ordered_json cross_validation_json(const CrossValidation& result);

/// fold,id,measured,predicted,low,high,unit,error_pct
std::string cross_validation_csv(const CrossValidation& result);

} // namespace replisim
