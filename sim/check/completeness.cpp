#include "sim/check/completeness.hpp"

#include "models/base/check.hpp"

#include <algorithm>

namespace replisim {

PublisherOf publishers_by_slot(const Pipeline& pipeline) {
  PublisherOf out;
  for (const auto* slots : {&pipeline.slots(), &pipeline.sync_slots()})
    for (const auto& [name, side] : *slots)
      out[name] = side.publisher;
  return out;
}

namespace {

/// Rows of one transaction of a flow that a publication sends; -1 where that is no whole number, or not
/// known.
Rows sent_of_each(const Scenario& scenario, const Publication& publication, const std::string& flow_name) {
  const auto flow = std::find_if(scenario.flows.begin(), scenario.flows.end(),
                                 [&](const FlowLoad& load) { return load.name == flow_name; });
  if (flow == scenario.flows.end() or not publication.row_filters.empty())
    return -1;
  Rows rows = 0;
  for (const StatementStep& step : flow->transaction) {
    const auto& tables = publication.tables;
    const bool sends = step.operation == Operation::Insert   ? publication.inserts
                       : step.operation == Operation::Update ? publication.updates
                                                             : publication.deletes;
    if (sends and std::find(tables.begin(), tables.end(), step.table) != tables.end())
      rows += step.rows;
  }
  return rows;
}

void check_deliveries(const Scenario& scenario, const RunLog& log, const SlotAtEnd& slot) {
  const SubscriptionRecord& record = log.subscriptions.at(slot.name);
  for (const auto& transaction : log.transactions) {
    if (slot.own_changes_only and not transaction.received_by.empty())
      continue;
    if (not transaction.committed or transaction.server != slot.publisher or not slot.from_the_start or
        transaction.rows_written == 0)
      continue;
    const auto found = record.deliveries.find(transaction.xid);
    REPLISIM_REQUIRE(found != record.deliveries.end() and found->second.applied_s >= 0,
                     "slot {} is past the last commit, and transaction {} has not been applied", slot.name,
                     transaction.name);
  }
  const Rows none = -1;
  for (const auto& flow : log.flows) {
    const auto found = record.deliveries.find(flow.xid);
    const Rows each =
        flow.server == slot.publisher ? sent_of_each(scenario, *slot.publication, flow.name) : none;
    if (each == none or found == record.deliveries.end())
      continue;
    const Rows expected = each * flow.transactions;
    const Rows taken = found->second.applied + found->second.left_out;
    REPLISIM_REQUIRE(
        slot.from_the_start ? taken == expected : taken <= expected,
        "slot {} is past the last commit, and of the {} rows that flow {} has for it {} have arrived",
        slot.name, expected, flow.name, taken);
  }
}

/// What a server hands on is what was applied there, across every hop.
void check_handed_on(const RunLog& log, const std::string& name) {
  const SubscriptionRecord& received = log.subscriptions.at(name);
  const auto check = [&](const TransactionRecord& record, Rows handed_on) {
    const auto found = received.deliveries.find(record.origin_xid);
    const Rows applied = found == received.deliveries.end() ? 0 : found->second.applied;
    REPLISIM_REQUIRE(handed_on == applied, "{} hands on {} rows of {}, of which {} were applied there",
                     record.server, handed_on, record.name, applied);
  };
  for (const auto& transaction : log.transactions)
    if (transaction.received_by == name and transaction.committed)
      check(transaction, transaction.rows_written - transaction.rows_rolled_back);
  for (const auto& flow : log.flows)
    if (flow.received_by == name)
      check(flow, flow.rows_written);
}

} // namespace

void check_complete(const Scenario& scenario, const RunLog& log, const SlotAtEnd& slot) {
  const bool over = slot.busy_loads == 0 and not slot.lost and not slot.disabled and
                    log.subscriptions.at(slot.name).replay_lsn >= slot.last_commit;
  if (not over)
    return;
  if (slot.hands_on)
    check_handed_on(log, slot.name);
  check_deliveries(scenario, log, slot);
}

void check_completeness(const Scenario& scenario, const Pipeline& pipeline) {
  for (const auto& [name, side] : pipeline.slots()) {
    const auto& state = pipeline.publishers().at(side.publisher).state;
    const auto subscription = scenario.subscriptions.find(name);
    const bool subscribes = subscription != scenario.subscriptions.end();
    const std::string& publication =
        subscribes ? subscription->second.publication : scenario.consumers.at(name).publication;
    SlotAtEnd slot{name, side.publisher, &scenario.publications.at(publication)};
    slot.busy_loads = state.busy_loads;
    slot.last_commit = state.last_commit;
    slot.lost = side.slot->lost();
    slot.disabled = side.leader != nullptr and side.leader->disabled();
    slot.from_the_start = not subscribes or not subscription->second.initial_sync;
    slot.own_changes_only = subscribes and subscription->second.own_changes_only;
    slot.hands_on = side.handed_on != nullptr;
    check_complete(scenario, pipeline.log(), slot);
  }
}

} // namespace replisim
