// Clients in a closed loop in scenario files: mixes, pgbench's tables, mistakes.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

using namespace replisim;
using namespace replisim::test;

namespace {

std::string with_load(const std::string& entry) {
  return replaced(sound, "{server: pub, transaction: [{insert: t, rows: 10}]}",
                  "{server: pub, until: 1min, " + entry + "}");
}

Lines errors(const std::string& entry) { return errors_of(with_load(entry)); }

} // namespace

TEST_CASE("a mix of pgbench brings its tables at its scale") {
  const Scenario scenario =
      load_text(replaced(with_load("clients: 8, mix: tpcb-like, scale: 20"), "tables: [t]",
                         "tables: [pgbench_accounts, pgbench_tellers, pgbench_branches, pgbench_history]"));
  CHECK(scenario.tables.at("pgbench_accounts").initial_rows == 2000000);
  CHECK(scenario.tables.at("pgbench_tellers").initial_rows == 200);
  CHECK(scenario.tables.at("pgbench_branches").initial_rows == 20);
  CHECK(scenario.tables.at("pgbench_history").initial_rows == 0);
  CHECK(tuple_len(scenario.tables.at("pgbench_accounts")) == 121);
  const ClientLoad& load = scenario.clients.at(0);
  CHECK(load.clients == 8);
  CHECK(load.threads == 8);
  CHECK(load.host == "db");
  CHECK(load.until_s == 60);
  REQUIRE(load.scripts.size() == 1);
  CHECK(load.scripts[0].statements.size() == 5);
  CHECK(load.scripts[0].round_trips() == 7);
  CHECK(load.scripts[0].flow.transaction.size() == 4);
  CHECK(scenario.warnings.empty());
}

TEST_CASE("the other mixes and tables of one's own") {
  const auto simple = load_text(with_load("clients: 1, mix: simple-update")).clients.at(0).scripts.at(0);
  CHECK(simple.statements.size() == 3);
  CHECK(simple.flow.transaction.size() == 2);
  const auto select = load_text(with_load("clients: 1, mix: select-only")).clients.at(0).scripts.at(0);
  CHECK(select.round_trips() == 1);
  CHECK(select.flow.transaction.empty());
  const Scenario own =
      load_text(replaced(with_load("clients: 1, mix: select-only, scale: 7"),
                         "tables: {t:", "tables: {pgbench_branches: {columns: {bid: int8}, rows: 3}, t:"));
  CHECK(own.tables.at("pgbench_branches").initial_rows == 3);
  CHECK(own.tables.at("pgbench_tellers").initial_rows == 70);
  // A sweep or an override of the scale moves the tables with it.
  CHECK(load_text(with_load("clients: 1, mix: select-only"), {parse_override("workload.w.scale=5")})
            .tables.at("pgbench_accounts")
            .initial_rows == 500000);
}

TEST_CASE("a mix of one's own") {
  const Scenario scenario = load_text(with_load(
      "clients: 4, threads: 2, think_time: 10ms, rate: 100/s, transactions: [{weight: 3, statements: "
      "[{select: t, cpu: 20us}]}, {statements: [{update: t, rows: 2, cpu: 1ms}, {insert: t}]}]"));
  const ClientLoad& load = scenario.clients.at(0);
  CHECK(load.threads == 2);
  CHECK(load.think_s == Approx(0.01));
  CHECK(load.rate_per_s == Approx(100));
  REQUIRE(load.scripts.size() == 2);
  CHECK(load.scripts[0].weight == 3);
  CHECK(load.scripts[0].statements.at(0).cpu_s == Approx(20e-6));
  CHECK_FALSE(load.scripts[0].statements.at(0).change);
  CHECK(load.scripts[1].statements.at(0).change->rows == 2);
  CHECK(load.scripts[1].statements.at(1).change->rows == 1);
  CHECK(load.scripts[1].round_trips() == 4);
}

TEST_CASE("mistakes about clients") {
  CHECK(errors("clients: 101, mix: select-only") ==
        Lines{"11:51 workload.w.clients: 101 clients on pub, whose max_connections is 100: the server "
              "refuses the "
              "others; raise `servers.pub.settings.max_connections` or have fewer clients"});
  CHECK(errors("clients: 100, mix: select-only").empty());
  CHECK(errors("clients: 1") ==
        Lines{"11:15 workload.w: the clients have nothing to do; `mix` is one of tpcb-like, simple-update, "
              "select-only, or `transactions` holds statements of your own"});
  CHECK(errors("clients: 1, transactions: []") ==
        Lines{"11:68 workload.w.transactions: is empty: a mix without statements"});
  CHECK(errors("clients: 1, transactions: [{statements: []}]") ==
        Lines{"11:82 workload.w.transactions[0].statements: there are none: a transaction of a mix needs at "
              "least one statement"});
  CHECK(errors("clients: 1, transactions: [{weight: 2}]") ==
        Lines{"11:69 workload.w.transactions[0].statements: there are none: a transaction of a mix needs at "
              "least one statement"});
  const Lines unknown = errors("clients: 1, mix: tpcb");
  REQUIRE(unknown.size() == 1);
  CHECK_THAT(unknown[0], Catch::StartsWith("11:59 workload.w.mix: ") && Catch::Contains("tpcb-like"));
  CHECK(errors("clients: 1, scale: 3, transactions: [{statements: [{select: t}]}]") ==
        Lines{"11:61 workload.w.scale: `scale` sizes the tables of a `mix`; there is none"});
  CHECK(
      errors("clients: 1, mix: select-only, transactions: [{statements: [{select: t}]}]") ==
      Lines{"11:86 workload.w.transactions: `mix` and `transactions` stand in one entry; clients run one of "
            "the two"});
  CHECK(errors("clients: 1, transactions: [{statements: [{select: t, insert: t}]}]") ==
        Lines{"11:83 workload.w.transactions[0].statements[0]: select and insert stand in one statement; "
              "each is a "
              "statement of its own"});
  CHECK(errors("clients: 1, arrivals: poisson, mix: select-only").size() == 1);
}

TEST_CASE("two loads share the connections of a server") {
  const std::string two = replaced(
      with_load("clients: 60, mix: select-only"),
      "workload: {w:", "workload: {v: {server: pub, until: 1min, clients: 60, mix: select-only}, w:");
  const Lines found = errors_of(two);
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0],
             Catch::Contains("workload.v.clients: 120 clients on pub, whose max_connections is 100"));
}

TEST_CASE("the client program needs a way to its server") {
  const std::string elsewhere = replaced(with_load("clients: 1, host: app, mix: select-only"),
                                         "hosts: {db: lab-2core}", "hosts: {db: lab-2core, app: lab-2core}");
  const Lines found = errors_of(elsewhere);
  REQUIRE(found.size() == 1);
  CHECK_THAT(
      found[0],
      Catch::Contains("workload.w.host: the clients run on app and pub on db, but no link joins the hosts"));
  CHECK(errors_of(elsewhere + "links: [{between: [app, db], bandwidth: 1Gbps, latency: 0.1ms}]\n").empty());
}

TEST_CASE("retention of dead rows came with version 19") {
  const std::string on = replaced(sound, "{server: sub, publication: p}",
                                  "{server: sub, publication: p, retain_dead_tuples: on}");
  CHECK(
      errors_of(on) ==
      Lines{"10:70 subscriptions.s.retain_dead_tuples: on needs PostgreSQL 19 or later on both sides; sub is "
            "version 17.11, pub is version 17.11"});
  const std::string later =
      replaced(replaced(on, "version: 17", "version: 19"), "version: 17", "version: 19");
  CHECK(load_text(later).subscriptions.at("s").retain_dead_tuples);
}

TEST_CASE("retention of dead rows needs a slot on the subscriber, and commit times to be of use") {
  const std::string on = replaced(
      replaced(
          replaced(sound, "{server: sub, publication: p}",
                   "{server: sub, publication: p, retain_dead_tuples: on, max_retention_duration: 5min}"),
          "pub: {host: db, version: 17}", "pub: {host: db, version: 19}"),
      "sub: {host: db, version: 17}", "sub: {host: db, version: 19, settings: {track_commit_timestamp: on}}");
  CHECK(errors_of(on).empty());
  const Scenario loaded = load_text(on);
  CHECK(loaded.subscriptions.at("s").max_retention_s == 300);
  CHECK(std::none_of(loaded.warnings.begin(), loaded.warnings.end(), [](const std::string& warning) {
    return warning.find("retain_dead_tuples") != std::string::npos;
  }));
  const auto with = [&](const char* settings) {
    return replaced(on, "settings: {track_commit_timestamp: on}", settings);
  };
  const Lines no_slots = errors_of(with("settings: {max_replication_slots: 0}"));
  REQUIRE(no_slots.size() == 1);
  CHECK_THAT(no_slots[0],
             Catch::Contains("subscriptions.s.retain_dead_tuples: on needs a replication slot on sub, "
                             "pg_conflict_detection; servers.sub.settings.max_replication_slots is 0"));
  const Lines minimal = errors_of(with("settings: {wal_level: minimal}"));
  REQUIRE(minimal.size() == 1);
  CHECK_THAT(minimal[0], Catch::Contains("which its wal_level minimal does not allow"));
  const Scenario no_times = load_text(with("settings: {track_commit_timestamp: off}"));
  CHECK(std::any_of(no_times.warnings.begin(), no_times.warnings.end(), [](const std::string& warning) {
    return warning.find("without track_commit_timestamp on sub no conflict is detected") != std::string::npos;
  }));
  const Scenario off = load_text(replaced(on, "retain_dead_tuples: on", "retain_dead_tuples: off"));
  CHECK_THAT(off.warnings,
             Catch::VectorContains(std::string("subscriptions.s.max_retention_duration has no effect without "
                                               "`retain_dead_tuples: on`")));
}

TEST_CASE("clients run on a server that subscribes and publishes nothing") {
  const auto on = [](const char* server) {
    return replaced(sound, "workload: {w:",
                    fmt::format("workload: {{x: {{server: {}, until: 1min, clients: 2, transactions: "
                                "[{{statements: [{{update: t}}]}}]}}, w:",
                                server));
  };
  CHECK(errors_of(on("sub")).empty());
  CHECK(load_text(on("sub")).clients.at(0).server == "sub");
}
