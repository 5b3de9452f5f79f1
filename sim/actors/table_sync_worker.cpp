#include "sim/actors/table_sync_worker.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

void SyncedTable::received(Lsn position) {
  if (entry_.state != SyncState::Catchup or position < entry_.target)
    return;
  entry_.done = position;
  entry_.state = SyncState::SyncDone;
  connection_.stop();
}

void TableSyncWorker::run(engine::Process& process) {
  while (true) {
    const auto& entry = sync_.next_table(process, number_);
    const auto table = std::find_if(tables_.begin(), tables_.end(),
                                    [&](const Table& known) { return known.entry == &entry; });
    process.sleep(start_s_, engine::Activity::Blocked);
    synchronise(process, *table);
    sync_.ended(*table->entry);
  }
}

void TableSyncWorker::synchronise(engine::Process& process, const Table& table) {
  InitialSync::Entry& entry = *table.entry;
  if (not entry.copied and not copy(process, table))
    return;
  sync_.wait_for_leader(process, entry);
  entry.record->catchup_s = process.now();
  entry.record->target = entry.target;
  if (entry.target <= entry.consistent) {
    entry.done = entry.consistent;
    entry.state = SyncState::SyncDone;
  } else {
    table.worker->run(process);
  }
  if (entry.state != SyncState::SyncDone) { // its subscription is disabled, or its slot lost
    failed_(entry.table->name, "its slot is gone");
    table.drop_slot();
    entry.copied = false;
    entry.state = SyncState::Init;
    return;
  }
  entry.record->done_s = process.now();
  entry.record->written_at_done = sync_.ledger().written();
  table.drop_slot();
}

/// False when it failed: what was copied is left behind as dead rows.
bool TableSyncWorker::copy(engine::Process& process, const Table& table) {
  InitialSync::Entry& entry = *table.entry;
  TableSyncRecord& record = *entry.record;
  entry.state = SyncState::DataSync;
  process.sleep(2 * sync_.latency_s(), engine::Activity::Starved);
  const SlotStart start = sync_.ledger().find_start(process, entry.woken);
  table.slot->create(start.consistent, start.restart);
  entry.consistent = start.consistent;
  const std::string& name = entry.table->name;
  record.rows = entry.table->initial_rows + sync_.ledger().growth(name);
  record.bytes = std::llround(static_cast<double>(record.rows) * table.heap_bytes_per_row);
  record.copied_changes = sync_.ledger().changes(name) - entry.baseline;
  record.snapshot_s = process.now();
  const auto result = table.copy->run(process, record.rows, *table.wal);
  if (not result.failure.empty()) {
    record.bloat_bytes += std::llround(static_cast<double>(result.rows) * table.heap_bytes_per_row);
    record.failure = result.failure;
    failed_(name, result.failure);
    table.drop_slot();
    entry.state = SyncState::Init;
    return false;
  }
  table.wal->commit(process, Xid{}, start.consistent);
  table.wal->forget();
  record.copied_s = process.now();
  entry.copied = true;
  return true;
}

} // namespace replisim
