// Initial synchronisation: copies that can be worked out by hand, workers and slots, the leader meanwhile,
// copies that never end.
#include "models/initial_sync.hpp"
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr double mebibyte = 1024.0 * 1024;
/// A row of uuid_table: 185 on a page of 8 kB.
constexpr double heap_row = 8192.0 / 185;
constexpr double start_s = 0.01; ///< of a worker

/// A million rows at 10 MB/s each: 4.223 s.
constexpr Rows million = 1'000'000;
const double copy_s = million * heap_row / (10 * mebibyte);

Scenario syncing(const std::vector<std::string>& tables = {"t"}, double rate = 10 * mebibyte) {
  CostParameters costs;
  costs.worker_start_s = start_s;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  scenario.tables.clear();
  for (const std::string& table : tables)
    scenario.tables[table] = uuid_table(table, million);
  scenario.publications["p"] = publication_of("p", tables);
  scenario.subscriptions.at("s").initial_sync = InitialSyncPlan{0, true, rate};
  set(scenario.servers.at("sub"), "fsync", "off");
  return scenario;
}

const TableSyncResult& sync_of(const RunResult& result, const std::string& table = "t") {
  for (const TableSyncResult& found : result.upheaval.tables)
    if (found.table == table)
      return found;
  FAIL("no table " << table);
  return result.upheaval.tables.front();
}

std::string words(const RunResult& result) { return result.upheaval.sync_words.at("s"); }

} // namespace

TEST_CASE("a table's sync takes size over rate and the start of its worker") {
  const auto result = run(syncing());
  const auto& table = sync_of(result);
  CHECK(table.state == "ready");
  CHECK(table.attempts == 1);
  CHECK(table.rows == million);
  CHECK(static_cast<double>(table.bytes) == Approx(million * heap_row));
  CHECK(table.launched_s == 0);
  CHECK(table.snapshot_s == Approx(start_s));
  CHECK(table.copied_s == Approx(start_s + copy_s).epsilon(0.003));
  CHECK(table.ready_s == table.copied_s);
  CHECK(result.subscriptions.at("s").at("time_to_ready_s") == table.ready_s);
  CHECK_THAT(words(result), Catch::StartsWith("1 table is READY 4.2 s after CREATE SUBSCRIPTION"));
}

TEST_CASE("over a link a copy also takes the round trips of two commands, and its slowest part") {
  Scenario scenario = syncing();
  with_link(scenario, 0.1, 2 * mebibyte);
  const auto table = sync_of(run(scenario));
  // The text of a uuid, a newline and the header of a CopyData message.
  const double wire_s = million * (36.0 + 1 + 5) / (2 * mebibyte);
  CHECK(copy_s < wire_s);
  CHECK(table.launched_s == Approx(0.2)); // CREATE SUBSCRIPTION's slot
  CHECK(table.snapshot_s == Approx(0.2 + start_s + 0.2));
  CHECK(table.copied_s - table.snapshot_s == Approx(0.1 + wire_s + 0.1).epsilon(0.01));
}

TEST_CASE("without a stated rate the profile's costs set it") {
  Scenario scenario = syncing({"t"}, 0);
  scenario.profile.costs.apply_insert_row_s = 9 * us;
  scenario.profile.costs.apply_delete_row_s = 9 * us;
  scenario.profile.costs.apply_row_overhead_s = 3 * us;
  const auto slow_subscriber = sync_of(run(scenario));
  CHECK(slow_subscriber.copied_s - slow_subscriber.snapshot_s == Approx(6.0).epsilon(0.003));
  scenario.profile.costs.send_column_s = 8 * us;
  const auto slow_publisher = sync_of(run(scenario));
  CHECK(slow_publisher.copied_s - slow_publisher.snapshot_s == Approx(8.0).epsilon(0.005));
}

TEST_CASE("max_sync_workers_per_subscription tables are copied at a time, and a huge one dominates") {
  Scenario scenario = syncing({"a", "b", "c"});
  const auto result = run(scenario);
  const double one_s = start_s + copy_s;
  CHECK(sync_of(result, "a").ready_s == Approx(one_s).epsilon(0.003));
  CHECK(sync_of(result, "b").ready_s == Approx(one_s).epsilon(0.003));
  CHECK(sync_of(result, "c").launched_s == Approx(one_s).epsilon(0.003));
  CHECK(sync_of(result, "c").ready_s == Approx(2 * one_s).epsilon(0.003));
  CHECK_THAT(words(result), not Catch::Contains("dominates"));
  set(scenario.servers.at("sub"), "max_sync_workers_per_subscription", "3");
  CHECK(sync_of(run(scenario), "c").ready_s == Approx(one_s).epsilon(0.003));
  scenario.tables.at("b").initial_rows = 10 * million;
  const auto huge = run(scenario);
  CHECK_THAT(words(huge), Catch::Contains("one huge table dominates: copying b takes 42.2 s"));
}

TEST_CASE("a slot waits for transactions in progress, and then for those that began meanwhile") {
  Scenario scenario = syncing();
  scenario.subscriptions.at("s").initial_sync->created_s = 1;
  with_batch(scenario, {insert("t", 1), PauseStep{5}, insert("t", 1)}, "a", 0);
  with_batch(scenario, {insert("t", 1), PauseStep{6}, insert("t", 1)}, "b", 2);
  with_batch(scenario, {insert("t", 1), PauseStep{30}, insert("t", 1)}, "c", 6);
  const auto result = run(scenario);
  // Created at 1 s, a ends at 5 s, b, which ran then, at 8 s; c is decoded from its beginning.
  CHECK(sync_of(result).launched_s == Approx(8).epsilon(1e-3));
  // The table's own slot waits for c, which runs when it is created.
  CHECK(sync_of(result).snapshot_s == Approx(36).epsilon(1e-3));
  CHECK(sync_of(result).rows == million + 6);
}

TEST_CASE("changes that come while a table is copied are applied once, by its worker or by the leader") {
  Scenario scenario = syncing({"t", "u"});
  scenario.profile.costs = typical_costs();
  scenario.flows = {flow_of(1000, 20)};
  scenario.flows.front().transaction = {insert("t", 1), insert("u", 2)};
  with_batch(scenario, {insert("t", 20'000), SavepointStep{"x"}, insert("u", 5'000), RollbackToStep{"x"}},
             "b", 2);
  for (const Streaming streaming : {Streaming::Off, Streaming::On, Streaming::Parallel}) {
    scenario.subscriptions.at("s").streaming = streaming;
    const auto result = run(scenario); // simulate() counts who has applied what, and throws
    CHECK(sync_of(result, "t").state == "ready");
    CHECK(sync_of(result, "u").state == "ready");
    CHECK(sync_of(result, "t").catchup_s >= sync_of(result, "t").copied_s);
    CHECK(sync_of(result, "t").done_s > sync_of(result, "t").catchup_s);
    CHECK(result.metrics.at("lag_bytes") == 0);
  }
}

TEST_CASE("rows that a table-sync worker catches up with are locked by a transaction like any other") {
  Scenario scenario = syncing();
  scenario.profile.costs = typical_costs();
  with_batch(scenario, {insert("t", 50'000)}, "b", 1); // while the table is copied, 4.2 s
  until(scenario, 8, 0.01); // often enough that a look falls into the catching up, 0.3 s
  const auto result = run(scenario);
  CHECK(sync_of(result).state == "ready");
  CHECK(sync_of(result).done_s > sync_of(result).catchup_s);
}

TEST_CASE("a copy that statement_timeout cancels is begun again and leaves dead rows, for ever") {
  Scenario scenario = syncing();
  set(scenario.servers.at("pub"), "statement_timeout", "2s");
  until(scenario, 28);
  const auto result = run(scenario);
  const auto& table = sync_of(result);
  CHECK(table.state != "ready");
  CHECK(table.attempts == 6); // at 0, 5, ... 25 s: wal_retrieve_retry_interval apart
  CHECK(static_cast<double>(table.bloat_bytes) == Approx(6 * 2 * 10 * mebibyte).epsilon(0.01));
  CHECK(table.failure == "canceling statement due to statement timeout");
  CHECK_THAT(words(result), Catch::Contains("t never finishes") and Catch::Contains("6 attempts"));
  CHECK(result.subscriptions.at("s").at("sync_bloat_bytes") == static_cast<double>(table.bloat_bytes));

  scenario.observe.until_s = 0;
  const auto given_up = run(scenario);
  CHECK(sync_of(given_up).attempts == 20);
  CHECK(given_up.outcomes.back().kind == "not_caught_up");
}

TEST_CASE("without copy_data the tables are READY at once") {
  Scenario scenario = syncing();
  scenario.subscriptions.at("s").initial_sync->copies = false;
  scenario.subscriptions.at("s").initial_sync->created_s = 3;
  const auto result = run(scenario);
  CHECK(sync_of(result).ready_s == Approx(3));
  CHECK(sync_of(result).attempts == 0);
}

TEST_CASE("applications wait at a cut-over for what lies between the publisher and its subscriber") {
  // 2 ms to apply a row, 400 come a second: 1 s behind after a batch of 500 rows at the moment of the
  // cut-over.
  Scenario scenario = syncing({"t"}, 100 * mebibyte);
  scenario.profile.costs.apply_insert_row_s = 2 * ms;
  scenario.profile.costs.apply_delete_row_s = 2 * ms;
  scenario.flows = {flow_of(100)};
  with_batch(scenario, {insert("t", 500)}, "b", 10);
  Event event;
  event.kind = Event::Kind::CutOver;
  event.server = std::string("pub");
  event.at_s = 10.001;
  scenario.events = {event};
  const auto result = run(scenario);
  CHECK(result.metrics.at("write_freeze_s") == Approx(1).epsilon(0.05));
  CHECK(result.simulated_s == Approx(11).epsilon(0.01));
  scenario.events.front().when_ready = true;
  scenario.batches.clear();
  const auto when_ready = run(scenario);
  CHECK(when_ready.metrics.at("write_freeze_s") < 0.1);
  CHECK(when_ready.simulated_s < 3);
}

TEST_CASE("trap 18: initial sync is not independent of the rest") {
  // An unpublished table's changes: 10 us each to decode.
  Scenario scenario = syncing({"t", "u", "v"});
  scenario.profile.costs.decode_change_s = 10 * us;
  scenario.profile.costs.apply_insert_row_s = 5 * us;
  scenario.profile.costs.apply_delete_row_s = 5 * us;
  scenario.tables["x"] = uuid_table("x");
  scenario.tables.at("u").initial_rows = scenario.tables.at("v").initial_rows = 0;
  set(scenario.servers.at("sub"), "max_sync_workers_per_subscription", "3");
  scenario.flows = {flow_of(1000, 20, "x")};
  scenario.flows.front().transaction.front().rows = 20;

  SECTION("each table adds a decoder of all WAL from its slot on") {
    const auto result = run(scenario);
    const auto& table = sync_of(result);
    // 20,000 changes a second from t's snapshot to its end, decoded by its worker's walsender, too.
    const double decoded_s = table.done_s - table.snapshot_s;
    CHECK(result.metrics.at("cpu_pub.table_sync_walsender_s") ==
          Approx(decoded_s * 20'000 * 10 * us).epsilon(0.1));
    CHECK(result.metrics.at("cpu_pub.walsender_s") == Approx(20 * 20'000 * 10 * us).epsilon(0.05));
  }
  SECTION("the leader stands still while a worker catches up") {
    // At 4.3 s t is copied; its worker needs a fifth of a second for each second of WAL, and the first commit
    // behind the leader's position that it hears of is the one at 4.4 s.
    with_batch(scenario, {insert("u", 1)}, "small", 4.4);
    const auto result = run(scenario);
    const auto& table = sync_of(result);
    REQUIRE(table.catchup_s < 4.4);
    REQUIRE(table.done_s > 4.8);
    CHECK(table.done_s - table.catchup_s == Approx(0.2 * 4.4).epsilon(0.02));
    CHECK(result.transactions.front().applied_s == Approx(table.done_s).epsilon(0.01));
  }
  SECTION("no parallel apply worker starts until all are READY") {
    scenario.flows.clear();
    scenario.subscriptions.at("s").streaming = Streaming::Parallel;
    set(scenario.servers.at("pub"), "logical_decoding_work_mem", "64kB");
    with_batch(scenario, {insert("u", 5000)}, "early", 1);
    const auto early = run(scenario);
    CHECK(early.metrics.at("peak_sub_tmp_file_bytes") > 0);
    CHECK(not early.stages.contains("sub.parallel_apply_worker"));
    scenario.batches.front().at_s = 6;
    const auto late = run(scenario);
    CHECK(late.metrics.at("peak_sub_tmp_file_bytes") == 0);
    CHECK(late.stages.contains("sub.parallel_apply_worker"));
  }
}

TEST_CASE("a backlog goes at the difference of capacity and rate, or never") {
  CHECK(catch_up_seconds(1000, 10, 30).value() == Approx(50));
  CHECK(catch_up_seconds(0, 10, 5).value() == 0);
  CHECK_FALSE(catch_up_seconds(1000, 10, 10).has_value());
  // 100 us to apply a row: 10,000 a second; 9,000 come, and later 11,000.
  Scenario scenario = syncing();
  scenario.profile.costs.apply_insert_row_s = 100 * us;
  scenario.profile.costs.apply_delete_row_s = 100 * us;
  scenario.flows = {flow_of(7'500)};
  until(scenario, 60);
  const auto result = run(scenario);
  const auto& table = sync_of(result);
  const double backlog = 7'500 * (table.copied_s - table.snapshot_s);
  CHECK(table.done_s - table.catchup_s == Approx(backlog / 10'000).epsilon(0.05));
  CHECK_THAT(words(result), not Catch::Contains("never"));
  scenario.flows = {flow_of(11'000)};
  const auto never = run(scenario);
  CHECK(sync_of(never).state == "ready");
  CHECK_THAT(words(never), Catch::Contains("it never catches up: capacity is below the rate"));
}
