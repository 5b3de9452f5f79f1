// The leader apply worker of a subscription: receives messages in order and applies them, writes them to a
// file, or hands them to a parallel apply worker.
//
// Counterpart: worker.c (LogicalRepApplyLoop, apply_dispatch, apply_handle_stream_*) and
// applyparallelworker.c (pa_allocate_worker, pa_send_data, pa_xact_finish). At the commit of a
// transaction that a parallel worker applies, the leader waits for it and reads nothing meanwhile.
#pragma once

#include "models/parallel_workers.hpp"
#include "models/wakeups.hpp"
#include "sim/actors/flow_clock.hpp"
#include "sim/actors/parallel_apply_worker.hpp"
#include "sim/actors/replication_connection.hpp"
#include "sim/scenario/scenario.hpp"

#include <functional>
#include <memory>

namespace replisim {

class ApplyWorker {
public:
  struct Params {
    const CostParameters* costs = nullptr;
    const ApplyCost* price = nullptr;
    const std::map<std::string, Table>* tables = nullptr;
    Streaming streaming = Streaming::Off;
    Rows batch_rows = 1; ///< rows per step when a file is applied
    int parallel_workers = 0;
    double flush_delay_s = 0.2;  ///< wal_writer_delay of the subscriber: commits are flushed at its ticks
    double retry_interval_s = 5; ///< wal_retrieve_retry_interval: distance of two starts, at least
  };
  /// `committed` is called when a transaction's commit has been applied.
  ApplyWorker(engine::World& world, Params params, ReplicationConnection& connection,
              std::vector<std::unique_ptr<ParallelApplyWorker>>& workers, SubscriptionRecord& record,
              std::function<void()> committed);
  void run(engine::Process& process);

private:
  /// A streamed transaction in hand.
  struct Streamed {
    int worker = -1;             ///< of the pool; -1: serialised to a file
    std::vector<ChangeRun> file; ///< what the file holds, in order
    Bytes relation_bytes = 0;
    int subtransactions = 0;
  };
  using Part = ReplicationStream::Part;

  void take(engine::Process& process, const Part& part);
  void roll_back();
  void note_work(engine::Process& process, const Part& part);
  void receive(engine::Process& process, const Part& part, const RowChanges& batch);
  void apply(engine::Process& process, const Part& part, const RowChanges& batch);
  void forward(engine::Process& process, const Part& part, const RowChanges& batch, int worker);
  void serialize(engine::Process& process, const Part& part, const RowChanges& batch, Streamed& streamed);
  void commit(engine::Process& process, const CommitTransaction& commit);
  void commit_in_worker(engine::Process& process, const CommitTransaction& commit, int worker);
  void wait_for_worker(engine::Process& process, int worker);
  void apply_file(engine::Process& process, Xid top, const Streamed& streamed);
  void abort(engine::Process& process, const AbortSubtransaction& abort);
  void apply_flow(engine::Process& process, const Part& part, const SmallTransactions& batch);
  const ApplyTime& flow_time(const SmallTransactions& batch);
  void note_commit(Lsn end);
  double confirmed_s(double applied_s) const;
  Streamed& first_chunk(engine::Process& process, Xid top);
  double receive_seconds(const Part& part, const RowChanges& batch) const;
  static Bytes file_bytes(const Streamed& streamed);
  void file_changed(Bytes before, Bytes after);
  void lock(engine::Process& process, DeliveryRecord& delivery);

  engine::World& world_;
  Params params_;
  ReplicationConnection& connection_;
  ReplicationStream& in_;
  std::vector<std::unique_ptr<ParallelApplyWorker>>& workers_;
  SubscriptionRecord& record_;
  std::function<void()> committed_;
  FlowClock flow_clock_;
  WakeUps wakeups_;
  std::map<const FlowLoad*, ApplyTime> flow_times_; ///< looked up, never iterated over
  Lsn applied_;   ///< end of the last commit applied: the replication origin's progress
  Lsn unflushed_; ///< last commit applied and not yet flushed
  bool flush_pending_ = false;
  ParallelWorkerPool pool_;
  std::map<Xid, Streamed> streamed_;
};

} // namespace replisim
