// A subscriber's own WAL, as the workers of one subscription write it.
//
// Counterpart: xact.c (RecordTransactionCommit: a subscription's synchronous_commit is off unless set, so
// that a commit waits for no flush) and worker.c (store_flush_position, get_flush_position: a commit is
// reported as flushed when the local WAL is flushed up to the end of the local commit record).
#pragma once

#include "models/apply_cost.hpp"
#include "sim/actors/handed_on.hpp"

#include <deque>
#include <optional>

namespace replisim {

class SubscriberWal {
public:
  /// Without a log nothing is written and everything counts as flushed.
  explicit SubscriberWal(WalLog* log = nullptr, bool commits_wait = false, double flush_s = 0)
      : log_(log), commits_wait_(commits_wait), flush_s_(flush_s) {}

  /// What is written is to be decoded: see HandedOn.
  void hand_on(HandedOn* handed_on) { handed_on_ = handed_on; }
  /// Rows of `top` whose bytes have been written are applied, by a parallel apply worker (`savepoints`) or by
  /// the leader.
  void applied(Xid top, const std::vector<ChangeRun>& runs, bool savepoints);
  /// So are small transactions, since `begun_s`.
  void applied(const SmallTransactions& batch, double begun_s);
  void undone(const AbortSubtransaction& abort);

  /// Records of changed rows. What inserting them costs is part of a row's price; the WAL writer flushes them
  /// while the worker goes on.
  void write(double bytes);
  /// Afterwards: waits for the disk where that has not kept up.
  void make_room(engine::Process& process);
  /// The local commit of the remote one that ends at `remote_end`; waits for the flush when the subscription
  /// says so.
  void commit(engine::Process& process, Xid top, Lsn remote_end);
  /// PREPARE and what ends it: always flushed (twophase.c, EndPrepare; RecordTransactionCommitPrepared).
  void commit_flushed(engine::Process& process, Bytes record_bytes, Lsn remote_end);
  /// The same for `transactions` small ones, one after the other, whose records are written already. Each
  /// waits for a flush of its own: nobody else commits meanwhile.
  void commit_each(engine::Process& process, std::int64_t transactions, Lsn remote_end);

  /// End of the last remote commit whose local one is flushed now.
  Lsn flushed_remote();
  /// Local transactions so far: each has been given an id.
  std::uint64_t transactions() const { return transactions_; }
  Bytes written_bytes() const { return written_bytes_; }
  bool has_unflushed() const { return not pending_.empty() and pending_.back().local_end > log_->flushed(); }
  /// The worker exits: positions are read from the replication origin when it comes back.
  void forget();

private:
  struct Commit {
    Lsn local_end;
    Lsn remote_end;
  };
  void append(Bytes bytes);
  Bytes take_whole();

  WalLog* log_;
  HandedOn* handed_on_ = nullptr; ///< null: nobody decodes it
  bool commits_wait_;
  double flush_s_;            ///< of an almost empty write queue
  double fraction_bytes_ = 0; ///< not yet written
  Bytes written_bytes_ = 0;
  std::uint64_t transactions_ = 0;
  std::deque<Commit> pending_;
  Lsn flushed_remote_;
};

/// Time and WAL of applying rows: `other_cpu_s` and the CPU time of `work`, then its reads, for which the
/// worker waits one after the other. Its WAL goes to the disk meanwhile.
void spend(engine::Process& process, double other_cpu_s, const ApplyTime& work, SubscriberWal& wal);

} // namespace replisim
