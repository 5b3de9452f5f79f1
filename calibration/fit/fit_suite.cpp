#include "calibration/fit/fit_suite.hpp"

#include "calibration/repeats.hpp"
#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"
#include "sim/scenario/library_files.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace replisim {

namespace {

constexpr double shortest_time_s = 0.02;
constexpr double total_error = 0.05;
constexpr double other_error = 0.08;

/// The part of a suite that a request names.
struct Selection {
  std::vector<Cell> cells;
  std::vector<DerivedFigure> derived; ///< indexes into `cells`
  std::size_t left_out = 0;
};

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

void check_prefixes(const Suite& suite, const std::string& option, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes)
    if (std::none_of(suite.cells.begin(), suite.cells.end(),
                     [&](const Cell& cell) { return cell.id.starts_with(prefix); }))
      throw UsageError(fmt::format("{} '{}': no cell of suite '{}' begins so; its first is '{}'", option,
                                   prefix, suite.name, suite.cells.empty() ? "" : suite.cells.front().id));
}

Selection select(const Suite& suite, const FitRequest& request) {
  check_metrics(suite, request.metrics);
  check_prefixes(suite, "--only", request.only);
  check_prefixes(suite, "--exclude", request.exclude);
  Selection selection;
  std::map<std::size_t, std::size_t> position; // in the suite -> in the selection
  for (std::size_t i = 0; i < suite.cells.size(); ++i) {
    const Cell& cell = suite.cells[i];
    const bool is_wanted =
        std::find(request.metrics.begin(), request.metrics.end(), cell.metric) != request.metrics.end() and
        (request.only.empty() or begins_with_any(cell.id, request.only)) and
        not begins_with_any(cell.id, request.exclude);
    if (not is_wanted)
      continue;
    if (cell.measured <= (cell.unit == "s" ? shortest_time_s : 0.0)) {
      ++selection.left_out;
      continue;
    }
    position.emplace(i, selection.cells.size());
    selection.cells.push_back(cell);
  }
  if (selection.cells.empty())
    throw UsageError(fmt::format(
        "no cell of suite '{}' is left to fit to; loosen --metric, --only or --exclude", suite.name));
  for (DerivedFigure figure : suite.derived)
    if (position.contains(figure.before) and position.contains(figure.after)) {
      figure.before = position.at(figure.before);
      figure.after = position.at(figure.after);
      selection.derived.push_back(figure);
    }
  if (request.derived_spread and selection.derived.empty())
    throw UsageError(
        fmt::format("suite '{}' derives no figure from the cells named; leave --derived out", suite.name));
  if (not request.derived_spread)
    selection.derived.clear();
  return selection;
}

/// The one profile of all runs: a cost that is stated twice could not be one parameter.
const CostProfile& only_profile(const Predictor& predictor) {
  const CostProfile& first = predictor.scenarios().front().profile;
  for (const Scenario& scenario : predictor.scenarios())
    if (scenario.profile.name != first.name or scenario.profile.cpu_speed != first.cpu_speed)
      throw UsageError(
          fmt::format("the cells use the profiles '{}' and '{}'; a fit is for one: narrow it with "
                      "--only or --exclude",
                      first.name, scenario.profile.name));
  return first;
}

/// What a factor multiplies.
double base_cost(const std::string& name, const FitRequest& request, const CostProfile& profile) {
  const auto fixed = request.fixed.find(name);
  const double base =
      fixed != request.fixed.end() ? fixed->second : effective_cost_s(profile, *find_cost_parameter(name));
  if (base <= 0)
    throw UsageError(fmt::format("'{}' costs 0, which no factor moves; give it a value with --fix", name));
  return base;
}

/// Turns the fit's numbers into stated costs.
class Translation {
public:
  Translation(const FitRequest& request, const CostProfile& profile) : request_(request), profile_(profile) {}

  StatedCosts stated(const std::vector<double>& values) const {
    StatedCosts costs = request_.fixed;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const FreeParameter& parameter = request_.parameters[i];
      for (const std::string& name : parameter.names)
        costs[name] = parameter.is_factor() ? values[i] * base_cost(name, request_, profile_) : values[i];
    }
    return costs;
  }

  std::vector<FitParameter> parameters() const {
    std::vector<FitParameter> out;
    for (const FreeParameter& parameter : request_.parameters)
      out.push_back(
          {fmt::format("{}", fmt::join(parameter.names, ",")), parameter.start, parameter.prior_spread});
    return out;
  }

  std::vector<FittedCost> costs(const FitSummary& summary) const {
    std::vector<double> starts;
    for (const FreeParameter& parameter : request_.parameters)
      starts.push_back(parameter.start);
    const StatedCosts before = stated(starts);
    StatedCosts after = stated(summary.values);
    std::vector<FittedCost> out;
    int factors = 0;
    for (std::size_t i = 0; i < request_.parameters.size(); ++i) {
      const FreeParameter& parameter = request_.parameters[i];
      factors += parameter.is_factor() ? 1 : 0;
      for (const std::string& name : parameter.names) {
        out.push_back({.name = name,
                       .start = before.at(name),
                       .value = after.at(name),
                       .relative_interval = summary.relative_intervals[i],
                       .together = parameter.is_factor() ? factors : 0});
        after.erase(name);
      }
    }
    for (const auto& [name, value] : after)
      out.push_back({.name = name, .start = value, .value = value, .held = true});
    return out;
  }

private:
  const FitRequest& request_;
  const CostProfile& profile_;
};

std::vector<FitObservation> observations(const Selection& selection, double derived_spread) {
  std::vector<FitObservation> out;
  for (const Cell& cell : selection.cells)
    out.push_back({cell.id, cell.measured, cell.metric == "total_s" ? total_error : other_error});
  for (const DerivedFigure& figure : selection.derived)
    out.push_back({figure.id,
                   selection.cells[figure.after].measured / selection.cells[figure.before].measured,
                   derived_spread});
  return out;
}

} // namespace

double SuiteFit::mape_pct() const {
  double sum = 0;
  for (const FittedFigure& cell : cells)
    sum += std::abs(error_pct(cell.measured, cell.predicted));
  return sum / static_cast<double>(cells.size());
}

double SuiteFit::max_error_pct() const {
  double largest = 0;
  for (const FittedFigure& cell : cells)
    largest = std::max(largest, std::abs(error_pct(cell.measured, cell.predicted)));
  return largest;
}

CostChanges stored_costs(const StatedCosts& stated, const CostProfile& profile) {
  const auto given = stated.find(cpu_speed_parameter);
  CostProfile changed = profile;
  changed.cpu_speed = given != stated.end() ? given->second : profile.cpu_speed;
  StatedCosts all = stated;
  for (const std::string& name : profile.fitted)
    if (const CostParameter* parameter = find_cost_parameter(name))
      all.emplace(name, effective_cost_s(profile, *parameter));
  CostChanges changes;
  for (const auto& [name, value] : all) {
    const CostParameter* parameter = find_cost_parameter(name);
    if (parameter == nullptr) {
      changes[name] = value; // cpu_speed
      continue;
    }
    // A stored 1 acts as 1 / cpu_speed, or as 1 where the speed does not count.
    changed.costs.*parameter->field = 1;
    changes[name] = value / effective_cost_s(changed, *parameter);
  }
  return changes;
}

SuiteFit fit_suite(const Suite& suite, const FitRequest& request, const Library& library,
                   const Simulator& simulator, const FitOptions& options) {
  check_request(request);
  const Selection selection = select(suite, request);
  const Predictor predictor(selection.cells, library);
  const CostProfile& profile = only_profile(predictor);
  const Translation translation(request, profile);
  const FitModel model = [&](const std::vector<double>& values) {
    std::vector<double> predictions =
        predictor.predict(simulator, stored_costs(translation.stated(values), profile));
    for (const DerivedFigure& figure : selection.derived)
      predictions.push_back(predictions[figure.after] / predictions[figure.before]);
    return predictions;
  };
  const std::vector<FitObservation> measured = observations(selection, request.derived_spread.value_or(0));
  SuiteFit fit{.suite = suite.name,
               .profile = profile.name,
               .metrics = request.metrics,
               .costs = {},
               .cells = {},
               .ratios = {},
               .left_out = selection.left_out,
               .summary = fit_least_squares(translation.parameters(), measured, model, options)};
  fit.costs = translation.costs(fit.summary);
  const std::vector<double> predictions = model(fit.summary.values);
  for (std::size_t i = 0; i < measured.size(); ++i)
    (i < selection.cells.size() ? fit.cells : fit.ratios)
        .push_back({measured[i].id, measured[i].measured, predictions[i]});
  return fit;
}

} // namespace replisim
