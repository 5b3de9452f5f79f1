#include "calibration/fit/least_squares.hpp"

#include "models/base/errors.hpp"

#include <cmath>

#include <Eigen/Dense>
#include <fmt/format.h>

namespace replisim {

namespace {
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<double> exponentials(const VectorXd& logs) {
  std::vector<double> values;
  for (const double value : logs)
    values.push_back(std::exp(value));
  return values;
}

class Problem {
public:
  Problem(const std::vector<FitParameter>& parameters, const std::vector<FitObservation>& observations,
          const FitModel& model)
      : parameters_(parameters), observations_(observations), model_(model) {}

  VectorXd residuals(const VectorXd& logs) const {
    const auto predictions = model_(exponentials(logs));
    const auto n = static_cast<Eigen::Index>(observations_.size());
    VectorXd out(n + logs.size());
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto& observation = observations_[static_cast<std::size_t>(i)];
      const double predicted = predictions.at(static_cast<std::size_t>(i));
      if (not(predicted > 0) or not std::isfinite(predicted))
        throw UsageError(
            fmt::format("{}: the prediction is {}, nothing a positive measurement can be fitted to",
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

private:
  const std::vector<FitParameter>& parameters_;
  const std::vector<FitObservation>& observations_;
  const FitModel& model_;
};
} // namespace

FitSummary fit_least_squares(const std::vector<FitParameter>& parameters,
                             const std::vector<FitObservation>& observations, const FitModel& model,
                             const FitOptions& options) {
  const Problem problem(parameters, observations, model);
  VectorXd logs(static_cast<Eigen::Index>(parameters.size()));
  for (Eigen::Index j = 0; j < logs.size(); ++j)
    logs[j] = std::log(parameters[static_cast<std::size_t>(j)].start);
  VectorXd residuals = problem.residuals(logs);
  FitSummary summary;
  summary.cost_before = 0.5 * residuals.squaredNorm();
  double cost = summary.cost_before;
  double damping = 1e-3;
  MatrixXd normal;
  summary.reason = "the largest number of iterations was reached";
  for (summary.iterations = 1; summary.iterations <= options.max_iterations; ++summary.iterations) {
    const MatrixXd jacobian = problem.jacobian(logs, residuals, options.step_for_derivatives);
    normal = jacobian.transpose() * jacobian;
    const VectorXd gradient = jacobian.transpose() * residuals;
    double improvement = 0;
    while (improvement <= 0 and damping < 1e6) {
      MatrixXd damped = normal;
      damped.diagonal() += damping * (normal.diagonal().array() + 1e-12).matrix();
      const VectorXd candidate = logs - damped.ldlt().solve(gradient);
      const VectorXd moved = problem.residuals(candidate);
      improvement = cost - 0.5 * moved.squaredNorm();
      if (improvement > 0) {
        logs = candidate;
        residuals = moved;
        cost -= improvement;
        damping /= 5;
      } else {
        damping *= 5;
      }
    }
    if (improvement <= options.smallest_improvement * cost) {
      summary.reason = improvement > 0 ? "the cost no longer falls" : "no step lowers the cost";
      break;
    }
  }
  summary.cost_after = cost;
  summary.values = exponentials(logs);
  const double degrees_of_freedom =
      std::max(1.0, static_cast<double>(observations.size()) - static_cast<double>(parameters.size()));
  const double variance = std::max(1.0, 2 * cost / degrees_of_freedom);
  const MatrixXd covariance =
      normal.ldlt().solve(MatrixXd::Identity(normal.rows(), normal.cols())) * variance;
  for (Eigen::Index j = 0; j < logs.size(); ++j)
    summary.relative_intervals.push_back(1.96 * std::sqrt(std::max(0.0, covariance(j, j))));
  return summary;
}

} // namespace replisim
