#include "sim/observe/session_metrics.hpp"

#include <algorithm>

namespace replisim {

namespace {

void add_quantiles(Metrics& metrics, const std::string& name, const LagSketch& sketch) {
  metrics[name + "_p50"] = sketch.quantile(0.5);
  metrics[name + "_p95"] = sketch.quantile(0.95);
  metrics[name + "_p99"] = sketch.quantile(0.99);
  metrics[name + "_max"] = sketch.maximum();
}

/// Waits of several processes, added up.
struct Blocked {
  LagSketch on_apply;
  double on_apply_total_s = 0;
  double total_s = 0;
  std::int64_t deadlocks = 0;
  std::int64_t lock_timeouts = 0;

  void add(const ServerLocks::Waits& waits) {
    on_apply.add(waits.on_apply);
    on_apply_total_s += waits.on_apply_total_s;
    total_s += waits.total_s;
    deadlocks += waits.deadlocks;
    lock_timeouts += waits.lock_timeouts;
  }

  void write(Metrics& metrics) const {
    metrics["blocked_s_count"] = on_apply.count();
    metrics["blocked_s_total"] = on_apply_total_s;
    add_quantiles(metrics, "blocked_s", on_apply);
    metrics["lock_wait_s_total"] = total_s;
    metrics["deadlocks"] = static_cast<double>(deadlocks);
    metrics["lock_timeouts"] = static_cast<double>(lock_timeouts);
  }
};

Metrics session_metrics(const SessionRecord& record, const Blocked& blocked, double end_s) {
  auto number = [](auto value) { return static_cast<double>(value); };
  Metrics metrics;
  metrics["transactions"] = number(record.transactions);
  metrics["tps"] = end_s > 0 ? number(record.transactions) / end_s : 0;
  metrics["retries"] = number(record.retries);
  metrics["failures"] = number(record.failures);
  LagSketch latency = record.latency;
  std::int64_t over_50ms = record.over_50ms, open = 0;
  for (const double since_s : record.open_since_s) { // a transaction in hand has lasted so long
    if (since_s < 0)
      continue;
    ++open;
    latency.add(end_s - since_s, 1);
    over_50ms += end_s - since_s > SessionRecord::long_s ? 1 : 0;
  }
  metrics["open_at_end"] = number(open);
  metrics["latency_s_mean"] = latency.mean();
  add_quantiles(metrics, "latency_s", latency);
  metrics["over_50ms"] = number(over_50ms);
  if (record.vacuums > 0) {
    metrics["vacuums"] = number(record.vacuums);
    metrics["vacuum_horizon_s_max"] = record.vacuum_horizon_s;
  }
  blocked.write(metrics);
  return metrics;
}

} // namespace

void collect_session_metrics(const Pipeline& pipeline, double end_s, RunResult& result) {
  double horizon_s = 0, apply_waits_s = 0;
  for (const auto& [server, side] : pipeline.subscribers()) {
    horizon_s = std::max(horizon_s, side.locks->longest_transaction_s(ServerLocks::Kind::Apply));
    apply_waits_s += side.locks->apply_waits_s();
    for (const auto& found : side.locks->deadlocks())
      result.outcomes.push_back(
          {found.t_s, "deadlock", found.victim,
           fmt::format("deadlock on {}, {} is cancelled: {}", server, found.victim, found.text)});
  }
  if (horizon_s > 0)
    result.metrics["snapshot_horizon_s"] = horizon_s;
  if (pipeline.sessions().empty())
    return;
  Blocked all;
  for (const SessionRecord& record : pipeline.sessions()) {
    Blocked blocked;
    for (const BackendId client : record.clients) {
      const auto waits = pipeline.subscribers().at(record.server).locks->waits(client);
      blocked.add(waits);
      all.add(waits);
    }
    result.sessions[record.name] = session_metrics(record, blocked, end_s);
  }
  all.write(result.metrics);
  result.metrics["apply_lock_wait_s_total"] = apply_waits_s;
}

} // namespace replisim
