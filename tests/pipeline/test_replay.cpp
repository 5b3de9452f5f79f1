// Replays: recorded transactions run in bulk or one by one, and counts are those of the record.
#include "tests/support/publisher_loads.hpp"

#include "models/replay_plan.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

ReplayLoad replay_of(std::vector<std::vector<TransactionStep>> distinct,
                     std::vector<ReplayedTransaction> transactions) {
  ReplayLoad load;
  load.name = std::string("recorded");
  load.server = std::string("pub");
  load.distinct = std::move(distinct);
  load.transactions = std::move(transactions);
  return load;
}

Scenario replaying(ReplayLoad load, const CostParameters& costs = {}) {
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  scenario.replays.push_back(std::move(load));
  return scenario;
}

} // namespace

TEST_CASE("a replay runs frequent small transactions in bulk and the others in sessions") {
  std::vector<ReplayedTransaction> transactions;
  for (int i = 0; i < 20; ++i)
    transactions.push_back({0.1 * i, 0.01, 0, false}); // small and frequent
  transactions.push_back({2, 0.5, 1, false});          // rare
  transactions.push_back({2.1, 0.1, 2, false});        // large, at the same time
  transactions.push_back({2.2, 0, 0, true});           // rolled back
  transactions.push_back({3, 1.5, 0, false});          // open for long
  const auto plan =
      plan_replay(replay_of({{insert("t", 1)}, {insert("t", 100)}, {insert("t", 101)}}, transactions));
  REQUIRE(plan.flows.size() == 1);
  CHECK(plan.flows[0].times_s.size() == 20);
  CHECK(plan.flows[0].times_s.front() == Approx(0.01)); // the commit counts
  CHECK(peak_rate_per_s(plan.flows[0]) == 11);          // within a second, both ends included
  CHECK(plan.sessions == std::vector<std::vector<std::size_t>>{{20}, {21, 22, 23}});
}

TEST_CASE("a replay commits what the record says, no more and no less") {
  std::vector<ReplayedTransaction> transactions;
  for (int i = 0; i < 1000; ++i)
    transactions.push_back({0.005 * i, 0.002, 0, false});
  transactions.push_back({5, 2, 1, false});
  transactions.push_back({7.5, 0.1, 0, true});
  const std::vector<TransactionStep> savepoints = {insert("t", 5000), SavepointStep{"a"},
                                                   insert("t", 3000), RollbackToStep{"a"},
                                                   ReleaseStep{"a"},  insert("t", 2000)};
  const RunResult result = run(replaying(replay_of({{insert("t", 3)}, savepoints}, transactions)));
  CHECK(result.metrics.at("committed_transactions") == 1001);
  CHECK(result.metrics.at("committed_changes") == 3 * 1000 + 7000);
  const Metrics& slot = result.subscriptions.at("s");
  CHECK(slot.at("total_txns") == 1001);
  CHECK(slot.at("total_bytes") == (3 * 1000 + 7000) * 144);
  REQUIRE(result.transactions.size() == 2);
  CHECK(result.transactions[0].rows == 10'000);
  CHECK(result.transactions[0].rows_applied == 7000);
  CHECK(result.transactions[1].rows_applied == 0);
}

TEST_CASE("a replayed transaction lasts as long as it did, its rows evenly") {
  const auto load = replay_of({{insert("t", 10'000)}}, {{1, 4, 0, false}});
  const RunResult result = run(replaying(load));
  CHECK(result.transactions.at(0).begin_s == Approx(1));
  CHECK(result.transactions.at(0).statement_end_s == Approx(5));
  Scenario watched = replaying(load);
  const RunResult halfway = run_with_timeline(until(watched, 3.5, 0.5));
  CHECK(value_at(halfway, "reorder_buffer_bytes", 3) == Approx(5000 * 144).epsilon(0.01));

  // A machine that needs longer is late; it is not held up besides.
  CostParameters slow;
  slow.backend_insert_row_s = 1 * ms;
  CHECK(run(replaying(load, slow)).transactions.at(0).statement_end_s == Approx(11));
}

TEST_CASE("what is done after a release belongs to the transaction again") {
  Scenario scenario = cluster({}, Streaming::Off, "64kB");
  with_batch(scenario, {SavepointStep{"a"}, insert("t", 100), ReleaseStep{"a"}, insert("t", 500)});
  const Metrics slot = run(scenario).subscriptions.at("s");
  // 456 rows of 144 bytes reach 65,536: the transaction with its 356 rows is the larger of the two, and its
  // subtransaction goes first. Then its last 144 rows at the commit. All in one subtransaction, it would be
  // 1 in 2 passes.
  CHECK(slot.at("spill_txns") == 2);
  CHECK(slot.at("spill_count") == 3);
  CHECK(slot.at("spill_bytes") == 600 * 144);
}
