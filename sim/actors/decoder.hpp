// The logical decoder: turns WAL entries into work for whoever drives it (the walsender).
//
// Counterpart: decode.c and reorderbuffer.c with pgoutput's filtering decisions left to the driver. It
// holds one slot's reorder buffer and knows no clock: it says what is to be done and what each
// step costs; the driver spends the time, in the order given.
#pragma once

#include "models/cost_profile.hpp"
#include "models/reorder_buffer.hpp"
#include "sim/actors/wal_log.hpp"

#include <optional>

namespace replisim {

/// One step of work: CPU seconds to spend first, then (perhaps) something to send.
struct DecodeStep {
  enum class Kind {
    Work,        ///< nothing to send
    Chunk,       ///< a streamed chunk (or several in a row: `chunks`)
    Replay,      ///< a committed transaction, non-streamed: all its changes, then its commit
    LastChunk,   ///< a streamed transaction's remainder (may be empty), then its commit
    StreamAbort, ///< a streamed (sub)transaction was rolled back
    Flow         ///< small transactions of a flow, each replayed at once
  } kind = Kind::Work;
  double cpu_s = 0;
  Xid top;
  Xid subxid;
  Lsn lsn; ///< end of the WAL entry that caused it
  std::vector<ChangeRun> runs;
  Rows rows = 0;
  std::int64_t chunks = 0;
  Rows restored = 0;  ///< how many rows come from spill files
  FlowCommitted flow; ///< of a Flow
};

class Decoder {
public:
  struct Params {
    Bytes work_mem_bytes = 0;
    bool streaming = false;
    VersionTraits traits;
    const CostParameters* costs = nullptr;
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
    std::optional<Lsn> restart_candidate; ///< of a running-xacts record
  };
  Result decode(const WalEntry& entry);

  /// The driver has sent a Replay or LastChunk: files and entries of the transaction go away.
  void finished(Xid top) { buffer_.forget(top); }

  const ReorderBuffer& buffer() const { return buffer_; }

private:
  void decode_rows(const WalEntry& entry, const RowsWritten& rows, Result& result);
  void decode_commit(const WalEntry& entry, Result& result);
  void decode_abort(const WalEntry& entry, Result& result);
  void decode_flow(const WalEntry& entry, const FlowCommitted& flow, Result& result);
  Rows forget_queued(Xid top);

  Params params_;
  const TransactionStatus& status_;
  ReorderBuffer buffer_;
  Lsn confirmed_;           ///< decoding starts to send behind it
  Lsn snapshot_;            ///< last running-xacts record: where decoding could start
  std::map<Xid, Lsn> open_; ///< top-level transactions in progress: the snapshot before their first record
  /// Rows of each (sub)transaction decoded and neither sent nor dropped, with its top-level one.
  std::map<Xid, std::pair<Xid, Rows>> queued_;
};

} // namespace replisim
