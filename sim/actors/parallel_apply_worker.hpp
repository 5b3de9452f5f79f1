// A parallel apply worker: applies one streamed transaction at a time while it arrives.
//
// Counterpart: applyparallelworker.c (ParallelApplyWorkerMain, LogicalParallelApplyLoop). It reads its
// ring, applies row by row, and holds the transaction's locks from its first row to the commit.
#pragma once

#include "models/apply_cost.hpp"
#include "sim/actors/replication_messages.hpp"
#include "sim/actors/run_log.hpp"

namespace replisim {

class ParallelApplyWorker {
public:
  ParallelApplyWorker(engine::World& world, const std::string& name, const ApplyCost& price,
                      SubscriptionRecord& record);
  void run(engine::Process& process);

  ReplicationStream& ring() { return ring_; }
  /// Announced when the transaction in hand is committed; see `idle`.
  engine::Signal& finished() { return finished_; }
  bool idle() const { return idle_; }
  /// The leader gives it a transaction.
  void assign() { idle_ = false; }
  /// It ends with its leader: what it has in hand is rolled back, what waits in its ring is gone.
  void stop();

private:
  void take(engine::Process& process, const ReplicationStream::Part& part);
  void apply(engine::Process& process, const ReplicationStream::Part& part, const RowChanges& batch);
  void commit(engine::Process& process, const CommitTransaction& commit);
  void abort_rows(const AbortSubtransaction& abort);
  void finish(const DeliveryRecord& delivery);

  const ApplyCost& price_;
  SubscriptionRecord& record_;
  ReplicationStream ring_;
  engine::Signal finished_, restarted_;
  bool idle_ = true;
  std::map<Xid, Rows> applied_; ///< rows of each (sub)transaction in hand
};

} // namespace replisim
