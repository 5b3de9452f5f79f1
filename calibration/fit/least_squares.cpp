#include "calibration/fit/least_squares.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace replisim {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double first_damping = 1e-3;
constexpr double smallest_damping = 1e-9;
constexpr double largest_damping = 1e6; // steps are far below the resolution of any simulation by then
constexpr double damping_factor = 5;
constexpr double longest_step = 1;         // of a logarithm: no value moves by more than e in one step
constexpr double good_gain = 0.5;          // share of the promised fall below which derivatives are stale
constexpr int most_tries_with_old = 3;     // steps that old derivatives may fail with, where they have to do
constexpr double undetermined = 1e-10;     // eigenvalue of the curvature, relative to the largest
constexpr double normal_95_pct = 1.959964; // quantile of the standard normal distribution

std::size_t at(Index index) { return static_cast<std::size_t>(index); }
Index size_of(const auto& list) { return static_cast<Index>(list.size()); }

std::vector<double> exponentials(const VectorXd& logs) {
  std::vector<double> values;
  for (const double value : logs)
    values.push_back(std::exp(value));
  return values;
}

bool is_positive(double value) { return value > 0 and std::isfinite(value); }

void require_positive(double value, const std::string& what) {
  if (not is_positive(value))
    throw UsageError(fmt::format("{} is {:g}; it must be a positive number", what, value));
}

void check_input(const FitProblem& problem, const FitOptions& options) {
  if (problem.parameters.empty())
    throw UsageError("there is no parameter to fit");
  if (problem.observations.empty())
    throw UsageError("there is no measured figure to fit to");
  for (const FitParameter& parameter : problem.parameters) {
    require_positive(parameter.start, parameter.name + ": the start");
    if (not(parameter.prior_spread >= 0) or not std::isfinite(parameter.prior_spread))
      throw UsageError(fmt::format("{}: the spread is {:g}; it must be a positive number, or 0 for no prior",
                                   parameter.name, parameter.prior_spread));
    if (parameter.start < parameter.low or parameter.start > parameter.high)
      throw UsageError(fmt::format("{}: the start is {:g}, outside of {:g} to {:g}", parameter.name,
                                   parameter.start, parameter.low, parameter.high));
  }
  for (const FitObservation& observation : problem.observations) {
    require_positive(observation.measured, observation.id + ": the measured figure");
    if (not(observation.relative_error > 0))
      require_positive(observation.relative_error, observation.id + ": the relative error");
  }
  for (const FitPrior& prior : problem.priors) {
    require_positive(prior.spread, "the spread of a prior");
    REPLISIM_REQUIRE(prior.weights.size() == problem.parameters.size(), "{} weights for {} parameters",
                     prior.weights.size(), problem.parameters.size());
  }
  if (const std::string sentence = problem_of(options); not sentence.empty())
    throw UsageError(sentence);
}

/// Predictions in logarithms at one point.
struct Point {
  VectorXd logs;
  VectorXd predicted; ///< logarithms
};

class Fit {
public:
  Fit(const FitProblem& problem, const FitOptions& options) : problem_(problem), options_(options) {}

  FitSummary run(const FitBegin* begin) {
    FitSummary summary;
    Point point = begin != nullptr ? taken(*begin) : evaluated(start());
    sensitivities_ = begin != nullptr ? begin->sensitivities : MatrixXd();
    is_fresh_ = false;
    summary.cost_before = cost(point);
    iterate(point, summary);
    if (options_.fresh_derivatives and not is_fresh_)
      differentiate(point);
    summarise(point, summary);
    return summary;
  }

private:
  /// Rows of observations: residual and derivatives over the error, robust weight included.
  void weighted(const Point& point, MatrixXd& rows, VectorXd& residuals) const {
    const Index n = size_of(problem_.observations);
    rows = MatrixXd::Zero(n, size_of(problem_.parameters));
    residuals = VectorXd::Zero(n);
    for (Index i = 0; i < n; ++i) {
      const double z = residual(point, i);
      const double limit = options_.robust_limit;
      const double weight = limit > 0 and std::abs(z) > limit ? std::sqrt(limit / std::abs(z)) : 1.0;
      residuals[i] = z * weight;
      rows.row(i) = sensitivities_.row(i) * (weight / problem_.observations[at(i)].relative_error);
    }
  }

  VectorXd start() const {
    VectorXd logs(size_of(problem_.parameters));
    for (Index j = 0; j < logs.size(); ++j)
      logs[j] = std::log(problem_.parameters[at(j)].start);
    return logs;
  }

  VectorXd checked(const std::vector<double>& predictions) const {
    const Index n = size_of(problem_.observations);
    REPLISIM_REQUIRE(size_of(predictions) == n, "{} predictions for {} observations", predictions.size(), n);
    VectorXd logs(n);
    for (Index i = 0; i < n; ++i) {
      if (not is_positive(predictions[at(i)]))
        throw UsageError(
            fmt::format("{}: the prediction is {:g}, nothing a positive measurement can be fitted to",
                        problem_.observations[at(i)].id, predictions[at(i)]));
      logs[i] = std::log(predictions[at(i)]);
    }
    return logs;
  }

  Point taken(const FitBegin& begin) {
    VectorXd logs(size_of(begin.values));
    for (Index j = 0; j < logs.size(); ++j)
      logs[j] = std::log(begin.values[at(j)]);
    return begin.predictions.empty() ? evaluated(bounded(logs)) : Point{logs, checked(begin.predictions)};
  }

  Point evaluated(const VectorXd& logs) {
    ++evaluations_;
    const auto predictions = problem_.model({exponentials(logs)});
    REPLISIM_REQUIRE(predictions.size() == 1, "{} answers of the model for one point", predictions.size());
    return {logs, checked(predictions.front())};
  }

  void differentiate(const Point& point) {
    std::vector<std::vector<double>> points;
    for (Index j = 0; j < point.logs.size(); ++j) {
      VectorXd moved = point.logs;
      moved[j] += options_.step_for_derivatives;
      points.push_back(exponentials(moved));
    }
    const auto predictions = problem_.model(points);
    REPLISIM_REQUIRE(predictions.size() == points.size(), "{} answers of the model for {} points",
                     predictions.size(), points.size());
    evaluations_ += static_cast<int>(points.size());
    sensitivities_.resize(size_of(problem_.observations), point.logs.size());
    for (Index j = 0; j < point.logs.size(); ++j)
      sensitivities_.col(j) = (checked(predictions[at(j)]) - point.predicted) / options_.step_for_derivatives;
    is_fresh_ = true;
  }

  double residual(const Point& point, Index i) const {
    const FitObservation& observation = problem_.observations[at(i)];
    return (point.predicted[i] - std::log(observation.measured)) / observation.relative_error;
  }

  /// Priors as rows: derivatives and residuals.
  void prior_rows(const VectorXd& logs, MatrixXd& rows, VectorXd& residuals) const {
    const Index p = logs.size();
    const Index q = size_of(problem_.priors);
    rows = MatrixXd::Zero(p + q, p);
    residuals = VectorXd::Zero(p + q);
    for (Index j = 0; j < p; ++j) {
      const FitParameter& parameter = problem_.parameters[at(j)];
      if (parameter.prior_spread <= 0)
        continue;
      rows(j, j) = 1 / parameter.prior_spread;
      residuals[j] = (logs[j] - std::log(parameter.centre())) / parameter.prior_spread;
    }
    for (Index k = 0; k < q; ++k) {
      const FitPrior& prior = problem_.priors[at(k)];
      rows.row(p + k) = Eigen::Map<const VectorXd>(prior.weights.data(), p).transpose() / prior.spread;
      residuals[p + k] = rows.row(p + k).dot(logs) - prior.centre / prior.spread;
    }
  }

  double cost(const Point& point) const {
    double sum = 0;
    const double limit = options_.robust_limit;
    for (Index i = 0; i < point.predicted.size(); ++i) {
      const double z = std::abs(residual(point, i));
      sum += limit > 0 and z > limit ? limit * (z - limit / 2) : z * z / 2;
    }
    MatrixXd rows;
    VectorXd residuals;
    prior_rows(point.logs, rows, residuals);
    return sum + residuals.squaredNorm() / 2;
  }

  /// Curvature and gradient of the cost.
  void curvature(const Point& point, MatrixXd& normal, VectorXd& gradient) const {
    MatrixXd rows;
    VectorXd residuals;
    weighted(point, rows, residuals);
    normal = rows.transpose() * rows;
    gradient = rows.transpose() * residuals;
    prior_rows(point.logs, rows, residuals);
    normal += rows.transpose() * rows;
    gradient += rows.transpose() * residuals;
  }

  VectorXd bounded(VectorXd logs) const {
    for (Index j = 0; j < logs.size(); ++j) {
      const FitParameter& parameter = problem_.parameters[at(j)];
      if (parameter.low > 0)
        logs[j] = std::max(logs[j], std::log(parameter.low));
      logs[j] = std::min(logs[j], std::log(parameter.high));
    }
    return logs;
  }

  /// The damped step. A parameter that a bound holds back takes no part, so that the others move as they
  /// should without it.
  VectorXd step(const Point& point, MatrixXd normal, VectorXd gradient, double damping) const {
    for (Index j = 0; j < gradient.size(); ++j) {
      const FitParameter& parameter = problem_.parameters[at(j)];
      const bool is_held =
          (gradient[j] > 0 and parameter.low > 0 and point.logs[j] <= std::log(parameter.low)) or
          (gradient[j] < 0 and point.logs[j] >= std::log(parameter.high));
      if (not is_held)
        continue;
      normal.row(j).setZero();
      normal.col(j).setZero();
      gradient[j] = 0;
    }
    const MatrixXd damped =
        normal + MatrixXd((damping * normal.diagonal().array() + 1e-12).matrix().asDiagonal());
    const VectorXd free = damped.ldlt().solve(gradient).cwiseMax(-longest_step).cwiseMin(longest_step);
    return bounded(point.logs - free) - point.logs;
  }

  /// Tries steps of growing damping until one lowers the cost. False when none does, or, with derivatives
  /// that stay, when the first one promises too little to be worth its runs.
  bool improve(Point& point) {
    MatrixXd normal;
    VectorXd gradient;
    curvature(point, normal, gradient);
    const double before = cost(point);
    int tries = 0;
    for (; damping_ <= largest_damping; damping_ *= damping_factor) {
      const VectorXd move = step(point, normal, gradient, damping_);
      const double promised = -gradient.dot(move) - move.dot(normal * move) / 2;
      const bool is_worth = options_.fresh_derivatives or promised > options_.smallest_improvement * before;
      if (move.norm() == 0 or not is_worth)
        return false;
      const Point moved = evaluated(point.logs + move);
      if (const double after = cost(moved); after < before) {
        gain_ = promised > 0 ? (before - after) / promised : 0;
        sensitivities_ += (moved.predicted - point.predicted - sensitivities_ * move) * move.transpose() /
                          move.squaredNorm();
        point = moved;
        is_fresh_ = false;
        damping_ = std::max(damping_ / damping_factor, smallest_damping);
        return true;
      }
      const int most_tries = options_.fresh_derivatives ? 1 : most_tries_with_old;
      if (not is_fresh_ and ++tries >= most_tries)
        return false; // better derivatives before shorter steps
    }
    return false;
  }

  void iterate(Point& point, FitSummary& summary) {
    bool is_stale = sensitivities_.size() == 0;
    while (summary.iterations < options_.max_iterations) {
      if (options_.progress)
        options_.progress(summary.iterations + 1, cost(point));
      ++summary.iterations;
      if (is_stale)
        differentiate(point);
      const bool was_fresh = is_fresh_;
      const double before = cost(point);
      const bool improved = improve(point);
      const bool is_small = before - cost(point) <= options_.smallest_improvement * before;
      is_stale = options_.fresh_derivatives and not was_fresh and (not improved or is_small);
      if (not is_stale and (not improved or is_small)) {
        summary.end = improved ? FitEnd::Converged : FitEnd::NoStepHelps;
        return;
      }
      is_stale = is_stale or (options_.fresh_derivatives and gain_ < good_gain);
    }
  }

  /// Residuals that count, priors included, beyond the number of parameters; at least 1.
  double degrees_of_freedom() const {
    const auto counted =
        std::count_if(problem_.observations.begin(), problem_.observations.end(),
                      [](const FitObservation& one) { return std::isfinite(one.relative_error); }) +
        std::count_if(problem_.parameters.begin(), problem_.parameters.end(),
                      [](const FitParameter& parameter) { return parameter.prior_spread > 0; }) +
        std::ssize(problem_.priors) - std::ssize(problem_.parameters);
    return std::max(1.0, static_cast<double>(counted));
  }

  /// Half widths and covariance from the inverse of the curvature. A direction the residuals do not depend on
  /// leaves every parameter with a part in it undetermined.
  void uncertainty(const MatrixXd& normal, FitSummary& summary) const {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(normal);
    const VectorXd& curvatures = solver.eigenvalues();
    const MatrixXd& vectors = solver.eigenvectors();
    const double flat = undetermined * std::max(curvatures.maxCoeff(), std::numeric_limits<double>::min());
    const double variance = summary.scatter * summary.scatter;
    VectorXd inverse = VectorXd::Zero(curvatures.size());
    for (Index k = 0; k < curvatures.size(); ++k)
      inverse[k] = curvatures[k] > flat ? variance / curvatures[k] : 0.0;
    summary.covariance = vectors * inverse.asDiagonal() * vectors.transpose();
    for (Index j = 0; j < curvatures.size(); ++j) {
      double width = normal_95_pct * std::sqrt(summary.covariance(j, j));
      for (Index k = 0; k < curvatures.size(); ++k)
        if (curvatures[k] <= flat and vectors(j, k) * vectors(j, k) > undetermined)
          width = std::numeric_limits<double>::infinity();
      summary.relative_intervals.push_back(width);
    }
  }

  void summarise(const Point& point, FitSummary& summary) const {
    summary.values = exponentials(point.logs);
    summary.predictions = exponentials(point.predicted);
    summary.sensitivities = sensitivities_;
    summary.cost_after = cost(point);
    summary.evaluations = evaluations_;
    summary.reason = summary.end == FitEnd::Converged     ? "the cost no longer falls"
                     : summary.end == FitEnd::NoStepHelps ? "no step lowers the cost"
                                                          : "the largest number of iterations was reached";
    summary.scatter = std::sqrt(std::max(1.0, 2 * summary.cost_after / degrees_of_freedom()));
    for (std::size_t j = 0; j < summary.values.size(); ++j) {
      const FitParameter& parameter = problem_.parameters[j];
      const double rounding = 1e-9 * summary.values[j];
      if (summary.values[j] <= parameter.low + rounding or summary.values[j] >= parameter.high - rounding)
        summary.at_bounds.push_back(parameter.name);
    }
    MatrixXd normal;
    VectorXd gradient;
    curvature(point, normal, gradient);
    uncertainty(normal, summary);
  }

  const FitProblem& problem_;
  const FitOptions& options_;
  MatrixXd sensitivities_;
  bool is_fresh_ = false; ///< the derivatives were taken at the point where the fit stands
  double damping_ = first_damping;
  double gain_ = 1; ///< fall of the cost in the last step over what the derivatives had promised
  int evaluations_ = 0;
};

} // namespace

std::string problem_of(const FitOptions& options) {
  const auto positive = [](double value, const std::string& what) {
    return is_positive(value) ? std::string()
                              : fmt::format("{} is {:g}; it must be a positive number", what, value);
  };
  for (const std::string& sentence : {positive(options.max_iterations, "the largest number of iterations"),
                                      positive(options.step_for_derivatives, "the step for derivatives"),
                                      positive(options.smallest_improvement, "the smallest improvement")})
    if (not sentence.empty())
      return sentence;
  return options.robust_limit >= 0 and std::isfinite(options.robust_limit)
             ? std::string()
             : fmt::format("the robust limit is {:g}; it must be a positive number, or 0 for none",
                           options.robust_limit);
}

FitSummary fit_least_squares(const FitProblem& problem, const FitOptions& options, const FitBegin* begin) {
  check_input(problem, options);
  return Fit(problem, options).run(begin);
}

Eigen::MatrixXd weighted_sensitivities(const FitProblem& problem, const FitSummary& summary) {
  MatrixXd rows = summary.sensitivities;
  for (Index i = 0; i < rows.rows(); ++i)
    rows.row(i) /= problem.observations[at(i)].relative_error;
  return rows;
}

FitModel one_by_one(std::function<std::vector<double>(const std::vector<double>& values)> model) {
  return [model = std::move(model)](const std::vector<std::vector<double>>& points) {
    std::vector<std::vector<double>> out;
    for (const auto& values : points)
      out.push_back(model(values));
    return out;
  };
}

} // namespace replisim
