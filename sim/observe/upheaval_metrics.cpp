#include "sim/observe/upheaval_metrics.hpp"

#include "sim/observe/retention_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace replisim {

namespace {

/// A table takes this part of the whole time: it alone sets it.
constexpr double dominating_share = 0.8;

std::string size(double bytes) { return format_bytes(bytes); }

TableSyncResult table_result(const std::string& subscription, const InitialSync::Entry& entry) {
  const TableSyncRecord& r = *entry.record;
  return {subscription,  r.table,      to_string(entry.state),
          r.attempts,    r.launched_s, r.snapshot_s,
          r.copied_s,    r.catchup_s,  r.done_s,
          r.ready_s,     r.rows,       r.bytes,
          r.bloat_bytes, r.failure};
}

/// Who is in the way while not every table is READY.
std::string unfinished(const Pipeline& pipeline, const std::string& name, const SyncSide& syncing,
                       const Scenario& scenario, double end_s) {
  for (const InitialSync::Entry& entry : syncing.sync->tables()) {
    const TableSyncRecord& record = *entry.record;
    if (not record.failure.empty() and not entry.copied and record.attempts > 1)
      return fmt::format(
          "{} never finishes as things are: {} attempts to copy it ended with \"{}\" and left {} "
          "of dead rows",
          record.table, record.attempts, record.failure, size(static_cast<double>(record.bloat_bytes)));
    if (entry.state == SyncState::Catchup) {
      const Lsn applied =
          pipeline.log().sync_slots.at(fmt::format("{} sync {}", name, record.table)).replay_lsn;
      const double seconds = end_s - record.catchup_s;
      const double done = static_cast<double>(std::max<Bytes>(0, applied - entry.consistent));
      return fmt::format(
          "{} is catching up with {} of WAL that came while it was copied, {} a second; the leader "
          "applies nothing meanwhile",
          record.table, size(static_cast<double>(entry.target - entry.consistent)),
          size(seconds > 0 ? done / seconds : 0));
    }
  }
  if (pipeline.publishers().at(pipeline.slots().at(name).publisher).ledger->running().size() > 0 and
      not syncing.sync->created())
    return "its slot waits for transactions that are in progress on the publisher";
  const Settings& settings = scenario.servers.at(scenario.subscriptions.at(name).server).settings;
  if (settings.number("max_sync_workers_per_subscription") < 1)
    return "max_sync_workers_per_subscription is 0: no table is ever copied";
  return "not every table is READY at the end of the run";
}

/// What becomes of the WAL that came in the meantime.
std::string backlog(const Pipeline& pipeline, const std::string& name, const TableSyncRecord& last,
                    double end_s) {
  const SlotSide& side = pipeline.slots().at(name);
  const Lsn written = pipeline.publishers().at(side.publisher).wal->inserted();
  const Lsn applied = pipeline.log().subscriptions.at(name).replay_lsn;
  const double seconds = end_s - last.done_s;
  const double lag = static_cast<double>(std::max<Bytes>(0, written - applied));
  const double rate = seconds > 0 ? static_cast<double>(written - last.written_at_done) / seconds : 0;
  if (seconds <= 0 or lag <= rate or lag < 1e6)
    return "";
  // The leader stood at the last table's target when that was done.
  const double capacity = static_cast<double>(std::max<Bytes>(0, applied - last.target)) / seconds;
  const auto left_s = catch_up_seconds(lag, rate, capacity);
  if (not left_s)
    return fmt::format(
        "; it never catches up: capacity is below the rate, {} of WAL are got through a second and "
        "{} are written, {} lie behind at the end",
        size(capacity), size(rate), size(lag));
  return fmt::format(
      "; {} of WAL lie behind at the end, of which {} a second are got through and {} are written: "
      "about {} more",
      size(lag), size(capacity), size(rate), format_duration(*left_s));
}

std::string words(const Pipeline& pipeline, const std::string& name, const SyncSide& syncing,
                  const Scenario& scenario, double end_s) {
  if (not syncing.sync->all_ready())
    return unfinished(pipeline, name, syncing, scenario, end_s);
  const double created_s = scenario.subscriptions.at(name).initial_sync->created_s;
  const auto& tables = syncing.sync->tables();
  const TableSyncRecord *longest = nullptr, *last = nullptr;
  double ready_s = created_s;
  const auto copy_s = [](const TableSyncRecord& record) { return record.copied_s - record.snapshot_s; };
  for (const InitialSync::Entry& entry : tables) {
    ready_s = std::max(ready_s, entry.record->ready_s);
    if (longest == nullptr or copy_s(*entry.record) > copy_s(*longest))
      longest = entry.record;
    if (last == nullptr or entry.record->done_s > last->done_s)
      last = entry.record;
  }
  const double whole_s = ready_s - created_s;
  std::string text = fmt::format("{} {} READY {} after CREATE SUBSCRIPTION", tables.size(),
                                 tables.size() == 1 ? "table is" : "tables are", format_duration(whole_s));
  if (longest == nullptr or longest->copied_s < 0)
    return text;
  if (tables.size() > 1 and copy_s(*longest) >= dominating_share * whole_s)
    text +=
        fmt::format("; one huge table dominates: copying {} takes {} of it, and more workers would not help",
                    longest->table, format_duration(copy_s(*longest)));
  return text + backlog(pipeline, name, *last, end_s);
}

void keep_largest(Metrics& metrics, const std::string& name, double value) {
  auto [it, inserted] = metrics.emplace(name, value);
  it->second = std::max(it->second, value);
}

void collect_syncs(const Scenario& scenario, const Pipeline& pipeline, double end_s, RunResult& result) {
  for (const auto& [name, syncing] : pipeline.syncs()) {
    Metrics& metrics = result.subscriptions[name];
    double ready_s = 0, bloat = 0, attempts = 0;
    for (const InitialSync::Entry& entry : syncing.sync->tables()) {
      result.upheaval.tables.push_back(table_result(name, entry));
      ready_s = std::max(ready_s, entry.record->ready_s);
      bloat += static_cast<double>(entry.record->bloat_bytes);
      attempts += entry.record->attempts;
    }
    if (syncing.sync->all_ready())
      metrics["time_to_ready_s"] = ready_s - scenario.subscriptions.at(name).initial_sync->created_s;
    metrics["sync_bloat_bytes"] = bloat;
    metrics["sync_attempts"] = attempts;
    for (const char* metric : {"time_to_ready_s", "sync_bloat_bytes", "sync_attempts"})
      if (metrics.contains(metric))
        keep_largest(result.metrics, metric, metrics.at(metric));
    result.upheaval.sync_words[name] = words(pipeline, name, syncing, scenario, end_s);
  }
}

void collect_faults(const Pipeline& pipeline, RunResult& result) {
  for (const FaultRecord& fault : pipeline.log().faults) {
    result.upheaval.faults.push_back({fault.event, fault.slot, fault.begun_s, fault.ended_s,
                                      fault.caught_up_s, fault.cap_passed_s, fault.backlog_bytes,
                                      fault.retained_at_end_bytes, fault.most_retained_bytes});
    if (fault.ended_s < 0)
      continue;
    const double catch_up_s =
        fault.caught_up_s >= 0 ? fault.caught_up_s - fault.ended_s : std::numeric_limits<double>::infinity();
    Metrics& metrics = result.subscriptions[fault.slot];
    for (Metrics* kept : {&metrics, &result.metrics}) {
      keep_largest(*kept, "catch_up_s", catch_up_s);
      keep_largest(*kept, "peak_retained_wal_bytes", static_cast<double>(fault.most_retained_bytes));
    }
  }
  for (const CutOverRecord& cut : pipeline.log().cut_overs)
    keep_largest(result.metrics, "write_freeze_s",
                 cut.over_s >= 0 ? cut.over_s - cut.at_s : std::numeric_limits<double>::infinity());
}

} // namespace

void collect_upheaval(const Scenario& scenario, const Pipeline& pipeline, double end_s, RunResult& result) {
  collect_syncs(scenario, pipeline, end_s, result);
  collect_faults(pipeline, result);
  collect_retention(pipeline, end_s, result);
}

} // namespace replisim
