// Clients in a closed loop whose commits wait for a synchronous subscription.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr double apply_s = 1 * ms;

/// Transactions of one insert, 0.5 ms of CPU each, applied in 1 ms; the subscriber behind a link of 5 ms.
Scenario waiting(int clients, const std::string& level, bool exact = false) {
  CostParameters costs;
  costs.backend_statement_s = 500 * us;
  costs.apply_insert_row_s = apply_s;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  with_link(scenario, 5 * ms);
  set(scenario.servers.at("pub"), "synchronous_standby_names", "s");
  set(scenario.servers.at("pub"), "synchronous_commit", level);
  ClientScript script;
  script.statements = {{"t", insert("t", 1), 0}};
  script.flow.name = "clients";
  script.flow.server = "pub";
  script.flow.transaction = {insert("t", 1)};
  ClientLoad load;
  load.name = "clients";
  load.server = "pub";
  load.host = "db";
  load.clients = load.threads = clients;
  load.until_s = 20;
  load.scripts = {script};
  scenario.clients = {load};
  scenario.statistics.exact = exact;
  return scenario;
}

} // namespace

TEST_CASE("one client waits for the way there, the row, and the way back") {
  for (const bool exact : {false, true}) {
    const auto result = run(waiting(1, "remote_apply", exact));
    const double cycle_s = 0.5 * ms + 2 * 5 * ms + apply_s;
    CHECK(result.metrics.at("tps") == Approx(1 / cycle_s).epsilon(0.03));
    CHECK(result.clients.at(0).budget_s.at("sync_wait_s") == Approx(2 * 5 * ms + apply_s).epsilon(0.05));
    CHECK_THAT(result.clients.at(0).budget, Catch::Contains("synchronous standbys"));
  }
}

TEST_CASE("many clients get through what the apply worker does, and no lag builds up") {
  const auto apart = run(waiting(100, "local"));
  const auto together = run(waiting(100, "remote_apply"));
  CHECK(together.metrics.at("tps") == Approx(1 / apply_s).epsilon(0.03));
  CHECK(apart.metrics.at("tps") > 10 / apply_s);
  // A hundred are under way: the queue is their number long, but for the first ticks, when the clients learn
  // how long they wait.
  CHECK(together.subscriptions.at("s").at("lag_s_mean") == Approx(100 * apply_s).epsilon(0.15));
  CHECK(together.subscriptions.at("s").at("lag_s_max") < 5 * 100 * apply_s);
  CHECK(apart.subscriptions.at("s").at("lag_s_max") > 20);
}

TEST_CASE(
    "synchronous_commit = on waits for the subscriber's WAL writer, unless the subscription flushes itself") {
  const auto tps = [](bool subscription_flushes) {
    Scenario scenario = waiting(10, "on");
    scenario.subscriptions.at("s").commits_wait_for_flush = subscription_flushes;
    return run(scenario).metrics.at("tps");
  };
  // Its own flush: 2 ms a transaction, one after the other. The WAL writer's: a tenth of a second on average,
  // up to two tenths when it is seen at the next look.
  CHECK(tps(true) == Approx(1 / (apply_s + 1 * ms)).epsilon(0.1));
  CHECK(tps(false) > 10 / 0.25);
  CHECK(tps(false) < 10 / 0.1);
}

TEST_CASE("a hot row is held while its transaction waits for the standby") {
  Scenario scenario = waiting(20, "remote_apply");
  scenario.tables["hot"] = uuid_table("hot", 1);
  scenario.clients[0].scripts[0].statements = {{"hot", StatementStep{Operation::Update, "hot", 1, {}}, 0}};
  scenario.clients[0].scripts[0].flow.transaction = {StatementStep{Operation::Update, "hot", 1, {}}};
  scenario.publications.at("p").tables = {"t", "hot"};
  // One after the other: each holds the row over both ways.
  CHECK(run(scenario).metrics.at("tps") < 1 / (2 * 5 * ms));
}

TEST_CASE("as long as no standby is there, no commit returns") {
  Scenario scenario = waiting(10, "remote_apply");
  scenario.subscriptions.at("s").disable_on_error = true;
  scenario.subscriptions.at("s").conflicts = {{"u", 1, 0}};
  scenario.tables["u"] = uuid_table("u");
  scenario.publications.at("p").tables = {"t", "u"};
  with_batch(scenario, {insert("u", 1)}, "conflicts", 10);
  const auto result = run_with_timeline(until(scenario, 20));
  const auto whole = run(waiting(10, "remote_apply"));
  CHECK(result.clients.at(0).transactions == Approx(whole.clients.at(0).transactions / 2).epsilon(0.05));
}
