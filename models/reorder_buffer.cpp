#include "models/reorder_buffer.hpp"

#include "models/base/check.hpp"
#include "models/wal_retention.hpp"

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
    last.catalog_changes += eviction.catalog_changes;
    last.catalog_bytes += eviction.catalog_bytes;
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
  auto& top = txn.xid == txn.top ? txn : transactions_.at(txn.top);
  txn.memory_bytes += delta;
  top.tree_bytes += delta;
  memory_bytes_ += delta;
  REPLISIM_REQUIRE(txn.memory_bytes >= 0 and top.tree_bytes >= 0 and memory_bytes_ >= 0,
                   "memory of transaction {} fell to {} bytes", txn.xid.value, txn.memory_bytes);
  const auto note = [this](Sizes& sizes, SizeKey key) {
    const std::size_t many = 1024 + 4 * transactions_.size();
    if (sizes.size() > many) {
      std::erase_if(sizes,
                    [&](SizeKey old) { return &sizes == &trees_ ? not is_tree(old) : not is_single(old); });
      std::make_heap(sizes.begin(), sizes.end());
    }
    if (key.first <= 0)
      return;
    sizes.push_back(key);
    std::push_heap(sizes.begin(), sizes.end());
  };
  note(single_, size_key(txn.memory_bytes, txn.xid));
  if (streaming_)
    note(trees_, size_key(top.tree_bytes, top.xid));
}

/// What a (sub)transaction holds in memory goes, whereto the caller knows.
void ReorderBuffer::release(Transaction& txn) {
  charge(txn, -txn.memory_bytes);
  catalog_memory_bytes_ -= txn.catalog_bytes;
  txn.catalog_bytes = 0;
  txn.catalog_in_memory = 0;
  txn.in_memory = 0;
}

bool ReorderBuffer::is_single(SizeKey key) const {
  const auto it = transactions_.find(xid_of(key));
  return it != transactions_.end() and it->second.memory_bytes == key.first;
}

/// A transaction can be streamed when it has a row to send and is not known to be aborted.
bool ReorderBuffer::is_tree(SizeKey key) const {
  const auto it = transactions_.find(xid_of(key));
  return it != transactions_.end() and it->second.tree_bytes == key.first and it->second.tree_rows > 0 and
         not it->second.incomplete and not it->second.known_aborted;
}

/// The key of who holds most, by one transaction or with its subtransactions; (0, 0) when nobody can be
/// evicted so.
ReorderBuffer::SizeKey ReorderBuffer::largest(bool trees) {
  Sizes& sizes = trees ? trees_ : single_;
  while (not sizes.empty() and not(trees ? is_tree(sizes.front()) : is_single(sizes.front()))) {
    std::pop_heap(sizes.begin(), sizes.end());
    sizes.pop_back();
  }
  return sizes.empty() ? SizeKey{0, 0} : sizes.front();
}

void ReorderBuffer::append(Transaction& txn, const ChangeRun& run) {
  auto& top = transactions_.at(txn.top);
  push_run(top.runs, run);
  top.has_changes = true;
  top.tree_rows += run.rows.count;
  txn.rows += run.rows.count;
  txn.in_memory += run.rows.count * run.changes_per_row();
  txn.queued_bytes += run.rows.count * run.row_bytes();
  charge(txn, run.rows.count * run.row_bytes());
}

/// A change of a row that is not whole yet.
void ReorderBuffer::append_part(Transaction& txn, Bytes bytes) {
  transactions_.at(txn.top).has_changes = true;
  ++txn.in_memory;
  txn.queued_bytes += bytes;
  charge(txn, bytes);
}

/// ReorderBufferProcessPartialChange: what was spilled because it could not be streamed is streamed as soon
/// as it can.
bool ReorderBuffer::streams_at_once(const Transaction& txn) const {
  return streams() and txn.serialized and not transactions_.at(txn.top).incomplete;
}

/// Rows of several changes: whole ones while they fit, the row that fills the memory change by change.
void ReorderBuffer::add_row_by_row(Transaction& txn, ChangeRun& rest, Added& out,
                                   const AbortLookup& aborted) {
  auto& top = transactions_.at(txn.top);
  const Bytes row_bytes = rest.row_bytes();
  const Rows fitting = streams_at_once(txn) ? 0 : (limit_bytes_ - memory_bytes_ - 1) / row_bytes;
  if (fitting > 0)
    append(txn, take(rest, std::min(fitting, rest.rows.count)));
  if (rest.rows.count == 0)
    return;
  top.incomplete = rest.shape->incomplete;
  for (const Bytes part : rest.shape->before) {
    append_part(txn, part);
    make_room(out, aborted);
  }
  top.incomplete = false;
  ChangeRun last = take(rest, 1);
  if (txn.known_aborted) { // found out meanwhile
    ++out.ignored;
    return;
  }
  append_part(txn, last.shape->last);
  push_run(top.runs, last);
  ++top.tree_rows;
  ++txn.rows;
  charge(txn, 0); // it can be streamed now
  if (streams_at_once(txn))
    push_eviction(out.evictions, stream(top));
  make_room(out, aborted);
}

Added ReorderBuffer::add(Xid top, const ChangeRun& run, const AbortLookup& aborted) {
  Added out;
  entry(top, top);
  auto& txn = entry(run.xid, top);
  ChangeRun rest = run;
  while (rest.rows.count > 0) {
    if (txn.known_aborted) { // only itself: a subtransaction's changes are queued until it is found, too
      out.ignored += rest.rows.count;
      break;
    }
    if (rest.shape != nullptr) {
      add_row_by_row(txn, rest, out, aborted);
      continue;
    }
    if (streams_at_once(txn)) {
      append(txn, take(rest, 1));
      push_eviction(out.evictions, stream(transactions_.at(top)));
      continue;
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
  report();
  return out;
}

void ReorderBuffer::make_room(Added& out, const AbortLookup& aborted) {
  while (memory_bytes_ >= limit_bytes_) {
    const SizeKey tree = streams() ? largest(true) : SizeKey{0, 0};
    const bool streamed = tree.first > 0;
    const SizeKey key = streamed ? tree : largest(false);
    if (not streamed and not traits_.eviction_uses_heap)
      effort_.searched += std::ssize(transactions_);
    REPLISIM_REQUIRE(key.first > 0, "{} bytes are queued, and nobody holds them", memory_bytes_);
    auto& victim = transactions_.at(xid_of(key));
    if (traits_.drops_aborted_at_eviction and aborted(victim.xid)) {
      victim.known_aborted = true;
      push_eviction(out.evictions, {Eviction::Kind::DropAborted, victim.xid, 1, drop(victim), 0, {}});
    } else if (streamed) {
      push_eviction(out.evictions, stream(victim));
    } else {
      Eviction eviction{Eviction::Kind::Spill, victim.xid, 0, 0, 0, {}};
      serialize(victim, eviction);
      push_eviction(out.evictions, std::move(eviction));
    }
  }
  report();
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
  const bool stays_largest = round * rest.change_bytes > largest(last.kind == Eviction::Kind::Stream).first;
  const Rows rounds = rest.rows.count / round;
  if (not stays_largest or rounds == 0)
    return;
  const ChangeRun skipped = take(rest, rounds * round);
  const Bytes bytes = skipped.rows.count * skipped.change_bytes;
  last.passes += rounds;
  last.changes += skipped.rows.count;
  if (last.kind == Eviction::Kind::Spill and not traits_.eviction_uses_heap)
    effort_.searched += rounds * std::ssize(transactions_);
  if (last.kind == Eviction::Kind::Stream) {
    push_run(last.content, skipped);
    counters_.stream_count += rounds;
    counters_.stream_bytes += bytes;
    counters_.total_bytes += bytes;
  } else {
    push_run(transactions_.at(txn.top).runs, skipped);
    transactions_.at(txn.top).tree_rows += skipped.rows.count;
    txn.rows += skipped.rows.count;
    txn.queued_bytes += bytes;
    account_spill(txn, skipped.rows.count, bytes, rounds);
  }
}

void ReorderBuffer::account_spill(Transaction& txn, Rows changes, Bytes bytes, std::int64_t passes,
                                  std::int64_t catalog_changes) {
  counters_.spill_count += passes;
  counters_.spill_bytes += bytes;
  if (not txn.spilled_before)
    ++counters_.spill_txns;
  txn.serialized = txn.spilled_before = true;
  // Several passes are spread over the segments of the entry, each of which gets a file.
  const std::int64_t files =
      passes > 1 ? segment_ - std::max(first_segment_ - 1, txn.file_segment) : (txn.file_segment < segment_);
  txn.file_segment = segment_;
  effort_.files += files;
  spill_files_ += files;
  txn.spilled += changes;
  txn.catalog_spilled += catalog_changes;
  const Bytes file_bytes = bytes + (changes + catalog_changes) * disk_header_bytes;
  txn.file_bytes += file_bytes;
  spill_file_bytes_ += file_bytes;
  peak_spill_file_bytes_ = std::max(peak_spill_file_bytes_, spill_file_bytes_);
}

/// Writes what one (sub)transaction holds in memory to its file, and adds it to `out`.
void ReorderBuffer::write_out(Transaction& txn, Eviction& out) {
  if (txn.in_memory == 0 and txn.catalog_in_memory == 0)
    return;
  ++out.passes;
  out.changes += txn.in_memory;
  out.catalog_changes += txn.catalog_in_memory;
  out.catalog_bytes += txn.catalog_bytes;
  catalog_spilled_bytes_ += txn.catalog_bytes;
  txn.catalog_file_bytes += txn.catalog_bytes;
  const Rows rows = txn.in_memory;
  const std::int64_t catalog_changes = txn.catalog_in_memory;
  const Bytes bytes = txn.memory_bytes;
  release(txn);
  account_spill(txn, rows, bytes, 1, catalog_changes);
}

void ReorderBuffer::serialize(Transaction& txn, Eviction& out) {
  for (const Xid child : txn.children)
    serialize(transactions_.at(child), out);
  write_out(txn, out);
}

Eviction ReorderBuffer::stream(Transaction& top) {
  Eviction eviction{Eviction::Kind::Stream, top.xid, 1, 0, 0, {}};
  Bytes bytes = 0;
  const bool again = top.streamed;
  auto empty = [&](Transaction& txn) {
    txn.streamed = txn.streamed or txn.queued_bytes > 0;
    eviction.changes += txn.in_memory + txn.spilled;
    eviction.restored += txn.spilled;
    eviction.catalog_changes += txn.catalog_spilled;
    eviction.catalog_bytes += txn.catalog_file_bytes;
    bytes += txn.queued_bytes;
    spill_file_bytes_ -= txn.file_bytes;
    txn.spilled = txn.catalog_spilled = 0;
    txn.queued_bytes = txn.file_bytes = txn.catalog_file_bytes = 0;
    txn.rows = 0;
    txn.serialized = false;
    txn.file_segment = -1;
    release(txn);
  };
  empty(top);
  for (const Xid child : top.children)
    empty(transactions_.at(child));
  top.tree_rows = 0;
  eviction.content = std::move(top.runs);
  top.runs.clear();
  ++counters_.stream_count;
  counters_.stream_bytes += bytes;
  counters_.total_bytes += bytes;
  if (not again) {
    ++counters_.stream_txns;
    ++counters_.total_txns;
  }
  top.streamed = true;
  return eviction;
}

Rows ReorderBuffer::drop(Transaction& txn) {
  Rows dropped = txn.in_memory;
  auto& top = transactions_.at(txn.top);
  std::erase_if(top.runs, [&](const ChangeRun& run) { return run.xid == txn.xid; });
  top.tree_rows -= txn.rows;
  top.incomplete = false;
  txn.rows = 0;
  release(txn);
  spill_file_bytes_ -= txn.file_bytes;
  txn.spilled = txn.catalog_spilled = 0;
  txn.queued_bytes = txn.file_bytes = txn.catalog_file_bytes = 0;
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
    if (top.runs.empty() and top.queued_bytes == 0) { // an empty last chunk
      ++counters_.stream_count;
    } else {
      Eviction last = stream(top);
      replay.changes = last.changes;
      replay.restored = last.restored;
      replay.catalog_restored = last.catalog_changes;
      replay.catalog_restored_bytes = last.catalog_bytes;
      replay.content = std::move(last.content);
    }
    report();
    return replay;
  }
  std::vector<Xid> members = top.children;
  members.push_back(top_xid);
  const bool with_children = top.serialized; // its own remainder is spilled with that of all its children
  for (const Xid member : members) {
    auto& txn = transactions_.at(member);
    if (txn.serialized or with_children) {
      Eviction last;
      write_out(txn, last);
      replay.spill_passes += last.passes;
      replay.spilled_now += last.changes;
      replay.catalog_spilled_now += last.catalog_changes;
      replay.catalog_spilled_bytes += last.catalog_bytes;
    }
    replay.restored += txn.spilled;
    replay.catalog_restored += txn.catalog_spilled;
    replay.catalog_restored_bytes += txn.catalog_file_bytes;
    replay.spilled_members += txn.spilled > 0 ? 1 : 0;
    replay.changes += txn.spilled + txn.in_memory;
    counters_.total_bytes += txn.queued_bytes;
  }
  ++counters_.total_txns;
  replay.content = std::move(top.runs);
  top.runs.clear();
  report();
  return replay;
}

void ReorderBuffer::report() {
  if (counters_.spill_bytes > reported_.spill_bytes or counters_.stream_bytes > reported_.stream_bytes or
      counters_.total_bytes > reported_.total_bytes)
    reported_ = counters_;
}

void ReorderBuffer::forget(Xid top_xid) {
  const auto it = transactions_.find(top_xid);
  if (it == transactions_.end())
    return;
  std::vector<Xid> members = it->second.children;
  members.push_back(top_xid);
  for (const Xid member : members) {
    auto& txn = transactions_.at(member);
    release(txn);
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
  catalog_memory_bytes_ = 0;
  spill_file_bytes_ = 0;
}

ReorderBuffer::Effort ReorderBuffer::take_effort() {
  const Effort effort = effort_;
  effort_ = {};
  return effort;
}

void ReorderBuffer::at(Lsn start, Lsn end) {
  first_segment_ = static_cast<std::int64_t>(start.value) / wal_segment_bytes;
  segment_ = static_cast<std::int64_t>(end.value) / wal_segment_bytes;
}

bool ReorderBuffer::streamed(Xid xid) const {
  const auto it = transactions_.find(xid);
  return it != transactions_.end() and it->second.streamed;
}

} // namespace replisim
