// Subscribers that retain dead tuples: how many by hand, what they cost, and when the interval counts.
#include "models/dead_versions.hpp"
#include "tests/scenario/scenario_files.hpp"
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr Rows hot_rows = 100;

/// Clients on the subscriber, each transaction an UPDATE of one of 100 rows, for `for_s`.
ClientLoad updating(int clients, double for_s, double rate_per_s = 0, double from_s = 0) {
  ClientLoad load;
  load.name = std::string("sessions");
  load.server = std::string("sub");
  load.host = std::string("db");
  load.clients = load.threads = clients;
  load.rate_per_s = rate_per_s;
  load.from_s = from_s;
  load.until_s = for_s;
  ClientScript script;
  script.statements = {{"hot", StatementStep{Operation::Update, "hot", 1, {}}, 0}};
  script.flow.name = load.name;
  script.flow.server = load.server;
  script.flow.transaction = {*script.statements.front().change};
  load.scripts = {script};
  return load;
}

/// A pair of version 19; the publisher does nothing. 400 us of backend and 100 us of client program a
/// transaction, no flush.
Scenario retaining(const ClientLoad& load, const std::string& interval, CostParameters costs = {}) {
  costs.backend_statement_s = 400 * us;
  costs.client_statement_s = 100 * us;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB", 16, {19, 0});
  scenario.tables["hot"] = uuid_table("hot", hot_rows);
  scenario.subscriptions.at("s").retain_dead_tuples = true;
  set(scenario.servers.at("sub"), "fsync", "off");
  set(scenario.servers.at("sub"), "wal_writer_delay", "10ms");
  set(scenario.servers.at("sub"), "wal_receiver_status_interval", interval);
  scenario.clients = {load};
  return until(scenario, load.until_s);
}

const DeadTuples& hot(const RunResult& result) {
  for (const DeadTuples& table : result.upheaval.retention.at(0).tables)
    if (table.table == "hot")
      return table;
  FAIL("no table hot");
  return result.upheaval.retention.at(0).tables.front();
}

/// What happened besides the scenario's own events.
std::vector<Outcome> turns(const RunResult& result) {
  std::vector<Outcome> out;
  for (const auto& outcome : result.outcomes)
    if (outcome.kind != "event")
      out.push_back(outcome);
  return out;
}

} // namespace

TEST_CASE("dead versions stay until every holder is past them") {
  CostParameters costs;
  costs.dead_version_s = 2 * us;
  costs.backend_index_entry_s = 3 * us;
  const std::map<std::string, Table> tables = {{"hot", uuid_table("hot", hot_rows)}};
  DeadVersions dead(costs, tables);
  dead.add_writers(2);
  dead.died("hot", 50, true, 0.5); // nobody holds
  CHECK(dead.retained("hot") == 0);
  dead.hold("a", 1, 1);
  dead.hold("b", 1, 1);
  dead.died("hot", 400, true, 2);
  dead.died("hot", 300, true, 3);
  CHECK(dead.retained("hot") == 700);
  CHECK(dead.per_row("hot") == 7);
  CHECK(dead.look_up_seconds("hot") == Approx(14 * us));
  // 700 dead on the one page that 100 rows of 185 fill: its room is gone. Two writers fill two pages of 185.
  CHECK(dead.lost_hot("hot") == Approx(100 / (2 * 185.0)).epsilon(1e-3));
  CHECK(dead.backend_seconds("hot", Operation::Update) ==
        Approx(14 * us + 3 * us * 100 / 370.0).epsilon(1e-3));
  CHECK(dead.backend_seconds("hot", Operation::Delete) == Approx(14 * us));
  CHECK(dead.backend_seconds("hot", Operation::Insert) == 0);
  dead.hold("a", 3.5, 4);
  CHECK(dead.retained("hot") == 700);
  dead.hold("b", 2.5, 4);
  CHECK(dead.retained("hot") == 300);
  dead.release("b", 5);
  CHECK(dead.retained("hot") == 0);
  // 400 from 2 to 4, 300 from 3 to 5.
  CHECK(dead.sums(6).at("hot").integral == Approx(400 * 2 + 300 * 2));
  CHECK(dead.sums(6).at("hot").most == 700);
  CHECK(dead.longest_s(5) == Approx(3));
}

TEST_CASE("retained dead tuples are the update rate times the time until the leader looks again") {
  // Half an interval is left of the quiet time before the run; then it looks every 100 ms.
  for (const auto& [interval, kept_s] : std::map<std::string, double>{{"1s", 0.5}, {"4s", 2}, {"10s", 5}}) {
    INFO(interval);
    const auto result = run(retaining(updating(8, 8, 1000), interval));
    CHECK(hot(result).most_dead_tup == Approx(1000 * kept_s).epsilon(0.1));
    CHECK(result.upheaval.retention.at(0).longest_s == Approx(kept_s).margin(0.05));
    CHECK(hot(result).n_tup_upd == Approx(8000).epsilon(0.05));
    CHECK(hot(result).n_dead_tup < 1000 * 0.25);
    CHECK(result.metrics.at("n_dead_tup_max") == hot(result).most_dead_tup);
  }
}

TEST_CASE("a client gets through what its dead versions leave of its time") {
  CostParameters costs;
  costs.dead_version_s = 5 * us;
  // No look for 5 s: x updates have left x / 100 versions a row, and the next takes 500 us + x / 100 * 5 us:
  // 500 us x + x^2 * 25 ns = 4 s.
  const auto result = run(retaining(updating(1, 4), "10s", costs));
  const double expected = (-500 * us + std::sqrt(std::pow(500 * us, 2) + 4 * 25e-9 * 4)) / (2 * 25e-9);
  CHECK(hot(result).n_tup_upd == Approx(expected).epsilon(0.02));
  CHECK(expected < 0.8 * 8000);
  CHECK(result.metrics.at("tps") == Approx(expected / 4).epsilon(0.02));
}

TEST_CASE("under a steady load the interval of status messages counts for nothing") {
  CostParameters costs;
  costs.dead_version_s = 5 * us;
  std::vector<Scenario> scenarios;
  for (const char* interval : {"1s", "60s"}) {
    scenarios.push_back(retaining(updating(4, 60), interval, costs));
    // The worker has just started, as after a restart of the subscriber: it looks every 100 ms.
    Event down;
    down.kind = Event::Kind::SubscriberDown;
    down.at_s = 0.1;
    down.for_s = 0.1;
    down.server = std::string("sub");
    scenarios.back().events = {down};
  }
  const auto found = run_all(scenarios);
  CHECK(found[1].metrics.at("tps") == Approx(found[0].metrics.at("tps")).epsilon(0.001));
  CHECK(found[1].metrics.at("n_dead_tup_max") == Approx(found[0].metrics.at("n_dead_tup_max")).epsilon(0.01));
}

TEST_CASE("while an old transaction is open the leader looks less and less often, and nothing may go") {
  // A session holds a row from 1 s to 5 s; what died since it began stays, and the looks are at 1.6 s, 1.8 s,
  // 2.2 s, ... apart up to the limit.
  Scenario scenario = retaining(updating(8, 10, 1000), "1s");
  SessionLoad old;
  old.name = std::string("old");
  old.server = std::string("sub");
  old.from_s = 1;
  old.times = 1;
  SessionStep update;
  update.kind = SessionStep::Kind::Update;
  update.table = std::string("t");
  update.mode = LockMode::RowExclusive;
  SessionStep pause;
  pause.kind = SessionStep::Kind::Pause;
  pause.takes_s = 4;
  old.transaction = {update, pause};
  scenario.sessions = {old};
  const auto result = run(scenario);
  CHECK(result.upheaval.retention.at(0).longest_s == Approx(4.5).margin(0.6));
  CHECK(hot(result).most_dead_tup == Approx(4500).epsilon(0.15));
}

TEST_CASE("trap 20: retained dead tuples scale with the apply lag") {
  // 400 rows a second come and 200 are applied. What the publisher has written at a look is applied after
  // twice the time: looks at 0.5 s, 1 s, 2 s, 4 s, 8 s. At 10 s everything that died since 4 s is still
  // there.
  CostParameters costs;
  costs.apply_insert_row_s = 5 * ms;
  Scenario scenario = retaining(updating(8, 10, 1000), "1s", costs);
  scenario.flows = {flow_of(400)};
  const auto behind = run(scenario);
  CHECK(hot(behind).n_dead_tup == Approx(1000 * 6).epsilon(0.1));
  scenario.profile.costs.apply_insert_row_s = 1 * ms; // keeps up
  const auto beside = run(scenario);
  CHECK(hot(beside).n_dead_tup < 1000 * 0.3);
}

TEST_CASE("trap 20: one disabled subscription keeps the dead tuples of all") {
  Scenario scenario = retaining(updating(8, 10, 1000), "1s");
  scenario.subscriptions["s2"] = scenario.subscriptions.at("s");
  scenario.subscriptions.at("s2").name = std::string("s2");
  const auto both = run(scenario);
  CHECK(hot(both).n_dead_tup < 1000 * 0.3);
  scenario.subscriptions.at("s2").disable_on_error = true;
  scenario.subscriptions.at("s2").conflicts = {{"t", 1, 0}};
  with_batch(scenario, {insert("t", 10)}, "b", 3);
  const auto one_disabled = run(scenario);
  CHECK(hot(one_disabled).n_dead_tup == Approx(1000 * 7).epsilon(0.06));
  CHECK(one_disabled.upheaval.retention.at(0).active.at("s2"));
}

TEST_CASE("max_retention_duration ends what takes too long, and retention goes on when it can") {
  Scenario scenario = retaining(updating(8, 30, 1000), "1s");
  with_link(scenario);
  scenario.clients.front().host = std::string("other");
  scenario.subscriptions.at("s").max_retention_s = 2;
  set(scenario.servers.at("pub"), "wal_sender_timeout", "60s");
  Event cut;
  cut.kind = Event::Kind::Partition;
  cut.at_s = 5;
  cut.for_s = 6;
  cut.host = std::string("db");
  cut.other_host = std::string("other");
  scenario.events = {cut};
  const auto result = run(scenario);
  // The publisher does not answer from 5 s on; two seconds later all of it may go.
  const auto found = turns(result);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == "retention_stopped");
  CHECK(found[0].t_s == Approx(7.1).margin(0.15));
  CHECK(found[1].kind == "retention_resumed");
  CHECK(found[1].t_s > 11);
  CHECK(hot(result).most_dead_tup == Approx(2200).epsilon(0.1));
  CHECK(result.upheaval.retention.at(0).active.at("s"));
  CHECK(result.upheaval.retention.at(0).stops == 1);
  CHECK(result.upheaval.retention.at(0).resumptions == 1);
  scenario.subscriptions.at("s").max_retention_s = 0;
  CHECK(hot(run(scenario)).most_dead_tup == Approx(6200).epsilon(0.1));
}

TEST_CASE("updates that lose their page write more WAL and an entry in each index") {
  CostParameters costs;
  Scenario scenario = retaining(updating(1, 4, 1000), "10s", costs);
  scenario.tables.at("hot").initial_rows = 100'000; // 185 a page: an update finds its row on a page of others
  scenario.tables.at("hot").secondary_indexes = 2;
  const auto on = run(scenario);
  scenario.subscriptions.at("s").retain_dead_tuples = false;
  const auto off = run(scenario);
  CHECK(hot(on).n_tup_newpage_upd > 0.5 * hot(on).n_tup_upd);
  // An entry in three indexes, 64 bytes each, a lock record of 64 and a second block.
  const double more = on.metrics.at("wal_bytes") - off.metrics.at("wal_bytes");
  CHECK(more > 3 * 64 * hot(on).n_tup_newpage_upd);
  CHECK(more < (4 * 64 + 40) * hot(on).n_tup_newpage_upd);
}

TEST_CASE("60 clients on a subscriber: TPS falls and dead tuples grow with the interval, and only with the "
          "feature") {
  const auto file = shipped_library().root / "scenarios/subscriber/retain_dead_tuples.yaml";
  std::vector<Scenario> scenarios;
  for (const char* feature : {"on", "off"})
    for (const char* interval : {"1s", "10s", "60s"})
      scenarios.push_back(load_scenario(file,
                                        {{"subscriptions.s.retain_dead_tuples", feature},
                                         {"servers.sub.settings.wal_receiver_status_interval", interval}},
                                        shipped_library()));
  const auto found = run_all(scenarios);
  const auto metric = [&](std::size_t i, const char* name) { return found[i].metrics.at(name); };
  CHECK(metric(0, "tps") > 1.002 * metric(1, "tps")); // half a second and five of 120 s
  CHECK(metric(1, "tps") > 1.05 * metric(2, "tps"));  // half a minute
  CHECK(metric(1, "n_dead_tup_max") > 3 * metric(0, "n_dead_tup_max"));
  CHECK(metric(2, "n_dead_tup_max") > 2 * metric(1, "n_dead_tup_max"));
  for (const std::size_t i : {4U, 5U}) {
    CHECK(found[i].metrics == found[3].metrics);
    CHECK(found[i].fingerprint == found[3].fingerprint);
    CHECK_FALSE(found[i].metrics.contains("n_dead_tup"));
  }
  const auto assumed = [&](const std::string& path) {
    return std::any_of(found[0].guesses.begin(), found[0].guesses.end(),
                       [&](const Guess& guess) { return guess.path == path; });
  };
  CHECK(assumed("heap.dead_version"));
  CHECK(assumed("subscriptions.s.retain_dead_tuples"));
}
