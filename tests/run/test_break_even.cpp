// Break-even on analytic fakes: the answer is known with pencil and paper.
#include "models/base/errors.hpp"
#include "sim/report/sweep_report.hpp"
#include "sim/run/break_even.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace replisim;

namespace {

BreakEven question() {
  return {"total_s",
          "subscriptions.s.streaming",
          "off",
          "parallel",
          "workload.batch.transaction[0].rolled_back",
          0,
          1,
          "%"};
}

SweepAxis axis(std::string path, std::vector<std::string> values) {
  SweepAxis out{std::move(path), {}};
  for (auto& value : values)
    out.values.emplace_back(value, value);
  return out;
}

using Cost = double (*)(const std::string& setting, double share, double mem);

/// Runs whose total_s is `cost` of the last setting, the rolled-back share and `mem` of the overrides.
SweepEngine analytic(Cost cost) {
  return {[](const std::vector<Override>& overrides) {
            Scenario s;
            s.name = "off";
            for (const auto& o : overrides) {
              if (o.path == "subscriptions.s.streaming")
                s.name = o.value;
              else if (o.path == "mem")
                s.observe.interval_s = std::stod(o.value);
              else if (o.path.ends_with("rolled_back"))
                s.time_resolution_s = std::stod(o.value) / 100;
              else
                throw UsageError(fmt::format("unexpected override {}", o.path));
            }
            return s;
          },
          [cost](const Scenario& s, std::uint64_t) {
            RunResult r;
            r.metrics["total_s"] = cost(s.name, s.time_resolution_s, s.observe.interval_s);
            return r;
          }};
}

/// off: 70 (1 - x); parallel: 40 - 10 x. Equal where 30 = 60 x: at one half.
double linear(const std::string& setting, double share, double) {
  return setting == "off" ? 70 * (1 - share) : 40 - 10 * share;
}

std::vector<BreakEvenRow> ask(const BreakEven& what, const std::vector<SweepAxis>& axes,
                              const std::vector<Override>& overrides, const SweepEngine& engine, int jobs) {
  return find_break_even(what, axes, overrides, 1, engine, {jobs, {}});
}

} // namespace

TEST_CASE("values are written in the question's unit") {
  CHECK(over_text(question(), 0.1) == "10%");
  CHECK(over_text(question(), 0.374) == "37.4%");
  const auto with_unit = [](std::string unit) {
    BreakEven q = question();
    q.over_unit = std::move(unit);
    return q;
  };
  CHECK(over_text(with_unit(""), 1234567.5) == "1234568");
  CHECK(over_text(with_unit("s"), 0.0125) == "0.0125s");
  CHECK(over_text(with_unit("B"), 65536) == "65536B");
}

TEST_CASE("the question is asked for the axes it does not itself use") {
  const auto axes =
      break_even_axes(question(), {axis("mem", {"1"}), axis("subscriptions.s.streaming", {"off"}),
                                   axis("workload.batch.transaction", {"[]"}),
                                   axis("workload.batch.transaction[0].rolled_back", {"1%"}),
                                   axis("workload.batch.transact", {"x"}), axis("workload", {"{}"})});
  REQUIRE(axes.size() == 2);
  CHECK(axes[0].path == "mem");
  CHECK(axes[1].path == "workload.batch.transact");
}

TEST_CASE("two lines cross where they cross") {
  const auto rows = ask(question(), {}, {}, analytic(linear), 1);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].value.value() == Approx(0.5).margin(1e-6));
  CHECK(rows[0].crossings == 1);
  CHECK(rows[0].verdict == "50.0%: below it parallel is faster, above it off is faster");
}

TEST_CASE("a crossing off the grid is found to 0.1 % of the range") {
  // off: 70 (1 - x); parallel: 45 - 8 x, where 25 = 62 x
  const auto rows = ask(question(), {}, {}, analytic([](const std::string& s, double x, double) {
                          return s == "off" ? 70 * (1 - x) : 45 - 8 * x;
                        }),
                        2);
  CHECK(rows[0].value.value() == Approx(25.0 / 62).margin(1e-3));
  // a curve, not a line: 1 against 2 x^2, at sqrt(1/2)
  const auto curved =
      ask(question(), {}, {},
          analytic([](const std::string& s, double x, double) { return s == "off" ? 1 : 2 * x * x; }), 2);
  CHECK(curved[0].value.value() == Approx(0.70710678).margin(1e-3));
}

TEST_CASE("one answer per combination of the other axes") {
  const auto rows =
      ask(question(), {axis("mem", {"10", "50"}), axis("subscriptions.s.streaming", {"off", "on"})}, {},
          analytic([](const std::string& s, double x, double mem) { return s == "off" ? 100 * x : mem; }), 2);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].labels == std::vector<std::pair<std::string, std::string>>{{"mem", "10"}});
  CHECK(rows[0].value.value() == Approx(0.1).margin(1e-3));
  CHECK(rows[1].value.value() == Approx(0.5).margin(1e-3));
}

TEST_CASE("without a change of sides the answer is none, and says who wins") {
  const auto first =
      ask(question(), {}, {},
          analytic([](const std::string& s, double, double) { return s == "off" ? 1.0 : 2.0; }), 1);
  CHECK_FALSE(first[0].value.has_value());
  CHECK(first[0].verdict == "none: off is always faster");
  const auto second =
      ask(question(), {}, {},
          analytic([](const std::string& s, double, double) { return s == "off" ? 2.0 : 1.0; }), 1);
  CHECK(second[0].verdict == "none: parallel is always faster");
  const auto equal =
      ask(question(), {}, {}, analytic([](const std::string&, double, double) { return 1.0; }), 1);
  CHECK(equal[0].verdict == "none: both are equal everywhere");
}

TEST_CASE("more than one change of sides is said") {
  // parallel wins only between 0.3 and 0.6
  const auto rows = ask(question(), {}, {}, analytic([](const std::string& s, double x, double) {
                          return s == "off" ? 0.0 : (x - 0.3) * (x - 0.6);
                        }),
                        1);
  CHECK(rows[0].crossings == 2);
  CHECK(rows[0].value.value() == Approx(0.3).margin(1e-3));
  CHECK_THAT(rows[0].verdict, Catch::Contains("the first of 2 changes"));
}

TEST_CASE("failures and unknown metrics are errors of the row") {
  BreakEven wrong = question();
  wrong.metric = "total";
  const auto rows = ask(wrong, {}, {}, analytic(linear), 1);
  CHECK(rows[0].error == "the run reports no metric 'total'");
  CHECK_FALSE(rows[0].value.has_value());
  const auto refused = ask(question(), {}, {{"nonsense", "1"}}, analytic(linear), 1);
  CHECK(refused[0].error == "unexpected override nonsense");
}

TEST_CASE("a sweep appends its break-even answers to table and JSON") {
  Scenario base;
  base.name = "base";
  base.sweep = {axis("subscriptions.s.streaming", {"off", "parallel"})};
  base.break_even = {question()};
  const Sweep sweep = run_sweep(base, {}, analytic(linear), {2, {}});
  CHECK_THAT(sweep_table(sweep),
             Catch::Contains("50.0%: below it parallel is faster, above it off is faster"));
  const auto json = sweep_json(sweep)["break_even"];
  REQUIRE(json.size() == 1);
  CHECK(json[0]["value"].get<double>() == Approx(0.5).margin(1e-6));
  CHECK(json[0]["unit"] == "fraction");
  CHECK(json[0]["error"].is_null());
}
