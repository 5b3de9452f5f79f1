// A table-sync worker: creates a slot, copies a table as of the slot's start, catches up with the leader, and
// is gone.
//
// Counterpart: tablesync.c (LogicalRepSyncTableStart, process_syncing_tables_for_sync).
#pragma once

#include "sim/actors/apply_worker.hpp"
#include "sim/actors/initial_sync.hpp"
#include "sim/actors/table_copy.hpp"

namespace replisim {

/// What such a worker applies while it catches up: the changes of its own table, up to the target.
class SyncedTable : public RelationStates {
public:
  SyncedTable(InitialSync::Entry& entry, ReplicationConnection& connection)
      : entry_(entry), connection_(connection) {}
  bool applies(const std::string& table, Lsn) const override { return table == entry_.table->name; }
  bool applies_all() const override { return false; }
  bool parallel_allowed() const override { return false; }
  void look(engine::Process&, Lsn position) override { received(position); }
  bool retires() const override { return entry_.state != SyncState::Catchup; }
  /// Everything up to `position` is applied: at the target the worker is done.
  void received(Lsn position);

private:
  InitialSync::Entry& entry_;
  ReplicationConnection& connection_;
};

class TableSyncWorker {
public:
  /// What belongs to one table.
  struct Table {
    InitialSync::Entry* entry = nullptr;
    Slot* slot = nullptr;
    TableCopy* copy = nullptr;
    ApplyWorker* worker = nullptr; ///< for the catch-up
    SubscriberWal* wal = nullptr;
    double heap_bytes_per_row = 0;
    std::function<void()> drop_slot;
  };
  TableSyncWorker(InitialSync& sync, std::size_t number, double start_s, const std::vector<Table>& tables,
                  std::function<void(const std::string& table, const std::string& why)> failed)
      : sync_(sync), number_(number), start_s_(start_s), tables_(tables), failed_(std::move(failed)) {}
  void run(engine::Process& process);

private:
  void synchronise(engine::Process& process, const Table& table);
  bool copy(engine::Process& process, const Table& table);

  InitialSync& sync_;
  std::size_t number_;
  double start_s_; ///< launching a worker
  const std::vector<Table>& tables_;
  std::function<void(const std::string&, const std::string&)> failed_;
};

} // namespace replisim
