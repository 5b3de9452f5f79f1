// Predictions against measurements.
#include "calibration/suites/runner.hpp"

#include "calibration/repeats.hpp"
#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace replisim {

namespace {

bool accepts(const Cell& cell, double predicted) {
  return cell.rule.empty() ||
         std::any_of(cell.accepted.begin(), cell.accepted.end(), [&](const Accepted& range) {
           return predicted >= range.low && predicted <= range.high;
         });
}

/// Mean and maximum of absolute errors. A missing prediction makes both NaN, so that no limit holds;
/// an error in percent of a measured zero does not exist and is left to the cell's rule.
class ErrorSummary {
public:
  void add(const CellResult& result) {
    if (std::isnan(result.error_pct) && !std::isnan(result.predicted))
      return;
    sum_ += std::abs(result.error_pct);
    ++count_;
    if (!std::isnan(max_))
      max_ = std::isnan(result.error_pct) ? result.error_pct : std::max(max_, std::abs(result.error_pct));
  }
  double mean() const {
    return count_ > 0 ? sum_ / static_cast<double>(count_) : std::numeric_limits<double>::quiet_NaN();
  }
  double max() const { return count_ > 0 ? max_ : std::numeric_limits<double>::quiet_NaN(); }

private:
  double sum_ = 0;
  double max_ = 0;
  std::size_t count_ = 0;
};

double largest_distance(const SuiteReport& report) {
  double largest = 0;
  for (std::size_t i = 0; i < report.derived.size(); ++i) {
    const double distance = std::abs(report.derived[i] - report.suite.derived[i].measured);
    if (std::isnan(distance))
      return distance;
    largest = std::max(largest, distance);
  }
  return largest;
}

BarResult judge_limit(const Limit& limit, const SuiteReport& report, std::size_t fitted_parameters) {
  BarResult bar{.name = to_string(limit.kind), .sentence = {}, .limit = limit.at_most};
  switch (limit.kind) {
  case LimitKind::MapePct:
    bar.sentence = "mean absolute error of the cells, percent";
    bar.value = report.mape_pct;
    break;
  case LimitKind::MaxErrorPct:
    bar.sentence = "largest absolute error of a cell, percent";
    bar.value = report.max_error_pct;
    break;
  case LimitKind::ImprovementPoints:
    bar.sentence = "largest distance of an improvement from the posted one, points";
    bar.value = largest_distance(report);
    break;
  case LimitKind::FittedParameters:
    bar.sentence = "parameters fitted for the profile";
    bar.value = static_cast<double>(fitted_parameters);
    break;
  }
  bar.ok = bar.value <= limit.at_most;
  return bar;
}

BarResult judge_rule(const Rule& rule, const SuiteReport& report) {
  BarResult bar{.name = rule.name, .sentence = rule.sentence};
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    if (report.suite.cells[i].rule == rule.name) {
      ++bar.cells;
      bar.kept += report.cells[i].accepted ? 1 : 0;
    }
  bar.ok = bar.cells > 0 && bar.kept == bar.cells;
  return bar;
}

MetricReport report_metric(const MetricNoise& noise, const SuiteReport& report) {
  ErrorSummary errors;
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    if (report.suite.cells[i].metric == noise.metric)
      errors.add(report.cells[i]);
  return {noise.metric, errors.mean(), noise.noise_floor_pct};
}

} // namespace

SuiteReport judge_suite(Suite suite, const std::vector<double>& predictions, std::size_t fitted_parameters) {
  REPLISIM_REQUIRE(predictions.size() == suite.cells.size(), "{} predictions for {} cells",
                   predictions.size(), suite.cells.size());
  SuiteReport report;
  report.suite = std::move(suite);
  ErrorSummary errors;
  for (std::size_t i = 0; i < predictions.size(); ++i) {
    const Cell& cell = report.suite.cells[i];
    report.cells.push_back(
        {predictions[i], error_pct(cell.measured, predictions[i]), accepts(cell, predictions[i])});
    if (cell.counted)
      errors.add(report.cells.back());
  }
  for (const DerivedFigure& figure : report.suite.derived)
    report.derived.push_back(improvement_pct(predictions[figure.before], predictions[figure.after]));
  report.mape_pct = errors.mean();
  report.max_error_pct = errors.max();
  if (report.suite.depends_on_costs)
    report.fitted_parameters = fitted_parameters;
  for (const Limit& limit : report.suite.limits)
    report.bars.push_back(judge_limit(limit, report, fitted_parameters));
  for (const Rule& rule : report.suite.rules)
    report.bars.push_back(judge_rule(rule, report));
  for (const MetricNoise& noise : report.suite.noise)
    report.metrics.push_back(report_metric(noise, report));
  if (report.suite.judged())
    report.pass =
        std::all_of(report.bars.begin(), report.bars.end(), [](const BarResult& bar) { return bar.ok; });
  return report;
}

SuiteReport run_suite(Suite suite, const Library& library, const std::vector<std::string>& extra,
                      const Simulator& simulator) {
  for (Cell& cell : suite.cells)
    cell.overrides.insert(cell.overrides.end(), extra.begin(), extra.end());
  const Predictor predictor(suite.cells, library);
  const std::vector<double> predictions = predictor.predict(simulator);
  std::set<std::string> profiles;
  std::set<std::string> fitted;
  for (const Scenario& scenario : predictor.scenarios()) {
    profiles.insert(scenario.profile.name);
    fitted.insert(scenario.profile.fitted.begin(), scenario.profile.fitted.end());
  }
  SuiteReport report = judge_suite(std::move(suite), predictions, fitted.size());
  report.profile = fmt::format("{}", fmt::join(profiles, ", "));
  return report;
}

} // namespace replisim
