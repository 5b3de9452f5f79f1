// Printing a suite's report.
#include "calibration/suites/report.hpp"

#include "sim/report/text.hpp"
#include "sim/run/result_json.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace replisim {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* derived_unit = "%";

Json number(double value) { return Json(number_json(value)); }

Json cell_json(const Cell& cell, const CellResult& result) {
  Json object = {{"id", cell.id},
                 {"measured", number(cell.measured)},
                 {"predicted", number(result.predicted)},
                 {"unit", cell.unit},
                 {"error_pct", number(result.error_pct)},
                 {"scenario", cell.scenario},
                 {"overrides", cell.overrides}};
  if (cell.measured_low != cell.measured_high) {
    object["measured_low"] = number(cell.measured_low);
    object["measured_high"] = number(cell.measured_high);
  }
  return object;
}

Json bar_json(const BarResult& bar) {
  if (bar.limit)
    return {{"limit", number(*bar.limit)}, {"value", number(bar.value)}, {"ok", bar.ok}};
  return {{"rule", bar.sentence}, {"cells", bar.cells}, {"kept", bar.kept}, {"ok", bar.ok}};
}

/// A figure for people: seconds to the millisecond, bytes and counts whole, with thousands marked.
std::string figure(double value, const std::string& unit) {
  if (std::isnan(value))
    return "-";
  if (unit == "s")
    return std::abs(value) < 0.01 ? fmt::format("{:.6f}", value) : fmt::format("{:.3f}", value);
  return format_count(std::llround(value));
}

std::string percent(double value) { return std::isnan(value) ? "-" : fmt::format("{:+.2f} %", value); }

/// Why a cell is not accepted, or how far its repeats lie apart.
std::string remark(const Cell& cell, const CellResult& result) {
  if (!result.accepted) {
    std::vector<std::string> ranges;
    for (const Accepted& range : cell.accepted)
      ranges.push_back(range.low == range.high ? figure(range.low, cell.unit)
                                               : fmt::format("{} to {}", figure(range.low, cell.unit),
                                                             figure(range.high, cell.unit)));
    return fmt::format("  short: allowed {}", fmt::join(ranges, " or "));
  }
  if (cell.measured_low != cell.measured_high)
    return fmt::format("  repeats {} to {}", figure(cell.measured_low, cell.unit),
                       figure(cell.measured_high, cell.unit));
  return {};
}

std::string cell_lines(const SuiteReport& report, std::size_t width) {
  std::string out = fmt::format("{:<{}} {:>12} {:>12} {:<5} {:>9}\n", "cell", width, "measured", "predicted",
                                "unit", "error");
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const Cell& cell = report.suite.cells[i];
    const CellResult& result = report.cells[i];
    out += fmt::format("{:<{}} {:>12} {:>12} {:<5} {:>9}{}\n", cell.id, width,
                       figure(cell.measured, cell.unit), figure(result.predicted, cell.unit), cell.unit,
                       percent(result.error_pct), remark(cell, result));
  }
  return out;
}

std::string derived_lines(const SuiteReport& report, std::size_t width) {
  if (report.derived.empty())
    return {};
  std::string out = fmt::format("\n{:<{}} {:>12} {:>12} {:<5} {:>9}\n", "parallel against off", width,
                                "measured", "predicted", "unit", "points");
  for (std::size_t i = 0; i < report.derived.size(); ++i) {
    const DerivedFigure& figure = report.suite.derived[i];
    out += fmt::format("{:<{}} {:>12.2f} {:>12.2f} {:<5} {:>+9.2f}\n", figure.id, width, figure.measured,
                       report.derived[i], derived_unit, report.derived[i] - figure.measured);
  }
  return out;
}

std::string combined_lines(const SuiteReport& report, std::size_t width) {
  if (report.combined.empty())
    return {};
  std::string out = fmt::format("\n{:<{}} {:>12} {:>12} {:<5} {:>9}\n", "figure of several cells", width,
                                "measured", "predicted", "unit", "allowed");
  for (std::size_t i = 0; i < report.combined.size(); ++i) {
    const CombinedFigure& figure = report.suite.combined[i];
    const std::string measured = std::isnan(figure.measured) ? "-" : fmt::format("{:.2f}", figure.measured);
    std::vector<std::string> ranges;
    for (const Accepted& range : figure.accepted)
      ranges.push_back(fmt::format("{:.4g} to {:.4g}", range.low, range.high));
    out += fmt::format("{:<{}} {:>12} {:>12.2f} {:<5} {:>9}\n", figure.id, width, measured,
                       report.combined[i], figure.unit, fmt::format("{}", fmt::join(ranges, " or ")));
  }
  return out;
}

std::string noise_lines(const SuiteReport& report) {
  if (report.metrics.empty())
    return {};
  std::string out = fmt::format("\n{:<42} {:>12} {:>12}\n", "mean absolute error", "model", "one repeat");
  for (const MetricReport& metric : report.metrics)
    out += fmt::format("{:<42} {:>10.1f} % {:>10.1f} %\n", metric.metric, metric.mape_pct,
                       metric.noise_floor_pct);
  return out;
}

std::string study_lines(const SuiteReport& report) {
  std::string out;
  for (const StudyFigure& figure : report.figures)
    out +=
        fmt::format("{:<44} {:>12.5g} {:<8} {}\n", figure.name, figure.value, figure.unit, figure.sentence);
  for (const std::string& note : report.notes)
    out += wrapped("  ", note);
  return out.empty() ? out : "\n" + out;
}

std::string bar_lines(const SuiteReport& report) {
  std::string out = "\n";
  if (report.bars.empty())
    out += "This suite informs; it has no bars.\n";
  for (const BarResult& bar : report.bars) {
    const std::string standing = bar.limit ? fmt::format("{:.4g} of at most {:g}", bar.value, *bar.limit)
                                           : fmt::format("{} of {} cells", bar.kept, bar.cells);
    out += fmt::format("{:<5} {:<21} {}\n", bar.ok ? "ok" : "short", standing, bar.sentence);
  }
  return out;
}

std::string verdict(const SuiteReport& report) {
  if (!report.pass)
    return {};
  return *report.pass ? fmt::format("{}: pass\n", report.suite.name)
                      : fmt::format("{}: short of its bars\n", report.suite.name);
}

} // namespace

nlohmann::ordered_json suite_json(const SuiteReport& report) {
  Json object;
  object["suite"] = report.suite.name;
  object["cells"] = Json::array();
  for (std::size_t i = 0; i < report.cells.size(); ++i)
    object["cells"].push_back(cell_json(report.suite.cells[i], report.cells[i]));
  object["derived"] = Json::array();
  for (std::size_t i = 0; i < report.derived.size(); ++i)
    object["derived"].push_back({{"id", report.suite.derived[i].id},
                                 {"measured", number(report.suite.derived[i].measured)},
                                 {"predicted", number(report.derived[i])},
                                 {"unit", derived_unit}});
  for (std::size_t i = 0; i < report.combined.size(); ++i)
    object["derived"].push_back({{"id", report.suite.combined[i].id},
                                 {"measured", number(report.suite.combined[i].measured)},
                                 {"predicted", number(report.combined[i])},
                                 {"unit", report.suite.combined[i].unit}});
  object["mape_pct"] = number(report.mape_pct);
  object["max_error_pct"] = number(report.max_error_pct);
  object["fitted_parameters"] = report.fitted_parameters ? Json(*report.fitted_parameters) : Json();
  object["profile"] = report.profile.empty() ? Json() : Json(report.profile);
  object["bars"] = Json();
  for (const BarResult& bar : report.bars)
    object["bars"][bar.name] = bar_json(bar);
  object["pass"] = report.pass ? Json(*report.pass) : Json();
  for (const MetricReport& metric : report.metrics)
    object["metrics"].push_back({{"metric", metric.metric},
                                 {"mape_pct", number(metric.mape_pct)},
                                 {"noise_floor_pct", number(metric.noise_floor_pct)}});
  for (const StudyFigure& figure : report.figures)
    object["figures"][figure.name] = {
        {"value", number(figure.value)}, {"unit", figure.unit}, {"sentence", figure.sentence}};
  if (not report.notes.empty())
    object["notes"] = report.notes;
  return object;
}

std::string suite_json_text(const SuiteReport& report) {
  return suite_json(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string suite_table(const SuiteReport& report) {
  std::size_t width = std::string_view("parallel against off").size();
  for (const Cell& cell : report.suite.cells)
    width = std::max(width, cell.id.size());
  for (const DerivedFigure& figure : report.suite.derived)
    width = std::max(width, figure.id.size());
  for (const CombinedFigure& figure : report.suite.combined)
    width = std::max(width, figure.id.size());
  std::string out = fmt::format("{}: {}\nprofile {}, {} cells\n\n", report.suite.name,
                                report.suite.description, report.profile, report.cells.size());
  out += cell_lines(report, width);
  out += derived_lines(report, width);
  out += combined_lines(report, width);
  out += noise_lines(report);
  out += fmt::format("\nmean absolute error {:.2f} %, largest {:.2f} %\n", report.mape_pct,
                     report.max_error_pct);
  return out + study_lines(report) + bar_lines(report) + verdict(report);
}

std::string suite_csv(const SuiteReport& report) {
  const auto text = [](double value) {
    return std::isnan(value) ? std::string() : number_json(value).dump();
  };
  std::string out = "id,measured,predicted,unit,error_pct\n";
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    const Cell& cell = report.suite.cells[i];
    out += fmt::format("{},{},{},{},{}\n", cell.id, text(cell.measured), text(report.cells[i].predicted),
                       cell.unit, text(report.cells[i].error_pct));
  }
  for (std::size_t i = 0; i < report.derived.size(); ++i)
    out += fmt::format("{},{},{},{},\n", report.suite.derived[i].id, text(report.suite.derived[i].measured),
                       text(report.derived[i]), derived_unit);
  return out;
}

} // namespace replisim
