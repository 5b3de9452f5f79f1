// The views of PostgreSQL 14 to 19 and their columns, 9.x's names among them.
#include "calibration/readers/views.hpp"

#include "models/base/units.hpp"

#include <algorithm>
#include <charconv>

namespace replisim::readers {

namespace {

using Role = ViewColumn::Role;

std::vector<ViewColumn> columns_of(Role role, std::initializer_list<std::string_view> names) {
  std::vector<ViewColumn> out;
  for (const std::string_view name : names)
    out.push_back({role, name, {}, 1});
  return out;
}

std::vector<ViewColumn> joined(std::initializer_list<std::vector<ViewColumn>> parts) {
  std::vector<ViewColumn> out;
  for (const auto& part : parts)
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

ViewKind replication() {
  return {"pg_stat_replication",
          {"application_name", "sync_state"},
          joined({columns_of(Role::Label, {"application_name"}),
                  columns_of(Role::Lsn, {"sent_lsn", "write_lsn", "flush_lsn", "replay_lsn"}),
                  // 9.x
                  {{Role::Lsn, "sent_location", "sent_lsn", 1},
                   {Role::Lsn, "write_location", "write_lsn", 1},
                   {Role::Lsn, "flush_location", "flush_lsn", 1},
                   {Role::Lsn, "replay_location", "replay_lsn", 1},
                   {Role::Interval, "write_lag", "write_lag_s", 1},
                   {Role::Interval, "flush_lag", "flush_lag_s", 1},
                   {Role::Interval, "replay_lag", "replay_lag_s", 1}},
                  columns_of(Role::Plain, {"pid", "usesysid", "usename", "client_addr", "client_hostname",
                                           "client_port", "backend_start", "backend_xmin", "state",
                                           "sync_priority", "sync_state", "reply_time"})})};
}

ViewKind slots() {
  return {
      "pg_replication_slots",
      {"slot_name", "restart_lsn"},
      joined({columns_of(Role::Label, {"slot_name"}),
              columns_of(Role::Lsn, {"restart_lsn", "confirmed_flush_lsn"}),
              {{Role::Gauge, "safe_wal_size", "safe_wal_size_bytes", 1}},
              columns_of(Role::Plain, {"plugin", "slot_type", "datoid", "database", "temporary", "active",
                                       "active_pid", "xmin", "catalog_xmin", "wal_status", "two_phase",
                                       "two_phase_at", "inactive_since", "conflicting", "invalidation_reason",
                                       "failover", "synced", "slotsync_skip_reason"})})};
}

ViewKind slot_statistics() {
  return {"pg_stat_replication_slots",
          {"slot_name", "spill_bytes"},
          joined({columns_of(Role::Label, {"slot_name"}),
                  columns_of(Role::Counter, {"spill_txns", "spill_count", "spill_bytes", "stream_txns",
                                             "stream_count", "stream_bytes", "mem_exceeded_count",
                                             "total_txns", "total_bytes", "slotsync_skip_count"}),
                  columns_of(Role::Plain, {"stats_reset", "slotsync_last_skip"})})};
}

ViewKind subscriptions() {
  return {"pg_stat_subscription",
          {"subname", "received_lsn"},
          joined({columns_of(Role::Label, {"subname", "worker_type", "pid"}),
                  columns_of(Role::Lsn, {"received_lsn", "latest_end_lsn"}),
                  columns_of(Role::Plain, {"subid", "leader_pid", "relid", "last_msg_send_time",
                                           "last_msg_receipt_time", "latest_end_time"})})};
}

ViewKind subscription_statistics() {
  return {"pg_stat_subscription_stats",
          {"subname", "apply_error_count"},
          joined({columns_of(Role::Label, {"subname"}),
                  columns_of(Role::Counter,
                             {"apply_error_count", "sync_error_count", "sync_table_error_count",
                              "sync_seq_error_count", "confl_insert_exists", "confl_update_origin_differs",
                              "confl_update_exists", "confl_update_deleted", "confl_update_missing",
                              "confl_delete_origin_differs", "confl_delete_missing",
                              "confl_multiple_unique_conflicts"}),
                  columns_of(Role::Plain, {"subid", "stats_reset"})})};
}

ViewKind wal() {
  return {"pg_stat_wal",
          {"wal_records", "wal_bytes"},
          joined({columns_of(Role::Counter, {"wal_records", "wal_fpi", "wal_bytes", "wal_fpi_bytes",
                                             "wal_buffers_full", "wal_write", "wal_sync"}),
                  {{Role::Counter, "wal_write_time", "wal_write_time_s", 1e-3},
                   {Role::Counter, "wal_sync_time", "wal_sync_time_s", 1e-3}},
                  columns_of(Role::Plain, {"stats_reset"})})};
}

ViewKind io() {
  return {"pg_stat_io",
          {"backend_type", "object", "context"},
          joined({columns_of(Role::Label, {"backend_type", "object", "context"}),
                  {{Role::Counter, "reads", "io_reads", 1},
                   {Role::Counter, "read_bytes", "io_read_bytes", 1},
                   {Role::Counter, "read_time", "io_read_time_s", 1e-3},
                   {Role::Counter, "writes", "io_writes", 1},
                   {Role::Counter, "write_bytes", "io_write_bytes", 1},
                   {Role::Counter, "write_time", "io_write_time_s", 1e-3},
                   {Role::Counter, "writebacks", "io_writebacks", 1},
                   {Role::Counter, "writeback_time", "io_writeback_time_s", 1e-3},
                   {Role::Counter, "extends", "io_extends", 1},
                   {Role::Counter, "extend_bytes", "io_extend_bytes", 1},
                   {Role::Counter, "extend_time", "io_extend_time_s", 1e-3},
                   {Role::Counter, "hits", "io_hits", 1},
                   {Role::Counter, "evictions", "io_evictions", 1},
                   {Role::Counter, "reuses", "io_reuses", 1},
                   {Role::Counter, "fsyncs", "io_fsyncs", 1},
                   {Role::Counter, "fsync_time", "io_fsync_time_s", 1e-3}},
                  columns_of(Role::Plain, {"op_bytes", "stats_reset"})})};
}

ViewKind locks() {
  return {"pg_locks",
          {"locktype", "mode", "granted"},
          joined({columns_of(Role::Label, {"locktype", "mode", "granted"}),
                  columns_of(Role::Plain, {"database", "relation", "page", "tuple", "virtualxid",
                                           "transactionid", "classid", "objid", "objsubid",
                                           "virtualtransaction", "pid", "fastpath", "waitstart"})})};
}

ViewKind database() {
  return {"pg_stat_database",
          {"datname", "xact_commit"},
          joined({columns_of(Role::Label, {"datname"}),
                  columns_of(Role::Counter, {"xact_commit", "xact_rollback", "tup_inserted", "tup_updated",
                                             "tup_deleted", "temp_files", "temp_bytes", "deadlocks"})})};
}

} // namespace

const ViewColumn* ViewKind::find(std::string_view column) const {
  const auto at =
      std::find_if(columns.begin(), columns.end(), [&](const ViewColumn& c) { return c.name == column; });
  return at == columns.end() ? nullptr : &*at;
}

const ViewKind* view_of(const std::vector<std::string>& columns) {
  static const std::vector<ViewKind> kinds = {
      replication(), slot_statistics(), slots(),   subscription_statistics(), subscriptions(), wal(),
      io(),          locks(),           database()};
  for (const ViewKind& kind : kinds)
    if (std::all_of(kind.marks.begin(), kind.marks.end(), [&](std::string_view mark) {
          return std::find(columns.begin(), columns.end(), mark) != columns.end();
        }))
      return &kind;
  return nullptr;
}

std::optional<double> parse_interval(std::string_view text) {
  double seconds = 0;
  if (const auto days = text.find(" day"); days != std::string_view::npos) {
    const auto count = parse_number(text.substr(0, days));
    if (not count)
      return std::nullopt;
    seconds = *count * 86400;
    const auto rest = text.find(' ', days + 1);
    if (rest == std::string_view::npos)
      return seconds;
    text = text.substr(rest + 1);
  }
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative ? 1 : 0);
  double clock = 0;
  int parts = 0;
  while (true) {
    const auto colon = text.find(':');
    const auto value = parse_number(text.substr(0, colon));
    if (not value or *value < 0 or ++parts > 3)
      return std::nullopt;
    clock = clock * 60 + *value;
    if (colon == std::string_view::npos)
      break;
    text.remove_prefix(colon + 1);
  }
  if (parts != 3)
    return std::nullopt;
  return negative ? seconds - clock : seconds + clock;
}

} // namespace replisim::readers
