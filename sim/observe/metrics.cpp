#include "sim/observe/metrics.hpp"

#include "sim/observe/catalog_metrics.hpp"
#include "sim/observe/client_metrics.hpp"
#include "sim/observe/timeline_recorder.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace replisim {

namespace {
constexpr std::size_t max_transactions_listed = 1000;

Metrics slot_metrics(const Pipeline& pipeline, const std::string& name, double end_s) {
  const SlotSide& side = pipeline.slots().at(name);
  const SubscriptionRecord& record = pipeline.log().subscriptions.at(name);
  const SlotCounters& counters = side.decoder->buffer().counters();
  auto number = [](auto value) { return static_cast<double>(value); };
  Metrics metrics = {{"spill_txns", number(counters.spill_txns)},
                     {"spill_count", number(counters.spill_count)},
                     {"spill_bytes", number(counters.spill_bytes)},
                     {"stream_txns", number(counters.stream_txns)},
                     {"stream_count", number(counters.stream_count)},
                     {"stream_bytes", number(counters.stream_bytes)},
                     {"total_txns", number(counters.total_txns)},
                     {"total_bytes", number(counters.total_bytes)},
                     {"spill_files", number(side.decoder->buffer().spill_files())},
                     {"peak_spill_file_bytes", number(side.decoder->buffer().peak_spill_file_bytes())},
                     {"peak_sub_tmp_file_bytes", number(record.peak_tmp_file_bytes)},
                     {"sent_bytes", number(record.sent_bytes)}};
  if (side.retention != nullptr) {
    metrics["status_requests"] = number(side.connection->status_requests());
    metrics["conflict_slot_updates"] = number(side.retention->slot_updates());
  }
  if (record.flow_transactions > 0) {
    metrics["apply_tps"] = number(record.flow_transactions) / end_s;
    metrics["lag_s_mean"] = record.flow_lag.mean();
    metrics["lag_s_p50"] = record.flow_lag.quantile(0.5);
    metrics["lag_s_p95"] = record.flow_lag.quantile(0.95);
    metrics["lag_s_p99"] = record.flow_lag.quantile(0.99);
    metrics["lag_s_max"] = record.flow_lag.maximum();
  }
  return metrics;
}

/// What a slot shows besides: its cursors, and what reconnecting cost. Not summed over slots.
void add_cursors(const Pipeline& pipeline, const std::string& name, Metrics& metrics) {
  const SlotSide& side = pipeline.slots().at(name);
  const SubscriptionRecord& record = pipeline.log().subscriptions.at(name);
  const Lsn inserted = pipeline.publishers().at(side.publisher).wal->inserted();
  auto number = [](auto value) { return static_cast<double>(value); };
  metrics["confirmed_flush_lsn"] = number(side.slot->confirmed_flush_lsn().value);
  metrics["restart_lsn"] = number(side.slot->restart_lsn().value);
  metrics["catalog_xmin_age_xids"] =
      side.slot->lost()
          ? 0
          : number(pipeline.publishers().at(side.publisher).wal->next_xid() - side.slot->catalog_xmin());
  metrics["retained_wal_bytes"] = side.slot->lost() ? 0 : number(inserted - side.slot->restart_lsn());
  metrics["lag_bytes"] = number(std::max<Bytes>(0, inserted - record.replay_lsn));
  const LagTracker& lags = side.connection->lag_columns();
  constexpr double null = std::numeric_limits<double>::quiet_NaN(); // as the view shows it
  metrics["write_lag_s"] = lags.lag_s(LagColumn::Write).value_or(null);
  metrics["flush_lag_s"] = lags.lag_s(LagColumn::Flush).value_or(null);
  metrics["replay_lag_s"] = lags.lag_s(LagColumn::Replay).value_or(null);
  metrics["last_timeout_s"] = side.connection->last_timeout_s();
  metrics["connections"] = number(side.connection->connections());
  metrics["sender_timeouts"] = number(side.connection->timeouts());
  metrics["receiver_timeouts"] = number(side.connection->receiver_timeouts());
  metrics["reread_bytes"] = number(record.reread_bytes);
  if (side.local_wal == nullptr)
    return; // no subscription
  metrics["apply_error_count"] = number(side.errors->count());
  metrics["subscriber_wal_bytes"] = number(side.local_wal->written_bytes());
  metrics["without_worker_txns"] = number(record.without_worker_txns);
  metrics["partially_serialized_txns"] = number(record.partially_serialized_txns);
}

/// Times of one transaction on one subscription, kept as the largest over all of them.
void keep_largest(Metrics& metrics, const std::string& name, double value) {
  auto [it, inserted] = metrics.emplace(name, value);
  it->second = std::max(it->second, value);
}

DelaySummary delay_summary(double mean_s, const LagSketch& sketch) {
  return {mean_s, sketch.quantile(0.5), sketch.quantile(0.95), sketch.quantile(0.99)};
}

LagSummary lag_summary(const LagStatistics& lags) {
  LagSummary out;
  out.transactions = lags.transactions();
  out.lag = delay_summary(lags.mean_lag_s(), lags.lag());
  for (std::size_t i = 0; i < lag_stages; ++i)
    out.stages[i] =
        delay_summary(lags.mean_s(static_cast<LagStage>(i)), lags.stage(static_cast<LagStage>(i)));
  return out;
}

/// Transactions that servers hand on, by the server they come from and their id there.
using HandedOnFrom = std::multimap<std::pair<std::string, Xid>, const TransactionRecord*>;

HandedOnFrom handed_on_from(const RunLog& log) {
  HandedOnFrom out;
  for (const auto& transaction : log.transactions)
    if (not transaction.received_by.empty() and transaction.committed)
      out.emplace(std::pair(transaction.origin_server, transaction.origin_xid), &transaction);
  return out;
}

/// Adds what became of it at the slots of the server where `record` stands, and further on.
void add_deliveries(const TransactionRecord& record, const Pipeline& pipeline, const HandedOnFrom& further,
                    TransactionResult& out) {
  for (const auto& [name, subscription] : pipeline.log().subscriptions) {
    const auto it = subscription.deliveries.find(record.xid);
    if (it == subscription.deliveries.end() or pipeline.slots().at(name).publisher != record.server)
      continue;
    const DeliveryRecord& delivery = it->second;
    if (delivery.read_s >= 0)
      out.deliveries[name] = {delivery.read_s,     delivery.sent_s,       delivery.sent_to_s,
                              delivery.received_s, delivery.first_lock_s, delivery.applied_s,
                              delivery.worker};
    out.rows_applied = std::max(out.rows_applied, it->second.applied);
    if (it->second.path.parts().applied_ns > 0)
      out.lag_anatomy[name] = it->second.path.parts();
    out.applied_s = std::max(out.applied_s, it->second.applied_s);
    if (it->second.first_lock_s >= 0 and it->second.applied_s >= 0)
      out.lock_hold_s = std::max(out.lock_hold_s, it->second.applied_s - it->second.first_lock_s);
  }
  const auto [first, last] = further.equal_range({record.server, record.xid});
  for (auto next = first; next != last; ++next)
    add_deliveries(*next->second, pipeline, further, out);
}

TransactionResult transaction_result(const TransactionRecord& record, const Pipeline& pipeline,
                                     const HandedOnFrom& further) {
  TransactionResult out;
  out.name = record.name;
  out.xid = record.xid.value;
  out.rows = record.rows_written;
  out.begin_s = record.begin_s;
  out.statement_end_s = record.statement_end_s;
  out.commit_s = record.commit_s;
  add_deliveries(record, pipeline, further, out);
  return out;
}

/// From the commit where it was made: of what came over other servers.
void add_end_to_end(const Pipeline& pipeline, const std::string& name, Metrics& metrics) {
  const SlotSide& side = pipeline.slots().at(name);
  const SubscriptionRecord& record = pipeline.log().subscriptions.at(name);
  LagSketch lags = record.end_to_end;
  for (const auto& transaction : pipeline.log().transactions)
    if (transaction.server == side.publisher and transaction.origin_commit_s >= 0)
      if (const auto it = record.deliveries.find(transaction.xid);
          it != record.deliveries.end() and it->second.applied_s >= 0)
        lags.add(it->second.applied_s - transaction.origin_commit_s, 1);
  if (lags.count() == 0)
    return;
  metrics["end_to_end_lag_s_mean"] = lags.mean();
  metrics["end_to_end_lag_s_p99"] = lags.quantile(0.99);
  metrics["end_to_end_lag_s_max"] = lags.maximum();
}

/// Shares of the stages over the whole run; what a process did not spend otherwise it waited for input.
std::map<std::string, StageShares> stage_shares(const Pipeline& pipeline, double end_s) {
  std::map<std::string, StageShares> shares;
  std::map<std::string, int> members;
  for (const auto& role : pipeline.roles()) {
    const auto usage = role.process->usage();
    const bool idle_spare = role.stage == "parallel_apply_worker" and usage.busy_s == 0;
    static const std::set<std::string> aside = {"background",   "walwriter",       "background_writer",
                                                "checkpointer", "other_databases", "launcher",
                                                "session"};
    if (aside.contains(role.stage) or role.makes_load or idle_spare or end_s <= 0)
      continue;
    const std::string key = role.node + "." + role.stage;
    auto& share = shares[key];
    share.busy += usage.busy_s / end_s;
    share.blocked += usage.blocked_s / end_s;
    ++members[key];
  }
  for (auto& [key, share] : shares) {
    share.busy /= members[key];
    share.blocked /= members[key];
    share.starved = std::max(0.0, 1 - share.busy - share.blocked);
  }
  return shares;
}

void count_committed(const TransactionRecord& transaction, Metrics& metrics) {
  if (not transaction.committed)
    return;
  metrics["committed_transactions"] += 1;
  metrics["committed_changes"] +=
      static_cast<double>(transaction.rows_written - transaction.rows_rolled_back);
}

void add_transactions(const Pipeline& pipeline, double end_s, RunResult& result) {
  const RunLog& log = pipeline.log();
  const HandedOnFrom further = handed_on_from(log);
  for (const auto& transaction : log.transactions) {
    if (not transaction.received_by.empty())
      continue; // it is counted where it was made
    result.metrics["wal_bytes"] += static_cast<double>(transaction.wal_bytes);
    count_committed(transaction, result.metrics);
    const TransactionResult listed = transaction_result(transaction, pipeline, further);
    keep_largest(result.metrics, "statement_s", listed.statement_end_s - listed.begin_s);
    keep_largest(result.metrics, "commit_s", listed.commit_s - listed.begin_s);
    if (listed.applied_s > 0) {
      keep_largest(result.metrics, "total_s", listed.applied_s - listed.begin_s);
      keep_largest(result.metrics, "lock_hold_s", listed.lock_hold_s);
    }
    if (result.transactions.size() < max_transactions_listed)
      result.transactions.push_back(listed);
  }
  for (const auto& flow : log.flows) {
    if (not flow.received_by.empty())
      continue;
    result.metrics["wal_bytes"] += static_cast<double>(flow.wal_bytes);
    result.metrics["committed_transactions"] += static_cast<double>(flow.transactions);
    result.metrics["committed_changes"] += static_cast<double>(flow.rows_written);
    if (not flow.of_clients)
      result.metrics["tps"] += end_s > 0 ? static_cast<double>(flow.transactions) / end_s : 0;
  }
}

void name_bottleneck(RunResult& result) {
  double most = -1;
  for (const auto& [name, share] : result.stages)
    if (share.busy > most) {
      most = share.busy;
      result.bottleneck = name;
    }
  if (most < 0)
    return;
  const StageShares& share = result.stages.at(result.bottleneck);
  result.bottleneck_reason =
      fmt::format("it is busy {:.0f} % of the run (waiting for input {:.0f} %, for output {:.0f} %)",
                  100 * share.busy, 100 * share.starved, 100 * share.blocked);
}
} // namespace

void collect_metrics(const Pipeline& pipeline, double end_s, RunResult& result) {
  const RunLog& log = pipeline.log();
  for (const auto& [name, side] : pipeline.slots()) {
    Metrics metrics = slot_metrics(pipeline, name, end_s);
    for (const auto& [metric, value] : metrics)
      if (metric.starts_with("lag_s"))
        keep_largest(result.metrics, metric, value);
      else
        result.metrics[metric] += value;
    add_cursors(pipeline, name, metrics);
    add_end_to_end(pipeline, name, metrics);
    for (const char* metric : {"end_to_end_lag_s_mean", "end_to_end_lag_s_p99", "end_to_end_lag_s_max"})
      if (metrics.contains(metric))
        keep_largest(result.metrics, metric, metrics.at(metric));
    for (const char* metric : {"retained_wal_bytes", "lag_bytes", "catalog_xmin_age_xids"})
      keep_largest(result.metrics, metric, metrics.at(metric));
    for (const auto& transaction : log.transactions) {
      const auto it = log.subscriptions.at(name).deliveries.find(transaction.xid);
      if (transaction.server != side.publisher or it == log.subscriptions.at(name).deliveries.end() or
          it->second.applied_s < 0)
        continue;
      keep_largest(metrics, "total_s", it->second.applied_s - transaction.begin_s);
      if (it->second.first_lock_s >= 0)
        keep_largest(metrics, "lock_hold_s", it->second.applied_s - it->second.first_lock_s);
    }
    result.subscriptions[name] = std::move(metrics);
    if (const LagStatistics& lags = log.subscriptions.at(name).lags; lags.transactions() > 0)
      result.lag_anatomies[name] = lag_summary(lags);
  }
  collect_catalog_metrics(pipeline, result);
  add_transactions(pipeline, end_s, result);
  for (const auto& role : pipeline.roles())
    if (is_server_process(role))
      result.metrics[cpu_metric(role)] += role.process->usage().cpu_s;
  add_client_metrics(pipeline, end_s, result);
  result.stages = stage_shares(pipeline, end_s);
  name_bottleneck(result);
}

} // namespace replisim
