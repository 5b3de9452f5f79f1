// Predictions against measurements.
#include "calibration/suites/runner.hpp"

#include "calibration/repeats.hpp"
#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace replisim {

namespace {

bool within_any(const std::vector<Accepted>& accepted, double predicted) {
  return std::any_of(accepted.begin(), accepted.end(), [&](const Accepted& range) {
    return predicted >= range.low && predicted <= range.high;
  });
}

constexpr double noise_allowance = 1.3; ///< of the noise floor
constexpr const char* order_rule = "order";
constexpr const char* ratio_rule = "cost_ratios";
constexpr double largest_ratio = 2;

bool accepts(const Cell& cell, double predicted) {
  return cell.rule.empty() || within_any(cell.accepted, predicted);
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

double median_error(const SuiteReport& report) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    if (report.suite.cells[i].counted)
      errors.push_back(std::abs(report.cells[i].error_pct));
  if (errors.empty() || std::any_of(errors.begin(), errors.end(), [](double e) { return std::isnan(e); }))
    return std::numeric_limits<double>::quiet_NaN(); // no limit holds
  return median(errors);
}

BarResult judge_limit(const Limit& limit, const SuiteReport& report, std::size_t fitted_parameters) {
  BarResult bar{.name = to_string(limit.kind), .sentence = {}, .limit = limit.at_most};
  switch (limit.kind) {
  case LimitKind::MapePct:
    bar.sentence = "mean absolute error of the cells, percent";
    bar.value = report.mape_pct;
    break;
  case LimitKind::MedianErrorPct:
    bar.sentence = "median absolute error of the counted cells, percent";
    bar.value = median_error(report);
    break;
  case LimitKind::RepeatErrorRatio:
    bar.sentence =
        fmt::format("that median over the repeats' own, {:.1f} percent", report.suite.repeat_error_pct);
    bar.value = median_error(report) / report.suite.repeat_error_pct;
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
  for (std::size_t i = 0; i < report.combined.size(); ++i)
    if (report.suite.combined[i].rule == rule.name) {
      ++bar.cells;
      bar.kept += within_any(report.suite.combined[i].accepted, report.combined[i]) ? 1 : 0;
    }
  bar.ok = bar.cells > 0 && bar.kept == bar.cells;
  return bar;
}

double predicted_share(const Share& share, const SuiteReport& report) {
  double whole = 0;
  for (const std::size_t cell : share.whole)
    whole += report.cells[cell].predicted;
  return report.cells[share.part].predicted / whole;
}

MetricReport report_metric(const MetricNoise& noise, const SuiteReport& report) {
  ErrorSummary errors;
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    if (report.suite.cells[i].metric == noise.metric && report.suite.cells[i].counted)
      errors.add(report.cells[i]);
  for (const Share& share : report.suite.shares)
    if (share.metric == noise.metric && report.suite.cells[share.part].counted) {
      const double predicted = predicted_share(share, report);
      errors.add({predicted, error_pct(share.measured, predicted)});
    }
  return {noise.metric, errors.mean(), noise.noise_floor_pct, noise.at_most_pct};
}

/// A model cannot be nearer to one measurement than another measurement is.
BarResult judge_metric(const MetricReport& metric) {
  const double limit = std::max(metric.at_most_pct, noise_allowance * metric.noise_floor_pct);
  return {.name = metric.metric,
          .sentence = fmt::format("mean absolute error of {}, percent", metric.metric),
          .limit = limit,
          .value = metric.mape_pct,
          .ok = metric.mape_pct <= limit};
}

/// Every fitted cost within the factor of the common ratio; the sentence names each.
BarResult judge_cost_ratios(const SuiteReport& report) {
  BarResult bar{.name = ratio_rule,
                .sentence =
                    fmt::format("fitted costs within a factor {:g} of the common ratio", largest_ratio)};
  for (const CostRatio& cost : report.suite.cost_ratios) {
    ++bar.cells;
    bar.kept += cost.ratio <= largest_ratio && cost.ratio >= 1 / largest_ratio ? 1 : 0;
    bar.sentence += fmt::format("{} {} {:.2f}", bar.cells == 1 ? ":" : ",", cost.name, cost.ratio);
  }
  bar.ok = bar.kept == bar.cells;
  return bar;
}

BarResult judge_orders(const SuiteReport& report) {
  BarResult bar{.name = order_rule,
                .sentence = "of two cells the one measured larger, beyond what repeats leave in doubt, is "
                            "predicted larger"};
  for (const Order& order : report.suite.orders) {
    ++bar.cells;
    if (report.cells[order.larger].predicted > report.cells[order.smaller].predicted)
      ++bar.kept;
    else
      bar.sentence += fmt::format("; not {} over {}", report.suite.cells[order.larger].id,
                                  report.suite.cells[order.smaller].id);
  }
  bar.ok = bar.kept == bar.cells;
  return bar;
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
  for (const CombinedFigure& figure : report.suite.combined)
    report.combined.push_back(figure.compute(predictions));
  report.mape_pct = errors.mean();
  report.max_error_pct = errors.max();
  if (report.suite.depends_on_costs)
    report.fitted_parameters = fitted_parameters;
  for (const Limit& limit : report.suite.limits)
    report.bars.push_back(judge_limit(limit, report, fitted_parameters));
  for (const Rule& rule : report.suite.rules)
    report.bars.push_back(judge_rule(rule, report));
  for (const MetricNoise& noise : report.suite.noise) {
    report.metrics.push_back(report_metric(noise, report));
    if (noise.at_most_pct > 0)
      report.bars.push_back(judge_metric(report.metrics.back()));
  }
  if (!report.suite.orders.empty())
    report.bars.push_back(judge_orders(report));
  if (!report.suite.cost_ratios.empty())
    report.bars.push_back(judge_cost_ratios(report));
  if (report.suite.judged())
    report.pass =
        std::all_of(report.bars.begin(), report.bars.end(), [](const BarResult& bar) { return bar.ok; });
  return report;
}

void judge_again(SuiteReport& report, const std::vector<BarResult>& study_bars) {
  std::vector<double> predictions;
  for (const CellResult& cell : report.cells)
    predictions.push_back(cell.predicted);
  SuiteReport judged = judge_suite(report.suite, predictions, report.fitted_parameters.value_or(0));
  judged.profile = report.profile;
  judged.figures = std::move(report.figures);
  judged.notes = std::move(report.notes);
  judged.bars.insert(judged.bars.end(), study_bars.begin(), study_bars.end());
  judged.pass =
      std::all_of(judged.bars.begin(), judged.bars.end(), [](const BarResult& bar) { return bar.ok; });
  report = std::move(judged);
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
