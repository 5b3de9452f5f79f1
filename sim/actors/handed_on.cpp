#include "sim/actors/handed_on.hpp"

#include "models/row_shape.hpp"
#include "models/wal_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace replisim {

void HandedOn::append(Bytes bytes, WalEntry entry, TransactionRecord& record) {
  entry.received = true;
  record.wal_bytes += bytes;
  wal_.append(bytes, std::move(entry));
}

/// The transaction where it was received from; null: nobody there has recorded it.
const TransactionRecord* HandedOn::made_as(Xid top) const {
  const auto made =
      std::find_if(log_.transactions.rbegin(), log_.transactions.rend(),
                   [&](const auto& known) { return known.server == params_.from and known.xid == top; });
  return made == log_.transactions.rend() ? nullptr : &*made;
}

/// Its local transaction, begun with its first row.
HandedOn::Local& HandedOn::local_of(Xid top) {
  const auto [found, begins] = open_.try_emplace(top);
  Local& local = found->second;
  if (not begins)
    return local;
  local.xid = state_.xids.next();
  local.index = log_.transactions.size();
  TransactionRecord record;
  if (const TransactionRecord* made = made_as(top))
    record.name = made->name;
  record.server = params_.server;
  record.xid = local.xid;
  record.begin_s = world_.now();
  record.received_by = params_.subscription;
  record.origin_server = params_.from;
  record.origin_xid = top;
  log_.transactions.push_back(std::move(record));
  return local;
}

void HandedOn::rows(Xid top, const std::vector<ChangeRun>& runs, Bytes bytes, bool savepoints) {
  if (runs.empty())
    return;
  Local& local = local_of(top);
  const Rows all = rows_of(runs);
  Rows done = 0;
  Bytes written = 0;
  for (const ChangeRun& run : runs) {
    Xid xid = local.xid;
    if (savepoints and run.xid != top) {
      Xid& sub = local.subtransactions[run.xid];
      if (not sub.valid())
        sub = state_.xids.next();
      xid = sub;
    }
    done += run.rows.count;
    const Bytes up_to = static_cast<Bytes>(static_cast<double>(bytes) * static_cast<double>(done) /
                                           static_cast<double>(std::max<Rows>(1, all)));
    WalEntry entry;
    entry.top = local.xid;
    entry.xid = xid;
    entry.records = std::max<std::int64_t>(run.rows.count, (up_to - written) / typical_record_bytes);
    entry.what = RowsWritten{run.statement, run.table, run.rows};
    append(up_to - written, std::move(entry), log_.transactions[local.index]);
    written = up_to;
    local.rows[run.xid] += run.rows.count;
    log_.transactions[local.index].rows_written += run.rows.count;
  }
}

void HandedOn::undone(const AbortSubtransaction& abort) {
  const auto found = open_.find(abort.top);
  if (found == open_.end())
    return;
  Local& local = found->second;
  if (abort.subxid == abort.top) {
    roll_back(local);
    open_.erase(found);
    return;
  }
  const auto sub = local.subtransactions.find(abort.subxid);
  if (sub == local.subtransactions.end())
    return;
  TransactionRecord& record = log_.transactions[local.index];
  record.rows_rolled_back += local.rows[abort.subxid];
  state_.status.mark_aborted(sub->second);
  WalEntry entry;
  entry.top = local.xid;
  entry.xid = sub->second;
  entry.what = SubtransactionAborted{};
  append(abort_record_bytes(), std::move(entry), record);
  local.subtransactions.erase(sub);
}

void HandedOn::committed(Xid top) {
  const auto found = open_.find(top);
  if (found == open_.end())
    return; // nothing of it was for this server
  Local& local = found->second;
  TransactionRecord& record = log_.transactions[local.index];
  record.statement_end_s = record.commit_record_s = record.commit_s = world_.now();
  record.committed = true;
  if (const TransactionRecord* made = made_as(top))
    record.origin_commit_s = made->origin_commit_s >= 0 ? made->origin_commit_s : made->commit_record_s;
  WalEntry entry;
  entry.top = entry.xid = local.xid;
  entry.what = Committed{local.index, record.begin_s, false};
  append(commit_record_bytes(), std::move(entry), record);
  state_.last_commit = std::max(state_.last_commit, wal_.inserted());
  open_.erase(found);
}

void HandedOn::roll_back(Local& local) {
  TransactionRecord& record = log_.transactions[local.index];
  record.rows_rolled_back = record.rows_written;
  record.statement_end_s = record.commit_s = world_.now();
  state_.status.mark_aborted(local.xid);
  RolledBack end;
  for (const auto& [remote, own] : local.subtransactions) {
    state_.status.mark_aborted(own);
    end.released.push_back(own);
  }
  WalEntry entry;
  entry.top = entry.xid = local.xid;
  entry.what = end;
  append(abort_record_bytes(end.released.size()), std::move(entry), record);
}

void HandedOn::rolled_back() {
  for (auto& [top, local] : open_)
    roll_back(local);
  open_.clear();
}

/// The flow as it arrives here: its published rows.
HandedOn::Flow& HandedOn::flow_of(const SmallTransactions& batch) {
  Flow*& known = flows_[batch.flow.flow];
  if (known != nullptr)
    return *known;
  Flow& own = own_flows_.emplace_back();
  own.load.name = fmt::format("{} over {}", batch.flow.flow->name, params_.subscription);
  own.load.server = params_.server;
  const auto& steps = batch.flow.flow->transaction;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (const Rows rows = std::llround(batch.shape.sent[i]); rows > 0) {
      own.load.transaction.push_back(steps[i]);
      own.load.transaction.back().rows = rows;
    }
  own.index = log_.flows.size();
  own.xid = params_.add_flow_record(own.load);
  TransactionRecord& record = log_.flows[own.index];
  record.received_by = params_.subscription;
  record.origin_server = params_.from;
  record.origin_xid = batch.top;
  return *(known = &own);
}

/// Each is committed as long after its commit on the publisher as the last one is, or, where applying takes
/// longer, one after the other.
void HandedOn::flow(const SmallTransactions& batch, double begun_s, Bytes bytes) {
  Flow& own = flow_of(batch);
  if (own.load.transaction.empty())
    return;
  const double count = static_cast<double>(batch.flow.transactions);
  const double came_s = batch.flow.last_commit_s - batch.flow.first_commit_s;
  const double spread_s = std::max(came_s, (world_.now() - begun_s) * (count - 1) / count);
  FlowCommitted what;
  what.flow = &own.load;
  what.transactions = batch.flow.transactions;
  what.last_commit_s = what.last_begin_s = world_.now();
  what.first_commit_s = what.first_begin_s = std::max(0.0, world_.now() - spread_s);
  what.gathered_s = what.span_s =
      std::max(batch.flow.span_s, count > 1 ? spread_s * count / (count - 1) : world_.now() - begun_s);
  const bool handed_on = batch.flow.origin_first_s >= 0;
  what.origin_first_s = handed_on ? batch.flow.origin_first_s : batch.flow.first_commit_s;
  what.origin_last_s = handed_on ? batch.flow.origin_last_s : batch.flow.last_commit_s;
  Rows rows = 0;
  for (const StatementStep& step : own.load.transaction) {
    rows += step.rows * batch.flow.transactions;
    what.queued_bytes +=
        batch.flow.transactions * step.rows * row_shape(params_.tables->at(step.table), step).bytes();
  }
  TransactionRecord& record = log_.flows[own.index];
  record.transactions += batch.flow.transactions;
  record.rows_written += rows;
  record.commit_s = world_.now();
  WalEntry entry;
  entry.top = entry.xid = own.xid;
  entry.records = std::max<std::int64_t>(rows + batch.flow.transactions, bytes / typical_record_bytes);
  entry.what = what;
  append(bytes, std::move(entry), record);
  state_.last_commit = std::max(state_.last_commit, wal_.inserted());
}

} // namespace replisim
