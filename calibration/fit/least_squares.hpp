// Nonlinear least squares for cost parameters: Levenberg-Marquardt on logarithms.
//
// Costs are positive and known to a factor rather than to a difference, so the fit moves their logarithms;
// residuals are log(predicted / measured), so that every figure counts by its relative error.
// A parameter's prior is one more residual: log(value / start) / spread.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace replisim {

struct FitParameter {
  std::string name;
  double start = 0;        ///< also the prior's centre
  double prior_spread = 0; ///< standard deviation of log(value / start); 0: no prior
};

struct FitObservation {
  std::string id;
  double measured = 0;
  double relative_error = 0.1; ///< standard deviation of log(measured)
};

struct FitOptions {
  int max_iterations = 20;
  double step_for_derivatives = 0.02; ///< of a parameter's logarithm, forwards
  double smallest_improvement = 1e-4; ///< relative, of the cost, below which the fit has converged
  std::function<void(int iteration, double cost)> progress =
      {}; ///< called before each iteration; may be empty
};

struct FitSummary {
  std::vector<double> values; ///< per parameter
  /// Half width of the 95 % interval of log(value), from the curvature at the solution and the scatter of the
  /// residuals (taken as at least what the observations state); infinite where nothing determines the
  /// parameter.
  std::vector<double> relative_intervals;
  double cost_before = 0; ///< half the sum of squared residuals, priors included
  double cost_after = 0;
  int iterations = 0;
  std::string reason; ///< why it stopped
};

/// Predictions for a set of parameter values, in the order of the observations.
using FitModel = std::function<std::vector<double>(const std::vector<double>& values)>;

/// Fits `parameters` so that `model` reproduces `observations`. Throws UsageError when there is nothing to
/// fit or nothing to fit to, when a start, a measured figure, an error or an option is not positive, and when
/// a prediction is not positive and finite.
FitSummary fit_least_squares(const std::vector<FitParameter>& parameters,
                             const std::vector<FitObservation>& observations, const FitModel& model,
                             const FitOptions& options = {});

} // namespace replisim
