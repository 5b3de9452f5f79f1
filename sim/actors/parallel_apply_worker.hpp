// A parallel apply worker: applies one streamed transaction at a time while it arrives.
//
// Counterpart: applyparallelworker.c (ParallelApplyWorkerMain, LogicalParallelApplyLoop). It reads its
// ring, applies row by row, and holds the transaction's locks from its first row to the commit.
#pragma once

#include "models/apply_cost.hpp"
#include "models/parallel_workers.hpp"
#include "sim/actors/apply_errors.hpp"
#include "sim/actors/prepared_transactions.hpp"

namespace replisim {

class ParallelApplyWorker {
public:
  /// What it shares with its leader, which outlives it.
  struct Shared {
    const ApplyCost& price;
    SubscriptionRecord& record;
    SubscriberWal& wal;
    ApplyErrors& errors;
    PreparedTransactions& prepared;
    ServerLocks& locks;
    std::function<void()> failed; ///< called after an error: the leader exits, too
  };
  ParallelApplyWorker(engine::World& world, const std::string& name, Shared shared);
  void run(engine::Process& process);

  ReplicationStream& ring() { return ring_; }
  /// How long the leader waits for it.
  RingPatience& patience() { return patience_; }
  /// Announced when the transaction in hand is committed; see `idle`.
  engine::Signal& finished() { return finished_; }
  bool idle() const { return idle_; }
  /// The leader gives it a transaction, and says under which name it holds its stream lock.
  void assign(const LockTag& stream);
  /// It ends with its leader: what it has in hand is rolled back, what waits in its ring is gone.
  void stop();

private:
  std::optional<ReplicationStream::Part> receive(engine::Process& process);
  void take_or_fail(engine::Process& process, const ReplicationStream::Part& part);
  void note_applied(const ChangeRun& run, Xid top);
  void take(engine::Process& process, const ReplicationStream::Part& part);
  void apply(engine::Process& process, const ReplicationStream::Part& part, const RowChanges& batch);
  bool apply_runs(engine::Process& process, const ReplicationStream::Part& part,
                  const std::vector<ChangeRun>& runs, Xid top, double other_s_per_row);
  void replay(engine::Process& process, const ReplicationStream::Part& part, const SpooledChanges& spooled);
  void release(const ReplicationStream::Part& part);
  bool fails(engine::Process& process, const std::vector<ChangeRun>& runs, double other_s_per_row);
  void commit(engine::Process& process, const CommitTransaction& commit);
  void prepare(engine::Process& process, const PrepareTransaction& prepare);
  void fail();
  void abort_rows(const AbortSubtransaction& abort);
  void finish(const DeliveryRecord& delivery);

  Shared shared_;
  const ApplyCost& price_;
  SubscriptionRecord& record_;
  engine::World& world_;
  ServerLocks& locks_;
  BackendId backend_;
  ReplicationStream ring_;
  RingPatience patience_{protocol::ring_bytes};
  engine::Signal finished_, restarted_;
  bool idle_ = true;
  LockTag stream_;                                ///< stream lock of the transaction in hand
  bool waits_for_stream_ = false;                 ///< in its queue: the ring is empty
  std::uint64_t lives_ = 0;                       ///< counts stops
  std::map<Xid, Rows> applied_;                   ///< rows of each (sub)transaction in hand
  std::map<Xid, std::vector<ChangeRun>> changed_; ///< what each subtransaction in hand has locked
};

} // namespace replisim
