// The `plan:` block: promises, knobs, ranges, and every mistake with its sentence.
#include "sim/scenario/planned_scenario.hpp"
#include "sim/scenario/promise.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;
using Catch::Contains;

namespace {

PlannedScenario planned(const std::string& plan) {
  const Folder folder;
  return load_planned(folder.write("s.yaml", sound + plan), {}, shipped_library(), true);
}

Promise promise(const std::string& text) {
  std::string problem;
  const auto out = parse_promise(text, problem);
  INFO(problem);
  REQUIRE(out);
  return *out;
}

std::string problem_of(const std::string& text) {
  std::string problem;
  CHECK_FALSE(parse_promise(text, problem));
  return problem;
}

std::string only_error(const std::string& plan) {
  const Lines found = errors_of(sound + plan);
  INFO(plan);
  REQUIRE(found.size() == 1);
  return found.front();
}

} // namespace

TEST_CASE("promises are read with their statistic, direction and unit") {
  const Promise lag = promise("lag_s p99 < 5s");
  CHECK(lag.metric == "lag_s_p99");
  CHECK(lag.statistic == "p99");
  CHECK(lag.below);
  CHECK(lag.limit == 5);
  CHECK(promise("lag_s_p99<=200ms").limit == 0.2);
  CHECK(promise("retained_wal_bytes < 100GB").limit == 100.0 * 1024 * 1024 * 1024);
  CHECK(promise("tps > 500/s").limit == 500);
  CHECK_FALSE(promise("tps > 500").below);
  CHECK(promise("disk never above 80 %").limit == 0.8);
  CHECK(promise("disk pub.wal never above 80 %").metric == "peak_disk_used_pub.wal");
  CHECK(promise("subscriptions.s.lag_s p95 below 1min").metric == "subscriptions.s.lag_s_p95");
  CHECK(promise("blocked_s_count < 10").limit == 10);
}

TEST_CASE("what is no promise says what is wanted") {
  CHECK_THAT(problem_of("lag_s p99"), Contains("promises nothing that can be checked"));
  CHECK_THAT(problem_of("lag_s p98 < 5s"), Contains("names no metric"));
  CHECK_THAT(problem_of("lag_s p99 < 5GB"), Contains("lag_s_p99") && (Contains("GB")));
  CHECK_THAT(problem_of("spill_bytes < 5s"), Contains("spill_bytes"));
  CHECK_THAT(problem_of("lag_s p99 < 0"), Contains("nothing is below zero"));
}

TEST_CASE("promises that no run can keep together contradict each other") {
  CHECK_FALSE(contradiction(promise("lag_s p99 < 5s"), promise("lag_s p99 > 10s")).empty());
  CHECK_FALSE(contradiction(promise("lag_s p50 > 5s"), promise("lag_s p99 < 1s")).empty());
  CHECK(contradiction(promise("lag_s p99 > 5s"), promise("lag_s p50 < 1s")).empty());
  CHECK(contradiction(promise("lag_s p99 < 5s"), promise("lag_s p99 < 10s")).empty());
  CHECK(contradiction(promise("lag_s p99 < 5s"), promise("total_s > 10s")).empty());
}

TEST_CASE("knobs keep values, costs and further fields") {
  const auto plan = planned(R"(plan:
  find: cheapest
  promises: [total_s < 5s]
  knobs:
    - {field: subscriptions.s.streaming, values: [off, on]}
    - field: hosts.db.speed
      name: machine
      values: [{value: 1, cost: 10, label: slow}, {value: 2, cost: 30, set: [hosts.db.memory=48GB]}]
)")
                        .plan;
  REQUIRE(plan != nullptr);
  REQUIRE(plan->knobs.size() == 2);
  CHECK(plan->knobs[0].name == "subscriptions.s.streaming");
  CHECK(plan->knobs[0].hosts.empty());
  CHECK_FALSE(plan->knobs[0].values[0].cost);
  const Knob& machine = plan->knobs[1];
  CHECK(machine.name == "machine");
  CHECK(machine.hosts == std::vector<std::string>{"db"});
  CHECK(machine.values[0].label == "slow");
  CHECK(machine.values[0].cost == 10.0);
  CHECK(machine.values[1].label == "2");
  CHECK(machine.values[1].sets == std::vector<std::pair<std::string, std::string>>{
                                      {"hosts.db.speed", "2"}, {"hosts.db.memory", "48GB"}});
}

TEST_CASE("a scenario without a plan has none, and simulations take no notice of one") {
  CHECK(planned("").plan == nullptr);
  const std::string plan =
      "plan: {find: largest, over: tables.t.rows, range: [1, 9], promises: [total_s < 5s]}\n";
  CHECK(load_text(sound).hash == load_text(sound + plan).hash);
}

TEST_CASE("mistakes in plans end in a sentence each") {
  CHECK_THAT(only_error("plan: {find: largest, over: tables.t.rows, range: [1, 9]}\n"),
             Contains("no promises"));
  CHECK_THAT(
      only_error("plan: {find: largest, over: tables.u.rows.x, range: [1, 9], promises: [total_s < 5s]}\n"),
      Contains("no field"));
  CHECK_THAT(only_error("plan: {find: largest, range: [1, 9], promises: [total_s < 5s]}\n"),
             Contains("`over` is missing"));
  CHECK_THAT(
      only_error("plan: {find: largest, over: tables.t.rows, range: [9, 1], promises: [total_s < 5s]}\n"),
      Contains("lowest value comes first"));
  CHECK_THAT(only_error("plan: {find: cheapest, promises: [total_s < 5s]}\n"), Contains("no knobs"));
  CHECK_THAT(
      only_error(
          "plan: {find: cheapest, promises: [total_s < 5s], knobs: [{field: subscriptions.s.streaming}]}\n"),
      Contains("`values` is missing"));
  CHECK_THAT(
      only_error(
          "plan: {find: cheapest, promises: [total_s < 5s], knobs: [{field: subscriptions.s.streaming, "
          "values: []}]}\n"),
      Contains("at least one entry"));
  CHECK_THAT(
      only_error(
          "plan: {find: cheapest, promises: [total_s < 5s], knobs: [{field: subscriptions.s.streaming, "
          "values: [off, on]}]}\n"),
      Contains("no value of any knob has a price"));
  CHECK_THAT(
      only_error(
          "plan: {find: cheapest, promises: [total_s < 5s], knobs: [{field: subscriptions.s.streaming, "
          "values: [{value: off, cost: 1}, on]}]}\n"),
      Contains("price of subscriptions.s.streaming = on is missing"));
  CHECK_THAT(
      only_error(
          "plan: {find: cheapest, promises: [total_s < 5s], knobs: [{field: subscriptions.s.streaming, "
          "values: [{value: sometimes, cost: 1}]}]}\n"),
      Contains("sometimes"));
  CHECK_THAT(
      only_error(
          "plan: {find: cheapest, promises: [total_s < 5s, total_s > 9s], knobs: [{field: hosts.db.speed, "
          "values: [{value: 1, cost: 1}]}]}\n"),
      Contains("contradict each other"));
  CHECK_THAT(
      only_error("plan: {find: cheapest, promises: [disk never above 80 %], knobs: [{field: hosts.db.speed, "
                 "values: [{value: 1, cost: 1}]}]}\n"),
      Contains("no disk of the scenario has a `capacity`"));
  CHECK_THAT(only_error("plan: {find: front, knobs: [{field: hosts.db.speed, values: [1, 2]}]}\n"),
             Contains("between two objectives"));
  CHECK_THAT(only_error("plan: {find: fastest, promises: [total_s < 5s]}\n"), Contains("fastest"));
  CHECK_THAT(only_error("plan: {find: cheapest, promises: [total_s < 5s], knobs: [{split: s, values: "
                        "[{value: 2, cost: 1}]}]}\n"),
             Contains("no number of subscriptions for 1 tables"));
}
