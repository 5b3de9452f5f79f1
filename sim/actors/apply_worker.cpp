#include "sim/actors/apply_worker.hpp"

#include "sim/actors/apply_work.hpp"
#include "sim/actors/wal_writer.hpp"

#include <algorithm>
#include <set>

namespace replisim {

ApplyWorker::ApplyWorker(engine::World& world, Params params, ReplicationConnection& connection,
                         std::vector<std::unique_ptr<ParallelApplyWorker>>& workers,
                         SubscriptionRecord& record, std::function<void()> committed)
    : world_(world), params_(params), connection_(connection), in_(connection.stream()), workers_(workers),
      record_(record), committed_(std::move(committed)), pool_(params.parallel_workers) {}

/// One life after the other: a worker whose connection ends exits, and the launcher starts the next one, at
/// most one in wal_retrieve_retry_interval.
void ApplyWorker::run(engine::Process& process) {
  double started_s = 0;
  const auto wait_for_launch = [&] {
    const double next_s = started_s + params_.retry_interval_s;
    process.sleep(std::max(1e-6, next_s - process.now()), engine::Activity::Starved);
  };
  while (true) {
    while (connection_.in_use()) {
      started_s = process.now(); // it fails to start
      wait_for_launch();
    }
    started_s = process.now();
    if (not connection_.start(applied_))
      return;
    while (const auto part = in_.receive(process))
      note_work(process, *part);
    roll_back();
    wait_for_launch();
  }
}

/// Takes a part and notes for whom the worker was busy.
void ApplyWorker::note_work(engine::Process& process, const Part& part) {
  const double begun_s = process.now();
  const bool flow = std::holds_alternative<SmallTransactions>(*part.payload);
  record_.client_work.start(top_of(*part.payload).value, begun_s);
  take(process, part);
  record_.client_work.stop(process.now());
  if (not flow)
    flow_clock_.other_work(part, begun_s, process.now());
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
  if (end != nullptr)
    record_.taken(end->top, part.on_link_s, part.visible_s, process.now());
  if (not in_.await_sent(process, part))
    return;
  if (end != nullptr)
    record_.counted(end->top).path.spend(LagStage::Transfer, process.now());
  process.cpu(params_.costs->receive_change_s);
  if (end != nullptr)
    commit(process, *end);
  else if (const auto* undone = std::get_if<AbortSubtransaction>(&message))
    abort(process, *undone);
  in_.release(part);
}

/// The worker exits with a transaction in hand: it and the parallel apply workers roll back, files go.
void ApplyWorker::roll_back() {
  streamed_.clear();
  flow_clock_.forget();
  pool_ = ParallelWorkerPool(params_.parallel_workers);
  for (const auto& worker : workers_)
    worker->stop();
}

double ApplyWorker::receive_seconds(const Part& part, const RowChanges& batch) const {
  return static_cast<double>(part.messages) * params_.costs->receive_change_s +
         part.share * (static_cast<double>(batch.body_bytes) * params_.costs->receive_byte_s +
                       batch.chunks * params_.costs->chunk_dispatch_s);
}

void ApplyWorker::receive(engine::Process& process, const Part& part, const RowChanges& batch) {
  record_.deliveries[batch.top].received += part.messages;
  if (not batch.streamed) {
    apply(process, part, batch);
    return;
  }
  const auto known = streamed_.find(batch.top);
  Streamed& streamed = known != streamed_.end() ? known->second : first_chunk(process, batch.top);
  if (streamed.worker >= 0)
    forward(process, part, batch, streamed.worker);
  else
    serialize(process, part, batch, streamed);
}

/// pa_allocate_worker: decided at the first chunk, for the whole transaction.
ApplyWorker::Streamed& ApplyWorker::first_chunk(engine::Process& process, Xid top) {
  Streamed streamed;
  if (params_.streaming == Streaming::Parallel) {
    if (const auto assigned = pool_.allocate()) {
      streamed.worker = assigned->worker;
      workers_[static_cast<std::size_t>(assigned->worker)]->assign();
      if (assigned->launched)
        process.sleep(params_.costs->worker_start_s, engine::Activity::Blocked);
    }
  }
  return streamed_.emplace(top, std::move(streamed)).first->second;
}

void ApplyWorker::lock(engine::Process& process, DeliveryRecord& delivery) {
  if (delivery.first_lock_s >= 0)
    return;
  delivery.first_lock_s = process.now();
  ++record_.locking_transactions;
}

void ApplyWorker::apply(engine::Process& process, const Part& part, const RowChanges& batch) {
  auto& delivery = record_.deliveries[batch.top];
  lock(process, delivery);
  const auto runs = part_of(batch.runs, part.first_message, part.messages);
  spend(process, receive_seconds(part, batch), params_.price->rows(runs));
  if (not in_.await_sent(process, part))
    return;
  delivery.applied += part.messages;
  in_.release(part);
}

/// The worker may start on the batch while the leader still copies it; the leader is done only when
/// the ring has room for all of it.
void ApplyWorker::forward(engine::Process& process, const Part& part, const RowChanges& batch, int worker) {
  auto& ring = workers_[static_cast<std::size_t>(worker)]->ring();
  RowChanges copy = batch;
  copy.runs = part_of(batch.runs, part.first_message, part.messages);
  copy.rows = part.messages;
  copy.body_bytes = body_bytes_of(copy.runs);
  const Bytes occupied =
      protocol::ring_occupied_bytes(copy.rows, copy.body_bytes + copy.rows * protocol::streamed_xid_bytes);
  const std::int64_t bursts = std::max<std::int64_t>(1, static_cast<std::int64_t>(batch.chunks * part.share));
  const auto ticket = ring.open(std::move(copy), {part.messages, occupied, bursts});
  process.cpu(receive_seconds(part, batch) +
              static_cast<double>(part.messages) * params_.costs->forward_change_s);
  const bool whole = in_.await_sent(process, part);
  ring.close(process, ticket);
  if (whole)
    in_.release(part);
}

void ApplyWorker::serialize(engine::Process& process, const Part& part, const RowChanges& batch,
                            Streamed& streamed) {
  process.cpu(receive_seconds(part, batch) +
              static_cast<double>(part.messages) * params_.costs->file_write_change_s);
  if (not in_.await_sent(process, part))
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
    auto& ring = workers_[static_cast<std::size_t>(streamed.worker)]->ring();
    ring.send(process, abort, {1, protocol::stream_abort_parallel_body_bytes, 1});
    if (abort.subxid == abort.top) {
      wait_for_worker(process, streamed.worker);
      streamed_.erase(it);
    }
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
  const auto it = streamed_.find(commit.top);
  auto& delivery = record_.deliveries[commit.top];
  if (commit.streamed and it != streamed_.end() and it->second.worker >= 0) {
    commit_in_worker(process, commit, it->second.worker);
    streamed_.erase(it);
    if (delivery.applied_s >= 0) {
      delivery.path.spend(LagStage::Apply, delivery.applied_s);
      record_.arrived(delivery, delivery.applied_s, confirmed_s(process.now()));
    }
    note_commit(commit.end);
    return;
  }
  if (commit.streamed and it != streamed_.end()) {
    apply_file(process, commit.top, it->second);
    delivery.path.spend(LagStage::Apply, process.now());
    file_changed(file_bytes(it->second), 0);
    streamed_.erase(it);
  }
  record_.arrived(delivery, process.now(), confirmed_s(process.now()));
  record_.replayed(commit.end, process.now());
  if (delivery.first_lock_s >= 0)
    --record_.locking_transactions;
  note_commit(commit.end);
}

/// The commit is applied but not flushed: the WAL writer of the subscriber does that at its next tick, and
/// only then may the leader report it (get_flush_position).
void ApplyWorker::note_commit(Lsn end) {
  applied_ = unflushed_ = end;
  connection_.applied(end);
  if (not flush_pending_) {
    flush_pending_ = true;
    connection_.expect_flush();
    world_.at(next_wal_writer_tick(world_.now(), params_.flush_delay_s), [this] {
      flush_pending_ = false;
      connection_.flushed(unflushed_);
    });
  }
  committed_();
}

/// When the publisher will know that a commit applied at `applied_s` is safe here.
double ApplyWorker::confirmed_s(double applied_s) const {
  return next_wal_writer_tick(applied_s, params_.flush_delay_s) + connection_.latency_s();
}

void ApplyWorker::apply_flow(engine::Process& process, const Part& part, const SmallTransactions& batch) {
  auto& delivery = record_.deliveries[batch.top];
  const double begun_s = process.now();
  const double transactions = static_cast<double>(batch.flow.transactions);
  const double count = part.share * transactions;
  const ApplyTime applying = flow_time(batch);
  const double work_s = transactions * (batch.shape.receive_s + applying.cpu_s);
  const double wakeups =
      wakeups_.count(batch.flow.commit_groups, batch.flow.span_s, work_s, params_.costs->receiver_wakeup_s);
  if (batch.flow.span_s > 0)
    connection_.set_client_wakeups(wakeups / batch.flow.span_s);
  const double waking_s = part.share * wakeups * params_.costs->receiver_wakeup_s;
  spend(process, count * batch.shape.receive_s + waking_s, count * applying);
  wakeups_.observe(process.now() - begun_s, part.share * work_s + waking_s);
  const double waited_from_s = process.now();
  if (not in_.await_sent(process, part))
    return;
  flow_clock_.work(part, begun_s, waited_from_s, process.now());
  if (part.last) {
    delivery.received += batch.rows;
    delivery.applied += batch.rows;
    record_.flow_transactions += batch.flow.transactions;
    const double each_s = batch.shape.receive_s + applying.cpu_s + applying.read_s;
    const double commit_s = batch.shape.rows > 0 ? params_.costs->apply_transaction_s : 0;
    flow_clock_.finish(batch,
                       {in_.crosses_link(), each_s > 0 ? commit_s / each_s : 0, process.now(),
                        [this](double applied_s) { return confirmed_s(applied_s); }},
                       record_);
    record_.replayed(batch.end, process.now());
    note_commit(batch.end);
  }
  in_.release(part);
}

/// Applying one transaction of a flow.
const ApplyTime& ApplyWorker::flow_time(const SmallTransactions& batch) {
  const FlowLoad* flow = batch.flow.flow;
  const auto known = flow_times_.find(flow);
  if (known != flow_times_.end())
    return known->second;
  return flow_times_.emplace(flow, apply_time(*flow, *params_.tables, batch.shape, *params_.price))
      .first->second;
}

void ApplyWorker::commit_in_worker(engine::Process& process, const CommitTransaction& commit, int worker) {
  auto& assigned = *workers_[static_cast<std::size_t>(worker)];
  assigned.ring().send(process, commit, {1, protocol::stream_commit_body_bytes, 1});
  wait_for_worker(process, worker);
}

void ApplyWorker::wait_for_worker(engine::Process& process, int worker) {
  auto& assigned = *workers_[static_cast<std::size_t>(worker)];
  while (not assigned.idle())
    process.wait(assigned.finished(), engine::Activity::Blocked);
  pool_.release(worker);
}

/// apply_spooled_messages: the whole file, nothing else is read meanwhile.
void ApplyWorker::apply_file(engine::Process& process, Xid top, const Streamed& streamed) {
  auto& delivery = record_.deliveries[top];
  const Rows rows = rows_of(streamed.file);
  if (rows > 0)
    lock(process, delivery);
  for (Rows done = 0; done < rows; done += params_.batch_rows) {
    const Rows count = std::min(params_.batch_rows, rows - done);
    spend(process, static_cast<double>(count) * params_.costs->file_read_change_s,
          params_.price->rows(part_of(streamed.file, done, count)));
    delivery.applied += count;
  }
}

} // namespace replisim
