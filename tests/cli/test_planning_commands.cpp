// compare, plan and explain as a user runs them: exit codes, formats, mistakes.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace replisim::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// One transaction whose total_s grows with its rows.
const std::string batch = R"(replisim: 1
name: a batch
profile: lab-2core
hosts: {a: vm-4cpu, b: vm-4cpu}
servers: {pub: {host: a, version: 17}, sub: {host: b, version: 17}}
links: [{between: [a, b], bandwidth: 1Gbps, latency: 1ms}]
tables: {t: {columns: {id: {type: int8, value: sequence}, note: text(50)}, primary_key: [id]}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p, streaming: off}}
workload: {w: {server: pub, transaction: [{insert: t, rows: 1000000}]}}
)";

} // namespace

TEST_CASE("one scenario alone is compared over the streaming modes of its version") {
  const ScratchFolder folder;
  const auto file = folder.write("s.yaml", batch);
  const auto r = program("compare " + file + " --format json");
  REQUIRE(r.exit_code == 0);
  const json object = json::parse(r.out);
  REQUIRE(object["arms"].size() == 3);
  CHECK(object["arms"][2]["label"] == "parallel");
  CHECK(object["differences"].size() == 2);
  CHECK(object["deterministic"] == true);
  CHECK(object["differences"][0]["metrics"]["stream_count"]["belief"] == "real");
  CHECK(object["recommendation"].size() == 3);
  CHECK(program("compare " + file + " --format json --jobs 1").out == r.out);
  const auto old =
      program("compare " + file + " --set servers.pub.version=15 --set servers.sub.version=15 --format csv");
  CHECK_THAT(old.out, !Contains("parallel"));
  const auto table = program("compare " + file);
  CHECK_THAT(table.out, Contains("total_s") && (Contains("real")) && (Contains("parallel against off")));
}

TEST_CASE("a scenario compared with its copy differs by exactly 0") {
  const ScratchFolder folder;
  const auto one = folder.write("one.yaml", batch), two = folder.write("two.yaml", batch);
  const auto r = program("compare " + one + " " + two + " --format json");
  REQUIRE(r.exit_code == 0);
  const json object = json::parse(r.out);
  for (const auto& [name, metric] : object["differences"][0]["metrics"].items()) {
    INFO(name);
    CHECK(metric["difference"] == 0);
    CHECK(metric["half_width_95"] == 0);
    CHECK(metric["belief"] == "equal");
  }
}

TEST_CASE("a plan answers with 0, an infeasible one with 1 and the reason") {
  const ScratchFolder folder;
  const std::string plan =
      "plan: {find: largest, over: 'workload.w.transaction[0].rows', range: [1000, 1000000], scale: "
      "log, promises: [total_s < 3s]}\n";
  const auto file = folder.write("s.yaml", batch + plan);
  const auto r = program("plan " + file + " --format json");
  REQUIRE(r.exit_code == 0);
  const json object = json::parse(r.out);
  CHECK(object["feasible"] == true);
  const double rows = object["answer"]["value"];
  CHECK(object["answer"]["breaks"].get<double>() <= 1.011 * rows);
  CHECK_FALSE(object["answer"]["binding"].empty());
  CHECK_FALSE(object["answer"]["bottleneck"].get<std::string>().empty());
  CHECK(program("plan " + file + " --format json --jobs 1").out == r.out);

  const auto none = program("plan " + file + " --set 'plan.promises=[\"total_s < 1ms\"]'");
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.out, Contains("Infeasible") && (Contains("total_s < 1ms")));
}

TEST_CASE("the cheapest setting ends with the statement that applies it") {
  const ScratchFolder folder;
  const auto file = folder.write("s.yaml", batch + R"(plan:
  find: cheapest
  promises: [spill_bytes < 1MB]
  knobs:
    - {field: subscriptions.s.streaming, values: [{value: off, cost: 0}, {value: on, cost: 1}]}
    - field: servers.pub.settings.logical_decoding_work_mem
      values: [{value: 64kB, cost: 0}, {value: 1GB, cost: 5}]
)");
  const auto sql = folder / "apply.sql";
  const auto r = program("plan " + file + " --sql " + sql.string());
  REQUIRE(r.exit_code == 0);
  CHECK_THAT(r.out, Contains("ALTER SUBSCRIPTION s SET (streaming = on);"));
  CHECK_THAT(r.out, Contains("-- on sub") && (Contains("also: ")));
  CHECK_THAT(read_file(sql), Contains("ALTER SUBSCRIPTION s SET (streaming = on);"));
}

TEST_CASE("mistakes of the three commands end in a sentence and exit code 2") {
  const ScratchFolder folder;
  const auto plain = folder.write("plain.yaml", batch);
  const auto largest = [&](const std::string& promise) {
    return folder.write("s.yaml",
                        batch +
                            "plan: {find: largest, over: 'workload.w.transaction[0].rows', range: [1000, "
                            "2000], promises: [" +
                            promise + "]}\n");
  };
  const auto mistaken = [](const std::string& command, const std::string& words) {
    const auto r = program(command);
    INFO(command << "\n" << r.err);
    CHECK(r.exit_code == 2);
    CHECK(r.out.empty());
    CHECK_THAT(r.err, Contains(words));
  };
  mistaken("plan " + plain, "no `plan:` block");
  mistaken("plan " + largest("totals_s < 1s"), "did you mean 'total_s'");
  mistaken("plan " + largest("total_s < 5s, total_s > 9s"), "contradict each other");
  mistaken("plan " + largest("total_s < 5GB"), "GB");
  mistaken("compare " + plain + " --vary subscriptions.s.streaming=off", "one setting alone");
  mistaken("compare " + plain + " --vary subscriptions.s.streeming=off,on", "streeming");
  mistaken("compare " + plain + " " + plain + " --vary subscriptions.s.streaming=off,on", "leave it out");
  mistaken("compare " + plain + " nowhere.yaml", "nowhere.yaml");
  mistaken("explain " + plain + " --metric totals", "did you mean 'total_s'");
  mistaken("explain nowhere.yaml", "nowhere.yaml");
}

TEST_CASE("explain prints what limits and what decides, and the same as JSON") {
  const ScratchFolder folder;
  const auto file = folder.write("s.yaml", batch);
  const auto r = program("explain " + file + " --format json --method tornado");
  REQUIRE(r.exit_code == 0);
  const json object = json::parse(r.out);
  CHECK(object["metric"] == "total_s");
  CHECK_FALSE(object["inputs"].empty());
  CHECK_FALSE(object["stages"].empty());
  CHECK_FALSE(object["decide"].empty());
  CHECK(program("explain " + file + " --format json --method tornado --jobs 1").out == r.out);
}
