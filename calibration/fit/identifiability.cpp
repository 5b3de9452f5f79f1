#include "calibration/fit/identifiability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace replisim {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Standard deviations of a logarithm.
constexpr double well = 0.05;
constexpr double fairly = 0.15;
constexpr double unknown = 0.25;     ///< by the data alone: a factor of 1.6 at 95 %
constexpr double untouched = 0.9;    ///< share of the prior's spread that is left
constexpr double much_worse = 2.5;   ///< a companion widens the interval so much: the two are confused
constexpr double notable_part = 0.3; ///< of a direction of length 1
constexpr double example = 0.10;     ///< the rise that a sentence speaks of

std::size_t at(Index index) { return static_cast<std::size_t>(index); }

std::string word_for(double prior_spread, double spread) {
  if (not std::isfinite(spread))
    return "not at all";
  if (prior_spread > 0 and spread > untouched * prior_spread)
    return "by the prior alone";
  return spread <= well ? "well" : spread <= fairly ? "fairly" : "weakly";
}

/// "rises by 10 %", "falls by 7 %".
std::string movement(double change) {
  return fmt::format("{} by {:.0f} %", change > 0 ? "rises" : "falls", 100 * std::abs(std::expm1(change)));
}

class Analysis {
public:
  Analysis(const FitProblem& problem, MatrixXd rows, double scatter,
           const std::function<std::string(const std::string&)>& measurement)
      : problem_(problem), rows_(std::move(rows)), scatter_(scatter), measurement_(measurement) {}

  std::vector<Confusion> confusions() {
    for (Index i = 0; i < rows_.cols(); ++i)
      if (alone(i) > unknown)
        add_single(i);
    for (Index i = 0; i < rows_.cols(); ++i)
      for (Index j = i + 1; j < rows_.cols(); ++j)
        if (alone(i) <= unknown and alone(j) <= unknown)
          add_pair_if_confused(i, j);
    add_directions();
    return std::move(found_);
  }

private:
  std::string name(Index j) const { return problem_.parameters[at(j)].name; }

  /// Spread of a parameter if all others were known.
  double alone(Index j) const {
    const double length = rows_.col(j).norm();
    return length > 0 ? scatter_ / length : std::numeric_limits<double>::infinity();
  }

  void add_single(Index i) {
    found_.push_back({{name(i)},
                      fmt::format("the figures hardly depend on {}: nothing here determines it", name(i)),
                      measurement_(name(i))});
    explained_.insert(i);
  }

  void add_pair_if_confused(Index i, Index j) {
    const double a = rows_.col(i).norm();
    const double b = rows_.col(j).norm();
    const double cosine = rows_.col(i).dot(rows_.col(j)) / (a * b);
    const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
    const double together =
        sine > 0 ? scatter_ / (std::max(a, b) * sine) : std::numeric_limits<double>::infinity();
    if (together < fairly or together < much_worse * scatter_ / std::min(a, b))
      return;
    found_.push_back(
        {{name(i), name(j)},
         fmt::format("{} and {} show only together: no figure tells whether the first {} and the "
                     "second {}",
                     name(i), name(j), movement(std::log1p(example)),
                     movement(-cosine * a / b * std::log1p(example))),
         measurement_(name(i))});
    explained_.insert(i);
    explained_.insert(j);
  }

  /// Combinations of three and more.
  void add_directions() {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(rows_.transpose() * rows_);
    for (Index k = 0; k < rows_.cols(); ++k) {
      if (std::sqrt(std::max(0.0, solver.eigenvalues()[k])) * unknown > scatter_)
        continue;
      std::vector<std::string> names;
      std::vector<std::string> parts;
      bool is_new = false;
      const VectorXd direction = solver.eigenvectors().col(k);
      Index largest = 0;
      direction.cwiseAbs().maxCoeff(&largest);
      for (Index j = 0; j < direction.size(); ++j) {
        const double part = direction[j] / direction[largest];
        if (std::abs(part) < notable_part)
          continue;
        names.push_back(name(j));
        parts.push_back(fmt::format("{} {}", name(j), movement(part * std::log1p(example))));
        is_new = is_new or not explained_.contains(j);
      }
      if (is_new and names.size() > 1)
        found_.push_back(
            {names, fmt::format("only in combination: no figure tells whether {}", fmt::join(parts, ", ")),
             measurement_(name(largest))});
    }
  }

  const FitProblem& problem_;
  MatrixXd rows_;
  double scatter_;
  const std::function<std::string(const std::string&)>& measurement_;
  std::vector<Confusion> found_;
  std::set<Index> explained_;
};

} // namespace

Identifiability identify(const FitProblem& problem, const FitSummary& summary,
                         const std::function<std::string(const std::string& name)>& measurement) {
  Identifiability out;
  const MatrixXd rows = weighted_sensitivities(problem, summary);
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(rows.transpose() * rows, Eigen::EigenvaluesOnly);
  for (Index k = rows.cols() - 1; k >= 0; --k)
    out.singular_values.push_back(std::sqrt(std::max(0.0, solver.eigenvalues()[k])));
  for (std::size_t j = 0; j < problem.parameters.size(); ++j) {
    const double interval = summary.relative_intervals[j];
    const auto index = static_cast<Index>(j);
    const double spread = std::isfinite(interval) ? std::sqrt(summary.covariance(index, index)) : interval;
    const double prior = problem.parameters[j].prior_spread;
    out.parameters.push_back({problem.parameters[j].name, prior, spread, word_for(prior, spread)});
  }
  for (Index i = 0; i < rows.cols(); ++i) {
    auto& row = out.correlations.emplace_back();
    for (Index j = 0; j < rows.cols(); ++j) {
      const double spreads = std::sqrt(summary.covariance(i, i) * summary.covariance(j, j));
      const bool known = std::isfinite(summary.relative_intervals[static_cast<std::size_t>(i)]) and
                         std::isfinite(summary.relative_intervals[static_cast<std::size_t>(j)]);
      row.push_back(known and spreads > 0 ? summary.covariance(i, j) / spreads
                                          : std::numeric_limits<double>::quiet_NaN());
    }
  }
  out.confusions = Analysis(problem, rows, summary.scatter, measurement).confusions();
  return out;
}

} // namespace replisim
