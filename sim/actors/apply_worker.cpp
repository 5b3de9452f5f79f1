#include "sim/actors/apply_worker.hpp"

#include "sim/actors/batch_observer.hpp"
#include "sim/actors/wal_writer.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace replisim {

ApplyWorker::ApplyWorker(engine::World& world, Params params, ReplicationConnection& connection,
                         std::vector<std::unique_ptr<ParallelApplyWorker>>& workers,
                         SubscriptionRecord& record, std::function<void()> committed)
    : world_(world), params_(params), connection_(connection), in_(connection.stream()), workers_(workers),
      record_(record), committed_(std::move(committed)), pool_(params.parallel_workers, params.worker_slots) {
}

/// One life after the other: a worker whose connection ends exits, and the launcher starts the next one, at
/// most one in wal_retrieve_retry_interval.
void ApplyWorker::run(engine::Process& process) {
  double started_s = 0;
  const auto wait_for_launch = [&] {
    const double next_s = started_s + params_.retry_interval_s;
    process.sleep(std::max(1e-6, next_s - process.now()), engine::Activity::Starved);
  };
  while (true) {
    if (params_.down_until_s != nullptr and process.now() < *params_.down_until_s)
      process.sleep(*params_.down_until_s - process.now(), engine::Activity::Starved);
    while (cannot_connect(process.now())) {
      started_s = process.now(); // it fails to start
      wait_for_launch();
    }
    started_s = process.now();
    if (not connection_.start(applied_))
      return;
    while (const auto part = next_part(process)) {
      synchronise(process);
      note_transaction(*part);
      note_work(process, *part);
      synchronise(process);
    }
    roll_back();
    if (params_.relations != nullptr and params_.relations->retires())
      return;
    disabled_ = params_.errors->disables();
    if (disabled_) {
      committed_(); // whoever waits for all subscriptions need not wait for this one
      return;
    }
    params_.errors->forget();
    wait_for_launch();
  }
}

bool ApplyWorker::cannot_connect(double now_s) const {
  const double* down_until_s = params_.publisher_down_until_s;
  return connection_.in_use() or connection_.cut() or (down_until_s != nullptr and now_s < *down_until_s);
}

/// Takes a part and notes for whom the worker was busy.
void ApplyWorker::note_work(engine::Process& process, const Part& part) {
  const double begun_s = process.now();
  const bool flow = std::holds_alternative<SmallTransactions>(*part.payload);
  record_.client_work.start(top_of(*part.payload).value, begun_s);
  take_or_fail(process, part);
  record_.client_work.stop(process.now());
  if (not flow)
    flow_clock_.other_work(part, begun_s, process.now());
}

/// Being the victim of a deadlock is an error like any other; what it had in hand is sent again.
void ApplyWorker::take_or_fail(engine::Process& process, const Part& part) {
  try {
    take(process, part);
  } catch (const StatementCancelled& cancelled) {
    if (cancelled.why() == Cancelled::Deadlock)
      params_.errors->cancelled("deadlock detected");
    fail();
  }
}

void ApplyWorker::fail() {
  connection_.stop();
  for (const auto& worker : workers_)
    worker->stop();
  params_.locks->cancel(params_.backend, Cancelled::Stopped);
}

/// Held by the leader while a streamed transaction goes on; its worker queues for it when it has no chunk.
LockTag ApplyWorker::stream_lock(Xid top) const {
  return {LockTag::Kind::ApplyStream, params_.subscription, top.value};
}

std::optional<ApplyWorker::Part> ApplyWorker::next_part(engine::Process& process) {
  if (not in_.readable())
    drained();
  if (params_.relations != nullptr)
    params_.relations->set_idle(not in_transaction_ and not in_.readable());
  auto part = in_.receive(process);
  if (params_.relations != nullptr)
    params_.relations->set_idle(false);
  ++waits_;
  const bool asked =
      params_.keepalive_interval_s > 0 and process.now() - feedback_s_ >= params_.keepalive_interval_s;
  if (part and asked) // among the messages is a keepalive that asks for an answer
    send_feedback();
  return part;
}

/// The rest of the piece in hand. To wait for it is to have read all there was.
bool ApplyWorker::await_sent(engine::Process& process, const Part& part) {
  if (not in_.sent(part))
    drained();
  const bool whole = in_.await_sent(process, part);
  ++waits_;
  return whole;
}

/// LogicalRepApplyLoop, when there is nothing to read: it reports, and while commits are unflushed it looks
/// again every wal_writer_delay.
void ApplyWorker::drained() {
  send_feedback();
  ++waits_;
  if (params_.wal->has_unflushed())
    world_.at(world_.now() + params_.flush_delay_s, [this, waits = waits_] {
      if (waits == waits_ and connection_.connected())
        drained();
    });
}

/// send_feedback and get_flush_position: with nothing pending all that is applied counts as flushed.
void ApplyWorker::send_feedback() {
  feedback_s_ = world_.now();
  const Lsn flushed = params_.wal->flushed_remote();
  const bool unflushed = params_.wal->has_unflushed();
  connection_.report({received_, unflushed ? flushed : applied_, applied_}, unflushed);
}

void ApplyWorker::take(engine::Process& process, const Part& part) {
  const ReplicationMessage& message = *part.payload;
  if (const auto* batch = std::get_if<RowChanges>(&message)) {
    receive(process, part, *batch);
    return;
  }
  if (const auto* flow = std::get_if<SmallTransactions>(&message)) {
    apply_flow(process, part, *flow);
    return;
  }
  const auto* end = std::get_if<CommitTransaction>(&message);
  const auto* finish = std::get_if<FinishPrepared>(&message);
  const Xid top = top_of(message);
  const bool commits = end != nullptr or (finish != nullptr and finish->commits);
  if (commits)
    record_.taken(top, part.on_link_s, part.visible_s, process.now());
  if (not await_sent(process, part))
    return;
  if (commits)
    record_.counted(top).path.spend(LagStage::Transfer, process.now());
  process.cpu(params_.costs->receive_change_s);
  if (end != nullptr)
    commit(process, *end);
  else if (finish != nullptr)
    finish_prepared(process, *finish);
  else if (const auto* prepared = std::get_if<PrepareTransaction>(&message))
    prepare(process, *prepared);
  else if (const auto* undone = std::get_if<AbortSubtransaction>(&message))
    abort(process, *undone);
  in_.release(part);
}

/// The worker exits with a transaction in hand: it and the parallel apply workers roll back, files go.
void ApplyWorker::roll_back() {
  params_.locks->end_session(params_.backend);
  streamed_.clear();
  in_transaction_ = false;
  if (params_.relations != nullptr)
    params_.relations->rolled_back();
  flow_clock_.forget();
  params_.wal->forget();
  pool_.stop_all();
  for (const auto& worker : workers_)
    worker->stop();
}

double ApplyWorker::receive_seconds(const Part& part, const RowChanges& batch) const {
  return static_cast<double>(part.messages) * params_.costs->receive_change_s +
         part.share * (static_cast<double>(batch.body_bytes) * params_.costs->receive_byte_s +
                       batch.chunks * params_.costs->chunk_dispatch_s);
}

void ApplyWorker::receive(engine::Process& process, const Part& part, const RowChanges& batch) {
  auto& delivery = record_.deliveries[batch.top];
  delivery.received += part.messages;
  if (delivery.received_s < 0)
    delivery.received_s = process.now();
  if (record_.observer != nullptr and part.first)
    record_.observer->moved(process, record_, Hop::Received, batch.top, batch.runs);
  if (not batch.streamed) {
    apply(process, part, batch);
    return;
  }
  const auto known = streamed_.find(batch.top);
  Streamed& streamed = known != streamed_.end() ? known->second : first_chunk(process, batch.top);
  if (streamed.worker >= 0)
    forward(process, part, batch, streamed);
  else
    serialize(process, part, batch, streamed);
}

void ApplyWorker::lock(engine::Process& process, DeliveryRecord& delivery) {
  if (delivery.first_lock_s >= 0)
    return;
  delivery.first_lock_s = process.now();
  ++record_.locking_transactions;
}

void ApplyWorker::apply(engine::Process& process, const Part& part, const RowChanges& batch) {
  auto& delivery = record_.deliveries[batch.top];
  auto runs = part_of(batch.runs, part.first_message, part.messages);
  const Rows left_out = leave_out(runs, batch.final);
  if (runs.empty()) {
    process.cpu(receive_seconds(part, batch));
    if (not await_sent(process, part))
      return;
    delivery.left_out += left_out;
    in_.release(part);
    return;
  }
  lock(process, delivery);
  if (fails(process, runs, receive_seconds(part, batch) / static_cast<double>(part.messages)))
    return;
  const double receive_s = receive_seconds(part, batch);
  params_.locks->lock_changes(process, params_.backend, runs, [&](const std::vector<ChangeRun>& ready) {
    const double share = static_cast<double>(rows_of(ready)) / static_cast<double>(part.messages - left_out);
    spend(process, share * receive_s, params_.price->rows(ready), *params_.wal);
  });
  if (not await_sent(process, part))
    return;
  params_.price->applied(runs, process.now());
  params_.wal->applied(batch.top, runs, false);
  delivery.applied += part.messages - left_out;
  delivery.left_out += left_out;
  in_.release(part);
}

/// Applies what comes before a row that conflicts, and exits with an error there: the connection ends, all is
/// rolled back, and the transaction comes again from its start.
bool ApplyWorker::fails(engine::Process& process, const std::vector<ChangeRun>& runs,
                        double other_s_per_row) {
  const auto applicable = params_.errors->applicable(runs, process.now());
  if (not applicable)
    return false;
  spend(process, static_cast<double>(*applicable) * other_s_per_row,
        params_.price->rows(part_of(runs, 0, *applicable)), *params_.wal);
  params_.errors->raise(runs, process.now());
  connection_.stop();
  return true;
}

void ApplyWorker::serialize(engine::Process& process, const Part& part, const RowChanges& batch,
                            Streamed& streamed) {
  process.cpu(receive_seconds(part, batch) +
              static_cast<double>(part.messages) * params_.costs->file_write_change_s);
  if (not await_sent(process, part))
    return;
  const Bytes before = file_bytes(streamed);
  for (const auto& run : part_of(batch.runs, part.first_message, part.messages)) {
    const bool known = std::any_of(streamed.file.begin(), streamed.file.end(),
                                   [&](const ChangeRun& written) { return written.xid == run.xid; });
    if (run.xid != batch.top and not known)
      ++streamed.subtransactions;
    const bool continues = not streamed.file.empty() and streamed.file.back().xid == run.xid and
                           streamed.file.back().statement == run.statement;
    if (continues)
      streamed.file.back().rows.count += run.rows.count;
    else
      streamed.file.push_back(run);
  }
  if (part.first)
    streamed.relation_bytes += batch.relation_bytes + batch.relations * protocol::changes_file_length_bytes;
  file_changed(before, file_bytes(streamed));
  in_.release(part);
}

Bytes ApplyWorker::file_bytes(const Streamed& streamed) {
  return body_bytes_of(streamed.file) + rows_of(streamed.file) * protocol::changes_file_length_bytes +
         streamed.relation_bytes + protocol::subxacts_file_bytes(streamed.subtransactions);
}

void ApplyWorker::file_changed(Bytes before, Bytes after) {
  record_.tmp_file_bytes += after - before;
  record_.peak_tmp_file_bytes = std::max(record_.peak_tmp_file_bytes, record_.tmp_file_bytes);
}

void ApplyWorker::abort(engine::Process& process, const AbortSubtransaction& abort) {
  const auto it = streamed_.find(abort.top);
  if (it == streamed_.end())
    return;
  Streamed& streamed = it->second;
  if (streamed.worker >= 0) {
    abort_in_worker(process, abort, streamed);
    if (abort.subxid == abort.top)
      streamed_.erase(abort.top);
    return;
  }
  if (abort.subxid == abort.top) { // the whole file goes
    record_.deliveries[abort.top].undone += rows_of(streamed.file);
    file_changed(file_bytes(streamed), 0);
    streamed_.erase(it);
    return;
  }
  // The file is cut where the subtransaction began; what its own subtransactions wrote lies behind.
  const Bytes before = file_bytes(streamed);
  const auto cut = std::find_if(streamed.file.begin(), streamed.file.end(),
                                [&](const ChangeRun& run) { return run.xid == abort.subxid; });
  if (cut == streamed.file.end())
    return;
  const std::vector<ChangeRun> lost(cut, streamed.file.end());
  record_.deliveries[abort.top].undone += rows_of(lost);
  streamed.file.erase(cut, streamed.file.end());
  std::set<Xid> left;
  for (const auto& run : streamed.file)
    if (run.xid != abort.top)
      left.insert(run.xid);
  streamed.subtransactions = static_cast<int>(left.size());
  file_changed(before, file_bytes(streamed));
}

void ApplyWorker::commit(engine::Process& process, const CommitTransaction& commit) {
  received_ = commit.end;
  const auto it = streamed_.find(commit.top);
  auto& delivery = record_.deliveries[commit.top];
  if (commit.streamed and it != streamed_.end() and it->second.worker >= 0) {
    const bool done = end_in_worker(process, commit.top, commit, it->second);
    streamed_.erase(it);
    if (not done)
      return;
    if (delivery.applied_s >= 0) {
      delivery.path.spend(LagStage::Apply, delivery.applied_s);
      record_.arrived(delivery, delivery.applied_s, confirmed_s(process.now(), params_.flush_delay_s));
    }
    note_commit(commit.end);
    return;
  }
  if (commit.streamed and it != streamed_.end()) {
    if (not apply_file(process, commit, it->second))
      return;
    delivery.path.spend(LagStage::Apply, process.now());
    file_changed(file_bytes(it->second), 0);
    streamed_.erase(it);
  }
  params_.wal->commit(process, commit.top, commit.end);
  record_.arrived(delivery, process.now(), confirmed_s(process.now(), params_.flush_delay_s));
  record_.replayed(commit.end, process.now());
  if (delivery.first_lock_s >= 0)
    --record_.locking_transactions;
  params_.locks->end_transaction(params_.backend);
  note_commit(commit.end);
}

void ApplyWorker::note_commit(Lsn end) {
  applied_ = end;
  if (params_.relations != nullptr)
    params_.relations->committed();
  connection_.set_unflushed(params_.wal->has_unflushed());
  committed_();
}

/// When the publisher will know that a commit applied at `applied_s` is safe here, if the leader reads as
/// fast as it is sent to: the WAL writer flushes it at its next tick, and the leader looks for that whenever
/// it has read all there is (after each transaction that comes, `interval_s` apart), at least each
/// wal_writer_delay.
double ApplyWorker::confirmed_s(double applied_s, double interval_s) const {
  double seen_s = applied_s;
  if (params_.wal->has_unflushed()) {
    const double look_s = std::clamp(interval_s, 1e-6, params_.flush_delay_s);
    const double flushed_s = next_wal_writer_tick(applied_s, params_.flush_delay_s);
    seen_s += look_s * std::ceil((flushed_s - applied_s) / look_s);
  }
  return seen_s + connection_.latency_s();
}

bool ApplyWorker::publishes(const std::string& table) const {
  const auto& tables = params_.publication->tables;
  return std::find(tables.begin(), tables.end(), table) != tables.end();
}

void ApplyWorker::apply_flow(engine::Process& process, const Part& part, const SmallTransactions& batch) {
  auto& delivery = record_.deliveries[batch.top];
  const double begun_s = process.now();
  if (record_.observer != nullptr and part.first)
    record_.observer->moved(process, record_, Hop::Received, batch.end);
  for (const StatementStep& step : batch.flow.flow->transaction)
    if (batch.rows > 0 and publishes(step.table) and applies(step.table, batch.end))
      params_.locks->lock_table(process, params_.backend, step.table, LockMode::RowExclusive);
  const double transactions = static_cast<double>(batch.flow.transactions);
  const double count = part.share * transactions;
  const ApplyTime applying = flow_time_here(batch);
  const double work_s = transactions * (batch.shape.receive_s + applying.cpu_s);
  const double wakeups =
      wakeups_.count({batch.top.value, batch.flow.commit_groups, batch.flow.span_s, work_s}, begun_s,
                     params_.costs->receiver_wakeup_s);
  if (batch.flow.span_s > 0)
    connection_.set_client_wakeups(wakeups / batch.flow.span_s);
  const double waking_s = part.share * wakeups * params_.costs->receiver_wakeup_s;
  spend(process, count * batch.shape.receive_s + waking_s, count * applying, *params_.wal);
  wakeups_.observe(process.now() - begun_s, part.share * work_s + waking_s);
  const double waited_from_s = process.now();
  if (not await_sent(process, part))
    return;
  if (part.first)
    flow_begun_s_ = begun_s;
  if (part.last)
    params_.wal->applied(batch, flow_begun_s_);
  if (part.last)
    params_.wal->commit_each(process, batch.flow.transactions, batch.end);
  flow_clock_.work(part, begun_s, waited_from_s, process.now());
  if (part.last) {
    received_ = batch.end;
    delivery.received += batch.rows;
    const Rows left_out = count_flow(batch);
    delivery.applied += batch.rows - left_out;
    delivery.left_out += left_out;
    record_.flow_transactions += batch.flow.transactions;
    note_dead_versions(batch);
    const double each_s = batch.shape.receive_s + applying.cpu_s + applying.read_s;
    const double interval_s = batch.flow.span_s / transactions;
    const double commit_s = batch.shape.rows > 0 ? params_.costs->apply_transaction_s : 0;
    std::function<void(double, double)> acknowledged;
    if (params_.acknowledged)
      acknowledged = [this](double applied_s, double flushed_s) {
        params_.acknowledged(applied_s + connection_.latency_s(), flushed_s);
      };
    flow_clock_.finish(batch,
                       {in_.crosses_link(), each_s > 0 ? commit_s / each_s : 0, process.now(),
                        [this, interval_s](double applied_s) { return confirmed_s(applied_s, interval_s); },
                        acknowledged},
                       record_);
    record_.replayed(batch.end, process.now());
    params_.locks->end_transaction(params_.backend);
    note_commit(batch.end);
  }
  in_.release(part);
}

void ApplyWorker::note_dead_versions(const SmallTransactions& batch) {
  const auto& steps = batch.flow.flow->transaction;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (publishes(steps[i].table) and applies(steps[i].table, batch.end))
      params_.price->applied(params_.tables->at(steps[i].table), steps[i].operation,
                             static_cast<double>(batch.flow.transactions) * batch.shape.sent[i],
                             world_.now());
}

/// Applying one transaction of a flow.
const ApplyTime& ApplyWorker::flow_time(const SmallTransactions& batch) {
  const FlowLoad* flow = batch.flow.flow;
  const auto known = flow_times_.find(flow);
  if (known != flow_times_.end() and not params_.price->changes())
    return known->second;
  return flow_times_[flow] = apply_time(*flow, *params_.tables, batch.shape, *params_.price);
}

/// apply_spooled_messages: the whole file, nothing else is read meanwhile. False when it failed.
bool ApplyWorker::apply_file(engine::Process& process, const CommitTransaction& commit,
                             const Streamed& streamed) {
  auto& delivery = record_.deliveries[commit.top];
  const Rows rows = rows_of(streamed.file);
  if (rows > 0)
    lock(process, delivery);
  for (Rows done = 0; done < rows; done += params_.batch_rows) {
    const Rows count = std::min(params_.batch_rows, rows - done);
    auto runs = part_of(streamed.file, done, count);
    const Rows left_out = leave_out(runs, commit.end);
    process.cpu(static_cast<double>(left_out) * params_.costs->file_read_change_s);
    delivery.left_out += left_out;
    if (runs.empty())
      continue;
    if (fails(process, runs, params_.costs->file_read_change_s))
      return false;
    params_.locks->lock_changes(process, params_.backend, runs, [&](const std::vector<ChangeRun>& ready) {
      spend(process, static_cast<double>(rows_of(ready)) * params_.costs->file_read_change_s,
            params_.price->rows(ready), *params_.wal);
    });
    params_.price->applied(runs, process.now());
    params_.wal->applied(commit.top, runs, false);
    delivery.applied += count - left_out;
  }
  return true;
}

} // namespace replisim
