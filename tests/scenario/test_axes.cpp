// Axes in the `sweep:` block beyond lists: ranges, paths that change together, samples.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("ranges stand in the file as maps with from and to") {
  const Scenario s = load_text(sound + R"(sweep:
  servers.pub.settings.logical_decoding_work_mem: {from: 64kB, to: 1MB, count: 5, scale: log}
  observe.interval: {from: 50ms, to: 200ms, step: 50ms}
)");
  REQUIRE(s.sweep.size() == 2);
  REQUIRE(s.sweep[0].values.size() == 5);
  CHECK(s.sweep[0].values[4].second == "1024kB");
  REQUIRE(s.sweep[1].values.size() == 4);
  CHECK(s.sweep[1].values[2].second == "0.15s");
}

TEST_CASE("several paths are one axis") {
  const Scenario s = load_text(sound + R"(sweep:
  "hosts.db.speed, tables.t.rows": [[1, 5], [2, 6]]
  "servers.pub.version, servers.sub.version": {old: [15, 16], new: [17, 18]}
)");
  REQUIRE(s.sweep.size() == 2);
  CHECK(s.sweep[0].path == "hosts.db.speed, tables.t.rows");
  CHECK(s.sweep[0].zipped == std::vector<std::string>{"hosts.db.speed", "tables.t.rows"});
  CHECK(s.sweep[0].values[1] == std::pair<std::string, std::string>("[2, 6]", "[2, 6]"));
  CHECK(s.sweep[1].values[0] == std::pair<std::string, std::string>("old", "[15, 16]"));
}

TEST_CASE("a range without values is sampled") {
  const Scenario s = load_text(sound + R"(sweep:
  tables.t.rows: {from: 10, to: 1000, scale: log}
  sample: {method: sobol, points: 64, seed: 9}
)");
  REQUIRE(s.sweep.size() == 1);
  CHECK(s.sweep[0].values.empty());
  CHECK(s.sweep[0].range == AxisRange{10, 1000, true, 1, 1, ""});
  REQUIRE(s.sample);
  CHECK(s.sample->method == SampleMethod::Sobol);
  CHECK(s.sample->points == 64);
  CHECK(s.sample->seed == 9);
}

TEST_CASE("mistakes in ranges and samples are reported where they stand") {
  const auto errors = [](const std::string& line) { return errors_of(sound + "sweep:\n  " + line + "\n"); };
  CHECK(errors("tables.t.rows: {from: 9, to: 1, count: 3}") ==
        Lines{"13:18 sweep.tables.t.rows: the lowest value comes first, the highest second"});
  CHECK(errors("tables.t.rows: {from: 1, to: 9, count: 1}") ==
        Lines{"13:18 sweep.tables.t.rows: '1' is no number of values; allowed: 2 to 1000000"});
  CHECK(errors("tables.t.rows: {from: 1, to: 9, steps: 2, count: 3}") ==
        Lines{"13:35 sweep.tables.t.rows: unknown key 'steps' (did you mean 'step'?)"});
  CHECK(errors("tables.t.rows: {from: 1, to: 9, step: 2, count: 3}") ==
        Lines{"13:18 sweep.tables.t.rows: give `count` or `step`, not both"});
  CHECK(errors("subscriptions.s.streaming: {from: off, to: on, count: 3}").at(0).find("is no quantity") !=
        std::string::npos);
  CHECK(errors("tables.t.rows: {from: 1, to: 9}").at(0).find("sample: {method") != std::string::npos);
  CHECK(
      errors("\"tables.t.rows, hosts.db.speed\": [[1, 2], [3]]").at(0).find("a list of 2 values is wanted") !=
      std::string::npos);
  CHECK(errors("tables.t.rows: {from: 1, to: 9}\n  sample: {method: sobel, points: 5}") ==
        Lines{"14:11 sweep.sample: unknown sampling method 'sobel' (did you mean 'sobol'?)"});
  CHECK(errors("tables.t.rows: [1]\n  sample: {method: sobol, points: 0}").at(0).find("allowed: 1 to") !=
        std::string::npos);
}

TEST_CASE("a source read once gives what the file gives, with any overrides") {
  const Folder folder;
  const auto file = folder.write("s.yaml", sound + "sweep: {tables.t.rows: [1, 2]}\n");
  const ScenarioSource source(file, shipped_library());
  const std::vector<Override> five{{"tables.t.rows", "5"}};
  CHECK(source.load(five).hash == load_scenario(file, five, shipped_library()).hash);
  CHECK(source.load_point(five).hash == source.load(five).hash);
  CHECK(source.load({}).sweep.size() == 1);
  CHECK(source.load_point({}).sweep.empty());
  CHECK(source.load_point({}).guesses == source.load({}).guesses);
  CHECK_THROWS_AS(source.load_point({{"tables.t.rows", "many"}}), ScenarioError);
  CHECK_NOTHROW(source.require_field("servers.pub.settings.wal_buffers", "--vary", {}));
  CHECK_NOTHROW(source.require_field("background.backup", "--vary", {}));
  CHECK_THROWS_WITH(source.require_field("servers.pub.settings.wal_bufers", "--vary", {}),
                    Catch::Contains("did you mean 'wal_buffers'?"));
  CHECK_THROWS_WITH(source.require_field("servers.pup.host", "--vary", {}),
                    Catch::Contains("no entry of that name"));
  CHECK_NOTHROW(source.require_field("links[0].latency", "--vary", {{"links", "[{between: [db, db]}]"}}));
}

TEST_CASE("a break-even over a setting writes its values in that setting's units") {
  const Scenario s = load_text(sound + R"(break_even:
  - between: {subscriptions.s.streaming: [off, on]}
    over: servers.pub.settings.logical_decoding_work_mem
    range: [64kB, 64MB]
)");
  CHECK(s.break_even.at(0).over_unit == "B");
}
