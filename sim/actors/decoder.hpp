// The logical decoder: turns WAL entries into work for whoever drives it (the walsender).
//
// Counterpart: decode.c and reorderbuffer.c with pgoutput's filtering decisions left to the driver. It
// holds one slot's reorder buffer and knows no clock: it says what is to be done and what each
// step costs; the driver spends the time, in the order given.
#pragma once

#include "models/cost_profile.hpp"
#include "models/reorder_buffer.hpp"
#include "sim/actors/wal_log.hpp"

namespace replisim {

/// One step of work: CPU seconds to spend first, then (perhaps) something to send.
struct DecodeStep {
  enum class Kind {
    Work,       ///< nothing to send
    Chunk,      ///< a streamed chunk (or several in a row: `chunks`)
    Replay,     ///< a committed transaction, non-streamed: all its changes, then its commit
    LastChunk,  ///< a streamed transaction's remainder (may be empty), then its commit
    StreamAbort ///< a streamed subtransaction was rolled back
  } kind = Kind::Work;
  double cpu_s = 0;
  Xid top;
  Xid subxid;
  Lsn lsn; ///< end of the WAL entry that caused it
  std::vector<ChangeRun> runs;
  Rows rows = 0;
  std::int64_t chunks = 0;
  Rows restored = 0; ///< of a Replay: how many rows come from spill files
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

  /// Decodes one entry. `ignored` rows of `dropped` never reach a step with rows.
  struct Result {
    std::vector<DecodeStep> steps;
    Rows read = 0;               ///< row changes in the entry
    std::map<Xid, Rows> dropped; ///< by top-level transaction: row changes dropped for good (aborted)
  };
  Result decode(const WalEntry& entry);

  /// The driver has sent a Replay or LastChunk: files and entries of the transaction go away.
  void finished(Xid top) { buffer_.forget(top); }

  const ReorderBuffer& buffer() const { return buffer_; }

private:
  void decode_rows(const WalEntry& entry, const RowsWritten& rows, Result& result);
  void decode_commit(const WalEntry& entry, Result& result);

  Params params_;
  const TransactionStatus& status_;
  ReorderBuffer buffer_;
  std::map<Xid, Xid> tops_;    ///< top-level transaction of each in queued_
  std::map<Xid, Rows> queued_; ///< rows of each (sub)transaction decoded and neither sent nor dropped
};

} // namespace replisim
