#include "models/reorder_buffer.hpp"

#include "models/base/check.hpp"

#include <algorithm>

namespace replisim {

namespace {
/// A spilled change is preceded by its length on disk (ReorderBufferDiskChange).
constexpr Bytes disk_header_bytes = 8;

std::pair<Bytes, std::int64_t> size_key(Bytes bytes, Xid xid) {
  return {bytes, -static_cast<std::int64_t>(xid.value)};
}
Xid xid_of(const std::pair<Bytes, std::int64_t>& key) { return {static_cast<std::uint32_t>(-key.second)}; }

Rows ceil_div(Bytes a, Bytes b) { return (a + b - 1) / b; }

bool continues(const ChangeRun& a, const ChangeRun& b) {
  return a.xid == b.xid and a.statement == b.statement and a.rows.first + a.rows.count == b.rows.first;
}

void push_run(std::vector<ChangeRun>& runs, const ChangeRun& run) {
  if (not runs.empty() and continues(runs.back(), run))
    runs.back().rows.count += run.rows.count;
  else
    runs.push_back(run);
}

ChangeRun take(ChangeRun& run, Rows count) {
  ChangeRun head = run;
  head.rows.count = count;
  run.rows.first += count;
  run.rows.count -= count;
  return head;
}

/// Evictions of the same victim in a row become one entry.
void push_eviction(std::vector<Eviction>& evictions, Eviction eviction) {
  if (not evictions.empty() and evictions.back().kind == eviction.kind and
      evictions.back().victim == eviction.victim) {
    auto& last = evictions.back();
    last.passes += eviction.passes;
    last.changes += eviction.changes;
    last.restored += eviction.restored;
    for (const auto& run : eviction.content)
      push_run(last.content, run);
  } else {
    evictions.push_back(std::move(eviction));
  }
}
} // namespace

ReorderBuffer::ReorderBuffer(Bytes limit_bytes, bool streaming, VersionTraits traits)
    : limit_bytes_(limit_bytes), streaming_(streaming), traits_(traits) {
  REPLISIM_REQUIRE(limit_bytes > 0, "logical_decoding_work_mem is {} bytes", limit_bytes);
}

ReorderBuffer::Transaction& ReorderBuffer::entry(Xid xid, Xid top) {
  auto [it, inserted] = transactions_.try_emplace(xid);
  if (inserted) {
    it->second.xid = xid;
    it->second.top = top;
    if (xid != top)
      entry(top, top).children.push_back(xid);
  }
  return transactions_.at(xid);
}

void ReorderBuffer::charge(Transaction& txn, Bytes delta) {
  auto& top = transactions_.at(txn.top);
  if (txn.memory_bytes > 0)
    single_.erase(size_key(txn.memory_bytes, txn.xid));
  if (top.tree_bytes > 0)
    trees_.erase(size_key(top.tree_bytes, top.xid));
  txn.memory_bytes += delta;
  top.tree_bytes += delta;
  memory_bytes_ += delta;
  REPLISIM_REQUIRE(txn.memory_bytes >= 0 and top.tree_bytes >= 0 and memory_bytes_ >= 0,
                   "memory of transaction {} fell to {} bytes", txn.xid.value, txn.memory_bytes);
  if (txn.memory_bytes > 0)
    single_.insert(size_key(txn.memory_bytes, txn.xid));
  if (top.tree_bytes > 0)
    trees_.insert(size_key(top.tree_bytes, top.xid));
}

void ReorderBuffer::append(Transaction& txn, const ChangeRun& run) {
  push_run(transactions_.at(txn.top).runs, run);
  txn.in_memory += run.rows.count;
  txn.queued_bytes += run.rows.count * run.change_bytes;
  charge(txn, run.rows.count * run.change_bytes);
}

Added ReorderBuffer::add(Xid top, const ChangeRun& run, const AbortLookup& aborted) {
  Added out;
  entry(top, top);
  auto& txn = entry(run.xid, top);
  ChangeRun rest = run;
  while (rest.rows.count > 0) {
    if (txn.known_aborted or transactions_.at(top).known_aborted) {
      out.ignored += rest.rows.count;
      break;
    }
    const Rows until_full = std::max<Rows>(1, ceil_div(limit_bytes_ - memory_bytes_, rest.change_bytes));
    append(txn, take(rest, std::min(until_full, rest.rows.count)));
    if (memory_bytes_ < limit_bytes_)
      break;
    const auto before = out.evictions.size();
    make_room(out, aborted);
    if (out.evictions.size() <= before + 1)
      repeat_last(out, txn, rest);
  }
  return out;
}

void ReorderBuffer::make_room(Added& out, const AbortLookup& aborted) {
  while (memory_bytes_ >= limit_bytes_) {
    auto& victim = transactions_.at(xid_of(streams() ? *trees_.rbegin() : *single_.rbegin()));
    if (traits_.drops_aborted_at_eviction and aborted(victim.xid)) {
      victim.known_aborted = true;
      push_eviction(out.evictions, {Eviction::Kind::DropAborted, victim.xid, 1, drop(victim), 0, {}});
    } else if (streams()) {
      push_eviction(out.evictions, stream(victim));
    } else {
      Eviction eviction{Eviction::Kind::Spill, victim.xid, 0, 0, 0, {}};
      eviction.changes = serialize(victim, eviction.passes);
      push_eviction(out.evictions, std::move(eviction));
    }
  }
}

/// A long run into the same transaction evicts it again and again at the same fill: skips ahead over
/// all but the last, incomplete round. Exact, since nothing else changes meanwhile.
void ReorderBuffer::repeat_last(Added& out, Transaction& txn, ChangeRun& rest) {
  if (out.evictions.empty())
    return;
  Eviction& last = out.evictions.back();
  const bool empties_writer =
      last.kind == Eviction::Kind::Stream
          ? last.victim == txn.top and transactions_.at(txn.top).tree_bytes == 0
          : last.kind == Eviction::Kind::Spill and last.victim == txn.xid and txn.memory_bytes == 0;
  if (not empties_writer)
    return;
  const Rows round = ceil_div(limit_bytes_ - memory_bytes_, rest.change_bytes);
  const BySize& sizes = streams() ? trees_ : single_;
  const bool stays_largest = sizes.empty() or round * rest.change_bytes > sizes.rbegin()->first;
  const Rows rounds = rest.rows.count / round;
  if (not stays_largest or rounds == 0)
    return;
  const ChangeRun skipped = take(rest, rounds * round);
  const Bytes bytes = skipped.rows.count * skipped.change_bytes;
  last.passes += rounds;
  last.changes += skipped.rows.count;
  if (last.kind == Eviction::Kind::Stream) {
    push_run(last.content, skipped);
    counters_.stream_count += rounds;
    counters_.stream_bytes += bytes;
    counters_.total_bytes += bytes;
  } else {
    push_run(transactions_.at(txn.top).runs, skipped);
    txn.queued_bytes += bytes;
    account_spill(txn, skipped.rows.count, bytes, rounds);
  }
}

void ReorderBuffer::account_spill(Transaction& txn, Rows changes, Bytes bytes, std::int64_t passes) {
  counters_.spill_count += passes;
  counters_.spill_bytes += bytes;
  if (not txn.serialized)
    ++counters_.spill_txns;
  txn.serialized = true;
  txn.spilled += changes;
  const Bytes file_bytes = bytes + changes * disk_header_bytes;
  txn.file_bytes += file_bytes;
  spill_file_bytes_ += file_bytes;
  peak_spill_file_bytes_ = std::max(peak_spill_file_bytes_, spill_file_bytes_);
}

Rows ReorderBuffer::serialize(Transaction& txn, std::int64_t& passes) {
  Rows changes = 0;
  for (const Xid child : txn.children)
    changes += serialize(transactions_.at(child), passes);
  if (txn.in_memory == 0)
    return changes;
  changes += txn.in_memory;
  ++passes;
  const Rows own = txn.in_memory;
  const Bytes bytes = txn.memory_bytes;
  txn.in_memory = 0;
  charge(txn, -bytes);
  account_spill(txn, own, bytes, 1);
  return changes;
}

Eviction ReorderBuffer::stream(Transaction& top) {
  Eviction eviction{Eviction::Kind::Stream, top.xid, 1, 0, 0, {}};
  Bytes bytes = 0;
  auto empty = [&](Transaction& txn) {
    eviction.changes += txn.in_memory + txn.spilled;
    eviction.restored += txn.spilled;
    bytes += txn.queued_bytes;
    spill_file_bytes_ -= txn.file_bytes;
    txn.in_memory = txn.spilled = 0;
    txn.queued_bytes = txn.file_bytes = 0;
    charge(txn, -txn.memory_bytes);
  };
  empty(top);
  for (const Xid child : top.children)
    empty(transactions_.at(child));
  eviction.content = std::move(top.runs);
  top.runs.clear();
  ++counters_.stream_count;
  counters_.stream_bytes += bytes;
  counters_.total_bytes += bytes;
  if (not top.streamed) {
    ++counters_.stream_txns;
    ++counters_.total_txns;
  }
  top.streamed = true;
  return eviction;
}

Rows ReorderBuffer::drop(Transaction& txn) {
  Rows dropped = txn.in_memory;
  auto& runs = transactions_.at(txn.top).runs;
  std::erase_if(runs, [&](const ChangeRun& run) { return run.xid == txn.xid; });
  charge(txn, -txn.memory_bytes);
  spill_file_bytes_ -= txn.file_bytes;
  txn.in_memory = txn.spilled = 0;
  txn.queued_bytes = txn.file_bytes = 0;
  for (const Xid child : txn.children)
    dropped += drop(transactions_.at(child));
  return dropped;
}

Rows ReorderBuffer::abort_subtransaction(Xid subxid) {
  const auto it = transactions_.find(subxid);
  if (it == transactions_.end())
    return 0;
  const Rows dropped = drop(it->second);
  auto& siblings = transactions_.at(it->second.top).children;
  siblings.erase(std::find(siblings.begin(), siblings.end(), subxid));
  transactions_.erase(it);
  return dropped;
}

Rows ReorderBuffer::abort_transaction(Xid top) {
  const auto it = transactions_.find(top);
  if (it == transactions_.end())
    return 0;
  const Rows dropped = drop(it->second);
  forget(top);
  return dropped;
}

Replay ReorderBuffer::commit(Xid top_xid) {
  Replay replay;
  const auto it = transactions_.find(top_xid);
  if (it == transactions_.end())
    return replay;
  auto& top = it->second;
  replay.streamed = top.streamed;
  if (top.streamed) {
    // An empty last chunk carries no bytes, and the statistics are sent only when bytes moved.
    if (not top.runs.empty()) {
      Eviction last = stream(top);
      replay.changes = last.changes;
      replay.content = std::move(last.content);
    }
    return replay;
  }
  std::vector<Xid> members = top.children;
  members.push_back(top_xid);
  for (const Xid member : members) {
    auto& txn = transactions_.at(member);
    if (txn.serialized and txn.in_memory > 0) {
      const Rows changes = txn.in_memory;
      const Bytes bytes = txn.memory_bytes;
      txn.in_memory = 0;
      charge(txn, -bytes);
      account_spill(txn, changes, bytes, 1);
      ++replay.spill_passes;
      replay.spilled_now += changes;
    }
    replay.restored += txn.spilled;
    replay.spilled_members += txn.spilled > 0 ? 1 : 0;
    replay.changes += txn.spilled + txn.in_memory;
    counters_.total_bytes += txn.queued_bytes;
  }
  ++counters_.total_txns;
  replay.content = std::move(top.runs);
  top.runs.clear();
  return replay;
}

void ReorderBuffer::forget(Xid top_xid) {
  const auto it = transactions_.find(top_xid);
  if (it == transactions_.end())
    return;
  std::vector<Xid> members = it->second.children;
  members.push_back(top_xid);
  for (const Xid member : members) {
    auto& txn = transactions_.at(member);
    charge(txn, -txn.memory_bytes);
    spill_file_bytes_ -= txn.file_bytes;
    txn.file_bytes = 0;
  }
  for (const Xid member : members)
    transactions_.erase(member);
}

void ReorderBuffer::clear() {
  transactions_.clear();
  single_.clear();
  trees_.clear();
  memory_bytes_ = 0;
  spill_file_bytes_ = 0;
}

bool ReorderBuffer::streamed(Xid top) const {
  const auto it = transactions_.find(top);
  return it != transactions_.end() and it->second.streamed;
}

} // namespace replisim
