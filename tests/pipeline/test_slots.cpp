// Slots over time: which WAL they keep, when a checkpoint takes them away, and disks that fill meanwhile.
#include "models/wal_retention.hpp"
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr double segment = 16.0 * 1024 * 1024;
constexpr double never = 1e9;

/// WAL of other databases at a rate, read by the subscription `s` alone.
Scenario writing(double bytes_per_s, double until_s) {
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  scenario.other_wal = {other_wal_of(bytes_per_s)};
  return until(scenario, until_s);
}

Consumer absent(const std::string& name) {
  Consumer consumer = consumer_of(name);
  consumer.connected_from_s = never;
  return consumer;
}

const Metrics& slot_of(const RunResult& result, const std::string& name = "s") {
  return result.subscriptions.at(name);
}

/// One slot that nobody reads, 1.1 segments of WAL a second. A checkpoint starts at the first full second
/// at which 5 segments (160 MB / 1.9) have gathered and takes 0.9 times what it was in coming.
Scenario abandoned(const std::string& keep_size, double until_s) {
  Scenario scenario = writing(1.1 * segment, until_s);
  with_consumer(scenario, absent("c"));
  set(scenario.servers.at("pub"), "max_wal_size", "160MB");
  set(scenario.servers.at("pub"), "max_slot_wal_keep_size", keep_size);
  return scenario;
}

} // namespace

TEST_CASE("a slot is lost at the end of a checkpoint, not when the limit is passed") {
  // Started at 5 s, ended at 9.5 s: 10.45 segments are there, 8 are kept. The limit is passed at 7.3 s.
  const auto result = run(abandoned("128MB", 20));
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].kind == "slot_lost");
  CHECK(result.outcomes[0].subject == "c");
  CHECK(result.outcomes[0].t_s == Approx(9.5));
  CHECK_THAT(result.outcomes[0].text,
             Catch::Contains("slot c is lost") and Catch::Contains("more than max_slot_wal_keep_size"));
  CHECK_THAT(result.verdicts.at("c").text, Catch::StartsWith("lost: "));
  CHECK(slot_of(result, "c").at("retained_wal_bytes") == 0);
  CHECK(result.simulated_s == 20);
}

TEST_CASE("a slot within the limit at one checkpoint may be lost at a later one") {
  // At 9.5 s 10.45 segments of 16, at 15.45 s 16.995: in the same segment as the limit. At 21.805 s it is
  // over.
  const auto result = run(abandoned("256MB", 30));
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].t_s == Approx(21.805));
  CHECK(run(abandoned("-1", 30)).outcomes.empty());
}

TEST_CASE("a run without an end date ends although a slot is lost") {
  Scenario scenario = abandoned("128MB", 0);
  scenario.other_wal[0].until_s = 30;
  with_batch(scenario, {insert("t", 10)}, "batch", 1);
  const auto result = run(scenario);
  CHECK(result.outcomes.size() == 1);
  CHECK(result.transactions.front().rows_applied == 0);
}

TEST_CASE("a connected client that cannot keep up loses its slot too, and its walsender ends") {
  CostParameters costs;
  costs.wal_read_byte_s = 10 / segment; // 10 s a segment
  Scenario scenario = writing(1.1 * segment, 30);
  scenario.profile.costs = costs;
  set(scenario.servers.at("pub"), "max_wal_size", "160MB");
  set(scenario.servers.at("pub"), "max_slot_wal_keep_size", "128MB");
  const auto result = run(scenario);
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].subject == "s");
  CHECK(result.outcomes[0].t_s == Approx(9.5));
  CHECK(result.metrics.at("cpu_pub.walsender_s") < 10);
}

TEST_CASE("a slot lost in the middle of a transaction: what was under way stays unapplied") {
  for (const Streaming streaming : {Streaming::Off, Streaming::On, Streaming::Parallel}) {
    INFO(to_string(streaming));
    CostParameters costs;
    costs.apply_insert_row_s = 10 * ms;
    costs.send_change_s = 0.1 * ms;
    Scenario scenario = cluster(costs, streaming);
    scenario.other_wal = {other_wal_of(1.1 * segment)};
    set(scenario.servers.at("pub"), "max_wal_size", "160MB");
    set(scenario.servers.at("pub"), "max_slot_wal_keep_size", "128MB");
    with_batch(scenario, {insert("t", 3000)}); // 30 s to apply
    const auto result = run(until(scenario, 40));
    REQUIRE(result.outcomes.size() == 1);
    CHECK(result.outcomes[0].t_s == Approx(9.5));
    if (streaming == Streaming::Off) { // what the worker had in hand is rolled back
      CHECK(result.transactions.front().rows_applied < 3000);
      CHECK(result.transactions.front().applied_s == 0);
    } else { // the others had all of it by then, with its commit
      CHECK(result.transactions.front().rows_applied > 900);
    }
  }
}

TEST_CASE("idle_replication_slot_timeout takes an unused slot at the next checkpoint") {
  Scenario scenario = abandoned("-1", 30);
  scenario.servers.at("pub").version = {18, 0};
  set(scenario.servers.at("pub"), "idle_replication_slot_timeout", "12s");
  const auto result = run(scenario);
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].t_s == Approx(15.45)); // the second checkpoint
  CHECK_THAT(result.outcomes[0].text, Catch::Contains("idle_replication_slot_timeout"));
}

TEST_CASE("a full disk ends the run with an outcome") {
  Scenario scenario = writing(10e6, 60);
  with_consumer(scenario, absent("c"));
  auto& disk = scenario.hosts.at("db").disks.front();
  disk.name = std::string("wal");
  disk.capacity_bytes = 80'000'000 - 1000;
  disk.used_bytes = 30'000'000;
  const auto result = run(scenario); // full at 50 MB less 1 kB
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].kind == "disk_full");
  CHECK(result.outcomes[0].subject == "wal");
  CHECK(result.outcomes[0].t_s == Approx(5));
  CHECK_THAT(result.outcomes[0].text, Catch::Contains("disk wal of pub is full"));
  CHECK(result.simulated_s == Approx(5));
}

TEST_CASE("a slot that moves frees WAL at checkpoints, and the disk does not fill") {
  Scenario scenario = writing(1.1 * segment, 120);
  set(scenario.servers.at("pub"), "max_wal_size", "160MB");
  scenario.hosts.at("db").disks.front().capacity_bytes = 1'000'000'000; // 2.2 GB are written
  CHECK(run(scenario).outcomes.empty());
  with_consumer(scenario, absent("c"));
  CHECK(run(scenario).outcomes.size() == 1);
}

TEST_CASE("spill files fill the disk that holds the data directory") {
  CostParameters costs;
  costs.backend_insert_row_s = 10 * us;
  Scenario scenario = cluster(costs, Streaming::Off);
  auto& disks = scenario.hosts.at("db").disks;
  disks.push_back(disks.front());
  disks[0].name = std::string("wal");
  disks[1].name = std::string("data");
  disks[1].capacity_bytes = 5'000'000; // a row takes 152 bytes in a file: 32,895 rows
  scenario.servers.at("pub").data_disk = std::string("data");
  with_batch(scenario, {insert("t", 100'000)});
  const auto result = run(scenario);
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].subject == "data");
  CHECK(result.outcomes[0].t_s == Approx(0.329).margin(0.015)); // the WAL writer looks every 9 ms
  scenario.servers.at("pub").data_disk = std::string("wal");
  CHECK(run(scenario).outcomes.empty());
}

TEST_CASE("WAL of other databases is kept where keepalives are not confirmed") {
  // 400 MB in 40 s; running-xacts records at 15 s and 30 s.
  Scenario scenario = writing(10e6, 40);
  Consumer consumer = consumer_of("c");
  with_consumer(scenario, consumer);
  const auto confirming = run(scenario);
  CHECK(slot_of(confirming, "c").at("retained_wal_bytes") == Approx(100e6).epsilon(0.01));
  CHECK(slot_of(confirming, "c").at("confirmed_flush_lsn") == Approx(400e6).epsilon(0.01));
  consumer.confirms_keepalives = false;
  with_consumer(scenario, consumer);
  const auto silent = run(scenario);
  CHECK(slot_of(silent, "c").at("restart_lsn") == 0);
  CHECK(slot_of(silent, "c").at("confirmed_flush_lsn") == 0);
  CHECK(slot_of(silent, "c").at("retained_wal_bytes") == Approx(400e6).epsilon(0.01));
}

TEST_CASE("of two slots the one farther behind decides what is kept") {
  Scenario scenario = writing(10e6, 40);
  scenario.consumers["c"] = absent("c");
  const auto result = run(scenario);
  CHECK(slot_of(result, "c").at("retained_wal_bytes") == Approx(400e6).epsilon(0.01));
  CHECK(slot_of(result, "s").at("retained_wal_bytes") == Approx(100e6).epsilon(0.01));
  CHECK(result.metrics.at("retained_wal_bytes") == slot_of(result, "c").at("retained_wal_bytes"));
}

TEST_CASE("WAL there at the start lies behind every slot") {
  Scenario scenario = writing(1e6, 10);
  scenario.servers.at("pub").initial_retained_wal_bytes = 50'000'000;
  with_consumer(scenario, absent("c"));
  CHECK(slot_of(run(scenario), "c").at("retained_wal_bytes") == Approx(60e6).epsilon(0.001));
}

TEST_CASE("trap 10: restart_lsn moves in steps of 15 s, confirmed_flush_lsn all the time") {
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  scenario.flows = {flow_of(100)};
  const auto result = run_with_timeline(until(scenario, 100));
  const Numbers restart = column(result, "restart_lsn"), confirmed = column(result, "confirmed_flush_lsn");
  int restart_steps = 0, confirmed_steps = 0;
  for (std::size_t i = 1; i < restart.size(); ++i) {
    CHECK(restart[i] >= restart[i - 1]);
    restart_steps += restart[i] > restart[i - 1] ? 1 : 0;
    confirmed_steps += confirmed[i] > confirmed[i - 1] ? 1 : 0;
  }
  CHECK(restart_steps == 6); // running-xacts records at 15, 30, ... 90 s
  CHECK(confirmed_steps > 90);
}

TEST_CASE("trap 10: one idle transaction pins restart_lsn, whatever is confirmed") {
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  scenario.flows = {flow_of(100)};
  with_batch(scenario, {insert("t", 1), PauseStep{70}}, "idle", 20);
  const auto result = run_with_timeline(until(scenario, 125));
  // Decoding would have to start at the record of 15 s, before the transaction's first.
  const double at_15_s = value_at(result, "wal_lsn", 15);
  CHECK(value_at(result, "restart_lsn", 29) == Approx(at_15_s).epsilon(0.01));
  CHECK(value_at(result, "restart_lsn", 89) == value_at(result, "restart_lsn", 29));
  CHECK(value_at(result, "confirmed_flush_lsn", 89) > 0.98 * value_at(result, "wal_lsn", 89));
  CHECK(value_at(result, "retained_wal_bytes", 89) ==
        Approx(value_at(result, "wal_lsn", 89) - at_15_s).epsilon(0.01));
  // It commits at 90 s; the next record lets go.
  CHECK(value_at(result, "restart_lsn", 124) > 0.9 * value_at(result, "wal_lsn", 105));
}

TEST_CASE("trap 10: WAL behind restart_lsn is freed at checkpoints only") {
  Scenario scenario = writing(1.1 * segment, 60);
  scenario.hosts.at("db").disks.front().capacity_bytes = static_cast<Bytes>(40 * segment);
  // Every 300 s and 1 GB (33 segments, at 30 s): its end lies 27 s later, at 57 s. Full before, at 36 s.
  const auto rare = run(scenario);
  REQUIRE(rare.outcomes.size() == 1);
  CHECK(rare.outcomes[0].t_s == Approx(40 / 1.1).epsilon(0.01));
  CHECK(slot_of(rare).at("restart_lsn") > 30 * segment); // and yet
}
