#include "calibration/fit/cross_validation.hpp"

#include "calibration/repeats.hpp"
#include "models/base/errors.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <Eigen/Cholesky>
#include <fmt/format.h>

namespace replisim {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double normal_90_pct = 1.644854; // quantile of the standard normal distribution
constexpr double middle_of_coverage_pct = 89;
constexpr double worth_a_set_of_runs = 1e-3; // relative fall of the cost

bool begins_with_any(const std::string& id, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return id.starts_with(prefix); });
}

/// The parts of an id: "insert", "64", "off".
std::vector<std::string> parts_of(const std::string& id) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t slash = id.find('/'); slash != std::string::npos; slash = id.find('/', begin)) {
    parts.push_back(id.substr(begin, slash - begin));
    begin = slash + 1;
  }
  parts.push_back(id.substr(begin));
  return parts;
}

/// Cells by one part of their ids, in order of appearance.
std::vector<Fold> folds_by_part(const Suite& suite, std::size_t part, const std::string& word) {
  std::vector<Fold> folds;
  for (const Cell& cell : suite.cells) {
    const auto parts = parts_of(cell.id);
    if (parts.size() <= part + 1)
      continue;
    const std::string name = word + " " + parts[part];
    auto fold = std::find_if(folds.begin(), folds.end(), [&](const Fold& one) { return one.name == name; });
    if (fold == folds.end())
      fold = folds.insert(folds.end(), {name, {}});
    std::string prefix;
    for (std::size_t i = 0; i <= part; ++i)
      prefix += parts[i] + "/";
    if (std::find(fold->prefixes.begin(), fold->prefixes.end(), prefix) == fold->prefixes.end())
      fold->prefixes.push_back(prefix);
  }
  return folds.size() > 1 ? folds : std::vector<Fold>();
}

/// Whether the figures of a fit come as near to each other as their errors promise: below 1 they come nearer.
double scatter_of(const Calibration& calibration, const FitSummary& summary,
                  const std::vector<bool>& is_held) {
  double sum = 0;
  double counted = 0;
  for (std::size_t i = 0; i < calibration.cells().size(); ++i) {
    if (is_held[i])
      continue;
    const FitObservation& one = calibration.problem().observations[i];
    const double z = std::log(summary.predictions[i] / one.measured) / one.relative_error;
    sum += z * z;
    ++counted;
  }
  const double free = static_cast<double>(calibration.problem().parameters.size());
  return std::sqrt(sum / std::max(1.0, counted - free));
}

/// Of the logarithms of the parameters, from the figures that count, known to `scatter` times their errors,
/// and the priors.
MatrixXd covariance(const FitProblem& problem, const FitSummary& summary, const std::vector<bool>& is_held,
                    double scatter) {
  MatrixXd rows = weighted_sensitivities(problem, summary) / scatter;
  for (std::size_t i = 0; i < is_held.size(); ++i)
    if (is_held[i])
      rows.row(static_cast<Index>(i)).setZero();
  MatrixXd information = rows.transpose() * rows;
  for (Index j = 0; j < information.cols(); ++j) {
    const double spread = problem.parameters[static_cast<std::size_t>(j)].prior_spread;
    information(j, j) += spread > 0 ? 1 / (spread * spread) : 1e-9;
  }
  for (const FitPrior& prior : problem.priors) {
    const VectorXd weights =
        Eigen::Map<const VectorXd>(prior.weights.data(), information.cols()) / prior.spread;
    information += weights * weights.transpose();
  }
  return information.ldlt().solve(MatrixXd::Identity(information.rows(), information.cols()));
}

/// Which observations a fold holds out: its cells, and ratios of which it holds out a part.
std::vector<bool> held_out(const Fold& fold, const Calibration& calibration, const std::string& suite) {
  std::vector<bool> held;
  for (std::size_t i = 0; i < calibration.cells().size(); ++i)
    held.push_back(calibration.problem().observations[i].id.starts_with(suite + "/") and
                   begins_with_any(calibration.cells()[i].id, fold.prefixes));
  for (const auto& [before, after] : calibration.ratio_cells())
    held.push_back(held[before] or held[after]);
  return held;
}

FoldResult run_fold(const Fold& fold, const Calibration& calibration, const std::string& suite,
                    const FitSummary& all, const FitOptions& options) {
  const std::vector<bool> is_held = held_out(fold, calibration, suite);
  const FitBegin begin{all.values, all.predictions, all.sensitivities};
  const FitSummary summary = calibration.fit_without(is_held, options, &begin);
  const double scatter = scatter_of(calibration, summary, is_held);
  const MatrixXd spread = covariance(calibration.problem(), summary, is_held, scatter);
  FoldResult result;
  result.name = fold.name;
  for (std::size_t i = 0; i < calibration.cells().size(); ++i) {
    if (not is_held[i])
      continue;
    const FitObservation& one = calibration.problem().observations[i];
    const VectorXd slope = summary.sensitivities.row(static_cast<Index>(i));
    const double noise = scatter * one.relative_error;
    const double width = normal_90_pct * std::sqrt(slope.dot(spread * slope) + noise * noise);
    const double predicted = summary.predictions[i];
    result.cells.push_back({.id = calibration.cells()[i].id,
                            .unit = calibration.cells()[i].unit,
                            .measured = one.measured,
                            .predicted = predicted,
                            .low = predicted * std::exp(-width),
                            .high = predicted * std::exp(width)});
    const double error = std::abs(error_pct(one.measured, predicted));
    result.mape_pct += error;
    result.max_error_pct = std::max(result.max_error_pct, error);
    result.in_sample_mape_pct += std::abs(error_pct(one.measured, all.predictions[i]));
    result.covered += result.cells.back().covered() ? 1 : 0;
  }
  result.mape_pct /= static_cast<double>(result.cells.size());
  result.in_sample_mape_pct /= static_cast<double>(result.cells.size());
  return result;
}

/// The folds of `result` that a limit names; all of them when it names none.
std::vector<const FoldResult*> named(const CrossValidation& result, const FoldLimit& limit) {
  std::vector<const FoldResult*> out;
  for (const FoldResult& fold : result.folds)
    if (limit.folds.empty() or
        std::find(limit.folds.begin(), limit.folds.end(), fold.name) != limit.folds.end())
      out.push_back(&fold);
  return out;
}

FoldBar judge(const FoldLimit& limit, const CrossValidation& result) {
  using Kind = FoldLimit::Kind;
  FoldBar bar{.at_most = limit.at_most};
  const auto folds = named(result, limit);
  const std::string names = fmt::format("{}", fmt::join(limit.folds, ", "));
  double largest = 0;
  double sum = 0;
  std::size_t outside = 0;
  for (const FoldResult* fold : folds) {
    largest = std::max(largest, fold->mape_pct);
    sum += fold->mape_pct;
    outside += fold->cells.size() - fold->covered;
  }
  switch (limit.kind) {
  case Kind::InSampleMapePct:
    bar.sentence = "mean absolute error with nothing left out, percent";
    bar.value = result.in_sample_mape_pct;
    break;
  case Kind::InSampleMaxPct:
    bar.sentence = "largest error of a cell with nothing left out, percent";
    bar.value = result.in_sample_max_pct;
    break;
  case Kind::EachMapePct:
    bar.sentence = fmt::format("mean absolute error when left out, percent: {}", names);
    bar.value = largest;
    break;
  case Kind::MeanMapePct:
    bar.sentence = fmt::format("the same on average, percent: {}", names);
    bar.value = folds.empty() ? 0 : sum / static_cast<double>(folds.size());
    break;
  case Kind::MeasuredInside:
    bar.sentence = fmt::format("measured values outside of the 90 % interval: {}", names);
    bar.value = static_cast<double>(outside);
    break;
  case Kind::CoveragePct:
    bar.sentence =
        fmt::format("distance of the 90 % intervals' coverage from {:g} %, points", middle_of_coverage_pct);
    bar.value = std::abs(result.coverage_pct - middle_of_coverage_pct);
    break;
  }
  bar.ok = bar.value <= limit.at_most and (limit.folds.empty() or folds.size() == limit.folds.size());
  return bar;
}

} // namespace

bool CrossValidation::pass() const {
  return std::all_of(bars.begin(), bars.end(), [](const FoldBar& bar) { return bar.ok; });
}

std::vector<Fold> folds_of(const Suite& suite, const std::vector<Cell>& fitted) {
  std::vector<Fold> all = folds_by_part(suite, 0, "scenario");
  for (Fold& fold : folds_by_part(suite, 1, "setting"))
    all.push_back(std::move(fold));
  all.insert(all.end(), suite.folds.begin(), suite.folds.end());
  std::erase_if(all, [&](const Fold& fold) {
    const auto held = std::count_if(fitted.begin(), fitted.end(), [&](const Cell& cell) {
      return begins_with_any(cell.id, fold.prefixes);
    });
    return held == 0 or held == std::ssize(fitted);
  });
  return all;
}

CrossValidation cross_validate(const Suite& suite, const Calibration& calibration, const CostProfile& start,
                               FitOptions options) {
  options.fresh_derivatives = false; // the start is the solution, or next to it
  options.smallest_improvement = std::max(options.smallest_improvement, worth_a_set_of_runs);
  const std::vector<Fold> folds = folds_of(suite, calibration.cells());
  if (folds.empty())
    throw UsageError(
        fmt::format("suite '{}' has no cells one could leave out: profile {} is fitted to too few "
                    "of them",
                    suite.name, calibration.spec().name));
  CrossValidation result{.suite = suite.name, .profile = calibration.spec().name};
  const FitBegin begin{calibration.values_of(start)};
  const FitSummary all = calibration.fit_without({}, options, &begin);
  for (std::size_t i = 0; i < calibration.cells().size(); ++i) {
    const double error =
        std::abs(error_pct(calibration.problem().observations[i].measured, all.predictions[i]));
    result.in_sample_mape_pct += error / static_cast<double>(calibration.cells().size());
    result.in_sample_max_pct = std::max(result.in_sample_max_pct, error);
  }
  std::size_t cells = 0;
  std::size_t covered = 0;
  for (const Fold& fold : folds) {
    result.folds.push_back(run_fold(fold, calibration, suite.name, all, options));
    cells += result.folds.back().cells.size();
    covered += result.folds.back().covered;
  }
  result.coverage_pct = 100 * static_cast<double>(covered) / static_cast<double>(cells);
  for (const FoldLimit& limit : suite.fold_limits)
    result.bars.push_back(judge(limit, result));
  return result;
}

CalibrationSpec spec_for(const Suite& suite, const Library& library) {
  if (suite.cells.empty())
    throw UsageError(fmt::format("suite '{}' has no cells", suite.name));
  const std::string profile = load_cell(suite.cells.front(), library).profile.name;
  const std::filesystem::path file = spec_file(profile, library);
  if (not std::filesystem::exists(file))
    throw UsageError(
        fmt::format("the costs of profile {} were not fitted by a spec (there is no {}), so nothing "
                    "can be left out of suite '{}'",
                    profile, file.string(), suite.name));
  CalibrationSpec spec = read_calibration_spec(file, library);
  if (std::none_of(spec.data.begin(), spec.data.end(),
                   [&](const CalibrationData& data) { return data.suite == suite.name; }))
    throw UsageError(fmt::format("profile {} is not fitted to suite '{}' ({}): nothing of it can be left out",
                                 profile, suite.name, file.string()));
  return spec;
}

} // namespace replisim
