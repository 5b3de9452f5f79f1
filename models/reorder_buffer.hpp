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

#include "models/invalidation.hpp"
#include "models/row_shape.hpp"
#include "models/version.hpp"
#include "models/workload.hpp"

#include <functional>
#include <map>
#include <vector>

namespace replisim {

/// Consecutive changes of one (sub)transaction that one statement made to one table; or, without rows, the
/// place at which a transaction executes invalidation messages.
struct ChangeRun {
  Xid xid;                                  ///< the (sub)transaction that made them
  const Table* table = nullptr;             ///< not owned; outlives the buffer
  const StatementStep* statement = nullptr; ///< not owned; outlives the buffer
  RowRange rows;
  Bytes change_bytes = 0; ///< accounted memory of a row's one change; without `shape`
  InvalidationsRef invalidations = {};
  const Table* sent_as = nullptr;  ///< the table as it travels, where that differs; not owned
  const RowShape* shape = nullptr; ///< of a row of several changes; not owned, outlives the buffer

  /// The table as messages describe it.
  const Table& wire_table() const { return sent_as == nullptr ? *table : *sent_as; }
  Rows changes_per_row() const { return shape == nullptr ? 1 : shape->changes(); }
  Bytes row_bytes() const { return shape == nullptr ? change_bytes : shape->bytes(); }
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
  Rows restored = 0;                ///< of a streamed transaction: how many come back from spill files
  std::vector<ChangeRun> content;   ///< what is sent, in LSN order (Stream only)
  std::int64_t catalog_changes = 0; ///< besides: catalog changes written (Spill) or restored (Stream)
  Bytes catalog_bytes = 0;          ///< of those
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
  std::vector<ChangeRun> content;       ///< in LSN order
  std::int64_t catalog_spilled_now = 0; ///< catalog changes besides
  Bytes catalog_spilled_bytes = 0;
  std::int64_t catalog_restored = 0;
  Bytes catalog_restored_bytes = 0;
};

/// What one catalog-changing commit handed out.
struct Distributed {
  std::int64_t transactions = 0;  ///< that received it
  std::int64_t overflowed = 0;    ///< among them, those whose array was given up because of it
  bool beyond_allocation = false; ///< some array would be larger than one allocation can be
  Added added;                    ///< room that had to be made
};

class ReorderBuffer {
public:
  /// Whether a (sub)transaction is marked aborted in the commit log at this moment.
  using AbortLookup = std::function<bool(Xid)>;

  /// `limit_bytes`: logical_decoding_work_mem; `streaming`: subscription option on or parallel.
  ReorderBuffer(Bytes limit_bytes, bool streaming, VersionTraits traits);

  /// Another limit, from the next change on.
  void set_limit(Bytes bytes) { limit_bytes_ = bytes; }

  /// Queues `run` of top-level transaction `top` and makes room as often as the limit is reached.
  Added add(Xid top, const ChangeRun& run, const AbortLookup& aborted);

  /// Queues catalog changes of top-level transaction `top` itself, `count` of them with `bytes` together: its
  /// messages, executed at this place when `in_line`, and with all it has at the end; command ids.
  Added add_catalog(Xid top, std::int64_t count, Bytes bytes, const InvalidationsRef& messages, bool in_line,
                    const AbortLookup& aborted);

  /// Queues a snapshot of `snapshot_bytes`, and unless null `messages`, in every top-level transaction that
  /// has changes, `committer` excepted.
  Distributed distribute(Xid committer, Bytes snapshot_bytes, const InvalidationsRef& messages,
                         const AbortLookup& aborted);

  /// All messages a transaction has gathered, its own and what was distributed to it; null: none.
  struct Gathered {
    InvalidationsRef own;
    InvalidationsRef received;
    bool overflowed = false; ///< the received ones were given up: the caches are reset instead
  };
  Gathered gathered(Xid top) const;

  /// Decoded abort record of a subtransaction: its queued changes and files are dropped.
  /// Returns the number of changes dropped from memory.
  Rows abort_subtransaction(Xid subxid);

  /// Decoded abort record of a top-level transaction. Returns the number of changes dropped from memory.
  Rows abort_transaction(Xid top);

  /// Decoded commit record. The spill files stay until `forget`.
  Replay commit(Xid top);

  /// What making room took since the last call, besides the changes themselves.
  struct Effort {
    std::int64_t files = 0;    ///< spill files created: one per (sub)transaction and WAL segment
    std::int64_t searched = 0; ///< (sub)transactions looked at for the largest, before 17
  };
  Effort take_effort();

  /// The WAL entry that is decoded now: spill files are named after segments.
  void at(Lsn start, Lsn end);

  /// Whether chunks may be streamed now: not while WAL is read again that lies before the decoding start.
  void allow_streaming(bool allowed) { streaming_allowed_ = allowed; }

  /// The slot is released: everything queued and all files go; the counters stay.
  void clear();

  /// The replay is over: files and entries of `top` and its subtransactions go away.
  void forget(Xid top);

  /// True once a chunk of the top-level transaction has been streamed; of a subtransaction, with changes of
  /// it.
  bool streamed(Xid xid) const;

  /// Counts committed transactions that were too small to be looked at one by one.
  void count_small(std::int64_t transactions, Bytes bytes) {
    counters_.total_txns += transactions;
    counters_.total_bytes += bytes;
    report();
  }

  /// As the statistics show them. They hear of counts when bytes go with them (UpdateDecodingStats): an empty
  /// last chunk, and a transaction of which nothing was left, wait for the next bytes.
  const SlotCounters& counters() const { return reported_; }
  Bytes memory_bytes() const { return memory_bytes_; }
  /// Catalog changes (snapshots, messages, command ids) in memory, and written to spill files so far.
  Bytes catalog_memory_bytes() const { return catalog_memory_bytes_; }
  Bytes catalog_spilled_bytes() const { return catalog_spilled_bytes_; }
  Bytes spill_file_bytes() const { return spill_file_bytes_; }
  Bytes peak_spill_file_bytes() const { return peak_spill_file_bytes_; }
  /// Spill files created so far.
  std::int64_t spill_files() const { return spill_files_; }

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
    std::int64_t catalog_in_memory = 0; ///< changes besides rows, and their part of memory_bytes
    std::int64_t catalog_spilled = 0;
    Bytes catalog_bytes = 0;
    Bytes catalog_file_bytes = 0;
    InvalidationsRef own, received;
    bool overflowed = false;
    Rows rows = 0;                  ///< own whole rows, not yet sent or dropped
    bool incomplete = false;        ///< the last row is not whole yet (top-level only)
    std::int64_t file_segment = -1; ///< WAL segment that its newest spill file is named after
    bool spilled_before = false;    ///< counted in spill_txns, whatever has become of its files
    bool has_changes = false;       ///< something was queued: it has a base snapshot (top-level only)
    Rows tree_rows = 0;             ///< rows not yet sent or dropped, children included (top-level only)
    Bytes file_bytes = 0;
    bool serialized = false;
    bool streamed = false;
    bool known_aborted = false;
  };
  bool streams() const { return streaming_ and streaming_allowed_; }
  /// Who holds most: a heap of (bytes, -xid), to which a change of size only adds. Entries that are no longer
  /// true are thrown away when they come to the top, or when they are too many.
  using SizeKey = std::pair<Bytes, std::int64_t>;
  using Sizes = std::vector<SizeKey>;

  Transaction& entry(Xid xid, Xid top);
  void append(Transaction& txn, const ChangeRun& run);
  void append_part(Transaction& txn, Bytes bytes);
  void add_row_by_row(Transaction& txn, ChangeRun& rest, Added& out, const AbortLookup& aborted);
  bool streams_at_once(const Transaction& txn) const;
  void append_catalog(Transaction& txn, std::int64_t count, Bytes bytes);
  void charge(Transaction& txn, Bytes delta);
  void release(Transaction& txn);
  bool is_single(SizeKey key) const;
  bool is_tree(SizeKey key) const;
  SizeKey largest(bool trees);
  static void execute_here(Transaction& txn, InvalidationsMerger& messages);
  bool receive(Transaction& txn, const InvalidationsRef& messages, InvalidationsMerger& gathered,
               Distributed& out) const;
  void make_room(Added& out, const AbortLookup& aborted);
  void repeat_last(Added& out, Transaction& txn, ChangeRun& rest);
  void serialize(Transaction& txn, Eviction& out);
  void write_out(Transaction& txn, Eviction& out);
  void account_spill(Transaction& txn, Rows changes, Bytes bytes, std::int64_t passes,
                     std::int64_t catalog_changes = 0);
  Eviction stream(Transaction& top);
  Rows drop(Transaction& txn);
  void report();

  Bytes limit_bytes_;
  bool streaming_;
  bool streaming_allowed_ = true;
  VersionTraits traits_;
  std::map<Xid, Transaction> transactions_;
  Sizes single_; ///< (sub)transactions with changes in memory
  Sizes trees_;  ///< top-level transactions with changes in memory, subtransactions included
  Bytes memory_bytes_ = 0;
  Bytes catalog_memory_bytes_ = 0;
  Bytes catalog_spilled_bytes_ = 0;
  Bytes spill_file_bytes_ = 0;
  Bytes peak_spill_file_bytes_ = 0;
  std::int64_t first_segment_ = 0, segment_ = 0; ///< of the WAL entry being decoded
  std::int64_t spill_files_ = 0;
  Effort effort_;
  SlotCounters counters_, reported_;
};

} // namespace replisim
