#include "sim/actors/decoder.hpp"

#include "models/base/check.hpp"

#include <algorithm>

namespace replisim {

namespace {
Rows rows_in(const std::vector<ChangeRun>& runs) {
  Rows rows = 0;
  for (const auto& run : runs)
    rows += run.rows.count;
  return rows;
}
} // namespace

Decoder::Decoder(Params params, const TransactionStatus& status)
    : params_(params), status_(status), buffer_(params.work_mem_bytes, params.streaming, params.traits) {}

void Decoder::start(Lsn restart, Lsn confirmed) {
  buffer_.clear();
  queued_.clear();
  open_.clear();
  history_.clear();
  commands_.clear();
  relations_ = {};
  snapshot_ = restart;
  confirmed_ = confirmed;
}

Decoder::Result Decoder::decode(const WalEntry& entry) {
  Result result;
  DecodeStep read;
  read.cpu_s = static_cast<double>(entry.end - entry.start) * params_.costs->wal_read_byte_s +
               static_cast<double>(entry.records) * params_.costs->wal_read_record_s;
  read.top = entry.top;
  read.lsn = entry.end;
  result.steps.push_back(read);
  buffer_.allow_streaming(entry.start >= confirmed_);
  buffer_.at(entry.start, entry.end);
  if (const auto* rows = std::get_if<RowsWritten>(&entry.what)) {
    open_.try_emplace(entry.top, InProgress{snapshot_, entry.next_xid});
    decode_rows(entry, *rows, result);
  } else if (const auto* flow = std::get_if<FlowCommitted>(&entry.what)) {
    decode_flow(entry, *flow, result);
  } else if (std::holds_alternative<SubtransactionAborted>(entry.what)) {
    decode_abort(entry, result);
  } else if (const auto* undone = std::get_if<RolledBack>(&entry.what)) {
    if (undone->prepared and params_.two_phase)
      finish_prepared(entry, false, result);
    else
      decode_abort(entry, result);
  } else if (std::holds_alternative<Prepared>(entry.what)) {
    if (params_.two_phase) // otherwise it is sent when it commits
      decode_prepare(entry, result);
  } else if (const auto* committed = std::get_if<Committed>(&entry.what)) {
    if (committed->prepared and params_.two_phase)
      finish_prepared(entry, true, result);
    else
      decode_commit(entry, result);
  } else if (const auto* changed = std::get_if<CatalogChanged>(&entry.what)) {
    open_.try_emplace(entry.top, InProgress{snapshot_, entry.next_xid});
    decode_catalog_change(entry, *changed, result);
  } else if (std::holds_alternative<CatalogCommitted>(entry.what)) {
    open_.erase(entry.top);
    decode_catalog_commit(entry, result);
  } else if (std::holds_alternative<RunningXacts>(entry.what)) {
    result.restart_candidate = entry.start;
    result.oldest_xid = entry.next_xid;
    for (const auto& [top, began] : open_) {
      result.restart_candidate = std::min(*result.restart_candidate, began.snapshot);
      result.oldest_xid = std::min(result.oldest_xid, began.xid);
    }
    // Nobody who runs has an older id, so the snapshots need not list those before it any more.
    history_.purge(open_.empty() ? Xid{UINT32_MAX} : open_.begin()->first);
    snapshot_ = entry.start;
  }
  const auto effort = buffer_.take_effort();
  result.steps.front().cpu_s += static_cast<double>(effort.files) * params_.costs->spill_file_s +
                                static_cast<double>(effort.searched) * params_.costs->search_transaction_s;
  return result;
}

/// Null for rows of one change each.
const RowShape* Decoder::shape_of(const RowsWritten& written) {
  auto known = shapes_.find(written.statement);
  if (known == shapes_.end())
    known = shapes_.emplace(written.statement, row_shape(*written.table, *written.statement)).first;
  return known->second.before.empty() ? nullptr : &known->second;
}

void Decoder::decode_rows(const WalEntry& entry, const RowsWritten& written, Result& result) {
  const auto& costs = *params_.costs;
  const Rows count = written.rows.count;
  result.read = count;
  // Every row record is decoded, also when its transaction is known to be aborted.
  ChangeRun run{entry.xid, written.table, written.statement, written.rows,
                change_bytes(*written.table, written.statement->operation)};
  run.shape = shape_of(written);
  result.steps.front().cpu_s += static_cast<double>(count * run.changes_per_row()) * costs.decode_change_s;
  auto added = buffer_.add(entry.top, run, [this](Xid xid) { return status_.aborted(xid); });
  auto& queued = queued_[entry.xid];
  queued.first = entry.top;
  queued.second += count - added.ignored;
  result.dropped[entry.top] += added.ignored;
  add_evictions(entry, added.evictions, result);
}

void Decoder::add_evictions(const WalEntry& entry, std::vector<Eviction>& evictions, Result& result) {
  const auto& costs = *params_.costs;
  for (auto& eviction : evictions) {
    DecodeStep step;
    step.top = entry.top;
    step.lsn = entry.end;
    switch (eviction.kind) {
    case Eviction::Kind::Spill:
      step.cpu_s = static_cast<double>(eviction.changes) * costs.spill_change_s +
                   written_s(eviction.catalog_changes, eviction.catalog_bytes);
      break;
    case Eviction::Kind::DropAborted:
      step.cpu_s = static_cast<double>(eviction.changes) * costs.discard_change_s;
      result.dropped[queued_[eviction.victim].first] += queued_[eviction.victim].second;
      queued_[eviction.victim].second = 0;
      break;
    case Eviction::Kind::Stream:
      step.kind = DecodeStep::Kind::Chunk;
      step.top = eviction.victim;
      step.restored = eviction.restored;
      step.chunks = eviction.passes;
      step.cpu_s = restored_s(eviction.catalog_changes, eviction.catalog_bytes);
      step.runs = std::move(eviction.content);
      step.rows = rows_in(step.runs);
      replay_catalog(step, buffer_.gathered(eviction.victim));
      for (const auto& sent : step.runs)
        queued_[sent.xid].second -= sent.rows.count;
      break;
    }
    result.steps.push_back(std::move(step));
  }
}

/// Abort record of a subtransaction or of a whole transaction: first those that had become part of it.
void Decoder::decode_abort(const WalEntry& entry, Result& result) {
  const auto* whole = std::get_if<RolledBack>(&entry.what);
  const auto& released =
      whole != nullptr ? whole->released : std::get<SubtransactionAborted>(entry.what).released;
  for (const Xid xid : released)
    abort_one(entry, xid, result);
  abort_one(entry, entry.xid, result);
  if (whole != nullptr)
    open_.erase(entry.top);
}

/// The client hears of it when something of it was streamed.
void Decoder::abort_one(const WalEntry& entry, Xid xid, Result& result) {
  const bool whole = xid == entry.top;
  const bool streamed = buffer_.streamed(xid);
  const Rows freed = whole ? buffer_.abort_transaction(xid) : buffer_.abort_subtransaction(xid);
  result.steps.front().cpu_s += static_cast<double>(freed) * params_.costs->discard_change_s;
  if (whole) {
    result.dropped[entry.top] += forget_queued(entry.top);
  } else {
    result.dropped[entry.top] += queued_[xid].second;
    queued_.erase(xid);
  }
  if (not streamed)
    return;
  DecodeStep abort;
  abort.kind = DecodeStep::Kind::StreamAbort;
  abort.top = entry.top;
  abort.subxid = xid;
  abort.lsn = entry.end;
  result.steps.push_back(abort);
}

Rows Decoder::forget_queued(Xid top) {
  Rows rows = 0;
  for (auto it = queued_.begin(); it != queued_.end();) {
    if (it->second.first == top) {
      rows += it->second.second;
      it = queued_.erase(it);
    } else {
      ++it;
    }
  }
  return rows;
}

/// The client has it: DecodeCommit and DecodePrepare forget it.
void Decoder::discard(const WalEntry& entry, Result& result) {
  const Rows freed = buffer_.abort_transaction(entry.top);
  result.steps.front().cpu_s += static_cast<double>(freed) * params_.costs->discard_change_s;
  result.discarded_rows = forget_queued(entry.top);
  result.discarded = true;
}

/// DecodePrepare. The transaction goes on being one in progress: decoding starts before it until it ends.
void Decoder::decode_prepare(const WalEntry& entry, Result& result) {
  if (entry.end <= confirmed_) {
    discard(entry, result);
    return;
  }
  result.steps.push_back(replay(entry));
  result.steps.back().prepares = true;
}

void Decoder::finish_prepared(const WalEntry& entry, bool commits, Result& result) {
  open_.erase(entry.top);
  if (entry.end <= confirmed_) {
    result.discarded = true;
    return;
  }
  DecodeStep step;
  step.kind = DecodeStep::Kind::FinishPrepared;
  step.commits = commits;
  step.top = entry.top;
  step.lsn = entry.end;
  result.steps.push_back(step);
}

void Decoder::decode_commit(const WalEntry& entry, Result& result) {
  open_.erase(entry.top);
  if (entry.end <= confirmed_)
    discard(entry, result);
  else
    result.steps.push_back(replay(entry));
}

DecodeStep Decoder::replay(const WalEntry& entry) {
  Replay replay = buffer_.commit(entry.top);
  DecodeStep step;
  step.kind = replay.streamed ? DecodeStep::Kind::LastChunk : DecodeStep::Kind::Replay;
  step.cpu_s = static_cast<double>(replay.spilled_now) * params_.costs->spill_change_s +
               written_s(replay.catalog_spilled_now, replay.catalog_spilled_bytes) +
               restored_s(replay.catalog_restored, replay.catalog_restored_bytes);
  step.top = entry.top;
  step.lsn = entry.end;
  step.chunks = replay.streamed and replay.changes > 0 ? 1 : 0;
  step.restored = replay.restored;
  step.runs = std::move(replay.content);
  step.rows = rows_in(step.runs);
  replay_catalog(step, buffer_.gathered(entry.top));
  for (const auto& sent : step.runs) {
    auto& queued = queued_[sent.xid].second;
    queued -= sent.rows.count;
    REPLISIM_REQUIRE(queued >= 0, "transaction {} sends more than was queued", sent.xid.value);
  }
  forget_queued(entry.top);
  return step;
}

/// Each transaction of a flow is over before the next begins to matter: none stays in the buffer.
void Decoder::decode_flow(const WalEntry& entry, const FlowCommitted& flow, Result& result) {
  Rows rows = 0;
  for (const auto& step : flow.flow->transaction)
    rows += step.rows;
  result.read = rows * flow.transactions;
  result.steps.front().cpu_s += static_cast<double>(result.read) * params_.costs->decode_change_s;
  if (entry.end <= confirmed_) {
    result.discarded = true;
    return;
  }
  buffer_.count_small(flow.transactions, flow.queued_bytes);
  DecodeStep step;
  step.kind = DecodeStep::Kind::Flow;
  step.top = entry.top;
  step.lsn = entry.end;
  step.flow = flow;
  for (const auto& statement : flow.flow->transaction)
    use_tables(step, params_.tables->at(statement.table), statement.rows * flow.transactions,
               flow.transactions);
  step.inserted_s = entry.inserted_s;
  step.flushed_s = entry.flushed_s;
  result.steps.push_back(std::move(step));
}

} // namespace replisim
