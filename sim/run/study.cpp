#include "sim/run/study.hpp"

#include "models/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace replisim {

namespace {

/// Samples of a run; the first look at its estimates, and how looks follow.
constexpr double samples_to_the_end = 2400;
constexpr double first_look = 100;
/// Bins without a value for a metric are merged as long as so many are left.
constexpr std::size_t fewest_bins = 50;
constexpr double look_factor = 1.15;
/// What recurs is seen at least so often.
constexpr double fewest_cycles = 3;
/// Runs that are estimated without being asked, and to which precision.
constexpr double long_run_s = 600;
constexpr double usual_precision = 0.005;
/// A slot that keeps more than this part of all WAL does not move on.
constexpr double most_retained = 0.75;
/// A load that begins this late in the run, as a part of it, is still steady: its start is warm-up.
constexpr double latest_start = 0.1;

struct Percentile {
  const char* metric;
  double quantile;
};
constexpr std::array percentiles{Percentile{"lag_s_p50", 0.5},      Percentile{"lag_s_p95", 0.95},
                                 Percentile{"lag_s_p99", 0.99},     Percentile{"latency_s_p50", 0.5},
                                 Percentile{"latency_s_p95", 0.95}, Percentile{"latency_s_p99", 0.99}};

bool runs_throughout(double from_s, double until_s, double end_s) {
  return from_s <= latest_start * end_s and (until_s == 0 or until_s >= end_s);
}

/// Why the scenario's load is none that has a steady state; empty where it has.
std::string unsteady(const Scenario& s) {
  const double end_s = s.observe.until_s;
  if (end_s <= 0)
    return "it ends when all is applied";
  if (not s.events.empty())
    return "something happens at times of its own";
  if (std::any_of(s.subscriptions.begin(), s.subscriptions.end(),
                  [](const auto& entry) { return entry.second.initial_sync.has_value(); }))
    return "tables are synchronised";
  if (std::any_of(s.subscriptions.begin(), s.subscriptions.end(), [&](const auto& entry) {
        const auto runs_there = [&](const auto& load) { return load.server == entry.second.server; };
        return entry.second.retain_dead_tuples and
               (std::any_of(s.clients.begin(), s.clients.end(), runs_there) or
                std::any_of(s.flows.begin(), s.flows.end(), runs_there));
      }))
    return "dead rows gather on a subscriber and go again";
  if (not s.batches.empty() or not s.replays.empty() or not s.ddl.empty() or not s.decode.empty())
    return "something happens at times of its own";
  if (s.flows.empty() and s.clients.empty())
    return "no flow and no clients run in it";
  for (const FlowLoad& flow : s.flows)
    if (not flow.curve.empty() or not flow.times_s.empty() or
        not runs_throughout(flow.from_s, flow.until_s, end_s))
      return fmt::format("the load {} changes", flow.name);
  for (const ClientLoad& load : s.clients)
    if (not runs_throughout(load.from_s, load.until_s, end_s))
      return fmt::format("the clients of {} do not run throughout", load.name);
  for (const OtherWalLoad& load : s.other_wal)
    if (not runs_throughout(load.from_s, load.until_s, end_s))
      return fmt::format("the load {} changes", load.name);
  for (const auto& [name, consumer] : s.consumers)
    if (consumer.connected_from_s > 0 or consumer.connected_until_s > 0 or consumer.connects_every_s > 0)
      return fmt::format("{} is connected at times only", name);
  if (not s.sessions.empty())
    return "sessions of subscribers run in it";
  for (const auto& [name, machine] : s.hosts)
    if (machine.bursts())
      return fmt::format("host {} slows down when its CPU credits are used up", name);
  for (const auto& [name, server] : s.servers)
    if (server.initial_retained_wal_bytes > 0)
      return "it begins with a backlog";
  return "";
}

MetricEstimate estimate_of(const std::vector<double>& values, double bin_s, double& warmup_s) {
  MetricEstimate out;
  const WarmUp warm_up = warm_up_mser5(values);
  const std::size_t first = warm_up.refused.empty() ? warm_up.values : 0;
  const BatchMeans means = batch_means(values, first);
  out.value = means.interval.mean;
  out.refused = warm_up.refused.empty() ? means.refused : warm_up.refused;
  if (not out.refused.empty())
    return out;
  warmup_s = static_cast<double>(first) * bin_s;
  out.half_width = means.interval.half_width;
  out.batches = static_cast<std::int64_t>(means.batches);
  out.batch_s = static_cast<double>(means.values) * bin_s;
  out.von_neumann = means.ratio;
  return out;
}

std::map<std::string, MetricEstimate> estimates_of(const SteadySeries& series, double& warmup_s) {
  std::map<std::string, MetricEstimate> out;
  for (const auto& [name, values] : series.metrics) {
    double own_s = 0;
    if (not values.empty())
      out[name] = estimate_of(values, series.bin_s, own_s);
    warmup_s = std::max(warmup_s, own_s);
  }
  return out;
}

/// Sums over the run, which grow with its length.
bool is_total(const std::string& metric) {
  static const std::set<std::string> sums = {"wal_bytes",         "sent_bytes",      "spill_txns",
                                             "spill_count",       "spill_bytes",     "stream_txns",
                                             "stream_count",      "stream_bytes",    "total_txns",
                                             "total_bytes",       "reread_bytes",    "committed_transactions",
                                             "committed_changes", "status_requests", "conflict_slot_updates"};
  return sums.contains(metric) or (metric.starts_with("cpu_") and metric.ends_with("_s"));
}

void carry_on(Metrics& metrics, double factor) {
  for (auto& [name, value] : metrics)
    if (is_total(name))
      value = name.starts_with("cpu_") ? value * factor : std::round(value * factor);
}

/// How many independent values as many correlated ones are worth: their variance over that of their mean.
double worth(double count, const LagSketch& sketch, const MetricEstimate& mean) {
  constexpr int grid = 400;
  double first = 0, second = 0;
  for (int i = 0; i < grid; ++i) {
    const double value = sketch.quantile((i + 0.5) / grid);
    first += value / grid;
    second += value * value / grid;
  }
  const double variance = std::max(0.0, second - first * first);
  if (mean.batches < 2 or mean.half_width <= 0 or variance <= 0)
    return count;
  const double deviation = mean.half_width / student_t_975(static_cast<int>(mean.batches) - 1);
  return std::min(count, variance / (deviation * deviation));
}

} // namespace

StudyKind study_of(const Scenario& scenario) {
  if (scenario.statistics.study == Statistics::Study::Steady)
    return {true, "declared"};
  if (scenario.statistics.study == Statistics::Study::Terminating)
    return {false, "declared"};
  const std::string reason = unsteady(scenario);
  if (not reason.empty())
    return {false, "detected: " + reason};
  return {true, "detected: its load is constant from the beginning to the end"};
}

Study::Study(const Scenario& scenario, Pipeline& pipeline)
    : scenario_(scenario), pipeline_(pipeline), kind_(study_of(scenario)),
      asked_s_(scenario.observe.until_s) {
  if (not kind_.steady or asked_s_ <= 0)
    return;
  const double interval_s = std::min(
      scenario.observe.interval_s, std::max(5 * pipeline.resolution().tick_s, asked_s_ / samples_to_the_end));
  std::function<void(double)> sampled;
  if (may_end()) {
    next_look_s_ = first_look * interval_s;
    sampled = [this](double now_s) { consider(now_s); };
  }
  recorder_ = std::make_unique<SteadyRecorder>(pipeline, interval_s, std::move(sampled));
}

/// Half width over value at which a run may end; 0: it goes on to its end.
double Study::precision() const {
  const Statistics& asked = scenario_.statistics;
  return asked.precision > 0                               ? asked.precision
         : asked.estimates_long and asked_s_ >= long_run_s ? usual_precision
                                                           : 0;
}

/// WAL is kept for a slot that does not move on: what it holds grows with the run.
bool Study::retention_grows() const {
  for (const auto& [name, side] : pipeline_.slots()) {
    const Lsn inserted = pipeline_.publishers().at(side.publisher).wal->inserted();
    if (static_cast<double>(inserted - side.slot->restart_lsn()) >
        most_retained * static_cast<double>(inserted.value))
      return true;
  }
  return false;
}

/// What a limit is for is seen only by a run that goes on until it is met, or not.
bool Study::may_end() const {
  if (scenario_.statistics.exact or precision() == 0)
    return false;
  for (const auto& [name, consumer] : scenario_.consumers)
    if (consumer.confirms == Consumer::Confirms::Never)
      return false;
  for (const auto& [name, host] : scenario_.hosts)
    for (const Disk& disk : host.disks)
      if (disk.capacity_bytes > 0)
        return false;
  return std::none_of(pipeline_.publishers().begin(), pipeline_.publishers().end(), [](const auto& entry) {
    return entry.second.rules.max_slot_wal_keep_size_bytes >= 0 or entry.second.rules.idle_slot_timeout_s > 0;
  });
}

/// Checkpoints that the whole run would see are seen some times, by time and by volume.
double Study::fewest_s(double now_s) const {
  double out = 0;
  for (const auto& [name, side] : pipeline_.publishers()) {
    double period_s = side.rules.checkpoint_timeout_s;
    const double wal_bytes_per_s = static_cast<double>(side.wal->inserted().value) / now_s;
    if (wal_bytes_per_s > 0)
      period_s =
          std::min(period_s, static_cast<double>(side.rules.checkpoint_distance_bytes()) / wal_bytes_per_s);
    if (period_s < asked_s_)
      out = std::max(out, fewest_cycles * period_s);
  }
  return out;
}

/// Ends the run where its estimates are as precise as asked.
void Study::consider(double now_s) {
  if (now_s < next_look_s_ or now_s >= asked_s_)
    return;
  next_look_s_ = now_s * look_factor;
  if (now_s < fewest_s(now_s) or retention_grows())
    return;
  double warmup_s = 0;
  auto estimates = estimates_of(recorder_->series(), warmup_s);
  // A lag that grows without end is no less so for a moment in which nothing was applied.
  for (const std::string& metric : scenario_.statistics.metrics)
    for (std::size_t merged = 2;
         not estimates.contains(metric) and recorder_->samples() > merged * fewest_bins; merged *= 2)
      if (const SteadySeries series = recorder_->series(merged); series.metrics.contains(metric))
        estimates[metric] = estimate_of(series.metrics.at(metric), series.bin_s, warmup_s);
  for (const auto& [name, estimate] : estimates)
    if (not estimate.refused.empty())
      return;
  bool any = false;
  for (const std::string& metric : scenario_.statistics.metrics) {
    const auto found = estimates.find(metric);
    if (found == estimates.end())
      continue;
    any = true;
    if (found->second.half_width > precision() * std::abs(found->second.value))
      return;
  }
  if (not any)
    return;
  shortened_ = true;
  pipeline_.world().finish();
}

/// An interval for each percentile, or why the sample does not support it.
void Study::judge_percentiles(RunResult& result) const {
  RunStatistics& out = result.statistics;
  LagSketch lags, responses;
  for (const auto& [name, record] : pipeline_.log().subscriptions)
    lags.merge(record.flow_lag);
  for (const ClientRecord& load : pipeline_.log().clients)
    responses.merge(load.response);
  for (const Percentile& percentile : percentiles) {
    const std::string metric = percentile.metric;
    const bool of_lag = metric.starts_with("lag_");
    const LagSketch& sketch = of_lag ? lags : responses;
    if (not result.metrics.contains(metric))
      continue;
    const auto mean = out.estimates.find(of_lag ? "lag_s_mean" : "latency_s");
    const bool correlated = mean != out.estimates.end() and mean->second.refused.empty();
    const double independent = correlated ? worth(sketch.count(), sketch, mean->second) : sketch.count();
    const double fewest = kind_.steady ? static_cast<double>(fewest_values_for(percentile.quantile))
                                       : 1 / (1 - percentile.quantile);
    if (independent < fewest - 0.5) {
      out.refused[metric] =
          fmt::format("{:.0f} independent transactions are too few for it; {:.0f} are needed",
                      std::floor(independent), fewest);
      continue;
    }
    const auto ranks =
        quantile_ranks_95(static_cast<std::size_t>(std::min(independent, 1e15)), percentile.quantile);
    if (kind_.steady and correlated and ranks)
      out.quantiles[metric] = {
          sketch.quantile(static_cast<double>(ranks->low) / std::floor(independent)),
          sketch.quantile(std::min(1.0, static_cast<double>(ranks->high) / std::floor(independent))),
          std::floor(independent)};
  }
}

void Study::conclude(double end_s, RunResult& result) const {
  RunStatistics& out = result.statistics;
  out.steady = kind_.steady;
  out.why = kind_.why;
  out.asked_s = asked_s_;
  out.run_s = end_s;
  out.shortened = shortened_ and end_s < asked_s_;
  if (recorder_)
    out.estimates = estimates_of(recorder_->series(), out.warmup_s);
  judge_percentiles(result);
  if (not out.shortened)
    return;
  for (const char* longest : {"lag_s_max", "latency_s_max"})
    if (result.metrics.contains(longest))
      out.refused[longest] = "the longest of a whole run is not told by a part of it";
  const double factor = asked_s_ / end_s;
  carry_on(result.metrics, factor);
  for (auto& [name, metrics] : result.subscriptions)
    carry_on(metrics, factor);
  for (ClientResult& load : result.clients)
    load.transactions *= factor;
  result.warnings.push_back(
      fmt::format("estimated: {:.4g} s of {:.4g} s were simulated, until the estimates were precise to "
                  "{:.3g} %; totals are "
                  "carried on to the end, positions and sizes are those of {:.4g} s (--exact simulates all)",
                  end_s, asked_s_, 100 * precision(), end_s));
}

} // namespace replisim
