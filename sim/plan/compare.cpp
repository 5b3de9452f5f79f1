#include "sim/plan/compare.hpp"

#include "models/base/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace replisim {

namespace {

constexpr double error_probability = 0.05;

double median(std::vector<double> values) {
  if (values.empty())
    return 1;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

bool reports(const Arm& arm, const std::string& metric) {
  return std::all_of(arm.runs.begin(), arm.runs.end(), [&](const RunResult& run) {
    const double* value = find_metric(run, metric);
    return value != nullptr and std::isfinite(*value);
  });
}

ArmDifference difference_of(const Arm& first, const Arm& other, std::size_t index) {
  ArmDifference out;
  out.arm = index;
  std::set<std::string> names;
  for (const Arm* arm : {&first, &other})
    for (const std::string& name : reported_metrics(arm->runs.front()))
      names.insert(name);
  std::vector<double> p;
  std::vector<double> factors;
  for (const std::string& name : names) {
    const bool in_first = reports(first, name), in_other = reports(other, name);
    if (in_first and in_other) {
      MetricDifference difference{name, paired_difference(first.values(name, 0), other.values(name, 0)), {}};
      const bool random = difference.paired.difference.half_width > 0;
      difference.belief =
          not random and difference.paired.difference.mean == 0 ? Belief::Same : Belief::Unseen;
      if (random)
        factors.push_back(difference.paired.variance_factor);
      p.push_back(difference.paired.p);
      out.metrics.push_back(std::move(difference));
    } else if (in_first or in_other) {
      (in_first ? out.only_first : out.only_other).push_back(name);
    }
  }
  const auto rejected = rejected_by_holm(p, error_probability);
  for (std::size_t i = 0; i < out.metrics.size(); ++i) {
    const Interval& found = out.metrics[i].paired.difference;
    if (p[i] < error_probability and std::abs(found.mean) > found.half_width)
      out.metrics[i].belief = rejected[i] ? Belief::Real : Belief::Perhaps;
  }
  out.variance_factor = median(factors);
  return out;
}

void require_simulated(const std::vector<Arm>& arms) {
  for (const Arm& arm : arms) {
    if (arm.exit_code == ExitCode::Internal)
      throw std::runtime_error(fmt::format("{}: {}", arm.label, arm.error));
    if (arm.failed())
      throw UsageError(fmt::format("{} cannot be simulated: {}", arm.label, arm.error));
  }
}

} // namespace

std::string to_string(Belief belief) {
  switch (belief) {
  case Belief::Same:
    return "equal";
  case Belief::Unseen:
    return "not seen";
  case Belief::Perhaps:
    return "perhaps";
  case Belief::Real:
    break;
  }
  return "real";
}

const MetricDifference* ArmDifference::find(std::string_view metric) const {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const MetricDifference& d) { return d.metric == metric; });
  return found == metrics.end() ? nullptr : &*found;
}

Comparison compare_arms(std::vector<Arm> arms, int replications, const ArmsOptions& options) {
  REPLISIM_REQUIRE(arms.size() >= 2 and replications >= 2, "{} arms, {} replications", arms.size(),
                   replications);
  Comparison out;
  out.arms = std::move(arms);
  out.seed = options.seed;
  std::vector<Arm*> all;
  for (Arm& arm : out.arms)
    all.push_back(&arm);
  run_arms(all, 2, options);
  require_simulated(out.arms);
  out.deterministic =
      std::all_of(out.arms.begin(), out.arms.end(), [](const Arm& arm) { return arm.repeats_itself(); });
  if (not out.deterministic)
    run_arms(all, replications, options);
  require_simulated(out.arms);
  out.replications = static_cast<int>(out.arms.front().runs.size());
  for (std::size_t i = 1; i < out.arms.size(); ++i)
    out.differences.push_back(difference_of(out.arms.front(), out.arms[i], i));
  out.recommendation = recommendation_of(out);
  return out;
}

} // namespace replisim
