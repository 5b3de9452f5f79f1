#include "calibration/fit/least_squares.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Dense>
#include <fmt/format.h>

namespace replisim {

namespace {
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double first_damping = 1e-3;
constexpr double largest_damping = 1e6; // steps are far below the resolution of any simulation by then
constexpr double damping_factor = 5;
constexpr double longest_step = 1;         // of a logarithm: no value moves by more than e in one step
constexpr double undetermined = 1e-10;     // eigenvalue of the curvature, relative to the largest
constexpr double normal_95_pct = 1.959964; // quantile of the standard normal distribution

std::vector<double> exponentials(const VectorXd& logs) {
  std::vector<double> values;
  for (const double value : logs)
    values.push_back(std::exp(value));
  return values;
}

void require_positive(double value, const std::string& what) {
  if (not(value > 0) or not std::isfinite(value))
    throw UsageError(fmt::format("{} is {:g}; it must be a positive number", what, value));
}

void check_input(const std::vector<FitParameter>& parameters, const std::vector<FitObservation>& observations,
                 const FitOptions& options) {
  if (parameters.empty())
    throw UsageError("there is no parameter to fit");
  if (observations.empty())
    throw UsageError("there is no measured figure to fit to");
  for (const FitParameter& parameter : parameters) {
    require_positive(parameter.start, parameter.name + ": the start");
    if (not(parameter.prior_spread >= 0) or not std::isfinite(parameter.prior_spread))
      throw UsageError(fmt::format("{}: the spread is {:g}; it must be a positive number, or 0 for no prior",
                                   parameter.name, parameter.prior_spread));
  }
  for (const FitObservation& observation : observations) {
    require_positive(observation.measured, observation.id + ": the measured figure");
    require_positive(observation.relative_error, observation.id + ": the relative error");
  }
  require_positive(options.max_iterations, "the largest number of iterations");
  require_positive(options.step_for_derivatives, "the step for derivatives");
  require_positive(options.smallest_improvement, "the smallest improvement");
}

class Problem {
public:
  Problem(const std::vector<FitParameter>& parameters, const std::vector<FitObservation>& observations,
          const FitModel& model)
      : parameters_(parameters), observations_(observations), model_(model) {}

  VectorXd residuals(const VectorXd& logs) const {
    const auto predictions = model_(exponentials(logs));
    REPLISIM_REQUIRE(predictions.size() == observations_.size(), "{} predictions for {} observations",
                     predictions.size(), observations_.size());
    const auto n = static_cast<Eigen::Index>(observations_.size());
    VectorXd out(n + logs.size());
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto& observation = observations_[static_cast<std::size_t>(i)];
      const double predicted = predictions[static_cast<std::size_t>(i)];
      if (not(predicted > 0) or not std::isfinite(predicted))
        throw UsageError(
            fmt::format("{}: the prediction is {:g}, nothing a positive measurement can be fitted to",
                        observation.id, predicted));
      out[i] = std::log(predicted / observation.measured) / observation.relative_error;
    }
    for (Eigen::Index j = 0; j < logs.size(); ++j) {
      const auto& parameter = parameters_[static_cast<std::size_t>(j)];
      out[n + j] =
          parameter.prior_spread > 0 ? (logs[j] - std::log(parameter.start)) / parameter.prior_spread : 0.0;
    }
    return out;
  }

  MatrixXd jacobian(const VectorXd& logs, const VectorXd& at, double step) const {
    MatrixXd out(at.size(), logs.size());
    for (Eigen::Index j = 0; j < logs.size(); ++j) {
      VectorXd moved = logs;
      moved[j] += step;
      out.col(j) = (residuals(moved) - at) / step;
    }
    return out;
  }

  VectorXd start() const {
    VectorXd logs(static_cast<Eigen::Index>(parameters_.size()));
    for (Eigen::Index j = 0; j < logs.size(); ++j)
      logs[j] = std::log(parameters_[static_cast<std::size_t>(j)].start);
    return logs;
  }

  /// Residuals, priors included, beyond the number of parameters; at least 1.
  double degrees_of_freedom() const {
    const auto priors =
        std::count_if(parameters_.begin(), parameters_.end(),
                      [](const FitParameter& parameter) { return parameter.prior_spread > 0; });
    return std::max(1.0, static_cast<double>(observations_.size()) + static_cast<double>(priors) -
                             static_cast<double>(parameters_.size()));
  }

private:
  const std::vector<FitParameter>& parameters_;
  const std::vector<FitObservation>& observations_;
  const FitModel& model_;
};

/// Where the fit stands.
struct Point {
  VectorXd logs;
  VectorXd residuals;
  double cost() const { return 0.5 * residuals.squaredNorm(); }
};

/// One damped Gauss-Newton step that lowers the cost, with as much damping as that takes; false when there is
/// none. The damping falls after a success, so that the last steps are nearly undamped.
bool improve(const Problem& problem, const MatrixXd& jacobian, Point& point, double& damping) {
  const MatrixXd normal = jacobian.transpose() * jacobian;
  const VectorXd gradient = jacobian.transpose() * point.residuals;
  while (damping < largest_damping) {
    MatrixXd damped = normal;
    damped.diagonal() += (damping * normal.diagonal().array() + 1e-12).matrix();
    const VectorXd step = damped.ldlt().solve(gradient).cwiseMax(-longest_step).cwiseMin(longest_step);
    Point moved{point.logs - step, {}};
    moved.residuals = problem.residuals(moved.logs);
    if (moved.cost() < point.cost()) {
      point = std::move(moved);
      damping /= damping_factor;
      return true;
    }
    damping *= damping_factor;
  }
  return false;
}

/// Half widths from the inverse of the curvature. A direction the residuals do not depend on leaves every
/// parameter with a part in it undetermined.
std::vector<double> half_widths(const MatrixXd& jacobian, double variance) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(jacobian.transpose() * jacobian);
  const VectorXd& curvatures = solver.eigenvalues();
  const double flat = undetermined * std::max(curvatures.maxCoeff(), std::numeric_limits<double>::min());
  std::vector<double> widths;
  for (Eigen::Index j = 0; j < curvatures.size(); ++j) {
    double sum = 0;
    for (Eigen::Index k = 0; k < curvatures.size(); ++k) {
      const double part = solver.eigenvectors()(j, k) * solver.eigenvectors()(j, k);
      if (curvatures[k] > flat)
        sum += part / curvatures[k];
      else if (part > undetermined)
        sum = std::numeric_limits<double>::infinity();
    }
    widths.push_back(normal_95_pct * std::sqrt(sum * variance));
  }
  return widths;
}
} // namespace

FitSummary fit_least_squares(const std::vector<FitParameter>& parameters,
                             const std::vector<FitObservation>& observations, const FitModel& model,
                             const FitOptions& options) {
  check_input(parameters, observations, options);
  const Problem problem(parameters, observations, model);
  Point point{problem.start(), {}};
  point.residuals = problem.residuals(point.logs);
  FitSummary summary;
  summary.cost_before = point.cost();
  summary.reason = "the largest number of iterations was reached";
  double damping = first_damping;
  MatrixXd jacobian;
  while (summary.iterations < options.max_iterations) {
    if (options.progress)
      options.progress(summary.iterations + 1, point.cost());
    ++summary.iterations;
    jacobian = problem.jacobian(point.logs, point.residuals, options.step_for_derivatives);
    const double before = point.cost();
    const bool improved = improve(problem, jacobian, point, damping);
    if (not improved or before - point.cost() <= options.smallest_improvement * before) {
      summary.reason = improved ? "the cost no longer falls" : "no step lowers the cost";
      break;
    }
  }
  summary.cost_after = point.cost();
  summary.values = exponentials(point.logs);
  jacobian = problem.jacobian(point.logs, point.residuals, options.step_for_derivatives);
  const double variance = std::max(1.0, 2 * point.cost() / problem.degrees_of_freedom());
  summary.relative_intervals = half_widths(jacobian, variance);
  return summary;
}

} // namespace replisim
