#include "calibration/fit/calibration_report.hpp"

#include "calibration/fit/profile_writer.hpp"
#include "calibration/repeats.hpp"
#include "sim/run/result_json.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace replisim {

namespace {

using Json = nlohmann::ordered_json;

constexpr double far_residual = 2; ///< in units of the figure's error, from which on it is marked

/// The range of a stated cost and whether `cost` leaves it; cpu_speed, a ratio, has none.
std::string plausible_range(const FittedCost& cost) {
  const CostParameter* parameter = find_cost_parameter(cost.name);
  if (parameter == nullptr)
    return "-";
  const bool is_outside = cost.value < parameter->low or cost.value > parameter->high;
  return fmt::format("{} to {}{}", format_stated(cost.name, parameter->low),
                     format_stated(cost.name, parameter->high), is_outside ? "  OUTSIDE" : "");
}

std::string interval(const FittedCost& cost) {
  return std::isfinite(cost.spread) ? fmt::format("{} to {}", format_stated(cost.name, cost.low()),
                                                  format_stated(cost.name, cost.high()))
                                    : "undetermined";
}

std::string cost_lines(const CalibrationResult& result) {
  std::string out = fmt::format("{:<28} {:>9} {:>9} {:>18}  {:<18}  {}\n", "parameter", "start", "fitted",
                                "95 % interval", "determined", "plausible");
  for (const FittedCost& cost : result.costs)
    out += fmt::format("{:<28} {:>9} {:>9} {:>18}  {:<18}  {}{}\n", cost.name,
                       format_stated(cost.name, cost.start), format_stated(cost.name, cost.value),
                       interval(cost), cost.determined, plausible_range(cost),
                       cost.together > 0 ? fmt::format("  common factor {}", cost.together) : "");
  for (const std::string& name : result.summary.at_bounds)
    out += fmt::format("{} stopped at the end of its plausible range\n", name);
  return out;
}

std::string identifiability_lines(const Identifiability& known) {
  std::string out =
      "\nWhat the figures tell apart. Singular values (1: a combination known to a factor of e):";
  for (const double value : known.singular_values)
    out += fmt::format(" {:.3g}", value);
  out += "\n";
  if (known.confusions.empty())
    out += "No two parameters are confused.\n";
  for (const Confusion& confusion : known.confusions) {
    out += "- " + confusion.sentence + ".\n";
    if (not confusion.measurement.empty())
      out += "  Would settle it: " + confusion.measurement + "\n";
  }
  return out;
}

std::string figure_lines(const std::string& title, const std::vector<FittedFigure>& figures) {
  if (figures.empty())
    return {};
  std::size_t width = title.size();
  for (const FittedFigure& figure : figures)
    width = std::max(width, figure.id.size());
  std::string out = fmt::format("\n{:<{}} {:>12} {:>12} {:>9} {:>10}\n", title, width, "measured",
                                "predicted", "error", "known to");
  for (const FittedFigure& figure : figures) {
    const double residual = std::log(figure.predicted / figure.measured) / figure.relative_error;
    out += fmt::format(
        "{:<{}} {:>12.3f} {:>12.3f} {:>+7.2f} % {:>8.1f} %{}\n", figure.id, width, figure.measured,
        figure.predicted, error_pct(figure.measured, figure.predicted), 100 * figure.relative_error,
        std::abs(residual) > far_residual ? fmt::format("  {:+.1f} times that", residual) : "");
  }
  return out;
}

std::string suites_of(const CalibrationResult& result) {
  std::vector<std::string> names;
  for (const CalibrationData& data : result.spec.data)
    if (std::find(names.begin(), names.end(), data.name()) == names.end())
      names.push_back(data.name());
  return fmt::format("{}", fmt::join(names, " and "));
}

Json figures_json(const std::vector<FittedFigure>& figures) {
  Json list = Json::array();
  for (const FittedFigure& figure : figures)
    list.push_back({{"id", figure.id},
                    {"measured", number_json(figure.measured)},
                    {"predicted", number_json(figure.predicted)},
                    {"error_pct", number_json(error_pct(figure.measured, figure.predicted))},
                    {"relative_error", number_json(figure.relative_error)}});
  return list;
}

} // namespace

std::string brief_report(const CalibrationResult& result) {
  return fmt::format(
      "{}: {} parameter{} from {} figure{}{} of {}: mean absolute error {:.2f} %, largest {:.2f} %; "
      "{} after {} iterations and {} sets of runs\n",
      result.spec.name, result.summary.values.size(), result.summary.values.size() == 1 ? "" : "s",
      result.cells.size(), result.cells.size() == 1 ? "" : "s",
      result.ratios.empty() ? "" : fmt::format(" and {} ratios of two", result.ratios.size()),
      suites_of(result), result.mape_pct(), result.max_error_pct(), result.summary.reason,
      result.summary.iterations, result.summary.evaluations);
}

std::string full_report(const CalibrationResult& result) {
  std::string out = brief_report(result);
  if (result.left_out > 0)
    out += fmt::format("{} cells left out: zero, or too short a time to fit to\n", result.left_out);
  if (result.pinned_by_cpu)
    out +=
        "CPU seconds pinned the costs first; wall times then moved them within what those had left open.\n";
  out += "\n" + cost_lines(result) + identifiability_lines(result.identifiability);
  out +=
      fmt::format("\ncost {:.2f} before, {:.2f} after; residuals are {:.2f} times what the figures' errors "
                  "promise\n",
                  result.summary.cost_before, result.summary.cost_after, result.summary.scatter);
  return out + figure_lines("cell", result.cells) + figure_lines("ratio of times", result.ratios);
}

nlohmann::ordered_json report_json(const CalibrationResult& result) {
  Json object = {{"profile", result.spec.name}, {"suites", Json::array()}, {"parameters", Json::array()}};
  for (const CalibrationData& data : result.spec.data)
    object["suites"].push_back(data.name());
  for (const FittedCost& cost : result.costs)
    object["parameters"].push_back({{"name", cost.name},
                                    {"start", number_json(cost.start)},
                                    {"value", number_json(cost.value)},
                                    {"low", number_json(cost.low())},
                                    {"high", number_json(cost.high())},
                                    {"determined", cost.determined},
                                    {"together", cost.together}});
  object["correlations"] = Json::array();
  for (const auto& row : result.identifiability.correlations) {
    Json values = Json::array();
    for (const double value : row)
      values.push_back(Json(number_json(value)));
    object["correlations"].push_back(std::move(values));
  }
  object["singular_values"] = result.identifiability.singular_values;
  object["confusions"] = Json::array();
  for (const Confusion& confusion : result.identifiability.confusions)
    object["confusions"].push_back({{"names", confusion.names},
                                    {"sentence", confusion.sentence},
                                    {"measurement", confusion.measurement}});
  object["mape_pct"] = number_json(result.mape_pct());
  object["max_error_pct"] = number_json(result.max_error_pct());
  object["cells"] = figures_json(result.cells);
  object["ratios"] = figures_json(result.ratios);
  object["cost_before"] = number_json(result.summary.cost_before);
  object["cost_after"] = number_json(result.summary.cost_after);
  object["iterations"] = result.summary.iterations;
  object["evaluations"] = result.summary.evaluations;
  object["stopped"] = result.summary.reason;
  object["converged"] = result.summary.end != FitEnd::MostIterations;
  return object;
}

} // namespace replisim
