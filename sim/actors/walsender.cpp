#include "sim/actors/walsender.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

Walsender::Walsender(Params params, Decoder& decoder, WalLog::Reader& wal, ReplicationStream& out,
                     SubscriptionRecord& record)
    : params_(std::move(params)), decoder_(decoder), wal_(wal), out_(out), record_(record) {}

void Walsender::run(engine::Process& process) {
  while (true) {
    const WalEntry entry = wal_.next(process, params_.wakeup_latency_s);
    auto decoded = decoder_.decode(entry);
    auto& delivery = record_.deliveries[entry.top];
    delivery.read += decoded.read;
    for (const auto& [top, rows] : decoded.dropped)
      record_.deliveries[top].dropped += rows;
    for (auto& step : decoded.steps)
      perform(process, step);
    record_.sent_lsn = entry.end;
  }
}

void Walsender::perform(engine::Process& process, DecodeStep& step) {
  process.cpu(step.cpu_s);
  switch (step.kind) {
  case DecodeStep::Kind::Work:
    break;
  case DecodeStep::Kind::Chunk:
    send_chunk(process, step);
    break;
  case DecodeStep::Kind::StreamAbort:
    send_control(process, AbortSubtransaction{step.top, step.subxid},
                 params_.streaming == Streaming::Parallel ? protocol::stream_abort_parallel_body_bytes
                                                          : protocol::stream_abort_body_bytes);
    break;
  case DecodeStep::Kind::LastChunk:
    if (step.rows > 0)
      send_chunk(process, step);
    send_control(process, CommitTransaction{step.top, step.lsn, true}, protocol::stream_commit_body_bytes);
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
  const auto runs = publish(step.runs, step.top);
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
  for (Rows i = 0; i < pieces; ++i) {
    const Rows begin = rows * i / pieces, end = rows * (i + 1) / pieces;
    RowChanges batch = batch_of(part_of(runs, begin, end - begin), step.top, true);
    batch.chunks = static_cast<double>(step.chunks) / static_cast<double>(pieces);
    send_rows(process, std::move(batch), 1);
  }
}

/// A committed transaction: what was spilled comes back in refills of 4,096 changes, each refill is
/// sent before the next is read. What stayed in memory is sent in one go.
void Walsender::replay(engine::Process& process, const DecodeStep& step) {
  send_control(process, BeginTransaction{step.top}, protocol::begin_body_bytes);
  const Rows refill = protocol::restore_batch_changes;
  const bool from_files = step.restored > 0;
  const std::int64_t refills_per_piece =
      from_files ? std::max<std::int64_t>(
                       1, std::llround(static_cast<double>(params_.batch_rows) / static_cast<double>(refill)))
                 : 1;
  const Rows piece_rows = from_files ? refills_per_piece * refill : params_.batch_rows;
  const double restored_share =
      step.rows > 0 ? static_cast<double>(step.restored) / static_cast<double>(step.rows) : 0;
  for (Rows sent = 0; sent < step.rows; sent += piece_rows) {
    const Rows rows = std::min(piece_rows, step.rows - sent);
    process.cpu(restored_share * static_cast<double>(rows) * params_.costs->restore_change_s);
    const auto runs = publish(part_of(step.runs, sent, rows), step.top);
    if (not runs.empty())
      send_rows(process, batch_of(runs, step.top, false),
                std::clamp<std::int64_t>(rows / refill, 1, refills_per_piece));
  }
  send_control(process, CommitTransaction{step.top, step.lsn, false}, protocol::commit_body_bytes);
}

/// pgoutput filters by publication when it sends: unpublished rows were decoded and buffered in vain.
std::vector<ChangeRun> Walsender::publish(const std::vector<ChangeRun>& runs, Xid top) {
  std::vector<ChangeRun> published;
  for (const auto& run : runs) {
    if (params_.published.contains(run.table->name))
      published.push_back(run);
    else
      record_.deliveries[top].filtered += run.rows.count;
  }
  return published;
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
  auto& delivery = record_.deliveries[batch.top];
  delivery.sent += batch.rows;
  record_.sent_bytes += bytes;
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
