// Apply that outgrows the subscriber's memory: directions of a published measurement.
#include "calibration/csv.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

/// Seconds in which one worker applies a million transactions.
double apply_s(const std::string& transaction, const std::vector<std::string>& more = {}) {
  std::vector<Override> overrides = {parse_override("workload.clients.transaction=[" + transaction + "]")};
  for (const auto& text : more)
    overrides.push_back(parse_override(text));
  Library library;
  library.root = REPLISIM_SOURCE_DIR;
  const Scenario scenario =
      load_scenario(library.root / "scenarios/published/apply_cold_cache.yaml", overrides, library);
  const RunResult result = run_simulation(scenario, 1);
  const double room = 1.1; // more comes than is applied
  CHECK(result.metrics.at("tps") > room * result.metrics.at("apply_tps"));
  return 1e6 / result.metrics.at("apply_tps");
}

double measured_s(const std::string& workload, const std::string& mode, double workers) {
  const CsvTable table = read_measured(REPLISIM_SOURCE_DIR, "public/apply_prefetch_2025.csv",
                                       {"workload", "prefetch_mode", "prefetch_workers", "apply_s"});
  for (std::size_t row = 0; row < table.row_count(); ++row)
    if (table.text(row, "workload") == workload and table.text(row, "prefetch_mode") == mode and
        table.number(row, "prefetch_workers") == workers)
      return table.number(row, "apply_s");
  FAIL("no such row: " << workload << ", " << mode);
  return 0;
}

const std::string update = "{update: updated, rows: 1}", insert = "{insert: inserted, rows: 1}";
const std::vector<std::string> in_cache = {"hosts.sub.memory=2TB"};
const std::vector<std::string> twice_as_slow_a_disk = {
    "hosts.sub.disks=[{name: data, fsync_latency: 1ms, write_bandwidth: 500MB/s, read_bandwidth: 500MB/s, "
    "read_latency: 0.2ms}]"};

} // namespace

TEST_CASE("tables that outgrow memory slow apply in the directions of the published rows") {
  const double update_s = apply_s(update), insert_s = apply_s(insert);
  // Updates take less than inserts with their secondary indexes: 510 against 560 s.
  CHECK(measured_s("update", "none", 0) < measured_s("insert", "none", 0));
  CHECK(update_s < insert_s);
  // Prefetchers that keep the worker from waiting for reads bring 4.1 and 3.0 times: what is in_cache is
  // faster at least by that.
  CHECK(update_s / apply_s(update, in_cache) >
        measured_s("update", "none", 0) / measured_s("update", "prefetch", 8));
  CHECK(insert_s / apply_s(insert, in_cache) >
        measured_s("insert", "none", 0) / measured_s("insert", "pk_plus_secondary", 8));
}

TEST_CASE("apply of a table that is not in_cache waits for its disk") {
  const double once = apply_s(update), twice = apply_s(update, twice_as_slow_a_disk);
  const double cached_s = apply_s(update, in_cache);
  CHECK(once - cached_s > 1e6 * 0.95 * 0.1e-3); // a heap page nearly each time, and some key leaves
  CHECK(twice - once == Approx((once - cached_s) * 0.1 / (0.1 + 0.015625)).epsilon(0.02)); // 8 kB at 500 MB/s
}
