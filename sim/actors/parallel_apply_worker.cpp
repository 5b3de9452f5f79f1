#include "sim/actors/parallel_apply_worker.hpp"

#include "sim/actors/apply_work.hpp"

namespace replisim {

ParallelApplyWorker::ParallelApplyWorker(engine::World& world, const std::string& name,
                                         const ApplyCost& price, SubscriptionRecord& record)
    : price_(price), record_(record), ring_(world, {name + " ring", protocol::ring_window_bytes, 0, 0}),
      finished_(world, name), restarted_(world, name + " (start)") {}

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
  if (const auto* abort = std::get_if<AbortSubtransaction>(&message))
    abort_rows(*abort);
  else if (const auto* end = std::get_if<CommitTransaction>(&message))
    commit(process, *end);
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

void ParallelApplyWorker::apply(engine::Process& process, const ReplicationStream::Part& part,
                                const RowChanges& batch) {
  auto& delivery = record_.deliveries[batch.top];
  if (delivery.first_lock_s < 0) {
    delivery.first_lock_s = process.now();
    ++record_.locking_transactions;
  }
  const auto runs = part_of(batch.runs, part.first_message, part.messages);
  spend(process, static_cast<double>(part.messages) * price_.costs().ring_read_change_s, price_.rows(runs));
  if (not ring_.await_sent(process, part))
    return; // rolled back with its leader
  for (const auto& run : runs)
    applied_[run.xid] += run.rows.count;
  delivery.applied += part.messages;
  ring_.release(part);
}

void ParallelApplyWorker::commit(engine::Process& process, const CommitTransaction& commit) {
  auto& delivery = record_.deliveries[commit.top];
  delivery.applied_s = process.now();
  record_.replayed(commit.end, process.now());
  finish(delivery);
}

} // namespace replisim
