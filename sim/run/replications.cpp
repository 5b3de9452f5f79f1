#include "sim/run/replications.hpp"

#include "models/base/check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <utility>

namespace replisim {

namespace {

/// What a run reports: its metrics, those of a steady state without the warm-up, and none that is refused.
Metrics reported(const RunResult& run) {
  Metrics out = run.metrics;
  for (const auto& [name, estimate] : run.statistics.estimates)
    if (const auto found = out.find(name); found != out.end() and estimate.refused.empty())
      found->second = estimate.value;
  for (const auto& [name, reason] : run.statistics.refused)
    out.erase(name);
  return out;
}

} // namespace

std::uint64_t replication_seed(std::uint64_t base, int replication) {
  return base + static_cast<std::uint64_t>(replication) - 1;
}

Replications summarise_replications(std::vector<RunResult> runs) {
  REPLISIM_REQUIRE(not runs.empty(), "no replication finished");
  Replications out;
  std::map<std::string, std::vector<double>> values;
  for (const auto& run : runs) {
    out.deterministic = out.deterministic and run.metrics == runs.front().metrics;
    for (const auto& [name, value] : reported(run))
      values[name].push_back(value);
  }
  for (const auto& [name, list] : values)
    out.metrics[name] = interval_95(list);
  if (runs.size() == 1)
    for (const auto& [name, estimate] : runs.front().statistics.estimates)
      if (const auto found = out.metrics.find(name); found != out.metrics.end() and estimate.refused.empty())
        found->second.half_width = estimate.half_width;
  out.runs = std::move(runs);
  return out;
}

Precision precision_of(const Replications& replications, const Statistics& asked) {
  Precision out;
  out.asked = asked.precision;
  std::vector<std::string> metrics;
  for (const std::string& name : asked.metrics)
    if (replications.metrics.contains(name))
      metrics.push_back(name);
  if (metrics.empty() and replications.metrics.contains("total_s"))
    metrics.emplace_back("total_s");
  if (metrics.empty()) {
    out.text = fmt::format("the run reports none of {}", fmt::join(asked.metrics, ", "));
    return out;
  }
  out.met = true;
  for (const std::string& name : metrics) {
    const Interval& interval = replications.metrics.at(name);
    // One run of a state that is not steady, or whose estimate is refused, says nothing about its own chance.
    const auto& estimates = replications.runs.front().statistics.estimates;
    const auto estimate = estimates.find(name);
    const bool known =
        replications.runs.size() > 1 or (estimate != estimates.end() and estimate->second.refused.empty());
    const double relative =
        interval.half_width == 0 ? 0 : interval.half_width / std::max(std::abs(interval.mean), 1e-300);
    out.met = out.met and known and relative <= asked.precision;
    out.text += (out.text.empty() ? "" : ", ") +
                (known ? fmt::format("{} to {:.2g} %", name, 100 * relative) : name + " without an interval");
  }
  return out;
}

} // namespace replisim
