// The suites as they ship: identifiers, measured figures, runs behind the cells, and the bounds of
// what a server may have spilled for rolled back rows.
#include "calibration/suites/abort_bounds.hpp"
#include "calibration/suites/predictor.hpp"
#include "calibration/suites/streaming_cells.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace replisim;

namespace {

const Library library{REPLISIM_SOURCE_DIR};

const Cell& cell_of(const Suite& suite, const std::string& id) {
  const auto found =
      std::find_if(suite.cells.begin(), suite.cells.end(), [&](const Cell& cell) { return cell.id == id; });
  INFO(id);
  REQUIRE(found != suite.cells.end());
  return *found;
}

Cell lab_run(const std::string& scenario, const std::string& work_mem_kb) {
  Cell cell;
  cell.scenario = "scenarios/lab/streaming_" + scenario + ".yaml";
  cell.overrides = streaming_overrides(work_mem_kb, "off");
  return cell;
}

/// Metrics that say which run they come from: its position among the runs.
std::vector<Metrics> numbered(const std::vector<Scenario>& scenarios) {
  std::vector<Metrics> results;
  for (std::size_t i = 0; i < scenarios.size(); ++i)
    results.push_back({{"total_s", static_cast<double>(i)}});
  return results;
}

} // namespace

TEST_CASE("the list of suites, and a mistyped name") {
  std::vector<std::string> names;
  for (const SuiteEntry& entry : suite_catalogue())
    names.push_back(entry.name);
  CHECK(names == std::vector<std::string>{"seed-streaming", "lab-counters", "lab-streaming", "lab-pgbench",
                                          "seed-publisher-tps", "seed-invalidation", "lab-invalidation",
                                          "public-invalidation", "lab-17-vs-18", "seed-transfer",
                                          "lab-locks"});
  CHECK_THROWS_WITH(make_suite("seed-streming", library),
                    Catch::Contains("unknown suite 'seed-streming'") && Catch::Contains("'seed-streaming'"));
}

TEST_CASE("work_mem_kb becomes the setting a DBA would write") {
  CHECK(work_mem_setting("64") == "64kB");
  CHECK(work_mem_setting("256") == "256kB");
  CHECK(work_mem_setting("65536") == "64MB");
}

TEST_CASE("seed-streaming holds the 42 posted times and 21 improvements") {
  const Suite suite = make_suite("seed-streaming", library);
  CHECK(suite.name == "seed-streaming");
  REQUIRE(suite.cells.size() == 42);
  REQUIRE(suite.derived.size() == 21);
  CHECK(suite.cells[0].id == "insert/64/parallel");
  CHECK(suite.cells[1].id == "insert/64/off");
  const Cell& cell = cell_of(suite, "insert/65536/parallel");
  CHECK(cell.measured == 41.173);
  CHECK(cell.unit == "s");
  CHECK(cell.metric == "total_s");
  CHECK(cell.scenario == "scenarios/published/streaming_insert.yaml");
  CHECK(cell.overrides == std::vector<std::string>{"servers.pub.settings.logical_decoding_work_mem=64MB",
                                                   "subscriptions.s.streaming=parallel"});
  CHECK(cell_of(suite, "rollback_50pct/256/off").measured == 44.530);
  CHECK(suite.derived[0].id == "insert/64/improvement");
  CHECK(suite.derived[0].measured == 46.298);
  for (const DerivedFigure& figure : suite.derived) {
    CHECK(suite.cells[figure.before].id.ends_with("/off"));
    CHECK(suite.cells[figure.after].id.ends_with("/parallel"));
  }
}

TEST_CASE("lab-counters: what is judged, and how") {
  const Suite suite = make_suite("lab-counters", library);
  REQUIRE(suite.cells.size() == 63 * 8);
  const Cell& count = cell_of(suite, "insert/64/off/spill_count");
  CHECK(count.measured == 1401);
  CHECK(count.unit == "count");
  CHECK(count.rule == "spill_count_within_1");
  CHECK(count.accepted[0].low == 1400);
  CHECK(count.accepted[0].high == 1402);
  CHECK(cell_of(suite, "update/64/on/stream_count").rule == "stream_counters_exact");
  CHECK(cell_of(suite, "delete/65536/parallel/spill_bytes").rule == "unused_counters_zero");
  const Cell& file = cell_of(suite, "update/65536/on/peak_sub_tmp_file_bytes");
  REQUIRE(file.accepted.size() == 2);
  CHECK(file.accepted[0].low == 50'888'967);
  CHECK(file.accepted[1].high == 51'388'967);
  CHECK(file.measured_low == 50'888'967);
  CHECK(cell_of(suite, "rollback_10pct/64/on/peak_sub_tmp_file_bytes").rule.empty());
  CHECK_FALSE(cell_of(suite, "rollback_10pct/64/on/peak_sub_tmp_file_bytes").counted);
  CHECK(cell_of(suite, "update/64/off/wal_bytes").accepted[0].high == Approx(187'135'960 * 1.2));
  CHECK(cell_of(suite, "insert/64/off/wal_bytes").accepted[0].low == Approx(89'308'376 * 0.99));
}

TEST_CASE("every rule of a suite judges cells, and every judged cell names a rule and what it accepts") {
  for (const SuiteEntry& entry : suite_catalogue()) {
    const Suite suite = make_suite(entry.name, library);
    std::set<std::string> used;
    for (const Cell& cell : suite.cells)
      if (!cell.rule.empty()) {
        used.insert(cell.rule);
        CHECK_FALSE(cell.accepted.empty());
      }
    for (const CombinedFigure& figure : suite.combined) {
      used.insert(figure.rule);
      CHECK_FALSE(figure.accepted.empty());
    }
    std::set<std::string> known;
    for (const Rule& rule : suite.rules)
      known.insert(rule.name);
    CHECK(used == known);
  }
}

TEST_CASE("the lab's own figures of rolled back inserts lie within the bounds") {
  const Suite suite = make_suite("lab-counters", library);
  int judged = 0;
  for (const Cell& cell : suite.cells)
    if (cell.rule == "rolled_back_spill_within_bounds") {
      INFO(cell.id);
      CHECK(cell.measured_low >= cell.accepted[0].low);
      CHECK(cell.measured_high <= cell.accepted[0].high);
      ++judged;
    }
  CHECK(judged == 4 * 3 * 2);
}

TEST_CASE("bounds of rolled back inserts, against real servers") {
  // 18.4 saw the abort in time in all repeats of these two runs.
  const AbortBounds ten = abort_bounds(load_cell(lab_run("rollback_10pct", "64"), library));
  CHECK(ten.seen.spill_count == 1262);
  CHECK(ten.seen.spill_bytes == 82'832'568);
  const AbortBounds twenty = abort_bounds(load_cell(lab_run("rollback_20pct", "64"), library));
  CHECK(twenty.seen.spill_count == 1121);
  CHECK(twenty.seen.spill_bytes == 73'600'000);
  CHECK(twenty.seen.spill_txns == 1);
}

TEST_CASE("a server that never looks up aborts spills the upper bound: 17.10's own figures") {
  const CsvTable table = read_lab_streaming(library, "lab/streaming_pg17_500k.csv");
  for (const RepeatedRun& run : group_repeats(table)) {
    if (!run.rolls_back() || run.streaming != "off")
      continue;
    INFO(run.key());
    const AbortBounds bounds = abort_bounds(load_cell(lab_run(run.scenario, run.work_mem_kb), library));
    for (const double value : repeats_of(table, run, "spill_count"))
      CHECK(static_cast<double>(bounds.unseen.spill_count) == value);
    for (const double value : repeats_of(table, run, "spill_bytes"))
      CHECK(static_cast<double>(bounds.unseen.spill_bytes) == value);
  }
}

TEST_CASE("lab-streaming: medians of repeats, no process that took no part, no bars") {
  const Suite suite = make_suite("lab-streaming", library);
  CHECK(suite.judged());
  const Cell& cell = cell_of(suite, "insert/64/off/cpu_pub.walsender_s");
  CHECK(cell.measured == 3.63);
  CHECK(cell.measured_low == 3.22);
  CHECK(cell.measured_high == 4.08);
  CHECK(cell.unit == "s");
  CHECK(cell_of(suite, "delete/256/off/total_s").measured == Approx((5.945 + 6.0486) / 2));
  CHECK(std::none_of(suite.cells.begin(), suite.cells.end(), [](const Cell& other) {
    return other.id == "insert/64/off/cpu_sub.parallel_apply_worker_s";
  }));
  cell_of(suite, "insert/64/parallel/cpu_sub.parallel_apply_worker_s");
  REQUIRE(suite.derived.size() == 21);
  CHECK(suite.derived[0].id == "delete/64/improvement");
  CHECK(suite.derived[0].measured == Approx((5.1298 - 3.6009) / 5.1298 * 100));
  REQUIRE(suite.noise.size() == 9); // five metrics and the shares of four
  for (const MetricNoise& noise : suite.noise) {
    CHECK(noise.noise_floor_pct > 2);
    CHECK(noise.noise_floor_pct < 30);
  }
  // What the profile was fitted to does not count.
  CHECK_FALSE(cell.counted);
  CHECK(cell_of(suite, "insert/64/on/cpu_pub.walsender_s").counted);
  CHECK(cell.overrides.back() == "profile=lab-2core-64kb");
  CHECK(std::count_if(suite.cells.begin(), suite.cells.end(), [](const Cell& one) { return !one.counted; }) ==
        18);
}

TEST_CASE("shares and orders of the lab follow from its repeats") {
  const Suite suite = make_suite("lab-streaming", library);
  const auto share = std::find_if(suite.shares.begin(), suite.shares.end(), [&](const Share& one) {
    return suite.cells[one.part].id == "delete/64/off/cpu_pub.walsender_s";
  });
  REQUIRE(share != suite.shares.end());
  CHECK(share->whole.size() == 3);
  // 2.68 / 5.72, 2.89 / 6.21, 3.28 / 7.89
  CHECK(share->measured == Approx(2.89 / 6.21));
  for (const Order& order : suite.orders) {
    CHECK(suite.cells[order.larger].measured > suite.cells[order.smaller].measured);
    CHECK(suite.cells[order.larger].metric == "total_s");
    // 66 MB of deletes stay below 64 MB: no mode streams, and what differs is noise.
    CHECK_FALSE(suite.cells[order.larger].id.starts_with("delete/65536/"));
  }
  const auto pair = std::find_if(suite.orders.begin(), suite.orders.end(), [&](const Order& order) {
    return suite.cells[order.larger].id == "insert/64/off/total_s" &&
           suite.cells[order.smaller].id == "insert/64/parallel/total_s";
  });
  CHECK(pair != suite.orders.end());
}

TEST_CASE("17 and 18 differ where something was rolled back, and there only") {
  const Suite suite = make_suite("lab-17-vs-18", library);
  CHECK(cell_of(suite, "17/rollback_50pct/64/off/spill_count").measured == 1673);
  CHECK(cell_of(suite, "17/insert/64/off/spill_count").measured == 1401);
  REQUIRE_FALSE(suite.orders.empty());
  for (const Order& order : suite.orders) {
    CHECK(suite.cells[order.larger].id.starts_with("17/rollback_"));
    CHECK(suite.cells[order.smaller].id.starts_with("18/rollback_"));
  }
}

TEST_CASE("every cell's scenario and overrides load, identifiers are unique") {
  for (const SuiteEntry& entry : suite_catalogue()) {
    const Suite suite = make_suite(entry.name, library);
    std::set<std::string> ids;
    for (const Cell& cell : suite.cells)
      CHECK(ids.insert(cell.id).second);
    const Predictor predictor(suite.cells, library);
    const std::map<std::string, std::size_t> runs = {{"seed-streaming", 42},   {"seed-transfer", 42},
                                                     {"lab-counters", 63},     {"lab-streaming", 63},
                                                     {"lab-17-vs-18", 36},     {"seed-invalidation", 44},
                                                     {"lab-invalidation", 57}, {"public-invalidation", 7}};
    if (const auto known = runs.find(entry.name); known != runs.end())
      CHECK(predictor.scenarios().size() == known->second);
    CHECK_FALSE(predictor.scenarios().empty());
  }
}

TEST_CASE("a run is simulated once, however many cells read it") {
  std::vector<Cell> cells(3, lab_run("insert", "64"));
  cells[1] = lab_run("insert", "256");
  for (Cell& cell : cells)
    cell.metric = "total_s";
  cells[2].metric = "no_such_metric";
  const Predictor predictor(cells, library);
  REQUIRE(predictor.scenarios().size() == 2);
  const std::vector<double> predictions = predictor.predict(numbered);
  REQUIRE(predictions.size() == 3);
  CHECK(predictions[0] == 0);
  CHECK(predictions[1] == 1);
  CHECK(std::isnan(predictions[2]));
}

TEST_CASE("profiles are exchanged for one prediction only") {
  std::vector<Cell> cells = {lab_run("insert", "64"), lab_run("insert", "256")};
  for (Cell& cell : cells)
    cell.metric = "total_s";
  const Predictor predictor(cells, library);
  const Simulator decoding = [](const std::vector<Scenario>& scenarios) {
    std::vector<Metrics> results;
    for (const Scenario& scenario : scenarios)
      results.push_back({{"total_s", scenario.profile.costs.decode_change_s}});
    return results;
  };
  std::vector<CostProfile> profiles(2);
  profiles[0].costs.decode_change_s = 5e-6;
  profiles[1].costs.decode_change_s = 7e-6;
  const auto both = predictor.predict_profiles(decoding, profiles);
  CHECK(both == std::vector<std::vector<double>>{{5e-6, 5e-6}, {7e-6, 7e-6}});
  CHECK(predictor.predict(decoding)[0] == predictor.scenarios()[0].profile.costs.decode_change_s);
}

TEST_CASE("lab-locks: lock holds of the streaming runs, and the six cells of the open transaction") {
  const Suite suite = make_suite("lab-locks", library);
  CHECK(suite.cells.size() == 63 + 18);
  CHECK(std::count_if(suite.cells.begin(), suite.cells.end(), [](const Cell& c) { return c.counted; }) == 63);
  CHECK(std::count_if(suite.cells.begin(), suite.cells.end(),
                      [](const Cell& c) { return c.rule == "blocked"; }) == 12);
  const Cell& longest = cell_of(suite, "open 4 s/parallel/max_s");
  CHECK(longest.measured == 5.334);
  CHECK(longest.accepted.at(0).low == Approx(5.334 * 0.75));
  CHECK(longest.accepted.at(0).high == Approx(5.334 * 1.25));
  CHECK(longest.metric == "blocked_s_max");
  CHECK(cell_of(suite, "open 0 s/off/blocked_total_s").measured == 2.211);
  CHECK(cell_of(suite, "delete/64/off/lock_hold_s").measured == 4.046);
  CHECK(suite.repeat_error_pct == Approx(14.189).margin(0.001));
  CHECK_FALSE(load_cell(longest, library).sessions.empty());
}
