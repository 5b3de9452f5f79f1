// Axes, points, and what becomes of points that fail.
#include "models/base/errors.hpp"
#include "sim/report/sweep_report.hpp"
#include "sim/run/sweep.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

SweepAxis axis(std::string path, std::vector<std::string> values) {
  SweepAxis out{std::move(path), {}};
  for (auto& value : values)
    out.values.emplace_back(value, value);
  return out;
}

std::string text_of(const std::vector<Override>& overrides) {
  std::string out;
  for (const auto& o : overrides)
    out += o.path + "=" + o.value + ";";
  return out;
}

/// Scenarios whose name is their overrides, and runs that take `a` times 10 plus `b` seconds.
SweepEngine fake_engine() {
  return {[](const std::vector<Override>& overrides) {
            Scenario s;
            s.name = text_of(overrides);
            for (const auto& o : overrides)
              if (o.value == "bad")
                throw ScenarioError({{"--set " + o.path, 0, 0, o.path, "found bad; allowed 1 to 9"}});
            return s;
          },
          [](const Scenario& scenario, std::uint64_t seed) {
            RunResult r;
            r.scenario = scenario.name;
            r.seed = seed;
            double total = 0;
            for (std::size_t at = 0; (at = scenario.name.find('=', at)) != std::string::npos; ++at)
              total = total * 10 + std::stod(scenario.name.substr(at + 1));
            if (total == 13)
              throw InvariantViolation("thirteen");
            r.metrics["total_s"] = total;
            r.bottleneck = "walsender";
            r.timeline = {{"t_s"}, {{0}}};
            return r;
          }};
}

Scenario base_with(std::vector<SweepAxis> axes) {
  Scenario s;
  s.name = "base";
  s.sweep = std::move(axes);
  return s;
}

} // namespace

TEST_CASE("the option --vary splits at the commas between values only") {
  const SweepAxis plain = parse_vary("subscriptions.s.streaming=off, on ,parallel");
  CHECK(plain.path == "subscriptions.s.streaming");
  REQUIRE(plain.values.size() == 3);
  CHECK(plain.values[1].first == "on");
  CHECK(plain.values[1].second == "on");
  const SweepAxis lists = parse_vary("links=[],[{between: [a, b], latency: 1ms}]");
  REQUIRE(lists.values.size() == 2);
  CHECK(lists.values[1].second == "[{between: [a, b], latency: 1ms}]");
  CHECK(parse_vary("name='a, b',c").values.size() == 2);
  CHECK(parse_vary("x=a=b").values[0].second == "a=b");
}

TEST_CASE("the option --vary says what is wrong") {
  CHECK_THROWS_WITH(parse_vary("off,on"), Catch::Contains("path=value1,value2"));
  CHECK_THROWS_WITH(parse_vary("=off"), Catch::Contains("path=value1,value2"));
  CHECK_THROWS_WITH(parse_vary("p=off,,on"), Catch::Contains("empty"));
  CHECK_THROWS_WITH(parse_vary("p="), Catch::Contains("empty"));
  CHECK_THROWS_WITH(parse_vary("p=on,off,on"), Catch::Contains("'on' comes twice"));
}

TEST_CASE("axes are sorted by path; --vary replaces, --set takes out") {
  const auto plan = plan_sweep({axis("z", {"1"}), axis("b", {"1", "2"}), axis("c", {"7"})},
                               {axis("b", {"3"}), axis("a", {"4", "5"})}, {{"z", "9"}});
  REQUIRE(plan.axes.size() == 3);
  CHECK(plan.axes[0].path == "a");
  CHECK(plan.axes[1].path == "b");
  CHECK(plan.axes[1].values.at(0).first == "3");
  CHECK(plan.axes[2].path == "c");
  REQUIRE(plan.notes.size() == 1);
  CHECK_THAT(plan.notes[0], Catch::Contains("'z'"));
}

TEST_CASE("contradictory or endless sweeps are refused with a sentence") {
  CHECK_THROWS_WITH(plan_sweep({}, {}, {}), Catch::Contains("--vary"));
  CHECK_THROWS_WITH(plan_sweep({axis("a", {"1"})}, {}, {{"a", "1"}}), Catch::Contains("nothing to vary"));
  CHECK_THROWS_WITH(plan_sweep({}, {axis("a", {"1"}), axis("a", {"2"})}, {}), Catch::Contains("twice"));
  CHECK_THROWS_WITH(plan_sweep({}, {axis("a", {"1"})}, {{"a", "1"}}), Catch::Contains("both varied and set"));
  CHECK_THROWS_WITH(plan_sweep({axis("a", {})}, {}, {}), Catch::Contains("'a' has no values"));
  std::vector<std::string> many;
  for (int i = 0; i < 400; ++i)
    many.push_back(std::to_string(i));
  CHECK_THROWS_WITH(plan_sweep({}, {axis("a", many), axis("b", many)}, {}), Catch::Contains("100000 points"));
}

TEST_CASE("points are the cartesian product, the first axis slowest") {
  const auto points = sweep_points({axis("a", {"1", "2"}), axis("b", {"3", "4", "5"})});
  REQUIRE(points.size() == 6);
  CHECK(text_of(points[0].overrides) == "a=1;b=3;");
  CHECK(text_of(points[2].overrides) == "a=1;b=5;");
  CHECK(text_of(points[3].overrides) == "a=2;b=3;");
  CHECK(points[3].labels[0] == std::pair<std::string, std::string>{"a", "2"});
  CHECK(sweep_points({}).size() == 1);
}

TEST_CASE("a label stands for its YAML text") {
  const auto points = sweep_points({SweepAxis{"links", {{"near", "[]"}, {"far", "[{latency: 1s}]"}}}});
  CHECK(points[1].labels[0].second == "far");
  CHECK(points[1].overrides[0].value == "[{latency: 1s}]");
}

TEST_CASE("one row per point, in order, with the same outcome for any number of jobs") {
  const Scenario base = base_with({axis("a", {"1", "2"}), axis("b", {"3", "4"})});
  std::vector<std::string> tables;
  for (const int jobs : {1, 3}) {
    const Sweep sweep = run_sweep(base, {.overrides = {}, .vary = {}, .seed = 7}, fake_engine(), {jobs, {}});
    REQUIRE(sweep.rows.size() == 4);
    CHECK(sweep.rows[1].outcome.result.value().metrics.at("total_s") == 14);
    CHECK(sweep.rows[2].outcome.result.value().metrics.at("total_s") == 23);
    CHECK(sweep.rows[2].outcome.result->seed == 7);
    CHECK(sweep.rows[2].outcome.result->timeline.rows.empty());
    // a=1, b=3 hits the invariant: a row, not the end
    CHECK(sweep.rows[0].outcome.error == "thirteen");
    CHECK(sweep.rows[0].outcome.exit_code == ExitCode::Internal);
    CHECK(sweep_exit_code(sweep) == ExitCode::No);
    tables.push_back(sweep_table(sweep) + sweep_json(sweep).dump() + sweep_csv(sweep));
  }
  CHECK(tables[0] == tables[1]);
}

TEST_CASE("overrides of the command line come before those of the point") {
  const Sweep sweep = run_sweep(base_with({axis("b", {"2"})}), {.overrides = {{"x", "5"}}, .vary = {}},
                                fake_engine(), {1, {}});
  CHECK(sweep.rows[0].outcome.result.value().scenario == "x=5;b=2;");
}

TEST_CASE("a point that does not load names its override, and the others still run") {
  const Sweep sweep = run_sweep(base_with({axis("b", {"2", "bad"})}), {}, fake_engine(), {2, {}});
  CHECK(sweep.rows[0].outcome.result.has_value());
  CHECK(sweep.rows[1].outcome.error == "--set b: b: found bad; allowed 1 to 9");
  CHECK(sweep_exit_code(sweep) == ExitCode::No);
  const auto json = sweep_json(sweep);
  CHECK(json["points"][0]["error"].is_null());
  CHECK(json["points"][0]["metrics"]["total_s"] == 2);
  CHECK(json["points"][1]["metrics"].is_null());
  CHECK(json["points"][1]["overrides"][0] == "b=bad");
  CHECK_THAT(sweep_table(sweep),
             Catch::Contains("error of 1 point:\n--set b: b: found bad; allowed 1 to 9\n"));
  CHECK(sweep_csv(sweep) == "b,total_s,bottleneck,error\n"
                            "2,2,walsender,\n"
                            "bad,,,--set b: b: found bad; allowed 1 to 9\n");
}
