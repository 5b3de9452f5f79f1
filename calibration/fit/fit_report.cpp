#include "calibration/fit/fit_report.hpp"

#include "calibration/repeats.hpp"
#include "models/cost_profile.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace replisim {

namespace {

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
  if (cost.held)
    return "held";
  return std::isfinite(cost.relative_interval) ? fmt::format("{:.1f} %", 100 * cost.relative_interval)
                                               : "undetermined";
}

std::string cost_lines(const SuiteFit& fit) {
  std::string out =
      fmt::format("{:<28} {:>9} {:>9} {:>13}  {}\n", "parameter", "start", "fitted", "95 % +-", "plausible");
  for (const FittedCost& cost : fit.costs)
    out += fmt::format("{:<28} {:>9} {:>9} {:>13}  {}{}\n", cost.name, format_stated(cost.name, cost.start),
                       format_stated(cost.name, cost.value), interval(cost), plausible_range(cost),
                       cost.together > 0 ? fmt::format("  common factor {}", cost.together) : "");
  return out;
}

std::string figure_lines(const std::string& title, const std::vector<FittedFigure>& figures) {
  if (figures.empty())
    return {};
  std::size_t width = title.size();
  for (const FittedFigure& figure : figures)
    width = std::max(width, figure.id.size());
  std::string out =
      fmt::format("\n{:<{}} {:>12} {:>12} {:>9}\n", title, width, "measured", "predicted", "error");
  for (const FittedFigure& figure : figures)
    out += fmt::format("{:<{}} {:>12.3f} {:>12.3f} {:>+7.2f} %\n", figure.id, width, figure.measured,
                       figure.predicted, error_pct(figure.measured, figure.predicted));
  return out;
}

/// The source of fitted values; written out once, then referred to.
class Source {
public:
  explicit Source(const SuiteFit& fit)
      : text_(fmt::format("{} figures of suite {} ({})", fit.cells.size() + fit.ratios.size(), fit.suite,
                          fmt::join(fit.metrics, ", "))) {}

  std::string of(const FittedCost& cost) {
    if (cost.held)
      return "provenance: guess, source: held while others were fitted";
    if (not std::isfinite(cost.relative_interval))
      return "provenance: guess, source: not determined by the figures of the fit";
    const bool is_first = not is_written_;
    is_written_ = true;
    return "provenance: fitted, source: " + (is_first ? fmt::format("&fit \"{}\"", text_) : "*fit");
  }

private:
  std::string text_;
  bool is_written_ = false;
};

} // namespace

std::string fit_table(const SuiteFit& fit) {
  std::string out =
      fmt::format("{}: {} cells ({})", fit.suite, fit.cells.size(), fmt::join(fit.metrics, ", "));
  if (not fit.ratios.empty())
    out += fmt::format(" and {} ratios of two", fit.ratios.size());
  out += fmt::format("; costs as profile {} states them\n", fit.profile);
  if (fit.left_out > 0)
    out += fmt::format("{} cells left out: zero, or too short a time to fit to\n", fit.left_out);
  out += "\n" + cost_lines(fit);
  out += fmt::format("\ncost {:.2f} before, {:.2f} after {} iterations: {}\n", fit.summary.cost_before,
                     fit.summary.cost_after, fit.summary.iterations, fit.summary.reason);
  out += figure_lines("cell", fit.cells);
  out +=
      fmt::format("\nmean absolute error {:.2f} %, largest {:.2f} %\n", fit.mape_pct(), fit.max_error_pct());
  return out + figure_lines("ratio of times", fit.ratios);
}

std::string profile_snippet(const SuiteFit& fit) {
  Source source(fit);
  std::string out;
  std::map<std::string, std::string> groups; // lines by first part of the name
  std::vector<std::string> order;
  for (const FittedCost& cost : fit.costs) {
    const std::string entry =
        fmt::format("{{value: {}, {}}}", format_stated(cost.name, cost.value), source.of(cost));
    const std::size_t dot = cost.name.find('.');
    if (dot == std::string::npos) {
      out += fmt::format("{}: {}\n", cost.name, entry);
      continue;
    }
    const std::string group = cost.name.substr(0, dot);
    if (groups.try_emplace(group).second)
      order.push_back(group);
    groups[group] += fmt::format("    {}: {}\n", cost.name.substr(dot + 1), entry);
  }
  if (not order.empty())
    out += "parameters:\n";
  for (const std::string& group : order)
    out += fmt::format("  {}:\n{}", group, groups[group]);
  return out;
}

} // namespace replisim
