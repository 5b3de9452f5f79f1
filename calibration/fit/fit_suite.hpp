// Fitting cost parameters to the cells of a suite.
#pragma once

#include "calibration/fit/fit_request.hpp"
#include "calibration/fit/least_squares.hpp"
#include "calibration/suites/predictor.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace replisim {

/// One cost in a fit's result, stated as in profile files.
struct FittedCost {
  std::string name;
  double start = 0;
  double value = 0;
  double relative_interval = 0; ///< half width of the 95 % interval of log(value); 0 when held
  bool held = false;            ///< given by --fix
  int together = 0;             ///< 1, 2, ...: the factor that moves it; 0: none
};

/// A figure beside its prediction with the fitted costs.
struct FittedFigure {
  std::string id;
  double measured = 0;
  double predicted = 0;
};

struct SuiteFit {
  std::string suite;
  std::string profile; ///< name of the profile the costs belong to
  std::vector<std::string> metrics;
  std::vector<FittedCost> costs;
  std::vector<FittedFigure> cells;
  std::vector<FittedFigure> ratios; ///< second time of a derived figure over the first
  std::size_t left_out = 0;         ///< cells with too short a time to fit to
  FitSummary summary;

  double mape_pct() const;      ///< over `cells`
  double max_error_pct() const; ///< largest absolute error of `cells`
};

/// Stated costs as CostProfile stores them. Where cpu_speed changes, inherited costs follow it; what
/// the profile says it fitted itself stays as stated.
CostChanges stored_costs(const StatedCosts& stated, const CostProfile& profile);

/// Fits. Seconds up to 20 ms are left out: CPU clocks step by 10. `total_s` is taken to be known to 5 %,
/// any other metric to 8 %. Throws UsageError with a sentence for a request the suite cannot serve, and what
/// loading and the simulator throw.
SuiteFit fit_suite(const Suite& suite, const FitRequest& request, const Library& library,
                   const Simulator& simulator, const FitOptions& options = {});

} // namespace replisim
