#include "sim/actors/walsender.hpp"

#include "sim/actors/batch_observer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace replisim {

namespace {
constexpr double most_owed_s = 1e-3; ///< see Walsender::work()
constexpr std::size_t kept_stretches = 4096;

/// The messages of a piece count as alike, in size and in price: one of several statements is cut between
/// them, into pieces of `rows` at least; with `every`, also within them, so that a piece has so many rows.
std::vector<std::vector<ChangeRun>> runs_alike(const std::vector<ChangeRun>& runs, Rows rows, bool every) {
  std::vector<std::vector<ChangeRun>> pieces;
  for (const ChangeRun& run : runs) {
    const bool goes_on = not pieces.empty() and
                         (pieces.back().back().statement == run.statement or rows_of(pieces.back()) < rows);
    if (not goes_on)
      pieces.emplace_back();
    pieces.back().push_back(run);
  }
  if (not every)
    return pieces;
  std::vector<std::vector<ChangeRun>> smaller;
  for (const auto& piece : pieces)
    for (Rows begin = 0; begin < rows_of(piece); begin += rows)
      smaller.push_back(part_of(piece, begin, rows));
  return smaller;
}
} // namespace

Walsender::Walsender(Params params, Decoder& decoder, WalLog::Reader& wal, ReplicationConnection& connection,
                     SubscriptionRecord& record)
    : params_(std::move(params)), decoder_(decoder), wal_(wal), connection_(connection),
      out_(connection.stream()), record_(record),
      filter_(*params_.publication, *params_.tables, params_.binary) {
  connection_.on_end([this] { wal_.wake(); });
  connection_.on_status_request([this] { wal_.wake(); });
}

void Walsender::run(engine::Process& process) {
  while (true) {
    while (not connection_.connected())
      process.wait(connection_.started(), engine::Activity::Starved);
    connection_.set_in_use(true);
    start_session();
    serve(process);
    connection_.set_in_use(false);
    decoder_.start(connection_.slot().restart_lsn(), connection_.starts_after());
  }
}

/// START_REPLICATION: WAL is read from restart_lsn on; what the client has not confirmed is sent again.
void Walsender::start_session() {
  const Slot& slot = connection_.slot();
  record_.reread_bytes += slot.confirmed_flush_lsn() - slot.restart_lsn();
  decoder_.start(slot.restart_lsn(), connection_.starts_after());
  wal_.seek(slot.restart_lsn());
  announced_.clear();
  announced_in_.clear();
  record_.forget_unfinished();
  flow_station_.restart(-1);
}

/// The way of the transaction whose commit is in hand: so far it was at `stage`.
void Walsender::spent(const engine::Process& process, Xid top, LagStage stage) {
  if (top.valid())
    record_.counted(top).path.spend(stage, process.now());
}

/// It waited for room in the socket: for its own rows to be applied, for others', or for the network.
void Walsender::blocked(const engine::Process& process, Xid top) {
  record_.counted(top).path.wait(record_.client_work, top.value, process.now(), LagStage::SendQueue,
                                 out_.crosses_link() ? LagStage::Transfer : LagStage::SendQueue);
}

/// From the flush to now. While the walsender was blocked because the client applied earlier rows of this
/// very transaction, it was these that its commit waited for.
void Walsender::wait_to_be_read(LagPath& path, Xid top) const {
  for (const auto& [from_s, to_s] : blocked_) {
    path.spend(LagStage::WaitingToBeRead, from_s);
    path.wait(record_.client_work, top.value, to_s, LagStage::WaitingToBeRead, LagStage::WaitingToBeRead);
  }
  path.spend(LagStage::WaitingToBeRead, read_s_);
}

/// Hands over a piece that was opened; waits until there is room.
void Walsender::close(engine::Process& process, engine::StreamCore::Ticket ticket) {
  const double from_s = process.now();
  out_.close(process, ticket);
  if (process.now() > from_s)
    blocked_.emplace_back(from_s, process.now());
  if (blocked_.size() > kept_stretches)
    blocked_.pop_front();
}

void Walsender::serve(engine::Process& process) {
  while (connection_.connected()) {
    answer_status_requests(process);
    auto entry = wal_.try_next();
    if (entry and entry->received and params_.own_changes_only)
      leave_out(*entry);
    if (not entry) {
      settle(process);
      connection_.caught_up(wal_.position());
      settle_skipped(process);
      params_.progressed();
      if (wal_.ready() or not connection_.connected())
        continue;
      wal_.wait(process);
      connection_.set_idle(false);
      process.sleep(params_.wakeup_latency_s, engine::Activity::Starved);
      continue;
    }
    passes_by_ = concerns_nobody(*entry);
    if (not passes_by_)
      settle(process);
    read_s_ = process.now();
    auto decoded = decoder_.decode(*entry);
    if (not decoded.failure.empty())
      params_.failed(decoded.failure);
    count(*entry, decoded);
    if (const auto* committed = std::get_if<Committed>(&entry->what)) {
      record_.finishes(entry->top);
      LagPath& path = record_.counted(entry->top).path;
      path.begin(committed->begin_s, entry->inserted_s);
      path.spend(LagStage::CommitFlush, entry->flushed_s);
      wait_to_be_read(path, entry->top);
    }
    if (const auto* undone = std::get_if<RolledBack>(&entry->what); undone != nullptr and undone->prepared)
      skipped_ = true; // perhaps nothing of it is sent, and still the client is to come this far
    if (decoded.restart_candidate) {
      connection_.slot().propose_restart(*decoded.restart_candidate, entry->start);
      connection_.slot().propose_xmin(decoded.oldest_xid, entry->start);
    }
    read_cpu_s_ = decoded.steps.front().cpu_s;
    for (auto& step : decoded.steps) {
      if (not connection_.connected())
        break;
      const bool reading = &step == &decoded.steps.front();
      (reading ? record_.walsender.decode_s : record_.walsender.spill_s) += step.cpu_s;
      perform(process, step);
    }
    if (not std::holds_alternative<FlowCommitted>(entry->what))
      flow_station_.other_work(entry->flushed_s, read_s_, process.now());
    record_.sent_lsn = entry->end;
  }
}

/// Read, and dropped before it is queued (pgoutput_origin_filter).
void Walsender::leave_out(WalEntry& entry) {
  entry.top = entry.xid = {};
  entry.what = OtherWal{};
}

/// Nothing is under way: what was skipped counts as delivered. Room in the socket comes back without waking a
/// walsender that does not wait for it, so it looks again.
void Walsender::settle_skipped(engine::Process& process) {
  constexpr double look_again_s = 0.01;
  if (out_.outstanding_bytes() == 0) {
    record_.replayed(wal_.position(), process.now());
    skipped_ = false;
  } else if ((skipped_ or connection_.tells_positions()) and params_.later) {
    params_.later(look_again_s, [this] { wal_.wake(); });
  }
}

/// ProcessStandbyPSRequestMessage: the oldest transaction in its commit phase, and the position flushed.
void Walsender::answer_status_requests(engine::Process& process) {
  for (int i = connection_.take_status_requests(); i > 0; --i) {
    process.cpu(params_.costs->status_request_s);
    connection_.answer_status(wal_.flushed());
  }
}

/// WAL that is read and leads to no message: other databases, running-xacts records, small transactions on
/// tables that are not published.
bool Walsender::concerns_nobody(const WalEntry& entry) {
  if (const auto* flow = std::get_if<FlowCommitted>(&entry.what))
    return shape_of(*flow->flow).messages == 0;
  return std::holds_alternative<OtherWal>(entry.what) or std::holds_alternative<RunningXacts>(entry.what);
}

/// CPU for WAL that concerns nobody is spent a millisecond at a time: among many slots most of the WAL is
/// such.
void Walsender::work(engine::Process& process, double seconds) {
  if (not passes_by_) {
    process.cpu(seconds);
    return;
  }
  owed_s_ += seconds;
  if (owed_s_ >= most_owed_s)
    settle(process);
}

void Walsender::settle(engine::Process& process) { process.cpu(std::exchange(owed_s_, 0)); }

void Walsender::count(const WalEntry& entry, const Decoder::Result& decoded) {
  for (const auto& [top, rows] : decoded.dropped)
    record_.counted(top).dropped += rows;
  if (decoded.discarded) {
    record_.read_again += decoded.read;
    return;
  }
  if (not entry.top.valid())
    return;
  auto& delivery = record_.counted(entry.top);
  delivery.read += decoded.read;
  if (delivery.read_s < 0 and decoded.read > 0)
    delivery.read_s = read_s_;
}

void Walsender::perform(engine::Process& process, DecodeStep& step) {
  const bool last = step.kind == DecodeStep::Kind::Replay or step.kind == DecodeStep::Kind::LastChunk;
  work(process, step.cpu_s);
  spent(process, step.top, last ? LagStage::SpillAndRestore : LagStage::Decode);
  if (step.kind != DecodeStep::Kind::Replay)
    restore(process, static_cast<double>(step.restored));
  spent(process, step.top, LagStage::SpillAndRestore);
  switch (step.kind) {
  case DecodeStep::Kind::Work:
    params_.spilled();
    break;
  case DecodeStep::Kind::Chunk:
    send_chunk(process, step);
    break;
  case DecodeStep::Kind::Flow:
    send_flow(process, step);
    break;
  case DecodeStep::Kind::StreamAbort:
    send_control(process, step.top, AbortSubtransaction{step.top, step.subxid},
                 params_.streaming == Streaming::Parallel ? protocol::stream_abort_parallel_body_bytes
                                                          : protocol::stream_abort_body_bytes);
    break;
  case DecodeStep::Kind::LastChunk:
    if (step.rows > 0)
      send_chunk(process, step);
    send_end(process, step, true);
    decoder_.finished(step.top);
    break;
  case DecodeStep::Kind::FinishPrepared:
    connection_.commit_sent(step.lsn);
    send_control(process, step.top, FinishPrepared{step.top, step.lsn, step.commits},
                 step.commits ? protocol::commit_prepared_body_bytes
                              : protocol::rollback_prepared_body_bytes);
    break;
  case DecodeStep::Kind::Replay:
    replay(process, step);
    decoder_.finished(step.top);
    break;
  }
}

void Walsender::restore(engine::Process& process, double changes) {
  const double seconds = changes * params_.costs->restore_change_s;
  record_.walsender.spill_s += seconds;
  process.cpu(seconds);
}

void Walsender::send_work(engine::Process& process, double seconds) {
  record_.walsender.send_s += seconds;
  work(process, seconds);
}

/// Chunks smaller than a batch travel together; a chunk larger than a batch travels in several.
void Walsender::send_chunk(engine::Process& process, DecodeStep& step) {
  const auto runs = publish(process, step.runs, step.top);
  const Rows rows = rows_of(runs);
  if (rows == 0) { // nothing published in it: the opening and closing remain
    send_work(process, static_cast<double>(step.chunks) * params_.costs->stream_chunk_s);
    return;
  }
  const Rows pieces =
      std::max<Rows>(1, std::llround(static_cast<double>(rows) / static_cast<double>(params_.batch_rows)));
  if (step.chunks > 1 or pieces == 1) {
    send_runs(process, runs, step, static_cast<double>(step.chunks), step.chunks);
    return;
  }
  for (Rows i = 0; i < pieces and connection_.connected(); ++i) {
    const Rows begin = rows * i / pieces, end = rows * (i + 1) / pieces;
    send_runs(process, part_of(runs, begin, end - begin), step,
              static_cast<double>(step.chunks) / static_cast<double>(pieces), 1);
  }
}

/// A committed transaction: what was spilled comes back in refills of 4,096 changes, each refill is
/// sent before the next is read. What stayed in memory is sent in one go. Begin goes out with the first
/// change, so that nothing is sent of a transaction without one; older versions begin at once.
void Walsender::replay(engine::Process& process, DecodeStep& step) {
  send_work(process, params_.costs->send_transaction_s);
  bool begun = false;
  const auto begin = [&] {
    if (begun)
      return;
    begun = true;
    send_control(process, step.top, BeginTransaction{step.top},
                 step.prepares ? protocol::begin_prepare_body_bytes : protocol::begin_body_bytes);
    blocked(process, step.top);
  };
  if (step.prepares or not params_.traits.skips_empty_transactions)
    begin();
  const Rows refill = protocol::restore_batch_changes;
  const bool from_files = step.restored > 0;
  const std::int64_t refills_per_piece =
      from_files ? std::max<std::int64_t>(
                       1, std::llround(static_cast<double>(params_.batch_rows) / static_cast<double>(refill)))
                 : 1;
  const Rows piece_rows = from_files ? refills_per_piece * refill : params_.batch_rows;
  const double restored_share =
      step.rows > 0 ? static_cast<double>(step.restored) / static_cast<double>(step.rows) : 0;
  for (Rows sent = 0; sent < step.rows and connection_.connected(); sent += piece_rows) {
    const Rows rows = std::min(piece_rows, step.rows - sent);
    connection_.set_silent(not params_.traits.keepalives_in_replay);
    restore(process, restored_share * static_cast<double>(rows));
    spent(process, step.top, LagStage::SpillAndRestore);
    const auto runs = publish(process, part_of(step.runs, sent, rows), step.top);
    if (runs.empty())
      continue;
    begin();
    const auto bursts = std::clamp<std::int64_t>(rows / refill, 1, refills_per_piece);
    // Round after round, a whole refill is exact in the two parts of a piece; a smaller one goes in batches.
    const bool every = refills_per_piece == 1 and (out_.crosses_link() or rows < refill);
    for (const auto& alike : runs_alike(runs, params_.batch_rows, every))
      send_runs(process, alike, step, 0, bursts);
  }
  connection_.set_silent(false);
  if (not begun) {
    record_.skipped(step.lsn, step.top);
    skipped_ = true;
    return;
  }
  send_end(process, step, false);
}

void Walsender::send_end(engine::Process& process, const DecodeStep& step, bool streamed) {
  connection_.commit_sent(step.lsn);
  if (step.prepares)
    send_control(process, step.top, PrepareTransaction{step.top, step.lsn, streamed},
                 protocol::prepare_body_bytes);
  else
    send_control(process, step.top, CommitTransaction{step.top, step.lsn, streamed},
                 streamed ? protocol::stream_commit_body_bytes : protocol::commit_body_bytes);
}

std::vector<ChangeRun> Walsender::publish(engine::Process& process, const std::vector<ChangeRun>& runs,
                                          Xid top) {
  auto passed = filter_.pass(runs);
  record_.counted(top).filtered += passed.filtered;
  record_.walsender.filter_s += passed.cpu_s;
  process.cpu(passed.cpu_s);
  spent(process, top, LagStage::Decode);
  return std::move(passed.runs);
}

RowChanges Walsender::batch_of(std::vector<ChangeRun> runs, DecodeStep& step, bool streamed) {
  RowChanges batch;
  batch.top = step.top;
  batch.streamed = streamed;
  if (not streamed)
    batch.final = step.lsn;
  batch.rows = rows_of(runs);
  batch.body_bytes = body_bytes_of(runs);
  for (const auto& run : runs) {
    const bool first =
        streamed ? announced_in_.insert({step.top, run.table}).second : announced_.insert(run.table).second;
    const auto built = step.built.extract(run.table);
    const std::int64_t messages = std::max<std::int64_t>(first ? 1 : 0, built.empty() ? 0 : built.mapped());
    batch.relations += static_cast<int>(messages);
    batch.relation_bytes += messages * relation_message_bytes(run.wire_table());
  }
  batch.runs = std::move(runs);
  return batch;
}

/// Behind a latency no more than a window is on the way, and the message that overfills it: it is filled to
/// the message, and no number of bursts makes it wider.
void Walsender::send_runs(engine::Process& process, const std::vector<ChangeRun>& runs, DecodeStep& step,
                          double chunks, std::int64_t bursts) {
  const bool streamed = step.kind != DecodeStep::Kind::Replay;
  const Rows rows = rows_of(runs);
  for (Rows begin = 0, count = rows; begin < rows and connection_.connected(); begin += count) {
    auto part = part_of(runs, begin, rows - begin);
    if (params_.window_bytes > 0) {
      count = rows_with_room(part, streamed);
      part = part_of(part, 0, count);
    }
    RowChanges batch = batch_of(std::move(part), step, streamed);
    const double share = static_cast<double>(batch.rows) / static_cast<double>(rows);
    batch.chunks = share * chunks;
    send_rows(process, std::move(batch), params_.window_bytes > 0 ? 1 : bursts);
  }
}

/// How many are sent until the walsender has to wait.
Rows Walsender::rows_with_room(const std::vector<ChangeRun>& runs, bool streamed) const {
  Bytes room = params_.window_bytes - out_.outstanding_bytes();
  const Bytes frame = protocol::frame_bytes + (streamed ? protocol::streamed_xid_bytes : 0);
  Rows rows = 0;
  for (const ChangeRun& run : runs) {
    const Bytes each = body_bytes_of(part_of({run}, 0, 1)) + frame;
    const Rows fitting = std::max<Rows>(0, room / each) + 1;
    if (fitting < run.rows.count)
      return rows + fitting;
    rows += run.rows.count;
    room -= run.rows.count * each;
  }
  return rows;
}

double Walsender::send_seconds(const RowChanges& batch) const {
  const auto& costs = *params_.costs;
  double seconds =
      static_cast<double>(batch.body_bytes) * costs.send_byte_s + batch.chunks * costs.stream_chunk_s;
  for (const auto& run : batch.runs)
    seconds +=
        static_cast<double>(run.rows.count) *
        (costs.send_change_s + columns_sent_seconds(costs, run.wire_table(), run.statement->operation));
  return seconds;
}

void Walsender::send_rows(engine::Process& process, RowChanges batch, std::int64_t bursts) {
  const double seconds = send_seconds(batch);
  const Bytes xid_bytes = batch.streamed ? protocol::streamed_xid_bytes : 0;
  const Bytes brackets =
      protocol::stream_start_body_bytes + protocol::stream_stop_body_bytes + 2 * protocol::frame_bytes;
  bracket_bytes_ += batch.chunks * static_cast<double>(brackets);
  const Bytes whole_brackets = static_cast<Bytes>(bracket_bytes_ + 1e-6);
  bracket_bytes_ -= static_cast<double>(whole_brackets);
  const Bytes bytes = batch.body_bytes + batch.relation_bytes +
                      (batch.rows + batch.relations) * (protocol::frame_bytes + xid_bytes) + whole_brackets;
  // Messages besides the rows fill the window like these.
  const double beside = static_cast<double>(batch.relations) + 2 * batch.chunks;
  const Bytes overhead = std::llround(beside * static_cast<double>(params_.message_overhead_bytes));
  const engine::Flow flow{batch.rows, bytes + overhead, bursts};
  const Xid top = batch.top;
  auto& delivery = record_.counted(top);
  delivery.sent += batch.rows;
  record_.sent_bytes += bytes;
  connection_.set_silent(false);
  if (delivery.sent_s < 0)
    delivery.sent_s = process.now();
  if (record_.observer != nullptr)
    record_.observer->moved(process, record_, Hop::Sent, top, batch.runs);
  const auto ticket = out_.open(std::move(batch), flow);
  send_work(process, seconds);
  spent(process, top, LagStage::Decode);
  close(process, ticket);
  record_.counted(top).sent_to_s = process.now();
  blocked(process, top);
}

void Walsender::send_control(engine::Process& process, Xid top, ReplicationMessage message,
                             Bytes body_bytes) {
  const Bytes bytes = protocol::frame_bytes + body_bytes;
  record_.sent_bytes += bytes;
  send_work(process, params_.costs->send_change_s);
  spent(process, top, LagStage::Decode);
  out_.send(process, std::move(message), {1, bytes, 1});
}

} // namespace replisim
