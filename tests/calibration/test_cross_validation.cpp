// Leaving out what one knows, and whether intervals mean what they say.
#include "calibration/fit/cross_validation.hpp"
#include "planted.hpp"

#include "sim/scenario/library_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>

using namespace replisim;
using namespace replisim::planted;

namespace {

/// Totals and CPU seconds of serial() for 2 us a decoded change, 5 us an insert, 8 us a delete, in `count`
/// settings each, with errors of `noise`.
Suite noisy(const std::string& name, std::uint64_t seed, int count, double noise) {
  Suite suite;
  suite.name = name;
  std::uint64_t counter = 1000 * seed;
  for (int setting = 0; setting < count; ++setting)
    for (const std::string scenario : {"insert", "delete"}) {
      const std::string id = fmt::format("{}/{}/", scenario, setting);
      const double apply = scenario == "insert" ? 5 : 8;
      suite.cells.push_back(cell(id + "total", scenario, (2 + apply) * std::exp(noise * deviate(++counter))));
      suite.cells.push_back(
          cell(id + "decode", scenario, 2 * std::exp(noise * deviate(++counter)), "cpu_pub.walsender_s"));
    }
  return suite;
}

const std::string three_costs = "parameters: {walsender: {decode_change: {prior: 50%}}, apply: {insert_row: "
                                "{prior: 50%}, delete_row: {prior: "
                                "50%}}}\nrobust_limit: 0\n";

std::string both_metrics() {
  std::string text = head + three_costs;
  text.replace(text.find("[total_s]"), 9, "[total_s, cpu_pub.walsender_s]");
  return text;
}

CrossValidation validated(std::uint64_t seed, double noise) {
  const Suite suite = noisy("planted", seed, 4, noise);
  const Calibration calibration(read_spec(both_metrics()), library, serial,
                                [&](const std::string&) { return suite; });
  return cross_validate(suite, calibration, load_profile("lab-2core", library), calibration.options());
}

const FoldResult& fold(const CrossValidation& result, const std::string& name) {
  const auto found = std::find_if(result.folds.begin(), result.folds.end(),
                                  [&](const FoldResult& one) { return one.name == name; });
  REQUIRE(found != result.folds.end());
  return *found;
}

} // namespace

TEST_CASE("folds follow the parts of the ids, and what the suite adds") {
  Suite suite = noisy("planted", 1, 3, 0);
  suite.folds = {
      {"zeros", {"insert/0", "delete/0"}}, {"everything", {"insert", "delete"}}, {"nothing", {"update"}}};
  std::vector<std::string> names;
  for (const Fold& one : folds_of(suite, suite.cells))
    names.push_back(one.name);
  CHECK(names == std::vector<std::string>{"scenario insert", "scenario delete", "setting 0", "setting 1",
                                          "setting 2", "zeros"});
  std::vector<Cell> inserts;
  std::copy_if(suite.cells.begin(), suite.cells.end(), std::back_inserter(inserts),
               [](const Cell& one) { return one.id.starts_with("insert/0"); });
  CHECK(folds_of(suite, inserts).empty());
}

TEST_CASE("without noise every figure is predicted from the others") {
  const CrossValidation result = validated(1, 1e-6);
  // The priors pull a little: 50 % against 5 % of eight figures.
  CHECK(result.in_sample_mape_pct < 0.2);
  CHECK(fold(result, "setting 2").mape_pct < 0.3);
  CHECK(fold(result, "setting 2").cells.size() == 4);
  // Without any delete its cost is the prior's: the lab's 4.66 us for 8 us, within what 50 % allow.
  const FoldResult& deletes = fold(result, "scenario delete");
  CHECK(deletes.in_sample_mape_pct < 0.2);
  const auto total = std::find_if(deletes.cells.begin(), deletes.cells.end(),
                                  [](const HeldOutCell& one) { return one.id == "delete/0/total"; });
  const CostProfile lab = load_profile("lab-2core", library);
  CHECK(total->predicted == Approx(2 + 1e6 * lab.costs.apply_delete_row_s).epsilon(5e-3));
  CHECK(total->covered());
  // What a rise of the unknown cost does is seen between the fit to everything, with 8 us, and this one.
  const double slope = std::log(10 / total->predicted) / std::log(8e-6 / lab.costs.apply_delete_row_s);
  CHECK(std::log(total->high / total->predicted) == Approx(1.644854 * 0.5 * slope).epsilon(0.02));
}

TEST_CASE("planted costs come back from noisy figures within their intervals") {
  int inside = 0;
  int all = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Suite suite = noisy("planted", seed, 4, 0.05);
    std::string text = both_metrics();
    text.replace(text.find("prior: 50%"), 10, "");
    const Calibration calibration(read_spec(text), library, serial,
                                  [&](const std::string&) { return suite; });
    const CalibrationResult result = calibration.fit(calibration.options());
    const std::array<double, 3> planted_us = {2, 5, 8};
    for (std::size_t k = 0; k < 3; ++k) {
      const FittedCost& cost = result.costs[k];
      inside += cost.low() <= planted_us[k] * 1e-6 and planted_us[k] * 1e-6 <= cost.high() ? 1 : 0;
      ++all;
      CHECK(std::abs(std::log(cost.value / (planted_us[k] * 1e-6))) < 0.15);
    }
  }
  // 95 % intervals; of 90 at least 77 with a probability of 0.9999.
  CHECK(all == 90);
  CHECK(inside >= 77);
}

TEST_CASE("90 percent intervals hold about nine tenths of what was left out") {
  double held = 0;
  double all = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const CrossValidation result = validated(seed, 0.04);
    for (const FoldResult& one : result.folds)
      if (one.name.starts_with("setting")) {
        held += static_cast<double>(one.covered);
        all += static_cast<double>(one.cells.size());
      }
  }
  CHECK(all == 320);
  CHECK(100 * held / all > 80);
  CHECK(100 * held / all < 98);
}

TEST_CASE("limits of folds are judged, and a fold that is not there is no pass") {
  Suite suite = noisy("planted", 1, 4, 1e-6);
  using Kind = FoldLimit::Kind;
  suite.fold_limits = {{Kind::InSampleMapePct, 1},
                       {Kind::EachMapePct, 1, {"scenario delete"}},
                       {Kind::MeanMapePct, 1, {"setting 1"}},
                       {Kind::MeasuredInside, 0, {"scenario delete"}},
                       {Kind::EachMapePct, 50, {"scenario update"}}};
  const Calibration calibration(read_spec(both_metrics()), library, serial,
                                [&](const std::string&) { return suite; });
  const CrossValidation result =
      cross_validate(suite, calibration, load_profile("lab-2core", library), calibration.options());
  REQUIRE(result.bars.size() == 5);
  CHECK(result.bars[0].ok);
  CHECK_FALSE(result.bars[1].ok);
  CHECK(result.bars[1].value > 5);
  CHECK(result.bars[2].ok);
  const FoldResult& deletes = fold(result, "scenario delete");
  CHECK(result.bars[3].value == static_cast<double>(deletes.cells.size() - deletes.covered));
  CHECK_FALSE(result.bars[4].ok);
  CHECK_FALSE(result.pass());
  CHECK_THAT(cross_validation_table(result), Catch::Contains("short of its bars") &&
                                                 Catch::Contains("scenario delete") &&
                                                 Catch::Contains("delete/0/total"));
  const auto json = cross_validation_json(result);
  CHECK(json["folds"][0]["name"] == "scenario insert");
  CHECK(json["folds"][0]["cells"].size() == 8);
  CHECK(json["pass"] == false);
  CHECK_THAT(cross_validation_csv(result),
             Catch::StartsWith("fold,id,measured,predicted,low,high,unit,error_pct\n"
                               "scenario insert,insert/0/total,"));
}

TEST_CASE("a suite whose profile has no spec says so") {
  Suite suite = noisy("planted", 1, 2, 0.1);
  CHECK_THAT(error_of([&] { spec_for(suite, library); }),
             Catch::Contains("the costs of profile lab-2core were not fitted by a spec"));
  for (Cell& one : suite.cells)
    one.overrides = {"profile=lab-2core-64kb"};
  CHECK_THAT(error_of([&] { spec_for(suite, library); }),
             Catch::Contains("profile lab-2core-64kb is not fitted to suite 'planted'"));
}

TEST_CASE("planted costs come back from simulated runs with noise") {
  // What a pair would show whose apply worker is 1.5 times and whose walsender is 0.8 times as dear as the
  // lab's.
  const auto planted_profile = [] {
    CostProfile profile = load_profile("lab-2core", library);
    profile.costs.apply_insert_row_s *= 1.5;
    profile.costs.send_change_s *= 0.8;
    return profile;
  };
  Suite suite;
  suite.name = "planted";
  for (const std::string streaming : {"off", "parallel"})
    for (const std::string metric :
         {"cpu_pub.walsender_s", "cpu_sub.apply_worker_s", "cpu_sub.parallel_apply_worker_s"}) {
      Cell one = cell("insert/" + streaming + "/" + metric, "insert", 1, metric);
      one.overrides = {"workload.batch.transaction[0].rows=20000", "subscriptions.s.streaming=" + streaming};
      if (streaming == "parallel" or metric != "cpu_sub.parallel_apply_worker_s")
        suite.cells.push_back(one);
    }
  const Simulator simulator = forked_simulator({.jobs = 2, .progress = {}});
  const auto truth = Predictor(suite.cells, library).predict_profiles(simulator, {planted_profile()}).front();
  for (std::size_t i = 0; i < suite.cells.size(); ++i)
    suite.cells[i].measured = truth[i] * std::exp(0.02 * deviate(i + 1));
  std::string text = head + "parameters: {walsender: {send_change: {}}, apply: {insert_row: {}}}\n";
  text.replace(text.find("[total_s]"), 9,
               "[cpu_pub.walsender_s, cpu_sub.apply_worker_s, cpu_sub.parallel_apply_worker_s]");
  const Calibration calibration(read_spec(text), library, simulator,
                                [&](const std::string&) { return suite; });
  const CalibrationResult result = calibration.fit(calibration.options());
  const CostProfile wanted = planted_profile();
  for (const FittedCost& cost : result.costs) {
    const double value = effective_cost_s(wanted, *find_cost_parameter(cost.name));
    INFO(cost.name << " " << cost.value << " for " << value);
    CHECK(cost.low() <= value);
    CHECK(cost.high() >= value);
    CHECK(std::abs(std::log(cost.value / value)) < 0.08);
  }
  CHECK(result.identifiability.confusions.empty());
}

TEST_CASE("costs that only show as a sum are named as a pair by a real fit") {
  Suite suite;
  suite.name = "planted";
  for (const std::string metric : {"cpu_pub.walsender_s", "cpu_sub.apply_worker_s"}) {
    suite.cells.push_back(
        cell("insert/off/" + metric, "insert", metric.starts_with("cpu_pub") ? 0.16 : 0.12, metric));
    suite.cells.back().overrides = {"workload.batch.transaction[0].rows=20000",
                                    "subscriptions.s.streaming=off"};
  }
  // Off spills every change once and restores it once: nothing here tells the two apart.
  std::string text = head + "parameters: {walsender: {spill_change: {start: 1.5us, prior: 50%}, "
                            "restore_change: {prior: 50%}}, apply: "
                            "{insert_row: {prior: 50%}}}\n";
  text.replace(text.find("[total_s]"), 9, "[cpu_pub.walsender_s, cpu_sub.apply_worker_s], error: 1%");
  const Calibration calibration(read_spec(text), library, forked_simulator({.jobs = 2, .progress = {}}),
                                [&](const std::string&) { return suite; });
  const CalibrationResult result = calibration.fit(calibration.options());
  REQUIRE(result.identifiability.confusions.size() == 1);
  CHECK(result.identifiability.confusions[0].names ==
        std::vector<std::string>{"walsender.spill_change", "walsender.restore_change"});
  CHECK_THAT(result.identifiability.confusions[0].measurement, Catch::Contains("spill file"));
}
