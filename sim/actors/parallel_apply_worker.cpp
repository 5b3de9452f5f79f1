#include "sim/actors/parallel_apply_worker.hpp"

namespace replisim {

ParallelApplyWorker::ParallelApplyWorker(engine::World& world, const std::string& name, Shared shared)
    : shared_(std::move(shared)), price_(shared_.price), record_(shared_.record), world_(world),
      ring_(world, {name + " ring", protocol::ring_window_bytes, 0, 0}), finished_(world, name),
      restarted_(world, name + " (start)") {}

void ParallelApplyWorker::run(engine::Process& process) {
  while (true) {
    while (const auto part = ring_.receive(process))
      take(process, *part);
    while (not ring_.connected())
      process.wait(restarted_, engine::Activity::Starved);
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
  else if (const auto* spooled = std::get_if<SpooledChanges>(&message))
    replay(process, part, *spooled);
  ring_.release(part);
}

void ParallelApplyWorker::stop() {
  applied_.clear();
  idle_ = true;
  ring_.disconnect();
  ring_.connect();
  restarted_.notify();
}

void ParallelApplyWorker::abort_rows(const AbortSubtransaction& abort) {
  auto& delivery = record_.deliveries[abort.top];
  const bool whole = abort.subxid == abort.top;
  const Rows rows = whole ? delivery.applied : applied_[abort.subxid];
  delivery.undone += rows;
  delivery.applied -= rows;
  applied_.erase(abort.subxid);
  if (whole)
    finish(delivery);
}

void ParallelApplyWorker::finish(const DeliveryRecord& delivery) {
  if (delivery.first_lock_s >= 0)
    --record_.locking_transactions;
  applied_.clear();
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
  spend(process, static_cast<double>(rows) * other_s_per_row, price_.rows(runs), shared_.wal);
  if (not ring_.await_sent(process, part))
    return false;
  for (const auto& run : runs)
    applied_[run.xid] += run.rows.count;
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
  shared_.failed();
  stop();
  finished_.notify();
  return true;
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
  shared_.wal.commit(process, commit.end);
  delivery.applied_s = process.now();
  record_.replayed(commit.end, process.now());
  finish(delivery);
}

} // namespace replisim
