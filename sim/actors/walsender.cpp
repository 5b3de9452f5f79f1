#include "sim/actors/walsender.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

Walsender::Walsender(Params params, Decoder& decoder, WalLog::Reader& wal, ReplicationConnection& connection,
                     SubscriptionRecord& record)
    : params_(std::move(params)), decoder_(decoder), wal_(wal), connection_(connection),
      out_(connection.stream()), record_(record) {
  connection_.on_end([this] { wal_.wake(); });
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
}

void Walsender::serve(engine::Process& process) {
  while (connection_.connected()) {
    const auto entry = wal_.try_next();
    if (not entry) {
      connection_.caught_up(wal_.position());
      if (out_.outstanding_bytes() == 0) // nothing is under way: what was skipped counts as delivered
        record_.replayed(wal_.position(), process.now());
      params_.progressed();
      if (wal_.ready() or not connection_.connected())
        continue;
      wal_.wait(process);
      connection_.set_idle(false);
      process.sleep(params_.wakeup_latency_s, engine::Activity::Starved);
      continue;
    }
    auto decoded = decoder_.decode(*entry);
    count(*entry, decoded);
    if (std::holds_alternative<Committed>(entry->what)) {
      auto& delivery = record_.counted(entry->top);
      delivery.flushed_s = entry->flushed_s;
      delivery.read_s = process.now();
    }
    if (decoded.restart_candidate)
      connection_.slot().propose_restart(*decoded.restart_candidate, entry->start);
    for (auto& step : decoded.steps)
      if (connection_.connected())
        perform(process, step);
    record_.sent_lsn = entry->end;
  }
}

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
}

void Walsender::perform(engine::Process& process, DecodeStep& step) {
  process.cpu(step.cpu_s);
  if (step.kind != DecodeStep::Kind::Replay)
    process.cpu(static_cast<double>(step.restored) * params_.costs->restore_change_s);
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
    send_control(process, AbortSubtransaction{step.top, step.subxid},
                 params_.streaming == Streaming::Parallel ? protocol::stream_abort_parallel_body_bytes
                                                          : protocol::stream_abort_body_bytes);
    break;
  case DecodeStep::Kind::LastChunk:
    record_.counted(step.top).replay_s = process.now();
    if (step.rows > 0)
      send_chunk(process, step);
    send_commit(process, CommitTransaction{step.top, step.lsn, true}, protocol::stream_commit_body_bytes);
    decoder_.finished(step.top);
    break;
  case DecodeStep::Kind::Replay:
    replay(process, step);
    decoder_.finished(step.top);
    break;
  }
}

/// Chunks smaller than a batch travel together; a chunk larger than a batch travels in several.
void Walsender::send_chunk(engine::Process& process, const DecodeStep& step) {
  const auto runs = publish(process, step.runs, step.top);
  const Rows rows = rows_of(runs);
  if (rows == 0) { // nothing published in it: the opening and closing remain
    process.cpu(static_cast<double>(step.chunks) * params_.costs->stream_chunk_s);
    return;
  }
  const Rows pieces =
      std::max<Rows>(1, std::llround(static_cast<double>(rows) / static_cast<double>(params_.batch_rows)));
  if (step.chunks > 1 or pieces == 1) {
    RowChanges batch = batch_of(runs, step.top, true);
    batch.chunks = static_cast<double>(step.chunks);
    send_rows(process, std::move(batch), step.chunks);
    return;
  }
  for (Rows i = 0; i < pieces and connection_.connected(); ++i) {
    const Rows begin = rows * i / pieces, end = rows * (i + 1) / pieces;
    RowChanges batch = batch_of(part_of(runs, begin, end - begin), step.top, true);
    batch.chunks = static_cast<double>(step.chunks) / static_cast<double>(pieces);
    send_rows(process, std::move(batch), 1);
  }
}

/// A committed transaction: what was spilled comes back in refills of 4,096 changes, each refill is
/// sent before the next is read. What stayed in memory is sent in one go. Begin goes out with the first
/// change, so that nothing is sent of a transaction without one; older versions begin at once.
void Walsender::replay(engine::Process& process, const DecodeStep& step) {
  record_.counted(step.top).replay_s = process.now();
  process.cpu(params_.costs->send_transaction_s);
  bool begun = false;
  const auto begin = [&] {
    if (not begun)
      send_control(process, BeginTransaction{step.top}, protocol::begin_body_bytes);
    begun = true;
  };
  if (not params_.traits.skips_empty_transactions)
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
    process.cpu(restored_share * static_cast<double>(rows) * params_.costs->restore_change_s);
    const auto runs = publish(process, part_of(step.runs, sent, rows), step.top);
    if (runs.empty())
      continue;
    begin();
    send_rows(process, batch_of(runs, step.top, false),
              std::clamp<std::int64_t>(rows / refill, 1, refills_per_piece));
  }
  connection_.set_silent(false);
  if (not begun) {
    record_.counted(step.top).sent_s = process.now();
    record_.skipped(step.lsn, step.top);
    return;
  }
  send_commit(process, CommitTransaction{step.top, step.lsn, false}, protocol::commit_body_bytes);
}

void Walsender::send_commit(engine::Process& process, CommitTransaction commit, Bytes body_bytes) {
  record_.counted(commit.top).sent_s = process.now();
  connection_.commit_sent(commit.end);
  send_control(process, commit, body_bytes);
}

Publishing Walsender::publishing_of(const std::string& table) const {
  const auto& tables = params_.publication->tables;
  if (std::find(tables.begin(), tables.end(), table) == tables.end())
    return {};
  const auto filter = params_.publication->row_filters.find(table);
  if (filter == params_.publication->row_filters.end())
    return {true, 1, 0};
  return {true, filter->second.passes, filter->second.cost_s};
}

/// pgoutput filters when it sends: unpublished rows were decoded and buffered in vain, and each row of a
/// filtered table pays for the evaluation, sent or not. Rows that pass are spread evenly.
std::vector<ChangeRun> Walsender::publish(engine::Process& process, const std::vector<ChangeRun>& runs,
                                          Xid top) {
  std::vector<ChangeRun> published;
  double filter_s = 0;
  for (const auto& run : runs) {
    const Publishing rules = publishing_of(run.table->name);
    Rows sent = rules.published ? run.rows.count : 0;
    if (rules.published and rules.passes < 1) {
      double& remainder = filter_remainders_[run.table->name];
      remainder += static_cast<double>(run.rows.count) * rules.passes;
      sent = std::min(run.rows.count, static_cast<Rows>(remainder + 1e-9));
      remainder -= static_cast<double>(sent);
    }
    filter_s += static_cast<double>(run.rows.count) * rules.filter_cost_s;
    record_.counted(top).filtered += run.rows.count - sent;
    if (sent == 0)
      continue;
    ChangeRun kept = run;
    kept.rows.count = sent;
    published.push_back(kept);
  }
  process.cpu(filter_s);
  return published;
}

/// Small transactions, one after the other: they travel in one piece and keep their commit times.
void Walsender::send_flow(engine::Process& process, const DecodeStep& step) {
  const FlowLoad* flow = step.flow.flow;
  auto known = shapes_.find(flow);
  if (known == shapes_.end())
    known = shapes_
                .emplace(flow, delivered_shape(
                                   *flow, *params_.tables, *params_.costs,
                                   [this](const std::string& table) { return publishing_of(table); },
                                   params_.traits.skips_empty_transactions))
                .first;
  const DeliveredShape& shape = known->second;
  const double count = static_cast<double>(step.flow.transactions);
  Rows written = 0;
  for (const auto& statement : flow->transaction)
    written += statement.rows * step.flow.transactions;
  double& remainder = flow_remainders_[flow];
  remainder += count * shape.rows;
  SmallTransactions message{step.flow, step.top, std::min(written, static_cast<Rows>(remainder + 1e-9)),
                            shape, step.lsn};
  remainder -= static_cast<double>(message.rows);
  auto& delivery = record_.counted(step.top);
  delivery.filtered += written - message.rows;
  if (shape.messages == 0) {
    process.cpu(count * shape.send_s);
    return;
  }
  delivery.sent += message.rows;
  const Bytes bytes = std::llround(count * shape.bytes);
  record_.sent_bytes += bytes;
  const engine::Flow piece{std::max<Rows>(1, std::llround(count * shape.messages)), bytes, 1};
  const auto ticket = out_.open(std::move(message), piece);
  process.cpu(count * shape.send_s);
  connection_.commit_sent(step.lsn); // the client may report it as soon as it is sent
  out_.close(process, ticket);
}

RowChanges Walsender::batch_of(std::vector<ChangeRun> runs, Xid top, bool streamed) {
  RowChanges batch;
  batch.top = top;
  batch.streamed = streamed;
  batch.rows = rows_of(runs);
  batch.body_bytes = body_bytes_of(runs);
  for (const auto& run : runs) {
    const bool first =
        streamed ? announced_in_.insert({top, run.table}).second : announced_.insert(run.table).second;
    if (first) {
      ++batch.relations;
      batch.relation_bytes += relation_message_bytes(*run.table);
    }
  }
  batch.runs = std::move(runs);
  return batch;
}

double Walsender::send_seconds(const RowChanges& batch) const {
  const auto& costs = *params_.costs;
  double seconds =
      static_cast<double>(batch.body_bytes) * costs.send_byte_s + batch.chunks * costs.stream_chunk_s;
  for (const auto& run : batch.runs)
    seconds +=
        static_cast<double>(run.rows.count) *
        (costs.send_change_s + columns_sent(*run.table, run.statement->operation) * costs.send_column_s);
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
  const Bytes bytes = batch.body_bytes + batch.rows * (protocol::frame_bytes + xid_bytes) +
                      batch.relation_bytes + batch.relations * protocol::frame_bytes + whole_brackets;
  const engine::Flow flow{batch.rows, bytes, bursts};
  auto& delivery = record_.counted(batch.top);
  delivery.sent += batch.rows;
  record_.sent_bytes += bytes;
  connection_.set_silent(false);
  const auto ticket = out_.open(std::move(batch), flow);
  process.cpu(seconds);
  out_.close(process, ticket);
}

void Walsender::send_control(engine::Process& process, ReplicationMessage message, Bytes body_bytes) {
  const Bytes bytes = protocol::frame_bytes + body_bytes;
  record_.sent_bytes += bytes;
  process.cpu(params_.costs->send_change_s);
  out_.send(process, std::move(message), {1, bytes, 1});
}

} // namespace replisim
