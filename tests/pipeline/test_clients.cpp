// Clients in a closed loop: throughput by hand, contention, what it costs to simulate many, conservation.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;
using namespace replisim::test;

namespace {

ClientScript script_of(std::vector<ClientStatement> statements) {
  ClientScript script;
  script.statements = std::move(statements);
  script.flow.name = "clients";
  script.flow.server = "pub";
  for (const auto& statement : script.statements)
    if (statement.change)
      script.flow.transaction.push_back(*statement.change);
  return script;
}

ClientStatement insert_one() { return {"t", insert("t", 1), 0}; }
ClientStatement update_hot() { return {"hot", StatementStep{Operation::Update, "hot", 1, {}}, 0}; }

/// Transactions of single inserts into `t`, autocommitted, for `for_s`.
ClientLoad clients_of(int clients, double for_s, ClientScript script = script_of({insert_one()})) {
  ClientLoad load;
  load.name = "clients";
  load.server = "pub";
  load.host = "db";
  load.clients = load.threads = clients;
  load.until_s = for_s;
  load.scripts = {std::move(script)};
  return load;
}

/// 400 us of backend and 100 us of client program a statement, no flush.
CostParameters statement_costs() {
  CostParameters costs;
  costs.backend_statement_s = 400 * us;
  costs.client_statement_s = 100 * us;
  return costs;
}

Scenario busy(const CostParameters& costs, const ClientLoad& load, int cores = 16) {
  Scenario scenario = cluster(costs, Streaming::Off, "64MB", cores);
  scenario.clients = {load};
  return scenario;
}

} // namespace

TEST_CASE("one client gets through one transaction per sum of its parts") {
  CostParameters costs = statement_costs();
  costs.wakeup_latency_s = 50 * us;
  Scenario scenario = busy(costs, clients_of(1, 2));
  set(scenario.servers.at("pub"), "fsync", "on"); // 1 ms a flush
  const RunResult result = run(scenario);
  const ClientResult& load = result.clients.at(0);
  CHECK(load.tps == Approx(1 / (1.6 * ms)).epsilon(0.01));
  CHECK(load.latency_s.at("mean") == Approx(1.6 * ms).epsilon(0.01));
  CHECK(load.budget_s.at("round_trips_s") == Approx(0.1 * ms).epsilon(0.01));
  CHECK(load.budget_s.at("commit_flush_s") == Approx(1 * ms).epsilon(0.01));
  CHECK(load.budget_s.at("server_cpu_s") == Approx(0.4 * ms).epsilon(0.03));
  CHECK(load.budget_s.at("lock_wait_s") == 0);
  CHECK(load.commits_per_flush == Approx(1).epsilon(0.01));
  CHECK(result.metrics.at("tps") == load.tps);
  CHECK_THAT(load.budget, Catch::StartsWith("1 clients / 62"));
}

TEST_CASE("many clients use all cores and no more, and Little's law holds") {
  const RunResult result = run(busy(statement_costs(), clients_of(32, 2), 4));
  const ClientResult& load = result.clients.at(0);
  CHECK(load.tps == Approx(4 / (500 * us)).epsilon(0.03));
  CHECK(load.tps * load.latency_s.at("mean") == Approx(32).epsilon(0.04));
  double sum = 0;
  for (const auto& [part, seconds] : load.budget_s)
    sum += seconds;
  CHECK(sum * load.tps == Approx(32).epsilon(1e-9));
  CHECK(result.metrics.at("cpu_pub.backend_s") + result.metrics.at("cpu_db.clients_s") ==
        Approx(load.transactions * 500 * us).epsilon(1e-6));
}

TEST_CASE("second threads of a core add what the machine says") {
  Scenario scenario = busy(statement_costs(), clients_of(64, 2), 4);
  scenario.hosts.at("db").threads_per_core = 2; // 4 cores, 8 threads, gain 1.25
  CHECK(run(scenario).metrics.at("tps") == Approx(5 / (500 * us)).epsilon(0.03));
}

TEST_CASE("clients feel who else computes, from the moment it begins") {
  Scenario scenario = busy(statement_costs(), clients_of(16, 4), 2);
  scenario.tables["u"] = uuid_table("u");
  scenario.profile.costs.backend_insert_row_s = 10 * us;
  with_batch(scenario, {insert("u", 150000)}, "batch", 2); // 1.5 s of one core, shared
  until(scenario, 4, 0.1);
  const RunResult result = run_with_timeline(scenario);
  const auto rate = [&](double from_s, double to_s) {
    return (value_at(result, "cpu_db.clients_s", to_s) - value_at(result, "cpu_db.clients_s", from_s)) /
           (100 * us) / (to_s - from_s);
  };
  const double alone = rate(0.5, 1.9), beside = rate(2.3, 3.5);
  CHECK(alone == Approx(2 / (510 * us)).epsilon(0.05));
  CHECK(beside < 0.96 * alone); // one of seventeen threads on two cores
  CHECK(beside > 0.85 * alone);
}

TEST_CASE("rows everybody wants are a limit that cores do not lift") {
  const auto tps = [](Rows rows, int cores) {
    CostParameters costs = statement_costs();
    costs.client_statement_s = 0;
    Scenario scenario = busy(costs, clients_of(32, 1, script_of({update_hot(), insert_one()})), cores);
    scenario.tables["hot"] = uuid_table("hot", rows);
    scenario.publications.at("p").tables.push_back("hot");
    return run(scenario).metrics.at("tps");
  };
  // The row is held for half of its statement and the whole next one: 600 us.
  const double one = tps(1, 64);
  CHECK(one <= 1 / (600 * us) * 1.03); // in a second, the drawn numbers vary
  CHECK(one > 0.9 / (600 * us));
  CHECK(tps(1, 128) == Approx(one).epsilon(0.01));
  CHECK(tps(1000000, 64) == Approx(32 / (800 * us)).epsilon(0.03));
}

TEST_CASE("a thousand clients cost little more than ten") {
  ClientLoad few = clients_of(10, 5), many = clients_of(1000, 5);
  few.think_s = many.think_s = 100 * ms;
  Scenario ten = busy(statement_costs(), few, 64), thousand = busy(statement_costs(), many, 64);
  const auto results = run_all({ten, thousand});
  CHECK(results[0].metrics.at("tps") == Approx(10 / 0.1005).epsilon(0.02));
  CHECK(results[1].metrics.at("tps") == Approx(1000 / 0.1005).epsilon(0.02));
  CHECK(static_cast<double>(results[1].events) < 1.3 * static_cast<double>(results[0].events));
}

TEST_CASE("a limited rate is kept, and the pause is part of the budget") {
  ClientLoad load = clients_of(8, 5);
  load.rate_per_s = 500;
  const RunResult result = run(busy(statement_costs(), load));
  CHECK(result.metrics.at("tps") == Approx(500).epsilon(0.05));
  CHECK(result.clients.at(0).budget_s.at("pause_s") == Approx(8 / 500.0 - 500 * us).epsilon(0.06));
}

TEST_CASE("what clients commit is applied, once each") {
  CostParameters costs = statement_costs();
  costs.apply_transaction_s = 50 * us;
  ClientLoad load = clients_of(8, 2, script_of({insert_one(), insert_one()}));
  const ClientScript reads = script_of({{"t", {}, 0}});
  load.scripts.push_back(reads);
  const RunResult result = run(busy(costs, load));
  const double transactions = result.clients.at(0).transactions;
  CHECK(result.metrics.at("lag_transactions") == 0);
  CHECK(result.metrics.at("apply_tps") * 2 == Approx(transactions / 2).epsilon(0.03)); // half of them write
  CHECK(result.verdicts.at("s").state == "keeping up");
  CHECK(result.metrics.at("catch_up_s") < 0.1);
}

TEST_CASE("an apply worker that is too slow is a result with a verdict") {
  CostParameters costs = statement_costs();
  costs.apply_transaction_s = 400 * us;
  Scenario scenario = busy(costs, clients_of(8, 4));
  until(scenario, 4, 0.05);
  const RunResult result = run(scenario);
  CHECK(result.metrics.at("tps") == Approx(16000).epsilon(0.02));
  CHECK(result.metrics.at("apply_tps") == Approx(2500).epsilon(0.03));
  CHECK(result.metrics.at("lag_transactions") == Approx(4 * (16000 - 2500)).epsilon(0.03));
  CHECK(result.metrics.at("catch_up_s") == Approx(4 * 13500 / 2500.0).epsilon(0.05));
  CHECK_THAT(result.verdicts.at("s").text, Catch::StartsWith("falling behind; sub.apply_worker is to blame"));
}

TEST_CASE("an idle pair pays a wake-up per commit, a busy one does not") {
  CostParameters costs = statement_costs();
  costs.send_transaction_s = 20 * us;
  costs.apply_transaction_s = 20 * us;
  costs.sender_wakeup_s = 30 * us;
  costs.receiver_wakeup_s = 60 * us;
  const auto cpu = [&](int clients, const std::string& process) {
    Scenario scenario = busy(costs, clients_of(clients, 3));
    set(scenario.servers.at("pub"), "fsync", "on");
    return run(scenario).metrics.at("transaction_cpu_" + process + "_s");
  };
  // One client, 667 commits a second: asleep but for some percent of the time, woken by flush and by answer.
  CHECK(cpu(1, "sub.apply_worker") == Approx(80 * us).epsilon(0.08));
  CHECK(cpu(1, "pub.walsender") == Approx(80 * us).epsilon(0.1));
  CHECK(cpu(64, "sub.apply_worker") < 30 * us);
  CHECK(cpu(64, "pub.walsender") < 30 * us);
}

TEST_CASE("equal seeds give equal runs of clients, other seeds others") {
  const Scenario scenario = busy(statement_costs(), clients_of(32, 1), 4);
  const RunResult first = run_with_timeline(scenario), again = run_with_timeline(scenario);
  CHECK(first.fingerprint == again.fingerprint);
  CHECK(first.metrics == again.metrics);
  const RunResult other = run_with_timeline(scenario, 2);
  CHECK(other.metrics.at("tps") != first.metrics.at("tps"));
  CHECK(other.metrics.at("tps") == Approx(first.metrics.at("tps")).epsilon(0.02));
}

TEST_CASE("retention asks for the publisher's status ten times a second and costs next to nothing") {
  CostParameters costs = statement_costs();
  costs.status_request_s = 15 * us;
  costs.slot_update_s = 50 * us;
  const auto retaining = [&](bool on) {
    Scenario scenario = busy(costs, clients_of(8, 10));
    set(scenario.servers.at("sub"), "wal_writer_delay", "10ms");
    set(scenario.servers.at("sub"), "wal_receiver_status_interval", "1s"); // half of it is left at the start
    scenario.subscriptions.at("s").retain_dead_tuples = on;
    return scenario;
  };
  const auto results = run_all({retaining(false), retaining(true)});
  CHECK(results[0].metrics.count("status_requests") == 0);
  const double cycles = results[1].metrics.at("conflict_slot_updates");
  CHECK(cycles > 60); // 100 ms, and the wait for what was applied to be flushed
  CHECK(cycles <= 100);
  CHECK(results[1].metrics.at("status_requests") == Approx(2 * cycles).margin(2));
  CHECK(results[1].metrics.at("tps") == Approx(results[0].metrics.at("tps")).epsilon(0.002));
}
