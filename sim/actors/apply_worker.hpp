// The leader apply worker of a subscription: receives messages in order and applies them, writes them to a
// file, or hands them to a parallel apply worker.
//
// Counterpart: worker.c (LogicalRepApplyLoop, apply_dispatch, apply_handle_stream_*) and
// applyparallelworker.c (pa_allocate_worker, pa_send_data, pa_xact_finish). At the commit of a
// transaction that a parallel worker applies, the leader waits for it and reads nothing meanwhile.
#pragma once

#include "models/parallel_workers.hpp"
#include "models/wakeups.hpp"
#include "sim/actors/apply_errors.hpp"
#include "sim/actors/flow_clock.hpp"
#include "sim/actors/parallel_apply_worker.hpp"
#include "sim/actors/prepared_transactions.hpp"
#include "sim/actors/relation_states.hpp"
#include "sim/actors/replication_connection.hpp"
#include "sim/actors/server_locks.hpp"
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
    ServerLocks* locks = nullptr; ///< of the subscriber
    BackendId backend = 0;        ///< this process among those that take locks
    const Publication* publication = nullptr;
    std::string subscription;
    WorkerSlots* worker_slots = nullptr; ///< of the server; none: as many as the pool may have
    std::function<void()> spools;        ///< called when a transaction goes over to a file
    SubscriberWal* wal = nullptr;        ///< of the subscription
    ApplyErrors* errors = nullptr;       ///< of the subscription
    PreparedTransactions* prepared = nullptr;
    /// Called with what commits of small transactions wait for it: see SyncReplication::note_waits.
    std::function<void(double, double)> acknowledged = {};
    double flush_delay_s = 0.2; ///< wal_writer_delay: how often it looks for flushes
    double keepalive_interval_s =
        0; ///< half of wal_sender_timeout: the walsender asks for an answer; 0: never
    const double* down_until_s = nullptr;           ///< the server is down before this date
    const double* publisher_down_until_s = nullptr; ///< so is the publisher, a subscriber itself
    RelationStates* relations = nullptr; ///< while tables are synchronised: whose changes are this worker's
    double retry_interval_s = 5;         ///< wal_retrieve_retry_interval: distance of two starts, at least
  };
  /// `committed` is called when a transaction's commit has been applied.
  ApplyWorker(engine::World& world, Params params, ReplicationConnection& connection,
              std::vector<std::unique_ptr<ParallelApplyWorker>>& workers, SubscriptionRecord& record,
              std::function<void()> committed);
  void run(engine::Process& process);
  /// An error has disabled the subscription: the worker does not come back.
  bool disabled() const { return disabled_; }
  /// An error of this worker or of one of its parallel workers: they go down together.
  void fail();

private:
  /// A streamed transaction in hand.
  struct Streamed {
    int worker = -1;        ///< of the pool; -1: serialised to a file
    bool spooling = false;  ///< the worker's ring was full for too long: the rest goes to a file
    SpooledChanges spooled; ///< what that file holds
    Bytes spooled_bytes = 0;
    std::vector<ChangeRun> file; ///< what the file holds, in order
    Bytes relation_bytes = 0;
    int subtransactions = 0;
  };
  using Part = ReplicationStream::Part;

  std::optional<Part> next_part(engine::Process& process);
  bool await_sent(engine::Process& process, const Part& part);
  void drained();
  bool cannot_connect(double now_s) const;
  void send_feedback();
  void take(engine::Process& process, const Part& part);
  void take_or_fail(engine::Process& process, const Part& part);
  LockTag stream_lock(Xid top) const;
  void roll_back();
  void note_work(engine::Process& process, const Part& part);
  void receive(engine::Process& process, const Part& part, const RowChanges& batch);
  void apply(engine::Process& process, const Part& part, const RowChanges& batch);
  void forward(engine::Process& process, const Part& part, const RowChanges& batch, Streamed& streamed);
  Rows pieces_of(const Part& part, const std::vector<ChangeRun>& runs, Bytes occupied) const;
  /// Of a part, on its way into a ring.
  struct Piece {
    RowChanges changes;
    std::int64_t bursts = 1;
    double receive_s = 0; ///< share of the part's time
  };
  bool pass_on(engine::Process& process, const Part& part, const Piece& piece, Streamed& streamed);
  Rows close(engine::Process& process, ParallelApplyWorker& worker, engine::StreamCore::Ticket ticket);
  void begin_spooling(Xid top, Streamed& streamed);
  void spool(const std::vector<ChangeRun>& runs, Streamed& streamed);
  void send_to_worker(engine::Process& process, Xid top, Streamed& streamed, ReplicationMessage message,
                      Bytes body_bytes);
  void abort_in_worker(engine::Process& process, const AbortSubtransaction& abort, Streamed& streamed);
  void hand_over_spooled(engine::Process& process, Streamed& streamed);
  ParallelApplyWorker& worker_of(const Streamed& streamed) const {
    return *workers_[static_cast<std::size_t>(streamed.worker)];
  }
  void serialize(engine::Process& process, const Part& part, const RowChanges& batch, Streamed& streamed);
  void commit(engine::Process& process, const CommitTransaction& commit);
  bool fails(engine::Process& process, const std::vector<ChangeRun>& runs, double other_s_per_row);
  void prepare(engine::Process& process, const PrepareTransaction& prepare);
  void finish_prepared(engine::Process& process, const FinishPrepared& finish);
  bool end_in_worker(engine::Process& process, Xid top, const ReplicationMessage& end, Streamed& streamed);
  void wait_for_worker(engine::Process& process, Xid top, const Streamed& streamed);
  bool apply_file(engine::Process& process, const CommitTransaction& commit, const Streamed& streamed);
  void abort(engine::Process& process, const AbortSubtransaction& abort);
  void apply_flow(engine::Process& process, const Part& part, const SmallTransactions& batch);
  void note_dead_versions(const SmallTransactions& batch);
  const ApplyTime& flow_time(const SmallTransactions& batch);
  bool publishes(const std::string& table) const;
  // While tables are synchronised: apply_worker_sync.cpp.
  Rows leave_out(std::vector<ChangeRun>& runs, Lsn final);
  bool applies(const std::string& table, Lsn final) const;
  bool parallel_allowed() const;
  ApplyTime flow_time_here(const SmallTransactions& batch);
  Rows count_flow(const SmallTransactions& batch);
  void synchronise(engine::Process& process);
  void note_transaction(const Part& part);
  void note_commit(Lsn end);
  double confirmed_s(double applied_s, double interval_s) const;
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
  Lsn received_;                                    ///< end of the last commit received
  Lsn applied_;            ///< end of the last commit applied: the replication origin's progress
  std::int64_t waits_ = 0; ///< changes whenever the leader begins or ends a wait for input
  bool disabled_ = false;
  bool in_transaction_ = false; ///< one that is applied as it comes
  double feedback_s_ = 0;       ///< when it last reported
  double flow_begun_s_ = 0;     ///< on the small transactions in hand
  ParallelWorkerPool pool_;
  std::map<Xid, Streamed> streamed_;
};

} // namespace replisim
