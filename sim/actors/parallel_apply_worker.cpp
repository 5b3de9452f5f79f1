#include "sim/actors/parallel_apply_worker.hpp"

#include "sim/actors/batch_observer.hpp"

namespace replisim {

ParallelApplyWorker::ParallelApplyWorker(engine::World& world, const std::string& name, Shared shared)
    : shared_(std::move(shared)), price_(shared_.price), record_(shared_.record), world_(world),
      locks_(shared_.locks), backend_(locks_.add_backend(name, ServerLocks::Kind::Apply)),
      ring_(world, {name + " ring", protocol::ring_window_bytes, 0, 0}), finished_(world, name),
      restarted_(world, name + " (start)") {}

/// It holds the transaction's lock to its end; the leader waits for it there.
void ParallelApplyWorker::assign(const LockTag& stream) {
  idle_ = false;
  stream_ = stream;
  locks_.try_lock(backend_, {LockTag::Kind::ApplyTransaction, stream.name, stream.number},
                  LockMode::AccessExclusive);
}

void ParallelApplyWorker::run(engine::Process& process) {
  while (true) {
    while (const auto part = receive(process))
      take_or_fail(process, *part);
    while (not ring_.connected())
      process.wait(restarted_, engine::Activity::Starved);
  }
}

/// Between two chunks it queues for the stream lock, which the leader holds: so the deadlock check sees that
/// it waits for the leader (pa_decr_and_wait_stream_block).
std::optional<ReplicationStream::Part> ParallelApplyWorker::receive(engine::Process& process) {
  waits_for_stream_ =
      not idle_ and not ring_.readable() and not locks_.try_lock(backend_, stream_, LockMode::AccessShare);
  if (waits_for_stream_)
    locks_.watch(backend_, [this] {
      shared_.errors.cancelled("deadlock detected");
      shared_.failed();
    });
  const auto part = ring_.receive(process);
  if (waits_for_stream_)
    locks_.leave_queue(backend_);
  waits_for_stream_ = false;
  locks_.unlock(backend_, stream_, LockMode::AccessShare);
  return part;
}

void ParallelApplyWorker::take_or_fail(engine::Process& process, const ReplicationStream::Part& part) {
  try {
    take(process, part);
  } catch (const StatementCancelled& cancelled) {
    locks_.end_transaction(backend_);
    if (cancelled.why() != Cancelled::Deadlock)
      return; // rolled back with its leader
    shared_.errors.cancelled("deadlock detected");
    shared_.failed();
  }
}

void ParallelApplyWorker::take(engine::Process& process, const ReplicationStream::Part& part) {
  const ReplicationMessage& message = *part.payload;
  if (const auto* batch = std::get_if<RowChanges>(&message)) {
    apply(process, part, *batch);
    return;
  }
  if (not ring_.await_sent(process, part))
    return;
  if (part.messages == 0) { // taken back, and written to a file
    ring_.release(part);
    return;
  }
  if (const auto* abort = std::get_if<AbortSubtransaction>(&message))
    abort_rows(*abort);
  else if (const auto* end = std::get_if<CommitTransaction>(&message))
    commit(process, *end);
  else if (const auto* prepared = std::get_if<PrepareTransaction>(&message))
    prepare(process, *prepared);
  else if (const auto* spooled = std::get_if<SpooledChanges>(&message))
    replay(process, part, *spooled);
  ring_.release(part);
}

void ParallelApplyWorker::stop() {
  ++lives_;
  applied_.clear();
  changed_.clear();
  if (waits_for_stream_)
    locks_.leave_queue(backend_);
  waits_for_stream_ = false;
  if (locks_.manager().waiting(backend_))
    locks_.cancel(backend_, Cancelled::Stopped); // it rolls back when it wakes
  else
    locks_.end_transaction(backend_);
  idle_ = true;
  ring_.disconnect();
  ring_.connect();
  restarted_.notify();
  finished_.notify();
}

/// Rows that a subtransaction changed are free again when it is rolled back: what it locked is remembered.
void ParallelApplyWorker::note_applied(const ChangeRun& run, Xid top) {
  applied_[run.xid] += run.rows.count;
  if (run.xid == top or not row_lock_of(run.statement->operation))
    return;
  auto& changed = changed_[run.xid];
  const bool continues = not changed.empty() and changed.back().statement == run.statement and
                         changed.back().rows.first + changed.back().rows.count == run.rows.first;
  if (continues)
    changed.back().rows.count += run.rows.count;
  else
    changed.push_back(run);
}

void ParallelApplyWorker::abort_rows(const AbortSubtransaction& abort) {
  auto& delivery = record_.deliveries[abort.top];
  const bool whole = abort.subxid == abort.top;
  const Rows rows = whole ? delivery.applied : applied_[abort.subxid];
  delivery.undone += rows;
  delivery.applied -= rows;
  applied_.erase(abort.subxid);
  for (const ChangeRun& run : changed_[abort.subxid])
    locks_.release_rows(backend_, run.table->name, run.rows);
  changed_.erase(abort.subxid);
  shared_.wal.undone(abort);
  if (whole)
    finish(delivery);
}

void ParallelApplyWorker::finish(const DeliveryRecord& delivery) {
  if (delivery.first_lock_s >= 0)
    --record_.locking_transactions;
  applied_.clear();
  changed_.clear();
  locks_.end_transaction(backend_);
  idle_ = true;
  finished_.notify();
}

void ParallelApplyWorker::release(const ReplicationStream::Part& part) {
  patience_.taken(part.occupied, world_.now());
  ring_.release(part);
}

void ParallelApplyWorker::apply(engine::Process& process, const ReplicationStream::Part& part,
                                const RowChanges& batch) {
  const auto runs = part_of(batch.runs, part.first_message, part.messages);
  if (record_.observer != nullptr and part.first)
    record_.observer->moved(process, record_, Hop::Handed, batch.top, batch.runs);
  if (apply_runs(process, part, runs, batch.top, price_.costs().ring_read_change_s))
    release(part);
}

/// False when it was rolled back with its leader meanwhile.
bool ParallelApplyWorker::apply_runs(engine::Process& process, const ReplicationStream::Part& part,
                                     const std::vector<ChangeRun>& runs, Xid top, double other_s_per_row) {
  const Rows rows = rows_of(runs);
  auto& delivery = record_.deliveries[top];
  if (delivery.first_lock_s < 0 and rows > 0) {
    delivery.first_lock_s = process.now();
    ++record_.locking_transactions;
  }
  if (fails(process, runs, other_s_per_row))
    return false;
  const std::uint64_t life = lives_;
  locks_.lock_changes(process, backend_, runs, [&](const std::vector<ChangeRun>& ready) {
    spend(process, static_cast<double>(rows_of(ready)) * other_s_per_row, price_.rows(ready), shared_.wal);
    if (life != lives_)
      throw StatementCancelled(Cancelled::Stopped); // rolled back with its leader
  });
  if (not ring_.await_sent(process, part))
    return false;
  price_.applied(runs, process.now());
  shared_.wal.applied(top, runs, true);
  for (const auto& run : runs)
    note_applied(run, top);
  delivery.applied += rows;
  return true;
}

/// An error ends this worker and its leader.
bool ParallelApplyWorker::fails(engine::Process& process, const std::vector<ChangeRun>& runs,
                                double other_s_per_row) {
  const auto applicable = shared_.errors.applicable(runs, process.now());
  if (not applicable)
    return false;
  spend(process, static_cast<double>(*applicable) * other_s_per_row,
        price_.rows(part_of(runs, 0, *applicable)), shared_.wal);
  shared_.errors.raise(runs, process.now());
  fail();
  return true;
}

/// The leader goes down, too.
void ParallelApplyWorker::fail() {
  shared_.failed();
  stop();
  finished_.notify();
}

/// apply_spooled_messages, after the ring has been drained.
void ParallelApplyWorker::replay(engine::Process& process, const ReplicationStream::Part& part,
                                 const SpooledChanges& spooled) {
  for (const auto& entry : spooled.entries) {
    if (const auto* abort = std::get_if<AbortSubtransaction>(&entry))
      abort_rows(*abort);
    else if (not apply_runs(process, part, {std::get<ChangeRun>(entry)}, spooled.top,
                            price_.costs().file_read_change_s))
      return;
  }
}

void ParallelApplyWorker::commit(engine::Process& process, const CommitTransaction& commit) {
  auto& delivery = record_.deliveries[commit.top];
  shared_.wal.commit(process, commit.top, commit.end);
  delivery.applied_s = process.now();
  record_.replayed(commit.end, process.now());
  finish(delivery);
}

/// The rows stay locked; the worker is free for other transactions.
void ParallelApplyWorker::prepare(engine::Process& process, const PrepareTransaction& prepare) {
  if (const std::string refusal = shared_.prepared.refusal(); not refusal.empty()) {
    shared_.errors.cancelled(refusal);
    fail();
    return;
  }
  locks_.unlock(backend_, {LockTag::Kind::ApplyTransaction, stream_.name, stream_.number},
                LockMode::AccessExclusive);
  shared_.prepared.prepare(process, backend_, prepare);
  applied_.clear();
  changed_.clear();
  idle_ = true;
  finished_.notify();
}

} // namespace replisim
