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

void check_slot(const std::string& name, const Scenario& scenario, const Pipeline& pipeline,
                const Publication& publication, bool from_the_start) {
  const SlotSide& side = pipeline.slots().at(name);
  const RunLog& log = pipeline.log();
  const SubscriptionRecord& record = log.subscriptions.at(name);
  const auto subscription = scenario.subscriptions.find(name);
  const bool own_only =
      subscription != scenario.subscriptions.end() and subscription->second.own_changes_only;
  for (const auto& transaction : log.transactions) {
    if (own_only and not transaction.received_by.empty())
      continue;
    if (not transaction.committed or transaction.server != side.publisher or not from_the_start or
        transaction.rows_written == 0)
      continue;
    const auto found = record.deliveries.find(transaction.xid);
    REPLISIM_REQUIRE(found != record.deliveries.end() and found->second.applied_s >= 0,
                     "slot {} is past the last commit, and transaction {} has not been applied", name,
                     transaction.name);
  }
  const Rows none = -1;
  for (const auto& flow : log.flows) {
    const auto found = record.deliveries.find(flow.xid);
    const Rows each = flow.server == side.publisher ? sent_of_each(scenario, publication, flow.name) : none;
    if (each == none or found == record.deliveries.end())
      continue;
    const Rows expected = each * flow.transactions;
    const Rows taken = found->second.applied + found->second.left_out;
    REPLISIM_REQUIRE(
        from_the_start ? taken == expected : taken <= expected,
        "slot {} is past the last commit, and of the {} rows that flow {} has for it {} have arrived", name,
        expected, flow.name, taken);
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

void check_completeness(const Scenario& scenario, const Pipeline& pipeline) {
  for (const auto& [name, side] : pipeline.slots()) {
    const auto& state = pipeline.publishers().at(side.publisher).state;
    const bool over = state.busy_loads == 0 and not side.slot->lost() and
                      not(side.leader != nullptr and side.leader->disabled()) and
                      pipeline.log().subscriptions.at(name).replay_lsn >= state.last_commit;
    if (not over)
      continue;
    if (side.handed_on != nullptr)
      check_handed_on(pipeline.log(), name);
    const auto subscription = scenario.subscriptions.find(name);
    const bool subscribes = subscription != scenario.subscriptions.end();
    const std::string& publication =
        subscribes ? subscription->second.publication : scenario.consumers.at(name).publication;
    check_slot(name, scenario, pipeline, scenario.publications.at(publication),
               not subscribes or not subscription->second.initial_sync);
  }
}

} // namespace replisim
