#include "sim/actors/decoder.hpp"

#include "models/base/check.hpp"

namespace replisim {

Decoder::Decoder(Params params, const TransactionStatus& status)
    : params_(params), status_(status), buffer_(params.work_mem_bytes, params.streaming, params.traits) {}

Decoder::Result Decoder::decode(const WalEntry& entry) {
  Result result;
  DecodeStep read;
  read.cpu_s = static_cast<double>(entry.end - entry.start) * params_.costs->wal_read_byte_s +
               static_cast<double>(entry.records) * params_.costs->wal_read_record_s;
  read.top = entry.top;
  read.lsn = entry.end;
  result.steps.push_back(read);
  if (const auto* rows = std::get_if<RowsWritten>(&entry.what)) {
    decode_rows(entry, *rows, result);
  } else if (std::holds_alternative<SubtransactionAborted>(entry.what)) {
    const bool streamed = buffer_.streamed(entry.top);
    const Rows freed = buffer_.abort_subtransaction(entry.xid);
    result.steps.front().cpu_s += static_cast<double>(freed) * params_.costs->discard_change_s;
    result.dropped[entry.top] += queued_[entry.xid];
    queued_.erase(entry.xid);
    if (streamed) {
      DecodeStep abort = read;
      abort.kind = DecodeStep::Kind::StreamAbort;
      abort.cpu_s = 0;
      abort.subxid = entry.xid;
      result.steps.push_back(abort);
    }
  } else {
    decode_commit(entry, result);
  }
  return result;
}

void Decoder::decode_rows(const WalEntry& entry, const RowsWritten& written, Result& result) {
  const auto& costs = *params_.costs;
  const Rows count = written.rows.count;
  result.read = count;
  // Every row record is decoded, also when its transaction is known to be aborted.
  result.steps.front().cpu_s += static_cast<double>(count) * costs.decode_change_s;
  const ChangeRun run{entry.xid, written.table, written.statement, written.rows,
                      change_bytes(*written.table, written.statement->operation)};
  auto added = buffer_.add(entry.top, run, [this](Xid xid) { return status_.aborted(xid); });
  tops_[entry.xid] = entry.top;
  queued_[entry.xid] += count - added.ignored;
  result.dropped[entry.top] += added.ignored;
  for (auto& eviction : added.evictions) {
    DecodeStep step;
    step.top = entry.top;
    step.lsn = entry.end;
    switch (eviction.kind) {
    case Eviction::Kind::Spill:
      step.cpu_s = static_cast<double>(eviction.changes) * costs.spill_change_s;
      break;
    case Eviction::Kind::DropAborted:
      step.cpu_s = static_cast<double>(eviction.changes) * costs.discard_change_s;
      result.dropped[tops_.at(eviction.victim)] += queued_[eviction.victim];
      queued_[eviction.victim] = 0;
      break;
    case Eviction::Kind::Stream:
      step.kind = DecodeStep::Kind::Chunk;
      step.top = eviction.victim;
      step.rows = eviction.changes;
      step.chunks = eviction.passes;
      step.runs = std::move(eviction.content);
      for (const auto& sent : step.runs)
        queued_[sent.xid] -= sent.rows.count;
      break;
    }
    result.steps.push_back(std::move(step));
  }
}

void Decoder::decode_commit(const WalEntry& entry, Result& result) {
  Replay replay = buffer_.commit(entry.top);
  DecodeStep step;
  step.kind = replay.streamed ? DecodeStep::Kind::LastChunk : DecodeStep::Kind::Replay;
  step.cpu_s = static_cast<double>(replay.spilled_now) * params_.costs->spill_change_s;
  step.top = entry.top;
  step.lsn = entry.end;
  step.rows = replay.changes;
  step.chunks = replay.streamed and replay.changes > 0 ? 1 : 0;
  step.restored = replay.restored;
  step.runs = std::move(replay.content);
  for (const auto& sent : step.runs) {
    auto& queued = queued_[sent.xid];
    queued -= sent.rows.count;
    REPLISIM_REQUIRE(queued >= 0, "transaction {} sends more than was queued", sent.xid.value);
  }
  result.steps.push_back(std::move(step));
}

} // namespace replisim
