#include "sim/plan/arms.hpp"

#include "sim/run/replications.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace replisim {

namespace {
/// Values that a view shows as null are not numbers, and equal to each other.
bool same(const Metrics& a, const Metrics& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.first == other.first and
           (one.second == other.second or (std::isnan(one.second) and std::isnan(other.second)));
  });
}
} // namespace

bool Arm::repeats_itself() const {
  return std::all_of(runs.begin(), runs.end(), [&](const RunResult& run) {
    const auto& first = runs.front().subscriptions;
    return same(run.metrics, runs.front().metrics) and
           std::equal(first.begin(), first.end(), run.subscriptions.begin(), run.subscriptions.end(),
                      [](const auto& one, const auto& other) {
                        return one.first == other.first and same(one.second, other.second);
                      });
  });
}

std::vector<double> Arm::values(const std::string& metric, double absent) const {
  std::vector<double> out;
  for (const RunResult& run : runs) {
    const double* value = find_metric(run, metric);
    out.push_back(value == nullptr ? absent : *value);
  }
  return out;
}

void run_arms(const std::vector<Arm*>& arms, int replications, const ArmsOptions& options) {
  std::vector<Job> jobs;
  std::vector<std::pair<Arm*, int>> whose;
  for (Arm* arm : arms)
    for (int r = static_cast<int>(arm->runs.size()) + 1; not arm->failed() and r <= replications; ++r) {
      jobs.push_back(point_job(arm->engine, arm->overrides, replication_seed(options.seed, r)));
      whose.emplace_back(arm, r);
    }
  const auto outcomes = run_forked(jobs, options.pool);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    auto& [arm, replication] = whose[i];
    if (arm->failed())
      continue;
    PointOutcome outcome = point_outcome(outcomes[i]);
    if (outcome.exit_code == ExitCode::Interrupted)
      throw Interrupted("interrupted before there was an answer");
    arm->exit_code = outcome.exit_code;
    if (outcome.result)
      arm->runs.push_back(std::move(*outcome.result));
    else
      arm->error = fmt::format("{} (seed {})", outcome.error, replication_seed(options.seed, replication));
  }
}

namespace {

const double* find_in(const std::map<std::string, Metrics>& entries, std::string_view rest) {
  const auto dot = rest.find('.');
  if (dot == std::string_view::npos)
    return nullptr;
  const auto entry = entries.find(std::string(rest.substr(0, dot)));
  if (entry == entries.end())
    return nullptr;
  const auto found = entry->second.find(std::string(rest.substr(dot + 1)));
  return found == entry->second.end() ? nullptr : &found->second;
}

constexpr std::string_view subscriptions = "subscriptions.";
constexpr std::string_view sessions = "sessions.";

} // namespace

const double* find_metric(const RunResult& run, const std::string& name) {
  if (const auto found = run.metrics.find(name); found != run.metrics.end())
    return &found->second;
  if (name.starts_with(subscriptions))
    return find_in(run.subscriptions, std::string_view(name).substr(subscriptions.size()));
  if (name.starts_with(sessions))
    return find_in(run.sessions, std::string_view(name).substr(sessions.size()));
  return nullptr;
}

std::vector<std::string> reported_metrics(const RunResult& run) {
  std::vector<std::string> out;
  for (const auto& [name, value] : run.metrics)
    out.push_back(name);
  for (const auto& [entry, metrics] : run.subscriptions)
    for (const auto& [name, value] : metrics)
      out.push_back(fmt::format("{}{}.{}", subscriptions, entry, name));
  for (const auto& [entry, metrics] : run.sessions)
    for (const auto& [name, value] : metrics)
      out.push_back(fmt::format("{}{}.{}", sessions, entry, name));
  return out;
}

} // namespace replisim
