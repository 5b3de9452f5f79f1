// What spilling costs: predicted beside measured, on three machines.
#include "calibration/csv.hpp"
#include "calibration/repeats.hpp"
#include "calibration/suites/streaming_cells.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim;

namespace {

RunResult run(const std::string& file, const std::vector<std::string>& overrides) {
  Library library;
  library.root = REPLISIM_SOURCE_DIR;
  std::vector<Override> parsed;
  for (const auto& text : overrides)
    parsed.push_back(parse_override(text));
  return run_simulation(load_scenario(library.root / "scenarios" / file, parsed, library), 1);
}

/// Seconds from the client's connection at 60 s until it has everything.
double drained_s(const RunResult& result) {
  double last_s = 0;
  for (const auto& transaction : result.transactions)
    last_s = std::max(last_s, transaction.applied_s);
  return last_s - 60;
}

/// Median of a metric over the repeats of a lab run.
double lab_median(const std::string& scenario, int work_mem_kb, const std::string& metric) {
  Library library;
  library.root = REPLISIM_SOURCE_DIR;
  const CsvTable table = read_lab_streaming(library, "lab/streaming_pg18_500k.csv");
  std::vector<double> values;
  for (std::size_t row = 0; row < table.row_count(); ++row)
    if (table.text(row, "scenario") == scenario and table.text(row, "streaming") == "off" and
        table.number(row, "work_mem_kb") == work_mem_kb)
      values.push_back(table.number(row, metric));
  REQUIRE(values.size() == 3);
  std::sort(values.begin(), values.end());
  return values[1];
}

} // namespace

TEST_CASE("the spill tax of the lab: CPU of the walsender at 64 kB less that at 64 MB within 20 percent") {
  const std::string metric = "cpu_pub.walsender_s";
  const auto predicted = [&](const std::string& memory) {
    return run("lab/streaming_delete.yaml",
               {"subscriptions.s.streaming=off", "servers.pub.settings.logical_decoding_work_mem=" + memory})
        .metrics.at(metric);
  };
  const double measured = lab_median("delete", 64, metric) - lab_median("delete", 65536, metric);
  CHECK(measured == Approx(1.23));
  CHECK(predicted("64kB") - predicted("64MB") == Approx(measured).epsilon(0.2));
}

TEST_CASE("a transaction that fits into memory drains faster: direction, and size within a quarter") {
  const CsvTable table =
      read_measured(REPLISIM_SOURCE_DIR, "public/spill_vs_work_mem_pg16.csv",
                    {"txn_rows", "window_events", "work_mem_mb", "spilled_mb", "catchup_s"});
  const auto with = [](const std::string& memory) {
    return run("published/spill_vs_work_mem_pg16.yaml",
               {"servers.pub.settings.logical_decoding_work_mem=" + memory});
  };
  const RunResult spilled = with("64MB"), fits = with("1GB");
  CHECK(drained_s(fits) == Approx(table.number(1, "catchup_s")).epsilon(0.01)); // fixed on this row
  CHECK(spilled.metrics.at("spill_bytes") == Approx(table.number(0, "spilled_mb") * 1e6).epsilon(0.02));
  CHECK(fits.metrics.at("spill_bytes") == 0);
  const double measured = 1 - table.number(1, "catchup_s") / table.number(0, "catchup_s");
  CHECK(1 - drained_s(fits) / drained_s(spilled) == Approx(measured).epsilon(0.25));
}

TEST_CASE("a streamed backlog drains faster than a spilled one: direction, and size within a quarter") {
  const CsvTable table =
      read_measured(REPLISIM_SOURCE_DIR, "public/streaming_on_vs_off_drain_pg18.csv",
                    {"slot_option", "changes", "changes_per_s", "spill_txns", "spill_mb", "stream_txns"});
  const auto with = [](const std::string& streaming) {
    return run("published/streaming_drain_pg18.yaml", {"consumers.sink.streaming=" + streaming});
  };
  const RunResult off = with("off"), on = with("on");
  const double changes = table.number(0, "changes");
  CHECK(changes / drained_s(on) ==
        Approx(table.number(1, "changes_per_s")).epsilon(0.01)); // fixed on this row
  CHECK(off.metrics.at("spill_bytes") == Approx(table.number(0, "spill_mb") * 1e6).epsilon(0.02));
  CHECK(off.metrics.at("spill_txns") == 1);
  CHECK(on.metrics.at("stream_txns") == 1);
  CHECK(on.metrics.at("spill_count") == 0);
  const double measured = table.number(1, "changes_per_s") / table.number(0, "changes_per_s") - 1;
  CHECK(drained_s(off) / drained_s(on) - 1 == Approx(measured).epsilon(0.25));
}
