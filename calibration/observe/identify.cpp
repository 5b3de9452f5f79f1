#include "calibration/observe/identify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace replisim::readers {

namespace {

class Evidence {
public:
  explicit Evidence(const Observation& observation) : observation_(observation) {
    for (const auto& [key, series] : observation.all_series())
      metrics_.insert(key.first);
    for (const Figure& figure : observation.figures)
      metrics_.insert(figure.metric);
  }

  bool has(std::string_view metric) const { return metrics_.find(metric) != metrics_.end(); }
  bool has_event(std::string_view type) const { return observation_.event_count(type) > 0; }
  bool has_any(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return has(name); });
  }

  /// The different values of an attribute, joined.
  std::string values(std::string_view type, std::string_view attribute) const {
    std::set<std::string> found;
    for (const Event& event : observation_.events())
      if (event.type == type and not event.text(attribute).empty())
        found.insert(event.text(attribute));
    return fmt::format("{}", fmt::join(found, ", "));
  }

  bool has_figure(std::string_view metric, const std::string& label, const std::string& value) const {
    return std::any_of(observation_.figures.begin(), observation_.figures.end(), [&](const Figure& figure) {
      const auto found = figure.labels.find(label);
      return figure.metric == metric and found != figure.labels.end() and found->second == value;
    });
  }

  /// How changes were counted, if they were: without a count, CPU time gives no cost per change.
  bool has_change_count() const {
    return has_any({"total_bytes", "spilled_changes", "wal_records", "records", "rows", "changes"});
  }

private:
  const Observation& observation_;
  std::set<std::string, std::less<>> metrics_;
};

using Rows = std::vector<Identification>;

void identify_settings(const Evidence& evidence, Rows& rows) {
  const auto row = [&](const char* parameter, bool found, std::string how, const char* collect) {
    rows.push_back({parameter, found, found ? std::move(how) : std::string(collect)});
  };
  row("servers.NAME.version", evidence.has_event("server_start") or evidence.has_event("server_version"),
      evidence.has_event("server_start") ? evidence.values("server_start", "server_version")
                                         : evidence.values("server_version", "server_version"),
      "the first lines of each server log (they name the version), or select version()");
  row("subscriptions.NAME.streaming", evidence.has_event("start_replication"),
      evidence.values("start_replication", "streaming"),
      "the publisher's log with log_replication_commands = on, or pg_subscription");
  row("servers.NAME.settings", evidence.has_event("parameter_changed"),
      fmt::format("those that were changed: {}", evidence.values("parameter_changed", "name")),
      "pg_settings of both servers: logical_decoding_work_mem, wal_sender_timeout, max_wal_size, ...");
}

void identify_workload(const Evidence& evidence, Rows& rows) {
  const bool slot = evidence.has("total_bytes") and evidence.has("total_txns");
  const bool records = evidence.has("changes") and evidence.has("committed_transactions");
  rows.push_back(
      {"workload (transactions, changes)", slot or records,
       records ? "records of the WAL; `replisim import` makes a scenario of pg_waldump's output"
       : slot  ? "total_txns and total_bytes of the slot"
               : "two snapshots of pg_stat_replication_slots with their times, or pg_waldump of that hour"});
  const bool wal = evidence.has_any({"wal_bytes", "wal_lsn", "checkpoint_distance_bytes"});
  rows.push_back({"workload (WAL rate)", wal,
                  wal ? "growth of WAL positions, or the distance of checkpoints"
                      : "log_checkpoints = on, or two snapshots of pg_stat_wal"});
  const bool ddl = evidence.has_event("ddl");
  const bool messages = evidence.has_event("catalog_change") or
                        evidence.has_figure("wal_records", "record", "Transaction/INVALIDATION");
  rows.push_back({"workload (catalogue changes)", ddl or messages,
                  messages ? "invalidation messages in the WAL"
                  : ddl    ? "statements in the log"
                           : "log_statement = ddl, or pg_waldump of that hour"});
}

void identify_costs(const Evidence& evidence, Rows& rows) {
  struct Cost {
    const char* parameter;
    const char* cpu;
  };
  static constexpr Cost costs[] = {
      {"backend.*", "cpu_pub.backend_s"},
      {"walsender.*", "cpu_pub.walsender_s"},
      {"leader.*, apply.*", "cpu_sub.apply_worker_s"},
      {"apply.* (parallel workers)", "cpu_sub.parallel_apply_worker_s"},
  };
  for (const Cost& cost : costs) {
    const bool has_cpu = evidence.has(cost.cpu);
    if (has_cpu and evidence.has_change_count())
      rows.push_back({cost.parameter, true, fmt::format("{} by the changes counted", cost.cpu)});
    else if (has_cpu)
      rows.push_back(
          {cost.parameter, false,
           fmt::format("{} is there, the number of changes is not: pg_stat_replication_slots before and "
                       "after, or the rows of the transaction",
                       cost.cpu)});
    else
      rows.push_back({cost.parameter, false,
                      "CPU seconds of the process before and after (/proc/PID/stat, fields 14 and 15)"});
  }
  const bool cut = evidence.has("decode_bytes_per_s");
  const bool sent = evidence.has("sent_lsn");
  rows.push_back({"walsender.* as one rate", cut or sent,
                  cut    ? "WAL decoded between a start and a time-out"
                  : sent ? "growth of sent_lsn, where it is behind"
                         : "sent_lsn of pg_stat_replication at an interval while it catches up"});
  const bool flush = evidence.has_any({"wal_sync_time_s", "io_fsync_time_s", "checkpoint_sync_s"});
  rows.push_back({"disks (flush)", flush,
                  flush
                      ? "sync times of checkpoints or of WAL"
                      : "track_wal_io_timing = on and two snapshots of pg_stat_wal (pg_stat_io from 18 on)"});
}

void identify_behaviour(const Evidence& evidence, Rows& rows) {
  const bool lag = evidence.has_any({"replay_lsn", "replay_lag_s", "lag_bytes"});
  rows.push_back({"lag, for comparison", lag,
                  lag ? "replay_lsn over time" : "pg_stat_replication of the publisher at an interval"});
  const bool waits = evidence.has("blocked_s") or evidence.has("lock_hold_s");
  rows.push_back({"locks, for comparison", waits,
                  waits ? "waits in the log, or row locks over time"
                        : "log_lock_waits = on on the subscriber (waits beyond deadlock_timeout)"});
}

} // namespace

std::vector<Identification> identify_parameters(const Observation& observation) {
  const Evidence evidence(observation);
  Rows rows;
  identify_settings(evidence, rows);
  identify_workload(evidence, rows);
  identify_costs(evidence, rows);
  identify_behaviour(evidence, rows);
  return rows;
}

} // namespace replisim::readers
