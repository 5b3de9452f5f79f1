#include "sim/observe/client_metrics.hpp"

#include "sim/observe/timeline_recorder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace replisim {

namespace {

std::string ms(double seconds) { return fmt::format("{:.3f} ms", seconds * 1e3); }

/// The parts of clients / tps. What the parts do not cover was waiting for cores.
std::map<std::string, double> budget_of(const ClientRecord& record) {
  const double n = record.transactions;
  const double cycle_s = record.clients * record.elapsed_s() / n;
  std::map<std::string, double> parts = {
      {"round_trips_s", record.times.latency_s / n}, {"client_cpu_s", record.times.client_cpu_s / n},
      {"lock_wait_s", record.times.lock_wait_s / n}, {"commit_flush_s", record.times.flush_s / n},
      {"pause_s", record.times.pause_s / n},
  };
  if (record.times.sync_wait_s > 0)
    parts["sync_wait_s"] = record.times.sync_wait_s / n;
  double rest_s = cycle_s;
  for (const auto& [name, seconds] : parts)
    rest_s -= seconds;
  parts["server_cpu_s"] = rest_s;
  return parts;
}

std::string budget_text(const ClientResult& result) {
  const auto& parts = result.budget_s;
  std::string text = fmt::format(
      "{} clients / {:.0f} TPS = {}: round trips {}, CPU {} (backends {}, client program {}), lock wait {}, "
      "commit flush {}",
      result.clients, result.tps, ms(result.clients / result.tps), ms(parts.at("round_trips_s")),
      ms(parts.at("server_cpu_s") + parts.at("client_cpu_s")), ms(parts.at("server_cpu_s")),
      ms(parts.at("client_cpu_s")), ms(parts.at("lock_wait_s")), ms(parts.at("commit_flush_s")));
  if (const auto sync = parts.find("sync_wait_s"); sync != parts.end())
    text += fmt::format(", synchronous standbys {}", ms(sync->second));
  if (parts.at("pause_s") > 0)
    text += fmt::format(", pause {}", ms(parts.at("pause_s")));
  if (result.commits_per_flush > 0)
    text += fmt::format("; {:.1f} commits a flush", result.commits_per_flush);
  return text;
}

ClientResult client_result(const ClientRecord& record) {
  ClientResult result;
  result.name = record.name;
  result.clients = record.clients;
  result.transactions = record.transactions;
  if (record.transactions == 0 or record.elapsed_s() <= 0)
    return result;
  result.tps = record.transactions / record.elapsed_s();
  result.latency_s = {{"mean", record.response.mean()},
                      {"p50", record.response.quantile(0.5)},
                      {"p95", record.response.quantile(0.95)},
                      {"p99", record.response.quantile(0.99)},
                      {"max", record.response.maximum()}};
  result.budget_s = budget_of(record);
  if (record.times.flushes_per_s > 0)
    result.commits_per_flush = record.transactions / record.times.flushes_per_s;
  result.budget = budget_text(result);
  return result;
}

/// CPU of each process class per transaction of the clients, as pgbench and /proc would show it.
void add_cpu_per_transaction(const Pipeline& pipeline, double transactions, RunResult& result) {
  for (const auto& role : pipeline.roles())
    if (is_server_process(role)) {
      const std::string cpu = cpu_metric(role);
      result.metrics["transaction_" + cpu] = result.metrics[cpu] / transactions;
    }
}

/// How far the slowest subscription is behind at the end, and how long it would take, or took, to be there.
void add_lag(const Pipeline& pipeline, double end_s, double load_end_s, RunResult& result) {
  double behind = 0, catch_up_s = 0;
  for (const auto& [name, record] : pipeline.log().subscriptions) {
    double committed = 0;
    for (const auto& flow : pipeline.log().flows)
      committed +=
          pipeline.slots().at(name).publisher == flow.server ? static_cast<double>(flow.transactions) : 0;
    const double applied = static_cast<double>(record.flow_transactions);
    behind = std::max(behind, committed - applied);
    // At the pace of so far, the busiest process of the slot being the brake.
    double busy = 0;
    for (const auto& role : pipeline.roles())
      if (role.stage == "walsender" or role.stage == "apply_worker")
        busy = std::max(busy, role.process->usage().busy_s / end_s);
    if (applied > 0 and busy > 0)
      catch_up_s = std::max(catch_up_s, (committed - applied) / (applied / end_s) * busy);
  }
  result.metrics["lag_transactions"] = behind;
  result.metrics["catch_up_s"] = behind > 0 ? catch_up_s : std::max(0.0, end_s - load_end_s);
}

} // namespace

void add_client_metrics(const Pipeline& pipeline, double end_s, RunResult& result) {
  const auto& loads = pipeline.log().clients;
  if (loads.empty())
    return;
  LagSketch all, lock_waits;
  double transactions = 0, load_end_s = 0;
  for (const ClientRecord& record : loads) {
    result.clients.push_back(client_result(record));
    result.metrics["tps"] += result.clients.back().tps;
    transactions += record.transactions;
    load_end_s = std::max(load_end_s, record.ended_s);
    all.merge(record.response);
    lock_waits.merge(record.lock_wait);
  }
  if (transactions == 0)
    return;
  result.metrics["latency_s"] = all.mean();
  result.metrics["latency_s_p50"] = all.quantile(0.5);
  result.metrics["latency_s_p95"] = all.quantile(0.95);
  result.metrics["latency_s_p99"] = all.quantile(0.99);
  result.metrics["latency_s_max"] = all.maximum();
  if (lock_waits.count() > 0) {
    result.metrics["lock_wait_s"] = lock_waits.mean();
    result.metrics["lock_wait_s_p99"] = lock_waits.quantile(0.99);
    result.metrics["lock_wait_s_max"] = lock_waits.maximum();
  }
  add_cpu_per_transaction(pipeline, transactions, result);
  result.metrics["transaction_wal_bytes"] = result.metrics["wal_bytes"] / transactions;
  if (not pipeline.log().subscriptions.empty())
    add_lag(pipeline, end_s, load_end_s, result);
}

} // namespace replisim
