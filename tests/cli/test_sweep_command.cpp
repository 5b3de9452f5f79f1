// What `sweep` prints: one row per point, the same for any number of jobs; Ctrl-C.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <numeric>
#include <vector>

using namespace replisim::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string memory = "servers.pub.settings.logical_decoding_work_mem";

} // namespace

TEST_CASE("the scenario's own axes give one row per point") {
  const auto r = program("sweep " + insert + " --format json");
  REQUIRE(r.exit_code == 0);
  const json object = json::parse(r.out);
  REQUIRE(object["axes"].size() == 2);
  CHECK(object["axes"][0]["path"] == memory);
  CHECK(object["points"].size() == object["axes"][0]["values"].size() * object["axes"][1]["values"].size());
  for (const auto& point : object["points"])
    CHECK(point["error"].is_null());
}

TEST_CASE("a point equals the run with its overrides") {
  const auto swept = program("sweep " + insert + " --set subscriptions.s.streaming=off --vary " + memory +
                             "=256kB,64MB --format json");
  REQUIRE(swept.exit_code == 0);
  const json object = json::parse(swept.out);
  REQUIRE(object["points"].size() == 2);
  CHECK(object["notes"].size() == 1);
  const auto run = program("run " + insert + " --format json --set subscriptions.s.streaming=off --set " +
                           object["points"][1]["overrides"][0].get<std::string>());
  const json alone = json::parse(run.out);
  CHECK(object["points"][1]["metrics"] == alone["metrics"]);
  CHECK(object["points"][1]["fingerprint"] == alone["fingerprint"]);
  CHECK(object["points"][1]["scenario_hash"] == alone["scenario_hash"]);
}

TEST_CASE("a sweep's bytes do not depend on the number of jobs") {
  for (const auto* format : {"table", "json", "csv"}) {
    const std::string command = "sweep " + insert + " --format " + format + " --jobs ";
    const auto one = program(command + "1");
    CHECK(one.exit_code == 0);
    CHECK(one.err.empty());
    CHECK(one.out == program(command + "2").out);
  }
}

TEST_CASE("a point that cannot be is an error in its row, and the answer is no") {
  const auto r = program("sweep " + insert + " --vary subscriptions.s.streaming=off,sideways --vary " +
                         memory + "=64kB --format csv");
  CHECK(r.exit_code == 1);
  CHECK(count_lines(r.out) == 3);
  CHECK_THAT(r.out, Contains("64kB,off,") and Contains("sideways"));
}

TEST_CASE("a path that leads nowhere is a sentence before anything runs") {
  const auto mistyped = program("sweep " + insert + " --vary subscriptions.s.streeming=off,on");
  CHECK(mistyped.exit_code == 2);
  CHECK(mistyped.out.empty());
  CHECK(mistyped.err ==
        "--vary subscriptions.s.streeming: subscriptions.s.streeming: unknown key 'streeming' (did "
        "you mean 'streaming'?)\n");
  const auto absent = program("sweep " + insert + " --vary subscriptions.z.streaming=off,on");
  CHECK(absent.exit_code == 2);
  CHECK_THAT(absent.err, Contains("the scenario has no entry of that name"));
  const auto past = program("sweep " + insert + " --vary 'workload.batch.transaction[7].rows=1,2'");
  CHECK(past.exit_code == 2);
  CHECK_THAT(past.err, Contains("there is no [7]"));
}

TEST_CASE("replications at each point share their seeds, and rows are means") {
  const auto r =
      program("sweep " + insert + " --vary " + memory +
              "=64kB,1MB --vary subscriptions.s.streaming=off --replications 2 --seed 5 --format json");
  REQUIRE(r.exit_code == 0);
  const json object = json::parse(r.out);
  CHECK(object["replications"] == 2);
  CHECK(object["points"][0]["half_width_95"].contains("total_s"));
}

TEST_CASE("the option --out takes its format from the ending") {
  const ScratchFolder folder;
  const std::string arguments =
      "sweep " + insert + " --vary " + memory + "=64kB --vary subscriptions.s.streaming=off";
  const auto r = program(arguments + " --out " + (folder / "x.json").string());
  CHECK(r.exit_code == 0);
  CHECK(r.out.empty());
  CHECK(read_file(folder / "x.json") == program(arguments + " --format json").out);
  CHECK(program(arguments + " --out " + (folder / "x.csv").string()).exit_code == 0);
  CHECK(read_file(folder / "x.csv") == program(arguments + " --format csv").out);
  CHECK(program(arguments + " --out " + (folder / "no/x.csv").string()).exit_code == 2);
}

TEST_CASE("Ctrl-C ends a sweep with 130 and what is finished, and leaves no process") {
  // Twenty points that differ in rows only; the signal comes when the first child is there. Job control gives
  // the program a process group and a default SIGINT, as a terminal does.
  std::vector<int> millions(20);
  std::iota(millions.begin(), millions.end(), 1);
  const std::string sweep = fmt::format(
      "sweep {} --jobs 1 --format json --vary {}=64kB --vary subscriptions.s.streaming=off,on,parallel "
      "--vary 'workload.batch.transaction[0].rows={}000000'",
      insert, memory, fmt::join(millions, "000000,"));
  const auto r = shell("set -m\n\"$REPLISIM\" " + sweep +
                       " &\npid=$!\n"
                       "until [ -n \"$(cat /proc/$pid/task/$pid/children)\" ]; do sleep 0.01; done\n"
                       "kill -INT -- -$pid\nwait $pid\necho $? >&2\n"
                       "kill -0 -- -$pid 2>/dev/null && echo alive >&2");
  CHECK(r.err == "130\n");
  const json object = json::parse(r.out);
  CHECK(object["interrupted"] == true);
  REQUIRE(object["points"].size() == 60);
  CHECK(object["points"][59]["error"] == "interrupted");
  for (const auto& point : object["points"])
    CHECK((point["error"] == "interrupted" or point["metrics"].contains("total_s")));
}
