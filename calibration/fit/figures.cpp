#include "calibration/fit/figures.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

namespace replisim {

namespace {

constexpr double clock_error_s = 0.01 / 3.4641; // uniform within a step of 10 ms

/// From where on a figure is one: two steps of CPU clocks.
double shortest(const std::string& metric) { return metric.starts_with("cpu_") ? 0.02 : 0; }

bool begins_with_any(const std::string& id, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](const std::string& prefix) { return id.starts_with(prefix); });
}

void check_metrics(const Suite& suite, const std::vector<std::string>& metrics) {
  std::set<std::string> known;
  for (const Cell& cell : suite.cells)
    known.insert(cell.metric);
  for (const std::string& metric : metrics)
    if (not known.contains(metric))
      throw UsageError(fmt::format("suite '{}' has no cells of the metric '{}'{}", suite.name, metric,
                                   suggestion(metric, {known.begin(), known.end()})));
}

void check_prefixes(const Suite& suite, const std::string& field, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes)
    if (std::none_of(suite.cells.begin(), suite.cells.end(),
                     [&](const Cell& cell) { return cell.id.starts_with(prefix); }))
      throw UsageError(fmt::format("{} '{}': no cell of suite '{}' begins so; its first is '{}'", field,
                                   prefix, suite.name, suite.cells.empty() ? "" : suite.cells.front().id));
}

bool is_wanted(const Cell& cell, const CalibrationData& data) {
  return std::find(data.metrics.begin(), data.metrics.end(), cell.metric) != data.metrics.end() and
         (data.only.empty() or begins_with_any(cell.id, data.only)) and
         not begins_with_any(cell.id, data.exclude);
}

/// Variances of a figure's logarithm add up.
double error_of(const Cell& cell, const CalibrationData& data, double pooled) {
  const double repeats = static_cast<double>(std::max<std::size_t>(cell.repeats.size(), 1));
  const double step = cell.uncertainty > 0 ? cell.uncertainty / std::sqrt(3.0) // uniform within it
                      : cell.metric.starts_with("cpu_") ? clock_error_s
                                                        : 0.0;
  const double read = step / cell.measured;
  return std::sqrt(data.error * data.error + (pooled * pooled + read * read) / repeats);
}

void add_ratios(const Suite& suite, const CalibrationData& data,
                const std::map<std::size_t, std::size_t>& position, Figures& figures) {
  for (const DerivedFigure& figure : suite.derived) {
    if (not position.contains(figure.before) or not position.contains(figure.after))
      continue;
    const double ratio = suite.cells[figure.after].measured / suite.cells[figure.before].measured;
    figures.ratios.push_back({position.at(figure.before),
                              position.at(figure.after),
                              {suite.name + "/" + figure.id, ratio, data.ratio_error}});
  }
  if (figures.ratios.empty())
    throw UsageError(
        fmt::format("suite '{}' derives no figure from the cells named; leave `ratios` out", suite.name));
}

} // namespace

double pooled_spread(const Suite& suite, const std::string& metric) {
  double sum = 0;
  double freedom = 0;
  for (const Cell& cell : suite.cells) {
    const bool is_short = std::any_of(cell.repeats.begin(), cell.repeats.end(),
                                      [&](double value) { return value <= shortest(metric); });
    if (cell.metric != metric or cell.repeats.size() < 2 or is_short)
      continue;
    std::vector<double> logs;
    for (const double value : cell.repeats)
      logs.push_back(std::log(value));
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    for (const double value : logs)
      sum += (value - mean) * (value - mean);
    freedom += static_cast<double>(logs.size() - 1);
  }
  return freedom > 0 ? std::sqrt(sum / freedom) : 0;
}

Figures select_figures(const CalibrationData& data, const Suite& suite, const std::string& profile) {
  check_metrics(suite, data.metrics);
  check_prefixes(suite, "only", data.only);
  check_prefixes(suite, "exclude", data.exclude);
  std::map<std::string, double> pooled;
  for (const std::string& metric : data.metrics)
    pooled[metric] = pooled_spread(suite, metric);
  Figures figures;
  std::map<std::size_t, std::size_t> position; // in the suite -> in the selection
  for (std::size_t i = 0; i < suite.cells.size(); ++i) {
    if (not is_wanted(suite.cells[i], data))
      continue;
    Cell cell = suite.cells[i];
    if (std::isnan(cell.measured))
      continue; // nobody measured it
    if (cell.measured <= shortest(cell.metric)) {
      ++figures.left_out;
      continue;
    }
    position.emplace(i, figures.cells.size());
    figures.observations.push_back(
        {suite.name + "/" + cell.id, cell.measured, error_of(cell, data, pooled[cell.metric])});
    if (not profile.empty())
      cell.overrides.push_back("profile=" + profile);
    figures.cells.push_back(std::move(cell));
  }
  if (figures.cells.empty())
    throw UsageError(fmt::format(
        "no cell of suite '{}' is left to fit to; loosen `metrics`, `only` or `exclude`", suite.name));
  if (data.ratio_error > 0)
    add_ratios(suite, data, position, figures);
  return figures;
}

} // namespace replisim
