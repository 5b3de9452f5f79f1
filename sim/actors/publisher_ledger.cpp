#include "sim/actors/publisher_ledger.hpp"

#include <algorithm>

namespace replisim {

namespace {
Rows growth_of(Operation operation, Rows rows) {
  if (operation == Operation::Update)
    return 0;
  return operation == Operation::Insert ? rows : -rows;
}
} // namespace

void PublisherLedger::observe(const WalEntry& entry) {
  const auto add = [](Sums& sums, const StatementStep& statement, Rows rows) {
    Sum& sum = sums[statement.table];
    sum.changes += rows;
    sum.growth += growth_of(statement.operation, rows);
  };
  if (const auto* rows = std::get_if<RowsWritten>(&entry.what)) {
    running_.insert(entry.top);
    add(open_[entry.top][entry.xid], *rows->statement, rows->rows.count);
  } else if (const auto* flow = std::get_if<FlowCommitted>(&entry.what)) {
    for (const StatementStep& statement : flow->flow->transaction)
      add(committed_, statement, statement.rows * flow->transactions);
  } else if (const auto* undone = std::get_if<SubtransactionAborted>(&entry.what)) {
    open_[entry.top].erase(entry.xid);
    for (const Xid released : undone->released)
      open_[entry.top].erase(released);
  } else if (std::holds_alternative<CatalogChanged>(entry.what)) {
    running_.insert(entry.top);
  } else if (std::holds_alternative<Committed>(entry.what)) {
    for (const auto& [xid, sums] : open_[entry.top])
      for (const auto& [table, sum] : sums) {
        committed_[table].changes += sum.changes;
        committed_[table].growth += sum.growth;
      }
    ended(entry.top);
  } else if (std::holds_alternative<RolledBack>(entry.what) or
             std::holds_alternative<CatalogCommitted>(entry.what)) {
    ended(entry.top);
  }
}

void PublisherLedger::ended(Xid top) {
  open_.erase(top);
  if (running_.erase(top) == 0)
    return;
  for (auto* signal : waiting_)
    signal->notify();
}

Rows PublisherLedger::changes(const std::string& table) const {
  const auto found = committed_.find(table);
  return found == committed_.end() ? 0 : found->second.changes;
}

Rows PublisherLedger::growth(const std::string& table) const {
  const auto found = committed_.find(table);
  return found == committed_.end() ? 0 : found->second.growth;
}

void PublisherLedger::wait_for(engine::Process& process, engine::Signal& woken, const std::set<Xid>& xids) {
  const auto any_runs = [&] {
    return std::any_of(xids.begin(), xids.end(), [this](Xid xid) { return running_.contains(xid); });
  };
  waiting_.push_back(&woken);
  while (any_runs())
    process.wait(woken, engine::Activity::Starved);
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &woken));
}

SlotStart PublisherLedger::find_start(engine::Process& process, engine::Signal& woken) {
  const std::set<Xid> at_first = running_;
  wait_for(process, woken, at_first);
  const Lsn full = wal_.inserted();
  const std::set<Xid> at_full = running_;
  wait_for(process, woken, at_full);
  return {full, wal_.inserted()};
}

} // namespace replisim
