// Judging predictions, and the shape of the reports.
#include "calibration/suites/report.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace replisim;

namespace {

Cell timed(const std::string& id, double measured) {
  return {.id = id,
          .measured = measured,
          .measured_low = measured,
          .measured_high = measured,
          .unit = "s",
          .metric = "total_s",
          .scenario = "scenarios/x.yaml",
          .overrides = {"a.b=1"}};
}

Cell counted(const std::string& id, double measured, const std::string& rule,
             std::vector<Accepted> accepted) {
  Cell cell = timed(id, measured);
  cell.unit = "count";
  cell.rule = rule;
  cell.accepted = std::move(accepted);
  return cell;
}

/// Two cells, off 100 s and parallel 60 s: an improvement of 40 %.
Suite two_cells() {
  Suite suite;
  suite.name = "two";
  suite.description = "two cells";
  suite.cells = {timed("x/parallel", 60), timed("x/off", 100)};
  suite.derived = {{.id = "x/improvement", .measured = 40, .before = 1, .after = 0}};
  suite.limits = {{LimitKind::MapePct, 2.5},
                  {LimitKind::MaxErrorPct, 8},
                  {LimitKind::ImprovementPoints, 4},
                  {LimitKind::FittedParameters, 10}};
  return suite;
}

std::vector<std::string> keys_of(const nlohmann::ordered_json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items())
    keys.push_back(item.key());
  return keys;
}

} // namespace

TEST_CASE("errors, improvement and limits, by hand") {
  const SuiteReport report = judge_suite(two_cells(), {61.2, 102}, 6);
  CHECK(report.cells[0].error_pct == Approx(2));
  CHECK(report.cells[1].error_pct == Approx(2));
  CHECK(report.mape_pct == Approx(2));
  CHECK(report.max_error_pct == Approx(2));
  CHECK(report.derived[0] == Approx(40));
  CHECK(report.fitted_parameters == 6);
  CHECK(report.pass == true);
}

TEST_CASE("each limit alone fails the suite") {
  const auto failing = [](const std::vector<double>& predictions, std::size_t fitted) {
    const SuiteReport report = judge_suite(two_cells(), predictions, fitted);
    std::vector<std::string> names;
    for (const BarResult& bar : report.bars)
      if (!bar.ok)
        names.push_back(bar.name);
    CHECK(report.pass == names.empty());
    return names;
  };
  CHECK(failing({60, 100}, 10).empty());
  CHECK(failing({60, 100}, 11) == std::vector<std::string>{"fitted_parameters"});
  CHECK(failing({61.8, 103}, 0) == std::vector<std::string>{"mape_pct"});
  CHECK(failing({60, 108.5}, 0) ==
        std::vector<std::string>{"mape_pct", "max_error_pct", "improvement_points"});
  // 1 - 62.6 / 100 is 37.4 %, 2.6 points off; errors of 4.33 and 0 % have a mean of 2.17 %.
  CHECK(failing({62.6, 100}, 0).empty());
}

TEST_CASE("a limit holds at its very value") {
  Suite suite = two_cells();
  suite.limits = {{LimitKind::MaxErrorPct, 50}};
  CHECK(judge_suite(suite, {90, 100}, 0).pass == true);
  CHECK(judge_suite(suite, {90.001, 100}, 0).pass == false);
}

TEST_CASE("a missing prediction fails every limit it touches and prints as null") {
  const SuiteReport report = judge_suite(two_cells(), {std::numeric_limits<double>::quiet_NaN(), 100}, 0);
  CHECK(report.pass == false);
  const nlohmann::ordered_json json = suite_json(report);
  CHECK(json["cells"][0]["predicted"].is_null());
  CHECK(json["cells"][0]["error_pct"].is_null());
  CHECK(json["mape_pct"].is_null());
  CHECK(json["max_error_pct"].is_null());
  CHECK(json["derived"][0]["predicted"].is_null());
  CHECK(json["bars"]["fitted_parameters"]["ok"] == true);
}

TEST_CASE("rules: ranges, alternatives, cells nobody judges") {
  Suite suite;
  suite.name = "rules";
  suite.depends_on_costs = false;
  suite.cells = {counted("a", 10, "near", {{9, 11}}), counted("b", 5, "either", {{5, 5}, {7, 7}}),
                 counted("c", 0, "near", {{0, 0}}), counted("d", 1, "", {})};
  suite.cells[3].counted = false;
  suite.rules = {{"near", "near enough"}, {"either", "one of two"}};
  const SuiteReport good = judge_suite(suite, {11, 7, 0, 99}, 3);
  CHECK(good.pass == true);
  CHECK(good.mape_pct == Approx((10 + 40 + 0) / 3.0));
  CHECK_FALSE(good.fitted_parameters.has_value());
  const SuiteReport bad = judge_suite(suite, {11.5, 6, 1, 1}, 3);
  CHECK(bad.pass == false);
  REQUIRE(bad.bars.size() == 2);
  CHECK(bad.bars[0].cells == 2);
  CHECK(bad.bars[0].kept == 0);
  CHECK(bad.bars[1].kept == 0);
  CHECK(bad.mape_pct == Approx((15 + 20) / 2.0)); // an error in percent of 0 does not exist
  CHECK_THAT(suite_table(bad),
             Catch::Contains("short: allowed 5 or 7") && Catch::Contains("allowed 9 to 11"));
}

TEST_CASE("the JSON has the keys every suite shares, in order") {
  const nlohmann::ordered_json json = suite_json(judge_suite(two_cells(), {60, 125}, 6));
  CHECK(keys_of(json) == std::vector<std::string>{"suite", "cells", "derived", "mape_pct", "max_error_pct",
                                                  "fitted_parameters", "profile", "bars", "pass"});
  CHECK(keys_of(json["cells"][0]) == std::vector<std::string>{"id", "measured", "predicted", "unit",
                                                              "error_pct", "scenario", "overrides"});
  CHECK(keys_of(json["derived"][0]) == std::vector<std::string>{"id", "measured", "predicted", "unit"});
  CHECK(json["cells"][1]["error_pct"] == 25);
  CHECK(json["cells"][1]["overrides"] == nlohmann::ordered_json::array({"a.b=1"}));
  CHECK(json["derived"][0]["predicted"] == 52);
  CHECK(json["fitted_parameters"] == 6);
  CHECK(json["profile"].is_null());
  CHECK(json["bars"]["mape_pct"]["limit"] == 2.5);
  CHECK(json["bars"]["mape_pct"]["value"] == 12.5);
  CHECK(json["bars"]["mape_pct"]["ok"] == false);
  CHECK(json["pass"] == false);
}

TEST_CASE("a suite that judges nothing has null bars and no verdict") {
  Suite suite = two_cells();
  suite.limits.clear();
  suite.cells[0].measured_low = 55;
  suite.noise = {{"total_s", 12.5}};
  const SuiteReport report = judge_suite(suite, {66, 110}, 6);
  const nlohmann::ordered_json json = suite_json(report);
  CHECK_FALSE(report.pass.has_value());
  CHECK(json["bars"].is_null());
  CHECK(json["pass"].is_null());
  CHECK(json["cells"][0]["measured_low"] == 55);
  CHECK(json["cells"][0]["measured_high"] == 60);
  CHECK(json["metrics"][0]["mape_pct"] == Approx(10));
  CHECK(json["metrics"][0]["noise_floor_pct"] == 12.5);
  CHECK_THAT(suite_table(report),
             Catch::Contains("has no bars") && Catch::Contains("repeats 55.000 to 60.000"));
}

TEST_CASE("the table and the CSV print what was measured and predicted") {
  const SuiteReport report = judge_suite(two_cells(), {61.5, 102}, 6);
  const std::string table = suite_table(report);
  CHECK_THAT(table, Catch::Contains("x/parallel") && Catch::Contains("60.000") && Catch::Contains("61.500") &&
                        Catch::Contains("+2.50 %") && Catch::Contains("two: pass"));
  CHECK(suite_csv(judge_suite(two_cells(), {61.5, 123}, 6)) == "id,measured,predicted,unit,error_pct\n"
                                                               "x/parallel,60,61.5,s,2.5\n"
                                                               "x/off,100,123,s,23\n"
                                                               "x/improvement,40,50,%,\n");
}

TEST_CASE("the median error and its ratio to the repeats' own, by hand") {
  Suite suite;
  suite.name = "three";
  suite.cells = {timed("a", 100), timed("b", 100), timed("c", 100)};
  Cell aside = timed("d", 100);
  aside.counted = false;
  suite.cells.push_back(aside);
  suite.repeat_error_pct = 8;
  suite.limits = {{LimitKind::MedianErrorPct, 20}, {LimitKind::RepeatErrorRatio, 1.3}};
  const SuiteReport good = judge_suite(suite, {101, 90, 150, 900}, 0);
  CHECK(good.bars[0].value == Approx(10)); // of 1, 10 and 50
  CHECK(good.bars[1].value == Approx(1.25));
  CHECK(good.pass == true);
  const SuiteReport bad = judge_suite(suite, {101, 89, 150, 100}, 0);
  CHECK(bad.bars[0].ok);
  CHECK(bad.bars[1].value == Approx(1.375));
  CHECK(bad.pass == false);
  CHECK(judge_suite(suite, {101, 89, std::numeric_limits<double>::quiet_NaN(), 100}, 0).pass == false);
}
