// Initial synchronisation of a subscription's tables: states, what a COPY costs, when a worker may be
// launched.
//
// Counterpart: tablesync.c (LogicalRepSyncTableStart, process_syncing_tables_for_sync and _for_apply) and
// copyto.c, copyfrom.c. A table is copied in one local transaction from a snapshot at its slot's start, its
// worker then catches up with the leader, which waits for it.
#pragma once

#include "models/apply_cost.hpp"

#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// pg_subscription_rel.srsubstate, and the states in between that live in shared memory.
enum class SyncState { Init, DataSync, SyncWait, Catchup, SyncDone, Ready };

std::string to_string(SyncState state);

/// One row of a table in a COPY, and the table's size on disk.
struct CopyCost {
  double publisher_s = 0;  ///< CPU of the walsender: scan, output functions, sending
  double subscriber_s = 0; ///< CPU of the table-sync worker: receiving, input functions, heap, indexes
  double wire_bytes = 0;
  double wal_bytes = 0;  ///< of the subscriber
  double heap_bytes = 0; ///< share of the table's pages
};

/// `rate_bytes_per_s`, when stated, is what one COPY gets through by itself, in bytes of the table on a
/// machine of `speed`; else the subscriber's part is an applied insert without what is done for each row
/// there: executor state, snapshot, relation map.
CopyCost copy_cost(const Table& table, const ApplyCost& applying, double rate_bytes_per_s, double speed);

/// When the leader launches the worker of a table: at most `limit` at a time, and each table's no sooner than
/// `retry_s` after its last start.
class SyncLaunches {
public:
  SyncLaunches(std::size_t tables, int limit, double retry_s)
      : started_s_(tables), limit_(limit), retry_s_(retry_s) {}

  bool has_place() const { return running_ < limit_; }
  /// The date from which on the table's worker may be started.
  double earliest_s(std::size_t table) const;
  void started(std::size_t table, double now_s);
  void ended() { --running_; }
  int running() const { return running_; }

private:
  std::vector<std::optional<double>> started_s_;
  int limit_;
  double retry_s_;
  int running_ = 0;
};

/// A backlog of `backlog_bytes` while `rate` more comes each second and `capacity` is got through: how long
/// until it is gone; nothing when it never is.
std::optional<double> catch_up_seconds(double backlog_bytes, double rate, double capacity);

} // namespace replisim
