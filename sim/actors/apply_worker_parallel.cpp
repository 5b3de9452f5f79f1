// The leader's side of parallel apply: assignment, the ring, and what happens when it stays full.
#include "sim/actors/apply_worker.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// A tenth of the leader's patience: fair shares of busy cores may make it ten times as long.
constexpr double slow_quarter_s = RingPatience::limit_s / 10;
} // namespace

/// pa_allocate_worker: decided at the first chunk, for the whole transaction.
ApplyWorker::Streamed& ApplyWorker::first_chunk(engine::Process& process, Xid top) {
  Streamed streamed;
  if (params_.streaming == Streaming::Parallel and parallel_allowed()) {
    if (const auto assigned = pool_.allocate()) {
      streamed.worker = assigned->worker;
      params_.locks->try_lock(params_.backend, stream_lock(top), LockMode::AccessExclusive);
      record_.deliveries[top].worker = assigned->worker;
      worker_of(streamed).assign(stream_lock(top));
      if (assigned->launched)
        process.sleep(params_.costs->worker_start_s, engine::Activity::Blocked);
    } else {
      ++record_.without_worker_txns;
    }
  }
  return streamed_.emplace(top, std::move(streamed)).first->second;
}

/// How many pieces a part becomes. Where the worker may need so long for a quarter of the ring, the step in
/// which it gives room back, that the leader loses patience (by the price of its rows, or because sessions
/// may hold them), a piece is at most that; else it goes whole.
Rows ApplyWorker::pieces_of(const Part& part, const std::vector<ChangeRun>& runs, Bytes occupied) const {
  const ApplyTime time = params_.price->rows(runs);
  const double work_s = time.cpu_s + time.read_s;
  const double quarters = 4 * static_cast<double>(occupied) / static_cast<double>(protocol::ring_bytes);
  if (work_s < quarters * slow_quarter_s and not params_.locks->has_sessions())
    return 1;
  return std::clamp<Rows>(static_cast<Rows>(std::ceil(quarters)), 1, part.messages);
}

/// The worker may start on a piece while the leader still copies it.
void ApplyWorker::forward(engine::Process& process, const Part& part, const RowChanges& batch,
                          Streamed& streamed) {
  const auto runs = part_of(batch.runs, part.first_message, part.messages);
  const Bytes bytes = body_bytes_of(runs) + part.messages * protocol::streamed_xid_bytes;
  const Rows pieces = pieces_of(part, runs, protocol::ring_occupied_bytes(part.messages, bytes));
  const double bursts = batch.chunks * part.share / static_cast<double>(pieces);
  for (Rows i = 0; i < pieces; ++i) {
    const Rows begin = part.messages * i / pieces, end = part.messages * (i + 1) / pieces;
    Piece piece{batch, std::max<std::int64_t>(1, static_cast<std::int64_t>(bursts)),
                receive_seconds(part, batch) / static_cast<double>(pieces)};
    piece.changes.runs = part_of(runs, begin, end - begin);
    piece.changes.rows = end - begin;
    piece.changes.body_bytes = body_bytes_of(piece.changes.runs);
    Part here = part;
    here.last = part.last and end == part.messages;
    if (not pass_on(process, here, piece, streamed))
      return;
  }
  in_.release(part);
}

/// False when the connection broke meanwhile.
bool ApplyWorker::pass_on(engine::Process& process, const Part& part, const Piece& piece,
                          Streamed& streamed) {
  const RowChanges& changes = piece.changes;
  const double rows = static_cast<double>(changes.rows);
  if (streamed.spooling) {
    process.cpu(piece.receive_s + rows * params_.costs->file_write_change_s);
    if (not await_sent(process, part))
      return false;
    spool(changes.runs, streamed);
    return true;
  }
  ParallelApplyWorker& worker = worker_of(streamed);
  const Bytes occupied = protocol::ring_occupied_bytes(
      changes.rows, changes.body_bytes + changes.rows * protocol::streamed_xid_bytes);
  const auto ticket = worker.ring().open(changes, {changes.rows, occupied, piece.bursts});
  process.cpu(piece.receive_s + rows * params_.costs->forward_change_s);
  const bool whole = await_sent(process, part);
  if (occupied > protocol::ring_bytes / 2) { // it goes whole, see pieces_of
    worker.ring().close(process, ticket);
    worker.patience().had_room();
    return whole;
  }
  const Rows back = close(process, worker, ticket);
  if (back > 0 and whole and in_.connected()) {
    begin_spooling(changes.top, streamed);
    process.cpu(static_cast<double>(back) * params_.costs->file_write_change_s);
    spool(part_of(changes.runs, changes.rows - back, back), streamed);
  }
  return whole;
}

/// pa_send_data: how many messages found no room for ten seconds.
Rows ApplyWorker::close(engine::Process& process, ParallelApplyWorker& worker,
                        engine::StreamCore::Ticket ticket) {
  bool waited = false;
  const Rows back = worker.ring().close_or_take_back(process, ticket, [&] {
    waited = true;
    worker.patience().waits(world_.now());
    return worker.patience().gives_up_s();
  });
  if (not waited)
    worker.patience().had_room();
  return back;
}

/// pa_switch_to_partial_serialize: for the rest of the transaction.
void ApplyWorker::begin_spooling(Xid top, Streamed& streamed) {
  streamed.spooling = true;
  streamed.spooled.top = top;
  ++record_.partially_serialized_txns;
  if (params_.spools)
    params_.spools();
}

void ApplyWorker::spool(const std::vector<ChangeRun>& runs, Streamed& streamed) {
  for (const auto& run : runs)
    streamed.spooled.entries.emplace_back(run);
  const Bytes more = body_bytes_of(runs) + rows_of(runs) * protocol::changes_file_length_bytes;
  file_changed(streamed.spooled_bytes, streamed.spooled_bytes + more);
  streamed.spooled_bytes += more;
}

/// A message without rows: into the ring, or behind what went to the file.
void ApplyWorker::send_to_worker(engine::Process& process, Xid top, Streamed& streamed,
                                 ReplicationMessage message, Bytes body_bytes) {
  const auto* abort = std::get_if<AbortSubtransaction>(&message);
  const auto undone = abort != nullptr ? std::optional(*abort) : std::nullopt;
  if (not streamed.spooling) {
    ParallelApplyWorker& worker = worker_of(streamed);
    const auto ticket = worker.ring().open(std::move(message), {1, body_bytes, 1});
    if (close(process, worker, ticket) == 0)
      return;
    begin_spooling(top, streamed);
  }
  if (undone)
    streamed.spooled.entries.emplace_back(*undone);
}

/// The file is complete (FS_SERIALIZE_DONE): the worker replays it once its ring is empty. Nothing of this
/// goes through the ring, which may be full.
void ApplyWorker::hand_over_spooled(engine::Process& process, Streamed& streamed) {
  worker_of(streamed).ring().send(process, std::move(streamed.spooled), {1, 0, 1});
}

void ApplyWorker::abort_in_worker(engine::Process& process, const AbortSubtransaction& abort,
                                  Streamed& streamed) {
  send_to_worker(process, abort.top, streamed, abort, protocol::stream_abort_parallel_body_bytes);
  if (abort.subxid != abort.top)
    return;
  if (streamed.spooling)
    hand_over_spooled(process, streamed);
  wait_for_worker(process, abort.top, streamed);
  if (not params_.errors->failed())
    file_changed(streamed.spooled_bytes, 0);
}

/// `end` commits or prepares the transaction. False when the worker failed.
bool ApplyWorker::end_in_worker(engine::Process& process, Xid top, const ReplicationMessage& end,
                                Streamed& streamed) {
  send_to_worker(process, top, streamed, end, protocol::stream_commit_body_bytes);
  if (streamed.spooling) {
    hand_over_spooled(process, streamed);
    worker_of(streamed).ring().send(process, end, {1, 0, 1});
  }
  wait_for_worker(process, top, streamed);
  if (params_.errors->failed())
    return false;
  file_changed(streamed.spooled_bytes, 0);
  return true;
}

/// The worker holds the transaction lock to its end: asking for it lets the deadlock check see this wait
/// (pa_xact_finish). The stream lock is given back before, as no chunk follows.
void ApplyWorker::wait_for_worker(engine::Process& process, Xid top, const Streamed& streamed) {
  ParallelApplyWorker& assigned = worker_of(streamed);
  ServerLocks& locks = *params_.locks;
  const LockTag transaction{LockTag::Kind::ApplyTransaction, params_.subscription, top.value};
  locks.unlock(params_.backend, stream_lock(top), LockMode::AccessExclusive);
  if (not assigned.idle() and not locks.try_lock(params_.backend, transaction, LockMode::AccessShare))
    locks.watch(params_.backend, [this] {
      params_.errors->cancelled("deadlock detected");
      fail();
    });
  while (not assigned.idle())
    process.wait(assigned.finished(), engine::Activity::Blocked);
  locks.leave_queue(params_.backend);
  locks.unlock(params_.backend, transaction, LockMode::AccessShare);
  pool_.release(streamed.worker, streamed.spooling);
}

} // namespace replisim
