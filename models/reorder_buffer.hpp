// The reorder buffer of one walsender: who holds how much memory, who is evicted when it is full,
// what lies in spill files, and the counters of pg_stat_replication_slots.
//
// Mirrors reorderbuffer.c: ReorderBufferQueueChange, ReorderBufferCheckMemoryLimit (after every
// queued change, `>=`), ReorderBufferSerializeTXN (children first), ReorderBufferStreamTXN,
// ReorderBufferCheckAndTruncateAbortedTXN (PG18) and ReorderBufferIterTXNInit (the remainder of a
// spilled (sub)transaction is spilled before it is replayed).
//
// Changes arrive in runs of equal ones; the evictions inside a run are computed, not iterated, so
// the counters are those of a server that looks after every single change.
#pragma once

#include "models/version.hpp"
#include "models/workload.hpp"

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace replisim {

/// Consecutive changes of one (sub)transaction that one statement made to one table.
struct ChangeRun {
  Xid xid;                                  ///< the (sub)transaction that made them
  const Table* table = nullptr;             ///< not owned; outlives the buffer
  const StatementStep* statement = nullptr; ///< not owned; outlives the buffer
  RowRange rows;
  Bytes change_bytes = 0; ///< accounted memory of one change
};

/// pg_stat_replication_slots, by its column names.
struct SlotCounters {
  std::int64_t spill_txns = 0, spill_count = 0;
  Bytes spill_bytes = 0;
  std::int64_t stream_txns = 0, stream_count = 0;
  Bytes stream_bytes = 0;
  std::int64_t total_txns = 0;
  Bytes total_bytes = 0;
};

/// What making room did. Consecutive evictions of the same kind and victim are one entry.
struct Eviction {
  enum class Kind { Spill, Stream, DropAborted };
  Kind kind = Kind::Spill;
  Xid victim;              ///< (sub)transaction spilled or dropped, top-level one streamed
  std::int64_t passes = 0; ///< real evictions this entry stands for (a parent's children count)
  Rows changes = 0;
  Rows restored = 0;              ///< of a streamed transaction: how many come back from spill files
  std::vector<ChangeRun> content; ///< what is sent, in LSN order (Stream only)
};

/// What adding a run led to.
struct Added {
  std::vector<Eviction> evictions;
  Rows ignored = 0; ///< changes of a transaction already known to be aborted, never queued
};

/// What a commit replays.
struct Replay {
  bool streamed = false;         ///< the rest goes out as a last chunk; else the whole transaction
  std::int64_t spill_passes = 0; ///< remainders of spilled (sub)transactions, spilled first
  Rows spilled_now = 0;
  Rows restored = 0;                ///< changes that come from spill files
  std::int64_t spilled_members = 0; ///< (sub)transactions with a spill file: one refill cycle each
  Rows changes = 0;
  std::vector<ChangeRun> content; ///< in LSN order
};

class ReorderBuffer {
public:
  /// Whether a (sub)transaction is marked aborted in the commit log at this moment.
  using AbortLookup = std::function<bool(Xid)>;

  /// `limit_bytes`: logical_decoding_work_mem; `streaming`: subscription option on or parallel.
  ReorderBuffer(Bytes limit_bytes, bool streaming, VersionTraits traits);

  /// Queues `run` of top-level transaction `top` and makes room as often as the limit is reached.
  Added add(Xid top, const ChangeRun& run, const AbortLookup& aborted);

  /// Decoded abort record of a subtransaction: its queued changes and files are dropped.
  /// Returns the number of changes dropped from memory.
  Rows abort_subtransaction(Xid subxid);

  /// Decoded abort record of a top-level transaction. Returns the number of changes dropped from memory.
  Rows abort_transaction(Xid top);

  /// Decoded commit record. The spill files stay until `forget`.
  Replay commit(Xid top);

  /// Whether chunks may be streamed now: not while WAL is read again that lies before the decoding start.
  void allow_streaming(bool allowed) { streaming_allowed_ = allowed; }

  /// The slot is released: everything queued and all files go; the counters stay.
  void clear();

  /// The replay is over: files and entries of `top` and its subtransactions go away.
  void forget(Xid top);

  /// True once a chunk of the top-level transaction has been streamed.
  bool streamed(Xid top) const;

  const SlotCounters& counters() const { return counters_; }
  Bytes memory_bytes() const { return memory_bytes_; }
  Bytes spill_file_bytes() const { return spill_file_bytes_; }
  Bytes peak_spill_file_bytes() const { return peak_spill_file_bytes_; }

private:
  struct Transaction {
    Xid xid, top;
    std::vector<Xid> children;   ///< known subtransactions (top-level only)
    std::vector<ChangeRun> runs; ///< not yet sent, in LSN order, children included (top-level only)
    Bytes memory_bytes = 0;      ///< own changes in memory
    Bytes tree_bytes = 0;        ///< with children (top-level only)
    Bytes queued_bytes = 0;      ///< own changes in memory and spilled, not yet sent
    Rows in_memory = 0;
    Rows spilled = 0;
    Bytes file_bytes = 0;
    bool serialized = false;
    bool streamed = false;
    bool known_aborted = false;
  };
  bool streams() const { return streaming_ and streaming_allowed_; }
  using BySize = std::set<std::pair<Bytes, std::int64_t>>; ///< (bytes, -xid): last is the victim

  Transaction& entry(Xid xid, Xid top);
  void append(Transaction& txn, const ChangeRun& run);
  void charge(Transaction& txn, Bytes delta);
  void make_room(Added& out, const AbortLookup& aborted);
  void repeat_last(Added& out, Transaction& txn, ChangeRun& rest);
  Rows serialize(Transaction& txn, std::int64_t& passes);
  void account_spill(Transaction& txn, Rows changes, Bytes bytes, std::int64_t passes);
  Eviction stream(Transaction& top);
  Rows drop(Transaction& txn);

  Bytes limit_bytes_;
  bool streaming_;
  bool streaming_allowed_ = true;
  VersionTraits traits_;
  std::map<Xid, Transaction> transactions_;
  BySize single_; ///< (sub)transactions with changes in memory
  BySize trees_;  ///< top-level transactions with changes in memory, subtransactions included
  Bytes memory_bytes_ = 0;
  Bytes spill_file_bytes_ = 0;
  Bytes peak_spill_file_bytes_ = 0;
  SlotCounters counters_;
};

} // namespace replisim
