// What the lab found, for people and for programs.
#include "calibration/live/lab.hpp"

#include "calibration/repeats.hpp"
#include "models/base/units.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace replisim::live {

namespace {

std::string value_text(double value, const std::string& unit) {
  if (std::isnan(value))
    return "-";
  if (unit == "bytes" or unit == "count")
    return format_count(static_cast<std::int64_t>(std::llround(value)));
  return unit == "s" ? fmt::format("{:.3f} s", value) : fmt::format("{:.1f}", value);
}

std::string floor_text(const std::vector<double>& repeats) {
  const std::vector<double> errors = leave_one_out_errors_pct(repeats);
  if (errors.empty())
    return "-";
  return fmt::format("{:.1f} %",
                     std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()));
}

std::string error_text(double error) { return std::isnan(error) ? "-" : fmt::format("{:+.1f} %", error); }

std::string cells_text(const SuiteReport& report) {
  std::string out = fmt::format("{:<58} {:>13} {:>9} {:>13} {:>9}\n", "not fitted to", "measured", "floor",
                                "predicted", "error");
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const Cell& cell = report.suite.cells[i];
    if (not cell.counted)
      continue;
    out += fmt::format("{:<58} {:>13} {:>9} {:>13} {:>9}\n", cell.id, value_text(cell.measured, cell.unit),
                       floor_text(cell.repeats), value_text(report.cells[i].predicted, cell.unit),
                       error_text(report.cells[i].error_pct));
  }
  return out;
}

std::string shares_text(const SuiteReport& report) {
  std::string out = fmt::format("\n{:<58} {:>13} {:>9} {:>13} {:>9}\n", "shares of the CPU seconds of a run",
                                "measured", "", "predicted", "error");
  for (const Share& share : report.suite.shares) {
    const Cell& cell = report.suite.cells[share.part];
    if (not cell.counted)
      continue;
    double whole = 0;
    for (const std::size_t part : share.whole)
      whole += report.cells[part].predicted;
    const double predicted = report.cells[share.part].predicted / whole;
    out += fmt::format("{:<58} {:>11.1f} % {:>9} {:>11.1f} % {:>9}\n", cell.id, 100 * share.measured, "",
                       100 * predicted, error_text(error_pct(share.measured, predicted)));
  }
  return out;
}

std::string means_text(const SuiteReport& report) {
  std::string out = fmt::format("\n{:<42} {:>11} {:>13}\n", "mean error of what was not fitted to",
                                "predicted", "noise floor");
  const bool has_floor = std::any_of(report.suite.cells.begin(), report.suite.cells.end(),
                                     [](const Cell& cell) { return cell.repeats.size() > 1; });
  for (const MetricReport& metric : report.metrics)
    out += fmt::format("{:<42} {:>9.1f} % {:>13}{}\n", metric.metric, metric.mape_pct,
                       has_floor ? fmt::format("{:.1f} %", metric.noise_floor_pct) : "one round",
                       metric.at_most_pct > 0
                           ? fmt::format("   wanted: {:.0f} % or 1.3 times the floor", metric.at_most_pct)
                           : "");
  double sum = 0, count = 0;
  for (const Share& share : report.suite.shares)
    if (report.suite.cells[share.part].counted) {
      double whole = 0;
      for (const std::size_t part : share.whole)
        whole += report.cells[part].predicted;
      sum += std::abs(error_pct(share.measured, report.cells[share.part].predicted / whole));
      ++count;
    }
  if (count > 0)
    out += fmt::format("all shares: {:.1f} %\n", sum / count);
  for (const BarResult& bar : report.bars)
    if (bar.cells > 0)
      out += fmt::format("{}: {} of {} cells\n", bar.sentence, bar.kept, bar.cells);
  return out;
}

} // namespace

std::string lab_table(const LabResult& result) {
  std::string out =
      fmt::format("PostgreSQL {}, plan {}: {} experiments, {} {}\n", result.server_version, result.plan.name,
                  result.measured.size(), result.rounds, result.rounds == 1 ? "round" : "rounds");
  for (const std::string& note : result.notes)
    out += fmt::format("note: {}\n", note);
  for (const ExperimentFigures& figures : result.measured)
    if (figures.rows_differ > 0)
      out += fmt::format("note: {}: both sides did not hold the same rows after {} of {} runs\n",
                         figures.experiment.name, figures.rows_differ, result.rounds);
  if (result.fit)
    out +=
        fmt::format("fit: {} figures, mean error {:.1f} %, largest {:.1f} %; {}\n", result.fit->cells.size(),
                    result.fit->mape_pct(), result.fit->max_error_pct(), result.fit->summary.reason);
  out += "\n";
  if (result.report)
    return out + cells_text(*result.report) + shares_text(*result.report) + means_text(*result.report);
  for (const ExperimentFigures& figures : result.measured)
    for (const auto& [metric, repeats] : figures.repeats)
      out += fmt::format("{:<58} {:>15.6g} {:>9}\n", fmt::format("{}/{}", figures.experiment.name, metric),
                         median(repeats), floor_text(repeats));
  return out;
}

std::string lab_csv(const LabResult& result) {
  std::map<std::string, std::size_t> cell_of;
  if (result.report)
    for (std::size_t i = 0; i < result.report->suite.cells.size(); ++i)
      cell_of[result.report->suite.cells[i].id] = i;
  std::string out = "experiment,use,metric,measured,low,high,repeats,predicted,error_pct\n";
  for (const ExperimentFigures& figures : result.measured)
    for (const auto& [metric, repeats] : figures.repeats) {
      const auto [low, high] = std::minmax_element(repeats.begin(), repeats.end());
      out += fmt::format("{},{},{},{:.9g},{:.9g},{:.9g},{}", figures.experiment.name,
                         figures.experiment.is_fitted ? "fit" : "predict", metric, median(repeats), *low,
                         *high, repeats.size());
      const auto cell = cell_of.find(fmt::format("{}/{}", figures.experiment.name, metric));
      if (cell != cell_of.end())
        out += fmt::format(",{:.9g},{:.3f}\n", result.report->cells[cell->second].predicted,
                           result.report->cells[cell->second].error_pct);
      else
        out += ",,\n";
    }
  return out;
}

} // namespace replisim::live
