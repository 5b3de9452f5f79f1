// The logical decoder: turns WAL entries into work for whoever drives it (the walsender).
//
// Counterpart: decode.c and reorderbuffer.c with pgoutput's filtering decisions left to the driver. It
// holds one slot's reorder buffer and knows no clock: it says what is to be done and what each
// step costs; the driver spends the time, in the order given.
#pragma once

#include "models/cost_profile.hpp"
#include "models/relation_cache.hpp"
#include "models/reorder_buffer.hpp"
#include "sim/actors/wal_log.hpp"

#include <optional>

namespace replisim {

/// One step of work: CPU seconds to spend first, then (perhaps) something to send.
struct DecodeStep {
  enum class Kind {
    Work,           ///< nothing to send
    Chunk,          ///< a streamed chunk (or several in a row: `chunks`)
    Replay,         ///< a committed transaction, non-streamed: all its changes, then its commit
    LastChunk,      ///< a streamed transaction's remainder (may be empty), then its commit
    FinishPrepared, ///< COMMIT or ROLLBACK PREPARED of what was sent at PREPARE
    StreamAbort,    ///< a streamed (sub)transaction was rolled back
    Flow            ///< small transactions of a flow, each replayed at once
  } kind = Kind::Work;
  double cpu_s = 0;
  Xid top;
  Xid subxid;
  Lsn lsn; ///< end of the WAL entry that caused it
  std::vector<ChangeRun> runs;
  Rows rows = 0;
  std::int64_t chunks = 0;
  bool prepares = false;                ///< of Replay and LastChunk: a PREPARE ends it, not its commit
  bool commits = true;                  ///< of FinishPrepared
  Rows restored = 0;                    ///< how many rows come from spill files
  FlowCommitted flow;                   ///< of a Flow
  double inserted_s = 0, flushed_s = 0; ///< of a Flow's WAL
  /// Entries of the relation-sync cache built for it, by table: a Relation message follows each.
  std::map<const Table*, std::int64_t> built;
};

/// What catalog changes made of one decoder, since the start of the run.
struct CatalogTally {
  std::int64_t commits = 0;           ///< decoded catalog-changing transactions
  std::int64_t snapshots = 0;         ///< queued in open transactions
  Bytes snapshot_bytes = 0;           ///< their accounted memory
  std::int64_t messages = 0;          ///< queued in open transactions
  std::int64_t executed = 0;          ///< messages executed, each time counted
  std::int64_t rebuilt_entries = 0;   ///< of the relation-sync cache
  std::int64_t rebuilt_relations = 0; ///< of the relcache
  std::int64_t overflowed = 0;        ///< transactions that gave up their messages
};

class Decoder {
public:
  struct Params {
    Bytes work_mem_bytes = 0;
    bool streaming = false;
    bool two_phase = false; ///< transactions are sent at PREPARE
    VersionTraits traits;
    const CostParameters* costs = nullptr;
    const std::map<std::string, Table>* tables = nullptr; ///< of flows
  };
  Decoder(Params params, const TransactionStatus& status);

  /// Decoding starts anew at `restart`; transactions that committed up to `confirmed` are not sent, and
  /// nothing is streamed before it. Queued changes and spill files are gone, the counters stay.
  void start(Lsn restart, Lsn confirmed);

  /// Decodes one entry.
  struct Result {
    std::vector<DecodeStep> steps;
    Rows read = 0;               ///< row changes in the entry
    std::map<Xid, Rows> dropped; ///< by top-level transaction: row changes dropped for good (aborted)
    bool discarded = false;      ///< the client has this transaction already
    Rows discarded_rows = 0;     ///< ... and so many row changes of it had been read before its commit
    std::optional<Lsn> restart_candidate; ///< of a running-xacts record
    std::uint64_t oldest_xid = 0;         ///< ... with it: the oldest transaction in progress
    std::string failure = {};             ///< why decoding cannot go on
  };
  Result decode(const WalEntry& entry);

  /// The driver has sent a Replay or LastChunk: files and entries of the transaction go away.
  void finished(Xid top) { buffer_.forget(top); }

  /// logical_decoding_work_mem was reloaded.
  void set_work_mem(Bytes bytes) { buffer_.set_limit(bytes); }

  const ReorderBuffer& buffer() const { return buffer_; }
  const CatalogTally& catalog() const { return catalog_; }

private:
  void decode_rows(const WalEntry& entry, const RowsWritten& rows, Result& result);
  void decode_prepare(const WalEntry& entry, Result& result);
  void decode_commit(const WalEntry& entry, Result& result);
  void finish_prepared(const WalEntry& entry, bool commits, Result& result);
  void discard(const WalEntry& entry, Result& result);
  DecodeStep replay(const WalEntry& entry);
  void decode_abort(const WalEntry& entry, Result& result);
  void abort_one(const WalEntry& entry, Xid xid, Result& result);
  void decode_flow(const WalEntry& entry, const FlowCommitted& flow, Result& result);
  const RowShape* shape_of(const RowsWritten& written);
  void add_evictions(const WalEntry& entry, std::vector<Eviction>& evictions, Result& result);
  Rows forget_queued(Xid top);
  // What catalog changes add: decoder_catalog.cpp.
  void decode_catalog_change(const WalEntry& entry, const CatalogChanged& changed, Result& result);
  void decode_catalog_commit(const WalEntry& entry, Result& result);
  void hand_out(const WalEntry& entry, const InvalidationsRef& own, Result& result);
  void replay_catalog(DecodeStep& step, const ReorderBuffer::Gathered& gathered);
  void use_tables(DecodeStep& step, const Table& table, Rows rows, std::int64_t transactions);
  double execute(const Invalidations& messages, std::int64_t times);
  double written_s(std::int64_t changes, Bytes bytes) const;
  double restored_s(std::int64_t changes, Bytes bytes) const;

  Params params_;
  const TransactionStatus& status_;
  ReorderBuffer buffer_;
  Lsn confirmed_; ///< decoding starts to send behind it
  Lsn snapshot_;  ///< last running-xacts record: where decoding could start
  /// A top-level transaction in progress: the snapshot before its first record, and its place in the order of
  /// all transaction ids.
  struct InProgress {
    Lsn snapshot;
    std::uint64_t xid = 0;
  };
  std::map<Xid, InProgress> open_;
  /// Rows of each (sub)transaction decoded and neither sent nor dropped, with its top-level one.
  std::map<Xid, std::pair<Xid, Rows>> queued_;
  CatalogHistory history_;
  RelationCache relations_;
  std::map<Xid, std::int64_t> commands_; ///< of catalog-changing transactions in progress
  CatalogTally catalog_;
  std::map<const StatementStep*, RowShape> shapes_; ///< looked up, never iterated over
};

} // namespace replisim
