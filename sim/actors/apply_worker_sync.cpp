// What an apply worker does while tables are synchronised: changes of tables that are not its own are
// received and thrown away.
#include "sim/actors/apply_worker.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

bool ApplyWorker::applies(const std::string& table, Lsn final) const {
  return params_.relations == nullptr or params_.relations->applies(table, final);
}

bool ApplyWorker::parallel_allowed() const {
  return params_.relations == nullptr or params_.relations->parallel_allowed();
}

/// should_apply_changes_for_rel: takes out of `runs` what others see to, and says how many rows that were.
Rows ApplyWorker::leave_out(std::vector<ChangeRun>& runs, Lsn final) {
  if (params_.relations == nullptr)
    return 0;
  std::vector<ChangeRun> own;
  Rows left_out = 0;
  for (auto& run : runs) {
    const std::string& table = run.statement->table;
    if (params_.relations->applies(table, final)) {
      params_.relations->applied(table, run.rows.count);
      own.push_back(std::move(run));
    } else {
      params_.relations->left_out(table, run.rows.count);
      left_out += run.rows.count;
    }
  }
  runs = std::move(own);
  return left_out;
}

/// Applying one transaction of a flow, as far as its tables are this worker's.
ApplyTime ApplyWorker::flow_time_here(const SmallTransactions& batch) {
  if (params_.relations == nullptr or params_.relations->applies_all())
    return flow_time(batch);
  const auto& steps = batch.flow.flow->transaction;
  DeliveredShape own = batch.shape;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (not applies(steps[i].table, batch.end)) {
      own.rows -= own.sent[i];
      own.sent[i] = 0;
    }
  return apply_time(*batch.flow.flow, *params_.tables, own, *params_.price);
}

/// Rows of a flow's transactions that others see to; all are counted by table.
Rows ApplyWorker::count_flow(const SmallTransactions& batch) {
  if (params_.relations == nullptr)
    return 0;
  double left_out = 0;
  const auto& steps = batch.flow.flow->transaction;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Rows rows = steps[i].rows * batch.flow.transactions;
    if (not publishes(steps[i].table))
      continue;
    if (params_.relations->applies(steps[i].table, batch.end)) {
      params_.relations->applied(steps[i].table, rows);
    } else {
      params_.relations->left_out(steps[i].table, rows);
      left_out += batch.shape.sent[i];
    }
  }
  const double share = batch.shape.rows > 0 ? left_out / batch.shape.rows : 0;
  return std::llround(share * static_cast<double>(batch.rows));
}

/// process_syncing_tables, between two transactions.
void ApplyWorker::synchronise(engine::Process& process) {
  if (params_.relations != nullptr and not in_transaction_)
    params_.relations->look(process, applied_);
}

/// Whether a transaction will be in hand after this part.
void ApplyWorker::note_transaction(const Part& part) {
  const auto* rows = std::get_if<RowChanges>(part.payload);
  if (rows != nullptr and not rows->streamed)
    in_transaction_ = true;
  else if (std::holds_alternative<SmallTransactions>(*part.payload))
    in_transaction_ = not part.last;
  else if (std::holds_alternative<BeginTransaction>(*part.payload))
    in_transaction_ = true;
  else if (std::holds_alternative<CommitTransaction>(*part.payload) or
           std::holds_alternative<PrepareTransaction>(*part.payload))
    in_transaction_ = false;
}

} // namespace replisim
