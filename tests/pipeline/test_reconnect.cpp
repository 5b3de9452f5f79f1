// Connections that end and begin again: what is sent anew, what is not, and transactions of which nothing is
// sent at all.
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// One published row, then a transaction of 70,000 rows that nobody publishes and that comes back from its
/// spill files at 1 ms a row: 70 s in which an old walsender says nothing.
Scenario silent_for_70_s(int major) {
  CostParameters costs = typical_costs();
  costs.restore_change_s = 1 * ms;
  Scenario scenario = cluster(costs, Streaming::Off, "64kB", 16, {major, 0});
  scenario.tables["u"] = uuid_table("u");
  with_batch(scenario, {insert("t", 1)}, "a");
  with_batch(scenario, {insert("u", 70'000)}, "b", 0.5);
  with_batch(scenario, {insert("t", 3)}, "c", 1.5);
  scenario.observe.until_s = 300;
  return with_batches_of(scenario, 4096);
}

} // namespace

TEST_CASE("of a transaction without published rows nothing is sent from version 15 on") {
  for (const int major : {14, 15}) {
    Scenario scenario = cluster(typical_costs(), Streaming::Off, "64kB", 16, {major, 0});
    scenario.tables["u"] = uuid_table("u");
    with_batch(scenario, {insert("u", 10'000)});
    const auto result = run(scenario);
    // Begin and Commit: 5 bytes of frame and 25 of header each, and bodies of 21 and 26.
    CHECK(result.metrics.at("sent_bytes") == (major < 15 ? 2 * 30 + 21 + 26 : 0));
    CHECK(result.metrics.at("spill_bytes") == 10'000 * 144);
    CHECK(result.transactions.front().rows_applied == 0);
    // It is over for the subscriber when the walsender is past it and nothing before it is under way.
    CHECK(result.transactions.front().applied_s > result.transactions.front().commit_s);
    CHECK(result.metrics.at("lag_bytes") == 0);
  }
}

TEST_CASE("a transaction behind one that sends nothing carries both") {
  Scenario scenario = cluster(typical_costs(), Streaming::Off);
  scenario.tables["u"] = uuid_table("u");
  with_batch(scenario, {insert("u", 100)}, "b1");
  with_batch(scenario, {insert("t", 50'000)}, "b2");
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 2);
  for (const auto& transaction : result.transactions)
    CHECK(transaction.applied_s > 0);
}

TEST_CASE(
    "a silent walsender before version 14 loses its subscriber at wal_receiver_timeout again and again") {
  const auto result = run(silent_for_70_s(13));
  const auto& slot = result.subscriptions.at("s");
  // Silent from 0.5 s on; broken after 60 s, and 5 s later (the walsender still has its piece in hand when
  // the first attempt is made) the same begins anew: about 60.6, 125.7, 190.8 and 255.9 s.
  CHECK(slot.at("receiver_timeouts") == 4);
  CHECK(slot.at("sender_timeouts") == 0);
  CHECK(result.outcomes.front().kind == "receiver_timeout");
  // The row before it was applied once and is not sent again; the rows behind it never come.
  CHECK(result.transactions.at(0).rows_applied == 1);
  CHECK(result.transactions.at(2).rows_applied == 0);
  CHECK(slot.at("reread_bytes") >= 0);
}

TEST_CASE("from version 14 on the walsender answers meanwhile and gets past it") {
  const auto result = run(silent_for_70_s(14));
  const auto& slot = result.subscriptions.at("s");
  CHECK(slot.at("receiver_timeouts") == 0);
  CHECK(slot.at("connections") == 1);
  CHECK(result.transactions.at(2).rows_applied == 3);
  CHECK(result.transactions.at(2).applied_s == Approx(70.6).margin(0.5));
}

TEST_CASE("without wal_receiver_timeout the old walsender gets past it too") {
  Scenario scenario = silent_for_70_s(13);
  set(scenario.servers.at("sub"), "wal_receiver_timeout", "0");
  const auto result = run(scenario);
  CHECK(result.subscriptions.at("s").at("receiver_timeouts") == 0);
  CHECK(result.transactions.at(2).rows_applied == 3);
}
