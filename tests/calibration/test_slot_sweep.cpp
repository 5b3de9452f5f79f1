// 1, 4, 8 and 16 slots drain one backlog: measured beside predicted.
#include "calibration/csv.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <limits>

using namespace replisim;

namespace {

constexpr int tables = 16;
constexpr double connected_from_s = 1000;

/// `slots` consumers on `host`, each of which gets an equal share of the tables.
std::vector<Override> through(int slots, const std::string& host) {
  std::vector<Override> overrides;
  std::string consumers;
  for (int i = 1; i <= slots; ++i) {
    std::string share;
    for (int t = (i - 1) * tables / slots + 1; t <= i * tables / slots; ++t)
      share += fmt::format("{}t{:02}", share.empty() ? "" : ", ", t);
    overrides.push_back(parse_override(fmt::format("publications.p{:02}.tables=[{}]", i, share)));
    consumers += fmt::format("{}s{:02}: {{publication: p{:02}, host: {}, cost_per_change: 1us, "
                             "connected_from: {}s}}",
                             consumers.empty() ? "" : ", ", i, i, host, connected_from_s);
  }
  overrides.push_back(parse_override("consumers={" + consumers + "}"));
  return overrides;
}

/// Seconds from the connection until the last slot has everything.
double drained_s(int slots, const std::string& host) {
  Library library;
  library.root = REPLISIM_SOURCE_DIR;
  const Scenario scenario =
      load_scenario(library.root / "scenarios/published/slot_sweep.yaml", through(slots, host), library);
  const Timeline timeline = run_simulation(scenario, 1).timeline;
  REQUIRE(timeline.columns.at(1) == "wal_lsn");
  REQUIRE(timeline.columns.at(3) == "replay_lsn");
  for (const auto& row : timeline.rows)
    if (row.at(0) > connected_from_s and row.at(1) - row.at(3) < 1e6)
      return row.at(0) - connected_from_s;
  return std::numeric_limits<double>::quiet_NaN();
}

const std::string separate = "pg16_44vcpu_nvme_separate_hosts", one_box = "pg16_88vcpu_nvme_one_box";

/// How far the prediction lies from the row of so many slots, in percent.
double error_pct(int slots, const std::string& rig = separate) {
  const CsvTable table = read_measured(REPLISIM_SOURCE_DIR, "public/slot_sweep_walsender.csv",
                                       {"rig", "slots", "changes_applied", "wall_s", "changes_per_s",
                                        "pegged_walsenders", "client_cpu_cores", "client_rss_mb"});
  for (std::size_t row = 0; row < table.row_count(); ++row)
    if (table.text(row, "rig") == rig and table.number(row, "slots") == slots)
      return 100 * (drained_s(slots, rig == one_box ? "db" : "client") / table.number(row, "wall_s") - 1);
  return std::numeric_limits<double>::quiet_NaN();
}

} // namespace

TEST_CASE("walsenders of 1 and 8 slots take the time that their costs were fixed on") {
  CHECK(error_pct(1) == Approx(0).margin(1));
  CHECK(error_pct(8) == Approx(0).margin(1));
}

TEST_CASE("walsenders of 4 and 16 slots are predicted within 8 percent") {
  CHECK(error_pct(4) == Approx(0).margin(8));
  CHECK(error_pct(16) == Approx(0).margin(8));
}

TEST_CASE("with the client on the publisher's host 1 slot is as slow as it was fixed, 4 within 8 percent") {
  CHECK(error_pct(1, one_box) == Approx(0).margin(1));
  CHECK(error_pct(4, one_box) == Approx(0).margin(8));
}
