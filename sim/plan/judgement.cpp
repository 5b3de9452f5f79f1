#include "sim/plan/judgement.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"
#include "sim/scenario/promise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace replisim {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr std::string_view disk_prefix = "peak_disk_used_";

/// Figures that a run lacks when nothing got through: as bad as can be, not 0.
bool missing_is_worst(const std::string& metric) {
  const auto dot = metric.rfind('.');
  const std::string name = dot == std::string::npos ? metric : metric.substr(dot + 1);
  return name.starts_with("lag_s") or name.starts_with("total_s") or name.starts_with("catch_up") or
         name.starts_with("replay_lag") or name.starts_with("latency");
}

/// Whether a lag that grows for ever is what the promise is about.
bool is_about_backlog(const Promise& promise) {
  for (const char* word : {"lag", "retained_wal", "disk", "catch_up"})
    if (promise.metric.find(word) != std::string::npos)
      return promise.below;
  return false;
}

std::string trouble_of(const Arm& arm) {
  if (arm.failed())
    return arm.error;
  for (const RunResult& run : arm.runs)
    for (const Outcome& outcome : run.outcomes)
      if (outcome.kind == "disk_full" or outcome.kind == "slot_lost")
        return outcome.text;
  return {};
}

/// The slot that falls behind in at least half of the runs; empty: none.
std::string falling_behind(const Arm& arm) {
  std::map<std::string, std::size_t> times;
  for (const RunResult& run : arm.runs)
    for (const auto& [slot, verdict] : run.verdicts)
      if (verdict.state == "falling behind" and 2 * ++times[slot] >= arm.runs.size())
        return slot;
  return {};
}

PromiseOutcome outcome_of(const Arm& arm, const Promise& promise) {
  std::vector<double> values;
  for (const RunResult& run : arm.runs)
    values.push_back(promised_figure(run, promise)
                         .value_or(promise.below and missing_is_worst(promise.metric) ? never : 0));
  PromiseOutcome out;
  if (std::any_of(values.begin(), values.end(), [](double v) { return std::isinf(v); })) {
    out.value = {never, 0};
    out.keeps = Keeps::No;
    out.slack = -never;
    out.why = "nothing got through";
    return out;
  }
  out.value = interval_95(values);
  const double side = promise.below ? 1 : -1;
  const double room = side * (promise.limit - out.value.mean);
  out.slack = room / std::max(std::abs(promise.limit), 1e-300);
  out.keeps = room > out.value.half_width     ? Keeps::Yes
              : room <= -out.value.half_width ? Keeps::No
                                              : Keeps::Unknown;
  return out;
}

} // namespace

std::optional<std::size_t> Judgement::tightest() const {
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < promises.size(); ++i)
    if (not out or promises[i].slack < promises[*out].slack)
      out = i;
  return out;
}

std::optional<double> promised_figure(const RunResult& run, const Promise& promise) {
  std::string metric = promise.metric;
  if (metric == "disk") {
    std::optional<double> fullest;
    for (const auto& [name, value] : run.metrics)
      if (name.starts_with(disk_prefix))
        fullest = std::max(fullest.value_or(0), value);
    return fullest;
  }
  if (metric == "retained_wal_bytes" and promise.below)
    metric = "peak_retained_wal_bytes";
  const double* value = find_metric(run, metric);
  return value == nullptr or std::isnan(*value) ? std::nullopt : std::optional(*value);
}

Judgement judge(const Arm& arm, const std::vector<Promise>& promises, bool steady) {
  Judgement out;
  out.trouble = trouble_of(arm);
  const std::string behind = steady and not arm.failed() ? falling_behind(arm) : "";
  for (const Promise& promise : promises) {
    PromiseOutcome outcome;
    if (arm.failed()) {
      outcome.keeps = Keeps::No;
      outcome.slack = -never;
    } else {
      outcome = outcome_of(arm, promise);
    }
    if (not behind.empty() and is_about_backlog(promise)) {
      outcome.keeps = Keeps::No;
      outcome.slack = std::min(outcome.slack, -1.0);
      outcome.why = fmt::format("slot {} falls behind for as long as the load lasts", behind);
    }
    out.promises.push_back(outcome);
  }
  const auto any = [&](Keeps what) {
    return std::any_of(out.promises.begin(), out.promises.end(),
                       [what](const auto& p) { return p.keeps == what; });
  };
  out.keeps = not out.trouble.empty() or any(Keeps::No) ? Keeps::No
              : any(Keeps::Unknown)                     ? Keeps::Unknown
                                                        : Keeps::Yes;
  return out;
}

std::string promise_text(const Promise& promise, const PromiseOutcome& outcome) {
  std::string text = fmt::format("{}: {}", promise.text, metric_text(promise.metric, outcome.value.mean));
  if (outcome.value.half_width > 0)
    text += fmt::format(" +- {}", metric_text(promise.metric, outcome.value.half_width));
  return outcome.why.empty() ? text : fmt::format("{} ({})", text, outcome.why);
}

std::string bottleneck_stage(const RunResult& run) {
  const Verdict* busiest = nullptr;
  for (const auto& [slot, verdict] : run.verdicts)
    if (not verdict.stage.empty() and (busiest == nullptr or verdict.busy > busiest->busy))
      busiest = &verdict;
  return busiest == nullptr ? run.bottleneck : busiest->stage;
}

std::string bottleneck_text(const RunResult& run) {
  const Verdict* busiest = nullptr;
  for (const auto& [slot, verdict] : run.verdicts)
    if (not verdict.stage.empty() and (busiest == nullptr or verdict.busy > busiest->busy))
      busiest = &verdict;
  if (busiest == nullptr)
    return run.bottleneck.empty() ? "nothing: no stage is busy to speak of" : run.bottleneck;
  const bool behind = busiest->state != "keeping up";
  return fmt::format("{}{}, busy {:.0f} % of {}", busiest->stage,
                     busiest->activity.empty() ? "" : fmt::format(" ({})", busiest->activity),
                     100 * busiest->busy, behind ? "the time behind" : "the run");
}

void require_metrics(const std::vector<Promise>& promises, const std::vector<PlanObjective>& objectives,
                     const std::string& where, const std::vector<const Arm*>& arms) {
  std::vector<std::string> known;
  bool any = false;
  for (const Arm* arm : arms)
    for (const RunResult& run : arm->runs) {
      any = true;
      for (const std::string& name : reported_metrics(run))
        if (std::find(known.begin(), known.end(), name) == known.end())
          known.push_back(name);
    }
  const auto complain = [&](const std::string& place, const std::string& metric) {
    const auto has_figures = std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return name == metric + "_p99" or name == metric + "_mean";
    });
    throw UsageError(
        has_figures
            ? fmt::format("{}: {} is a distribution; say which figure of it: {} p50, p95, p99, mean or max",
                          place, metric, metric)
            : fmt::format("{}: no run of this scenario reports a metric '{}'{}", place, metric,
                          suggestion(metric, known)));
  };
  const auto reported = [&](const Promise& promise) {
    return std::any_of(arms.begin(), arms.end(), [&](const Arm* arm) {
      return std::any_of(arm->runs.begin(), arm->runs.end(),
                         [&](const RunResult& run) { return promised_figure(run, promise).has_value(); });
    });
  };
  for (const Promise& promise : promises)
    if (any and not reported(promise))
      complain(promise.where, promise.metric);
  for (const PlanObjective& objective : objectives)
    if (any and objective.metric != "cost" and
        not reported({objective.text, objective.metric, {}, false, 0, {}}))
      complain(where + ".objectives", objective.metric);
}

} // namespace replisim
