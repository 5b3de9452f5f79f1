// The reorder buffer's share in catalog changes: snapshots and invalidation messages that one commit queues
// in every transaction that is open then.
#include "models/reorder_buffer.hpp"

namespace replisim {

void ReorderBuffer::append_catalog(Transaction& txn, std::int64_t count, Bytes bytes) {
  txn.has_changes = true;
  txn.catalog_in_memory += count;
  txn.catalog_bytes += bytes;
  txn.queued_bytes += bytes;
  catalog_memory_bytes_ += bytes;
  charge(txn, bytes);
}

/// Messages that follow each other without a row between them are executed at one place.
void ReorderBuffer::execute_here(Transaction& txn, InvalidationsMerger& messages) {
  if (not txn.runs.empty() and txn.runs.back().invalidations) {
    txn.runs.back().invalidations = messages.after(txn.runs.back().invalidations);
    return;
  }
  ChangeRun here;
  here.xid = txn.xid;
  here.invalidations = messages.after(nullptr);
  txn.runs.push_back(std::move(here));
}

Added ReorderBuffer::add_catalog(Xid top, std::int64_t count, Bytes bytes, const InvalidationsRef& messages,
                                 bool in_line, const AbortLookup& aborted) {
  Added out;
  auto& txn = entry(top, top);
  if (txn.known_aborted)
    return out;
  if (messages) {
    InvalidationsMerger merger(messages);
    txn.own = merger.after(txn.own);
    if (in_line) {
      InvalidationsMerger here(messages);
      execute_here(txn, here);
    }
  }
  append_catalog(txn, count, bytes);
  make_room(out, aborted);
  return out;
}

/// False when the transaction cannot hold them.
bool ReorderBuffer::receive(Transaction& txn, const InvalidationsRef& messages, InvalidationsMerger& gathered,
                            Distributed& out) const {
  if (traits_.distribution == InvalidationDistribution::Redistributed) {
    txn.own = gathered.after(txn.own);
    return txn.own->total() <= most_messages_in_memory;
  }
  if (txn.overflowed)
    return true;
  const std::int64_t before = txn.received ? txn.received->total() : 0;
  txn.overflowed = before + messages->total() > most_received_messages;
  txn.received = txn.overflowed ? nullptr : gathered.after(txn.received);
  out.overflowed += txn.overflowed ? 1 : 0;
  return true;
}

Distributed ReorderBuffer::distribute(Xid committer, Bytes snapshot_bytes, const InvalidationsRef& messages,
                                      const AbortLookup& aborted) {
  Distributed out;
  InvalidationsMerger gathered(messages), here(messages);
  const Bytes message_bytes = messages ? invalidation_change_bytes(messages->total()) : 0;
  for (auto& [xid, txn] : transactions_) {
    if (xid == committer or txn.xid != txn.top or not txn.has_changes or txn.known_aborted)
      continue;
    ++out.transactions;
    const bool fits = memory_bytes_ + snapshot_bytes + message_bytes < limit_bytes_;
    append_catalog(txn, messages and fits ? 2 : 1, snapshot_bytes + (fits ? message_bytes : 0));
    make_room(out.added, aborted);
    if (not messages)
      continue;
    out.beyond_allocation = not receive(txn, messages, gathered, out) or out.beyond_allocation;
    execute_here(txn, here);
    if (fits)
      continue;
    append_catalog(txn, 1, message_bytes);
    make_room(out.added, aborted);
  }
  return out;
}

ReorderBuffer::Gathered ReorderBuffer::gathered(Xid top) const {
  const auto it = transactions_.find(top);
  if (it == transactions_.end())
    return {};
  return {it->second.own, it->second.received, it->second.overflowed};
}

} // namespace replisim
