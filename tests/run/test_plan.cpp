// Plans over formulas whose answer is known, and over a queue whose knee is known.
#include "models/base/random.hpp"
#include "sim/report/plan_report.hpp"
#include "sim/scenario/promise.hpp"
#include "tests/run/planning_engine.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;
using namespace replisim::test;
using Catch::Contains;

namespace {

const std::string flow = R"(replisim: 1
name: a flow
profile: lab-2core
hosts: {a: vm-2cpu, b: vm-4cpu}
servers: {pub: {host: a, version: 17}, sub: {host: b, version: 17}}
links: [{between: [a, b], bandwidth: 10Gbps, latency: 0.1ms}]
tables:
  t: {columns: {id: {type: int8, value: sequence}}, primary_key: [id]}
  u: {columns: {id: int8}, primary_key: [id]}
publications: {p: {server: pub, tables: [t, u]}}
subscriptions: {s: {server: sub, publication: p, streaming: off}}
workload: {w: {server: pub, rate: 100/s, arrivals: poisson, transaction: [{insert: t, rows: 1}]}}
observe: {until: 4s, interval: 1s}
)";

/// lag_s_p99 is `rate` ms and a little luck; between 600/s and 700/s it is small again. spill_bytes fall with
/// memory.
RunResult by_formula(const Scenario& scenario, std::uint64_t seed) {
  RunResult out;
  const double rate = scenario.flows.front().rate_per_s;
  const double luck = 1 + 0.001 * RandomStream(seed, "luck").uniform(0);
  out.metrics["lag_s_p99"] = (rate >= 600 and rate <= 700 ? 0.01 : rate / 1000) * luck;
  out.metrics["spill_bytes"] = 1e9 / static_cast<double>(scenario.hosts.at("b").cores());
  out.metrics["tps"] = rate;
  out.subscriptions["s"] = {
      {"lag_s_p99", out.metrics["lag_s_p99"]}}; // results carry verdicts by subscription
  out.verdicts["s"] = {"", "keeping up", "sub.apply_worker", "", rate / 1000, "", "", 0};
  return out;
}

PlanAnswer answered(const std::string& plan) { return PlanningFile(flow + plan, by_formula).answer(); }

} // namespace

TEST_CASE("the largest load is found to its tolerance; other stretches that keep are told") {
  const PlanAnswer answer =
      answered("plan: {find: largest, over: workload.w.rate, range: [100/s, 1000/s], grid: 10, "
               "tolerance: 0.5%, promises: [lag_s p99 < 500ms]}\n");
  REQUIRE(answer.best);
  const PlanPoint& best = answer.points[*answer.best];
  CHECK(*best.keeps == Approx(500).epsilon(0.006));
  CHECK(*best.keeps < 500);
  CHECK(*best.breaks >= 499);
  CHECK(*best.breaks - *best.keeps < 0.0051 * 501);
  REQUIRE(best.elsewhere.size() == 1);
  CHECK(best.elsewhere[0] == std::pair(600.0, 700.0));
  REQUIRE(best.notes.size() >= 2);
  CHECK_THAT(best.notes[0], Contains("more than one edge"));
  CHECK_THAT(best.notes[1], Contains("is not monotone"));
  CHECK_THAT(best.binding.front(), Contains("lag_s p99 < 500ms"));
  CHECK_THAT(best.bottleneck, Contains("sub.apply_worker"));
  CHECK(answer.check.front().starts_with("workload.w.rate="));
  CHECK(answer.statements.empty());
}

TEST_CASE("what cannot be had is said, with the reason") {
  const PlanAnswer answer =
      answered("plan: {find: largest, over: workload.w.rate, range: [100/s, 500/s], promises: "
               "[lag_s p99 < 50ms, spill_bytes < 1GB]}\n");
  CHECK_FALSE(answer.feasible());
  REQUIRE(answer.reasons.size() == 2);
  CHECK_THAT(answer.reasons[0], Contains("'lag_s p99 < 50ms' is surely kept by none"));
  CHECK_THAT(answer.reasons[1], Contains("sub.apply_worker"));
  CHECK_THAT(plan_table(answer), Contains("Infeasible"));
}

TEST_CASE("the cheapest machine of the catalogue that keeps the promises, by the prices of its files") {
  const PlanAnswer answer = answered(R"(plan:
  find: cheapest
  promises: [spill_bytes < 200MB, lag_s p99 < 1s]
  knobs:
    - {field: hosts.b.machine, values: [vm-16cpu, vm-8cpu, vm-4cpu, vm-2cpu]}
    - field: servers.pub.settings.logical_decoding_work_mem
      values: [{value: 64MB, cost: 0}, {value: 128MB, cost: 7}]
)");
  REQUIRE(answer.best);
  const PlanPoint& best = answer.points[*answer.best];
  CHECK(best.setting.knobs[0].second == "vm-8cpu"); // 1e9 / 8 < 200 MB
  CHECK(best.setting.knobs[1].second == "64MB");
  CHECK(best.setting.cost == 360);
  REQUIRE(answer.statements.size() == 1);
  CHECK(answer.statements[0].sql.empty());
  CHECK_THAT(answer.statements[0].reason, Contains("move server sub"));
}

TEST_CASE("a machine without a price is a mistake where prices count") {
  CHECK_THROWS_WITH(
      answered("plan: {find: cheapest, promises: [tps > 1], knobs: [{field: hosts.b.machine, values: "
               "[vm-4cpu, lab-2core]}]}\n"),
      Contains("price") && (Contains("lab-2core")));
}

TEST_CASE("an unknown metric is named with the nearest one, a distribution with its figures") {
  const auto largest = [](const std::string& promise) {
    return "plan: {find: largest, over: workload.w.rate, range: [100/s, 500/s], promises: [" + promise +
           "]}\n";
  };
  CHECK_THROWS_WITH(answered(largest("spil_bytes < 1GB")),
                    Contains("spil_bytes") && (Contains("did you mean 'spill_bytes'")));
  CHECK_THROWS_WITH(answered(largest("lag_s < 1s")), Contains("is a distribution"));
}

TEST_CASE("the front holds what no other setting beats in both figures") {
  const PlanAnswer answer = answered(R"(plan:
  find: front
  objectives: [cost, spill_bytes]
  knobs:
    - {field: hosts.b.machine, values: [vm-2cpu, vm-4cpu, vm-8cpu]}
    - {field: subscriptions.s.binary, values: [{value: off, cost: 0}, {value: on, cost: 5}]}
)");
  REQUIRE(answer.front.size() == 3); // binary costs and gives nothing here
  std::vector<std::string> machines;
  for (const std::size_t i : answer.front) {
    machines.push_back(answer.points[i].setting.knobs[0].second);
    CHECK(answer.points[i].setting.knobs[1].second == "off");
  }
  CHECK(machines == std::vector<std::string>{"vm-2cpu", "vm-4cpu", "vm-8cpu"});
}

TEST_CASE("settings, options and split subscriptions become statements with reasons and side effects") {
  const PlanningFile file(flow);
  const Scenario from = file.planned().scenario;
  const Scenario to = file.planned({{"servers.pub.settings.logical_decoding_work_mem", "256MB"},
                                    {"servers.sub.settings.max_worker_processes", "20"},
                                    {"subscriptions.s.streaming", "parallel"},
                                    {"tables.u.replica_identity", "full"},
                                    {"publications.p.tables", "[t]"},
                                    {"publications.q", "{server: pub, tables: [u]}"},
                                    {"subscriptions.r", "{server: sub, publication: q, streaming: on}"}})
                          .scenario;
  const std::string sql = statements_text(statements_between(from, to, {{"workload.w.rate", "5/s"}}));
  INFO(sql);
  for (const char* line :
       {"ALTER SYSTEM SET logical_decoding_work_mem = '256MB';\n", "SELECT pg_reload_conf();\n",
        "ALTER SYSTEM SET max_worker_processes = '20';\n", "takes a restart of the server",
        "ALTER SUBSCRIPTION s SET (streaming = parallel);\n", "from the first chunk to the commit",
        "ALTER TABLE u REPLICA IDENTITY FULL;\n", "ALTER PUBLICATION p SET TABLE t;\n",
        "CREATE PUBLICATION q FOR TABLE u;\n",
        "SELECT pg_create_logical_replication_slot('r', 'pgoutput');\n", "CREATE SUBSCRIPTION r CONNECTION",
        "connect = false, slot_name = 'r', streaming = on);\n",
        "-- the application does it otherwise: workload.w.rate = 5/s\n"})
    CHECK_THAT(sql, Contains(line));
  CHECK(statements_between(from, from, {}).empty());
}

TEST_CASE("a load that falls behind keeps no promise about lag, however short the run") {
  const auto behind = [](const Scenario&, std::uint64_t) {
    RunResult out;
    out.metrics["lag_s_p99"] = 0.1;
    out.verdicts["s"] = {"", "falling behind", "sub.apply_worker", "", 1, "", "", 0};
    return out;
  };
  Arm arm;
  arm.runs = {behind({}, 1), behind({}, 2)};
  std::string problem;
  const std::vector<Promise> promises = {*parse_promise("lag_s p99 < 1s", problem)};
  CHECK(judge(arm, promises, true).keeps == Keeps::No);
  CHECK(judge(arm, promises, false).keeps == Keeps::Yes);
  arm.runs[1].outcomes = {{1, "disk_full", "wal", "disk wal is full"}};
  CHECK(judge(arm, promises, false).trouble == "disk wal is full");
  CHECK(judge(arm, promises, false).keeps == Keeps::No);
}

// One trigger of 5 ms makes the apply worker an M/D/1 queue with everything else beside the point.
TEST_CASE("the knee of an M/D/1 apply stage is found", "[.][knee]") {
  const std::string queue = R"(replisim: 1
name: an apply worker as a queue
profile: lab-2core
hosts: {a: xeon-e7-4890-v2, b: xeon-e7-4890-v2}
servers: {pub: {host: a, version: 17}, sub: {host: b, version: 17}}
links: [{between: [a, b], bandwidth: 10Gbps, latency: 0.05ms}]
tables:
  t:
    columns: {id: {type: int8, value: sequence}}
    primary_key: [id]
    triggers: 1
    trigger_cost: 5ms
    triggers_enabled: replica
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p, streaming: off}}
workload: {w: {server: pub, rate: 150/s, arrivals: poisson, transaction: [{insert: t, rows: 1}]}}
observe: {until: 30min, interval: 10s}
plan: {find: largest, over: workload.w.rate, range: [60/s, 240/s], tolerance: 1%, promises: [lag_s mean < 50ms]}
)";
  const PlanningFile file(queue);
  const PlanAnswer answer = file.answer();
  REQUIRE(answer.best);
  const PlanPoint& best = answer.points[*answer.best];
  // The service of one transaction and what comes before the queue, from a run without waiting.
  Arm idle;
  idle.engine = file.sweep();
  idle.overrides = {{"workload.w.rate", "1/s"}, {"workload.w.arrivals", "fixed"}, {"observe.until", "60s"}};
  run_arms({&idle}, 1, {});
  const double lag_s = *find_metric(idle.runs.front(), "lag_s_mean");
  const double service_s = *find_metric(idle.runs.front(), "cpu_sub.apply_worker_s") /
                           *find_metric(idle.runs.front(), "committed_transactions");
  // Pollaczek-Khinchine: the wait is service rho / (2 (1 - rho)); it may be 50 ms less the lag without
  // waiting.
  const double waits = (0.050 - lag_s) / service_s;
  const double knee = 2 * waits / (1 + 2 * waits) / service_s;
  INFO("knee " << knee << ", kept " << *best.keeps << ", broken " << *best.breaks);
  CHECK(*best.keeps == Approx(knee).epsilon(0.015));
  CHECK(*best.breaks == Approx(knee).epsilon(0.015));
  CHECK_THAT(best.bottleneck, Contains("sub.apply_worker"));
}
