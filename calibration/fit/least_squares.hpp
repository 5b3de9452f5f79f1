// Nonlinear least squares for cost parameters: Levenberg-Marquardt on logarithms.
//
// Costs are positive and known to a factor rather than to a difference, so the fit moves their logarithms;
// residuals are log(predicted / measured) / relative error, so that every figure counts by its relative
// error. Beyond `robust_limit` a residual counts by its size and no longer by its square (Huber, 1964). What
// is known beforehand enters as further residuals: around a start, or on any combination of logarithms.
//
// Derivatives are differences of the model. They are taken anew where a step shows them to be stale and
// corrected by Broyden's formula (1965) otherwise: a run of the model costs much, linear algebra nothing.
#pragma once

#include <Eigen/Core>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace replisim {

struct FitParameter {
  std::string name;
  double start = 0;
  double prior_spread = 0; ///< standard deviation of log(value / centre); 0: no prior
  double low = 0;          ///< the value stays within
  double high = std::numeric_limits<double>::infinity();
  double prior_centre = 0; ///< 0: the start

  double centre() const { return prior_centre > 0 ? prior_centre : start; }
};

struct FitObservation {
  std::string id;
  double measured = 0;
  double relative_error = 0.1; ///< standard deviation of log(measured); infinite: predicted, not fitted to
};

/// What is known of a combination: sum of weights * log(value) is `centre` up to `spread`.
struct FitPrior {
  std::vector<double> weights; ///< one per parameter
  double centre = 0;
  double spread = 0;
};

struct FitOptions {
  int max_iterations = 20;
  double step_for_derivatives = 0.02; ///< of a parameter's logarithm, forwards
  double smallest_improvement = 1e-4; ///< relative, of the cost, below which the fit has converged
  double robust_limit = 0; ///< residual, in its own error, from which on it counts linearly; 0: never
  /// The last step is confirmed with derivatives taken at the solution. Without it those of the start serve
  /// throughout, corrected by Broyden's formula, and steps that promise less than `smallest_improvement` are
  /// not tried.
  bool fresh_derivatives = true;
  /// Called before each iteration; may be empty.
  std::function<void(int iteration, double cost)> progress = {};
};

/// Empty, or a sentence on the first option that cannot be.
std::string problem_of(const FitOptions& options);

/// Predictions for several sets of parameter values, each in the order of the observations. One call may run
/// them side by side.
using FitModel =
    std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>& points)>;

struct FitProblem {
  std::vector<FitParameter> parameters;
  std::vector<FitObservation> observations;
  std::vector<FitPrior> priors;
  FitModel model;
};

enum class FitEnd { Converged, NoStepHelps, MostIterations };

struct FitSummary {
  std::vector<double> values; ///< per parameter
  /// Half width of the 95 % interval of log(value), from the curvature at the solution and the scatter of the
  /// residuals (taken as at least what the observations state); infinite where nothing determines the
  /// parameter.
  std::vector<double> relative_intervals;
  std::vector<double> predictions; ///< at the solution, per observation
  /// d log(prediction) / d log(value), observations by parameters.
  Eigen::MatrixXd sensitivities;
  /// Of log(value), scatter included; meaningless along directions that nothing determines.
  Eigen::MatrixXd covariance;
  double scatter = 1;     ///< root mean square residual per degree of freedom, at least 1
  double cost_before = 0; ///< half the sum of squared residuals, priors included
  double cost_after = 0;
  int iterations = 0;
  int evaluations = 0; ///< sets of parameter values predicted
  FitEnd end = FitEnd::MostIterations;
  std::string reason;                 ///< `end` in words
  std::vector<std::string> at_bounds; ///< parameters that a bound stopped
};

/// Where a fit may begin instead of at the parameters' starts. With predictions and derivatives of the same
/// problem, as a summary has them, the first step costs nothing.
struct FitBegin {
  std::vector<double> values;
  std::vector<double> predictions = {};
  Eigen::MatrixXd sensitivities = {};
};

/// Fits. Throws UsageError when there is nothing to fit or nothing to fit to, when a start, a measured
/// figure, an error or an option is not positive, and when a prediction is not positive and finite.
FitSummary fit_least_squares(const FitProblem& problem, const FitOptions& options = {},
                             const FitBegin* begin = nullptr);

/// Derivatives and residuals of the observations that count, each divided by its error: what the data alone
/// say about the parameters.
Eigen::MatrixXd weighted_sensitivities(const FitProblem& problem, const FitSummary& summary);

/// One model evaluation per call, for models that are cheap.
FitModel one_by_one(std::function<std::vector<double>(const std::vector<double>& values)> model);

} // namespace replisim
