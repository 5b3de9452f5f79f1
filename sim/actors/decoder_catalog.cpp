// The decoder's share in catalog changes: snapshots and messages queued in open transactions, caches that
// messages invalidate and replays fill again.
#include "sim/actors/decoder.hpp"

#include <fmt/format.h>

namespace replisim {

namespace {
/// A snapshot's transaction ids are copied, and looked through once by a sort that finds them in order.
constexpr Bytes bytes_per_listed_xid = 2 * 4;
} // namespace

double Decoder::written_s(std::int64_t changes, Bytes bytes) const {
  return static_cast<double>(changes) * params_.costs->spill_change_s +
         static_cast<double>(bytes) * params_.costs->send_byte_s;
}

double Decoder::restored_s(std::int64_t changes, Bytes bytes) const {
  return static_cast<double>(changes) * params_.costs->restore_change_s +
         static_cast<double>(bytes) * params_.costs->send_byte_s;
}

/// Executes `messages`, all of them `times` times.
double Decoder::execute(const Invalidations& messages, std::int64_t times) {
  const auto& costs = *params_.costs;
  double looked_at = relations_.execute(messages);
  // What the first time has removed from the map is not looked at again.
  if (times > 1)
    looked_at += static_cast<double>((times - 1) * messages.relcache) *
                 map_scan_weight(static_cast<double>(relations_.mapped()));
  catalog_.executed += times * messages.messages;
  return static_cast<double>(times * messages.messages) * costs.invalidation_message_s +
         looked_at * costs.invalidation_map_entry_s;
}

void Decoder::use_tables(DecodeStep& step, const Table& table, Rows rows, std::int64_t transactions) {
  const auto built = relations_.use(table, rows, transactions);
  if (built.entries == 0)
    return;
  step.built[&table] += built.entries;
  catalog_.rebuilt_entries += built.entries;
  catalog_.rebuilt_relations += built.relations;
  step.cpu_s += static_cast<double>(built.entries) * params_.costs->invalidation_rebuild_entry_s +
                static_cast<double>(built.relations) * params_.costs->invalidation_rebuild_relation_s;
}

/// Messages where they stand among the rows, entries that the rows after them find invalid, and at the end
/// all messages again (ReorderBufferProcessTXN). What is left of the runs are rows.
void Decoder::replay_catalog(DecodeStep& step, const ReorderBuffer::Gathered& gathered) {
  relations_.next_replay();
  for (const auto& run : step.runs)
    if (run.invalidations)
      step.cpu_s += execute(*run.invalidations, 1);
    else
      use_tables(step, *run.table, run.rows.count, 1);
  std::erase_if(step.runs, [](const ChangeRun& run) { return run.rows.count == 0; });
  if (gathered.own)
    step.cpu_s += execute(*gathered.own, 1);
  if (gathered.received)
    step.cpu_s += execute(*gathered.received, 1);
  if (gathered.overflowed)
    relations_.reset();
}

void Decoder::decode_catalog_change(const WalEntry& entry, const CatalogChanged& changed, Result& result) {
  const auto& costs = *params_.costs;
  const bool in_line = params_.traits.queues_invalidations;
  const auto commands = static_cast<double>(changed.commands);
  commands_[entry.top] += changed.commands;
  // A command id for each command, and from 14 on its messages as a change of its own.
  std::int64_t changes = changed.commands;
  Bytes bytes = changed.commands * command_id_change_bytes;
  double cpu_s = commands * costs.decode_change_s;
  if (in_line) {
    changes += changed.commands;
    bytes += changed.commands * invalidation_change_bytes(0) + changed.messages->bytes();
    cpu_s += commands * costs.invalidation_change_s;
  }
  result.steps.front().cpu_s += cpu_s;
  auto added = buffer_.add_catalog(entry.top, changes, bytes, changed.messages, in_line,
                                   [this](Xid xid) { return status_.aborted(xid); });
  add_evictions(entry, added.evictions, result);
}

/// A snapshot, and the messages where the version hands them out, for whoever is in progress.
void Decoder::hand_out(const WalEntry& entry, const InvalidationsRef& own, Result& result) {
  const auto& costs = *params_.costs;
  history_.committed(entry.top);
  const Bytes snapshot_bytes = snapshot_change_bytes(params_.traits.snapshot_struct_bytes, history_.count());
  const bool with_messages = params_.traits.distribution != InvalidationDistribution::SnapshotOnly;
  auto handed = buffer_.distribute(entry.top, snapshot_bytes, with_messages ? own : nullptr,
                                   [this](Xid xid) { return status_.aborted(xid); });
  ++catalog_.commits;
  catalog_.snapshots += handed.transactions;
  catalog_.snapshot_bytes += handed.transactions * snapshot_bytes;
  catalog_.overflowed += handed.overflowed;
  double each_s = costs.decode_change_s;
  if (with_messages and own) {
    catalog_.messages += handed.transactions * own->total();
    each_s += costs.invalidation_change_s;
  }
  result.steps.front().cpu_s +=
      static_cast<double>(history_.count() * bytes_per_listed_xid) * costs.wal_read_byte_s +
      static_cast<double>(handed.transactions) * each_s;
  if (handed.beyond_allocation)
    result.failure = fmt::format("invalid memory alloc request size: a transaction would hold more than {} "
                                 "invalidation messages",
                                 most_messages_in_memory);
  add_evictions(entry, handed.added.evictions, result);
}

void Decoder::decode_catalog_commit(const WalEntry& entry, Result& result) {
  const auto gathered = buffer_.gathered(entry.top);
  hand_out(entry, gathered.own, result);
  const std::int64_t commands = commands_[entry.top];
  commands_.erase(entry.top);
  DecodeStep replay;
  replay.top = entry.top;
  replay.lsn = entry.end;
  const bool skipped = entry.end <= confirmed_ or not gathered.own or gathered.own->messages == 0;
  if (skipped) { // of another database, or known to the client: forgotten, its messages executed once
    if (gathered.own)
      replay.cpu_s += execute(*gathered.own, 1);
    buffer_.abort_transaction(entry.top);
  } else {
    Replay content = buffer_.commit(entry.top);
    replay.cpu_s = params_.costs->send_transaction_s +
                   written_s(content.catalog_spilled_now, content.catalog_spilled_bytes) +
                   restored_s(content.catalog_restored, content.catalog_restored_bytes);
    replay.runs = std::move(content.content);
    replay_catalog(replay, gathered);
    if (not params_.traits.queues_invalidations) // all of them at each command
      replay.cpu_s += execute(*gathered.own, commands);
    buffer_.forget(entry.top);
  }
  result.steps.push_back(std::move(replay));
}

} // namespace replisim
