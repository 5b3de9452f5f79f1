#include "calibration/fit/calibration.hpp"

#include "calibration/fit/artefact_figures.hpp"
#include "calibration/fit/figures.hpp"
#include "calibration/repeats.hpp"
#include "models/base/errors.hpp"
#include "sim/scenario/library_files.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

namespace replisim {

namespace {
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double normal_95_pct = 1.959964;

/// The profile that factors multiply. One that extends none begins from the starts of its costs.
CostProfile base_profile(const CalibrationSpec& spec, const Library& library) {
  CostProfile base;
  if (not spec.extends.empty())
    base = load_profile(spec.extends, library);
  else
    for (const FreeCosts& free : spec.costs)
      base.costs.*find_cost_parameter(free.names.front())->field = *free.start_s;
  base.name = spec.name;
  base.machine = spec.machine;
  base.server_version = spec.server_version;
  base.fitted.clear();
  return base;
}

/// Stores a cost so that it is `value_s` on the profile's own machine.
void state(CostProfile& profile, const std::string& name, double value_s) {
  const CostParameter& parameter = *find_cost_parameter(name);
  // A stored 1 acts as 1 / cpu_speed, or as 1 where the speed does not count.
  profile.costs.*parameter.field = 1;
  profile.costs.*parameter.field = value_s / effective_cost_s(profile, parameter);
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string how_to_measure(const std::string& name) {
  if (name == cpu_speed_parameter)
    return "any one cost, measured by itself on both machines";
  const CostParameter* parameter = find_cost_parameter(name.substr(0, name.find(',')));
  return parameter == nullptr ? std::string() : std::string(parameter->sentence);
}

/// What a fit says beforehand of another one: a prior along each direction it determined.
std::vector<FitPrior> as_priors(const FitProblem& problem, const FitSummary& summary) {
  MatrixXd rows = weighted_sensitivities(problem, summary) / summary.scatter;
  MatrixXd information = rows.transpose() * rows;
  const Index p = information.cols();
  VectorXd logs(p);
  for (Index j = 0; j < p; ++j) {
    const FitParameter& parameter = problem.parameters[static_cast<std::size_t>(j)];
    logs[j] = std::log(summary.values[static_cast<std::size_t>(j)]);
    if (parameter.prior_spread > 0)
      information(j, j) += 1 / (parameter.prior_spread * parameter.prior_spread);
  }
  for (const FitPrior& prior : problem.priors) {
    const VectorXd weights = Eigen::Map<const VectorXd>(prior.weights.data(), p) / prior.spread;
    information += weights * weights.transpose();
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(information);
  std::vector<FitPrior> priors;
  for (Index k = 0; k < p; ++k) {
    if (solver.eigenvalues()[k] <= 1e-9 * solver.eigenvalues()[p - 1])
      continue;
    const VectorXd direction = solver.eigenvectors().col(k);
    priors.push_back({.weights = {direction.begin(), direction.end()},
                      .centre = direction.dot(logs),
                      .spread = 1 / std::sqrt(solver.eigenvalues()[k])});
  }
  return priors;
}

double mean_error_pct(const std::vector<FittedFigure>& cells) {
  double sum = 0;
  for (const FittedFigure& cell : cells)
    sum += std::abs(error_pct(cell.measured, cell.predicted));
  return sum / static_cast<double>(cells.size());
}

} // namespace

double FittedCost::low() const {
  return std::isfinite(spread) ? value * std::exp(-normal_95_pct * spread) : 0;
}
double FittedCost::high() const { return value * std::exp(normal_95_pct * spread); }

double CalibrationResult::mape_pct() const { return mean_error_pct(cells); }

double CalibrationResult::max_error_pct() const {
  double largest = 0;
  for (const FittedFigure& cell : cells)
    largest = std::max(largest, std::abs(error_pct(cell.measured, cell.predicted)));
  return largest;
}

Calibration::Calibration(CalibrationSpec spec, const Library& library, Simulator simulator,
                         const SuiteMaker& suites)
    : spec_(std::move(spec)), simulator_(std::move(simulator)), base_(base_profile(spec_, library)) {
  std::vector<FitObservation> ratios;
  for (const CalibrationData& data : spec_.data) {
    const Suite suite = not data.artefacts.empty() ? artefact_suite(data, spec_.file, library)
                        : suites                   ? suites(data.suite)
                                                   : make_suite(data.suite, library);
    Figures figures = select_figures(data, suite, spec_.extends);
    const std::size_t first = cells_.size();
    left_out_ += figures.left_out;
    cells_.insert(cells_.end(), figures.cells.begin(), figures.cells.end());
    problem_.observations.insert(problem_.observations.end(), figures.observations.begin(),
                                 figures.observations.end());
    for (FigureRatio& ratio : figures.ratios) {
      ratio_cells_.emplace_back(first + ratio.before, first + ratio.after);
      ratios.push_back(std::move(ratio.observation));
    }
  }
  problem_.observations.insert(problem_.observations.end(), ratios.begin(), ratios.end());
  predictor_ = std::make_shared<const Predictor>(cells_, library);
  add_parameters();
  add_relations();
  problem_.model = [this](const auto& points) { return predict(points); };
}

void Calibration::add_parameters() {
  if (spec_.cpu_speed)
    problem_.parameters.push_back({.name = cpu_speed_parameter,
                                   .start = spec_.cpu_speed->start_factor,
                                   .prior_spread = spec_.cpu_speed->prior_spread,
                                   .prior_centre = spec_.cpu_speed->start_factor});
  const double speed = spec_.cpu_speed ? spec_.cpu_speed->start_factor : 1;
  for (const FreeCosts& free : spec_.costs) {
    FitParameter parameter{.name = joined(free.names),
                           .start = free.start_factor,
                           .prior_spread = free.prior_spread,
                           .prior_centre = 1};
    for (const std::string& name : free.names) {
      const CostParameter& cost = *find_cost_parameter(name);
      const double stated = effective_cost_s(base_, cost) / (is_latency(name) ? 1 : speed);
      if (stated <= 0)
        throw UsageError(
            fmt::format("{}: '{}' costs 0 in profile {}, which no factor moves; state it instead", spec_.file,
                        name, spec_.extends));
      if (free.start_s)
        parameter.start = parameter.prior_centre = *free.start_s / stated;
      parameter.low = std::max(parameter.low, cost.low / stated);
      parameter.high = std::min(parameter.high, cost.high / stated);
    }
    problem_.parameters.push_back(parameter);
  }
}

void Calibration::add_relations() {
  const auto index_of = [&](const std::string& name) {
    const std::size_t first = spec_.cpu_speed ? 1 : 0;
    for (std::size_t k = 0; k < spec_.costs.size(); ++k)
      if (std::find(spec_.costs[k].names.begin(), spec_.costs[k].names.end(), name) !=
          spec_.costs[k].names.end())
        return first + k;
    throw UsageError(fmt::format("{}: '{}' is not fitted", spec_.file, name));
  };
  for (const CostRelation& relation : spec_.relations) {
    FitPrior prior{.weights = std::vector<double>(problem_.parameters.size(), 0.0),
                   .spread = relation.spread};
    prior.weights[index_of(relation.cost)] += 1;
    prior.weights[index_of(relation.to)] -= 1;
    problem_.priors.push_back(std::move(prior));
  }
}

CostProfile Calibration::profile_at(const std::vector<double>& values) const {
  CostProfile profile = base_;
  std::size_t next = 0;
  if (spec_.cpu_speed)
    profile.cpu_speed *= values[next++];
  for (const FreeCosts& free : spec_.costs) {
    for (const std::string& name : free.names)
      profile.costs.*find_cost_parameter(name)->field *= values[next];
    ++next;
  }
  for (const auto& [name, cost] : spec_.stated)
    state(profile, name, cost.value_s);
  for (const DerivedCost& derived : spec_.derived) {
    double sum = 0;
    for (const std::string& part : derived.sum_of)
      sum += effective_cost_s(profile, *find_cost_parameter(part));
    state(profile, derived.name, sum);
  }
  return profile;
}

std::vector<double> Calibration::values_of(const CostProfile& profile) const {
  std::vector<double> values;
  if (spec_.cpu_speed)
    values.push_back(cpu_speed_of(profile));
  for (const FreeCosts& free : spec_.costs) {
    const CostParameter& parameter = *find_cost_parameter(free.names.front());
    values.push_back(profile.costs.*parameter.field / base_.costs.*parameter.field);
  }
  return values;
}

std::vector<std::vector<double>> Calibration::predict(const std::vector<std::vector<double>>& points) const {
  std::vector<CostProfile> profiles;
  for (const auto& values : points)
    profiles.push_back(profile_at(values));
  std::vector<std::vector<double>> predictions = predictor_->predict_profiles(simulator_, profiles);
  for (std::vector<double>& values : predictions)
    for (const auto& [before, after] : ratio_cells_)
      values.push_back(values[after] / values[before]);
  return predictions;
}

bool Calibration::is_cpu_time(std::size_t observation) const {
  return observation < cells_.size() and cells_[observation].metric.starts_with("cpu_");
}

FitOptions Calibration::options() const {
  FitOptions options;
  options.max_iterations = spec_.max_iterations;
  options.robust_limit = spec_.robust_limit;
  return options;
}

FitSummary Calibration::fit_without(const std::vector<bool>& is_held, const FitOptions& options,
                                    const FitBegin* begin) const {
  FitProblem problem = problem_;
  std::size_t cpu_times = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < problem.observations.size(); ++i) {
    if (i < is_held.size() and is_held[i])
      problem.observations[i].relative_error = infinite;
    else
      ++(is_cpu_time(i) ? cpu_times : others);
  }
  if (cpu_times == 0 or others == 0)
    return fit_least_squares(problem, options, begin);
  FitProblem cpu = problem;
  for (std::size_t i = 0; i < problem.observations.size(); ++i)
    (is_cpu_time(i) ? problem : cpu).observations[i].relative_error = infinite;
  const FitSummary pinned = fit_least_squares(cpu, options, begin);
  problem.priors = as_priors(cpu, pinned);
  for (FitParameter& parameter : problem.parameters)
    parameter.prior_spread = 0;
  const FitBegin second{pinned.values, pinned.predictions, pinned.sensitivities};
  FitSummary summary = fit_least_squares(problem, options, &second);
  summary.cost_before = pinned.cost_before;
  summary.iterations += pinned.iterations;
  summary.evaluations += pinned.evaluations;
  return summary;
}

std::vector<FittedCost> Calibration::stated_costs(const FitSummary& summary,
                                                  const Identifiability& known) const {
  std::vector<double> starts;
  for (const FitParameter& parameter : problem_.parameters)
    starts.push_back(parameter.start);
  const CostProfile before = profile_at(starts);
  const CostProfile after = profile_at(summary.values);
  std::vector<FittedCost> out;
  if (spec_.cpu_speed)
    out.push_back({.name = cpu_speed_parameter,
                   .start = starts.front(),
                   .value = summary.values.front(),
                   .spread = known.parameters.front().spread,
                   .determined = known.parameters.front().word});
  int factors = 0;
  for (std::size_t k = 0; k < spec_.costs.size(); ++k) {
    const std::size_t j = k + (spec_.cpu_speed ? 1 : 0);
    factors += spec_.costs[k].names.size() > 1 ? 1 : 0;
    for (const std::string& name : spec_.costs[k].names) {
      const CostParameter& parameter = *find_cost_parameter(name);
      VectorXd weights = VectorXd::Zero(summary.covariance.cols());
      weights[static_cast<Index>(j)] = 1;
      if (spec_.cpu_speed and not is_latency(name))
        weights[0] -= 1; // the stated cost is the factor over cpu_speed
      const double spread = std::isfinite(known.parameters[j].spread)
                                ? std::sqrt(weights.dot(summary.covariance * weights))
                                : infinite;
      out.push_back({.name = name,
                     .start = effective_cost_s(before, parameter),
                     .value = effective_cost_s(after, parameter),
                     .spread = spread,
                     .determined = known.parameters[j].word,
                     .together = spec_.costs[k].names.size() > 1 ? factors : 0});
    }
  }
  return out;
}

CalibrationResult Calibration::fit(const FitOptions& options, const std::vector<double>* values) const {
  CalibrationResult result;
  result.spec = spec_;
  result.left_out = left_out_;
  const FitBegin begin{values != nullptr ? *values : std::vector<double>()};
  result.summary = fit_without({}, options, values != nullptr ? &begin : nullptr);
  result.identifiability = identify(problem_, result.summary, how_to_measure);
  result.costs = stated_costs(result.summary, result.identifiability);
  result.profile = profile_at(result.summary.values);
  for (std::size_t i = 0; i < problem_.observations.size(); ++i) {
    const FitObservation& observation = problem_.observations[i];
    (i < cells_.size() ? result.cells : result.ratios)
        .push_back({observation.id, observation.measured, result.summary.predictions[i],
                    observation.relative_error});
    result.pinned_by_cpu = result.pinned_by_cpu or is_cpu_time(i) != is_cpu_time(0);
  }
  for (const Scenario& scenario : predictor_->scenarios())
    stretch(result.envelope, quantities_of(scenario));
  return result;
}

} // namespace replisim
