// User reports about what decoding keeps in memory and spills.
#include "calibration/suites/reports_catalogue.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace replisim {

namespace {
constexpr const char* big_rows = "workload.big.transaction[0].rows";

/// Rows of the first run of a series "NAME ROWS" that spills; NaN when the first one does already, or none.
double first_to_spill(const ReportReader& read, const std::string& name, Rows first, Rows last, Rows step) {
  for (Rows rows = first; rows <= last; rows += step)
    if (read.metric(fmt::format("{} {}", name, rows), "spill_txns") > 0)
      return rows == first ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(rows);
  return std::numeric_limits<double>::quiet_NaN();
}
} // namespace

Report report_u05() {
  Report report{"U05",
                "spill files fill the data directory, once for each slot",
                "scenarios/reports/u05_spill_fills_data_disk.yaml",
                {},
                {}};
  report.runs = {{"6 slots", {}},
                 {"6 slots, no cap", {"servers.pub.settings.max_slot_wal_keep_size=-1"}},
                 {"5 slots", for_consumers("slot", 6, 6, "connected_from=1d")},
                 {"1 slot", for_consumers("slot", 2, 6, "connected_from=1d")},
                 {"streaming", for_consumers("slot", 1, 6, "streaming=on")}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const auto spill = [&](const char* run) {
      return read.metric(run, "peak_spill_file_bytes") / giga_bytes;
    };
    const auto full_s = [&](const char* run) { return read.outcome_s(run, "disk_full"); };
    return {{"spill of one slot", spill("1 slot"), "GB", 150, 180},
            {"spill of 5 slots over one", spill("5 slots") / spill("1 slot"), "ratio", 4.99, 5.01},
            {"5 slots: disks full", read.outcomes("5 slots", "disk_full"), "count", 0, 0},
            {"6 slots: spill when the disk is full", spill("6 slots"), "GB", 895, 905},
            {"6 slots: full after", full_s("6 slots"), "s", 60, 1200},
            {"6 slots: slots lost", read.outcomes("6 slots", "slot_lost"), "count", 0, 0},
            {"6 slots: with max_slot_wal_keep_size over without",
             full_s("6 slots") / full_s("6 slots, no cap"), "ratio", 1, 1},
            {"6 slots: WAL kept, of 1400 GB", read.metric("6 slots", "retained_wal_bytes") / giga_bytes, "GB",
             100, 500},
            {"streaming: spill", spill("streaming"), "GB", 0, 0},
            {"streaming: disks full", read.outcomes("streaming", "disk_full"), "count", 0, 0}};
  };
  return report;
}

Report report_u06() {
  Report report{"U06",
                "logical_decoding_work_mem decides when to spill, not how much",
                "scenarios/reports/u06_spill_has_no_cap.yaml",
                {},
                {}};
  const std::string work_mem = "servers.pub.settings.logical_decoding_work_mem=";
  const std::string cap = "servers.pub.settings.max_slot_wal_keep_size=";
  report.runs = {{"64 MB", {}},
                 {"64 kB", {work_mem + "64kB"}},
                 {"fits", {work_mem + "40GB"}},
                 {"cap 40 GB", {cap + "40GB"}},
                 {"cap 10 GB", {cap + "10GB"}},
                 {"streaming", {"consumers.slow.streaming=on"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const auto spill = [&](const char* run) { return read.metric(run, "peak_spill_file_bytes"); };
    return {{"spill at 64 MB", spill("64 MB") / giga_bytes, "GB", 28, 40},
            {"spill at 64 kB less that at 64 MB", std::abs(spill("64 kB") - spill("64 MB")) / mega_bytes,
             "MB", 0, 64},
            {"spill when all fits", spill("fits") / giga_bytes, "GB", 0, 0},
            {"spill under max_slot_wal_keep_size = 40 GB over without", spill("cap 40 GB") / spill("64 MB"),
             "ratio", 1, 1},
            {"spill under max_slot_wal_keep_size = 10 GB, until the slot is lost",
             spill("cap 10 GB") / giga_bytes, "GB", 10, 40},
            {"streaming: spill", spill("streaming") / giga_bytes, "GB", 0, 0}};
  };
  return report;
}

Report report_u22() {
  Report report{"U22",
                "an aborted INSERT costs every walsender and sends nothing",
                "scenarios/reports/u22_rolled_back_insert.yaml",
                {},
                {}};
  const std::string rows = "workload.cancelled.transaction[0].rows=";
  report.runs = {{"30 slots", {}},
                 {"15 slots", for_consumers("slot", 16, 30, "connected_from=1d")},
                 {"half the rows", {rows + "2500000"}},
                 {"committed", {"workload.cancelled.ends=commit"}},
                 {"one row", {rows + "1"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const auto work = [&](const char* run) { return read.metric(run, "cpu_pub.walsender_s"); };
    // Over the time of the INSERT all walsenders are at work at once.
    const double cores = (read.sample("30 slots", "cpu_pub.walsender_s", 12) -
                          read.sample("30 slots", "cpu_pub.walsender_s", 2)) /
                         10;
    return {
        {"walsender CPU", work("30 slots"), "s", 100, 1500},
        {"cores busy", cores, "cores", 20, 30},
        {"CPU of 30 slots over 15", work("30 slots") / work("15 slots"), "ratio", 1.98, 2.02},
        {"CPU over that of half the rows", work("30 slots") / work("half the rows"), "ratio", 1.95, 2.05},
        {"CPU over that of the committed INSERT", work("30 slots") / work("committed"), "ratio", 0.2, 0.8},
        {"slots that spilled", read.metric("30 slots", "spill_txns"), "count", 30, 30},
        {"sent", read.metric("30 slots", "sent_bytes"), "bytes", 0, 0},
        {"one row: walsender CPU", work("one row"), "s", 0, 0.01}};
  };
  return report;
}

Report report_u23() {
  Report report{"U23",
                "REPLICA IDENTITY FULL doubles an update and halves what fits",
                "scenarios/reports/u23_replica_identity_full.yaml",
                {},
                {}};
  const std::string plain = "tables.t.replica_identity=default";
  const std::string small =
      "workload={small: {server: pub, rate: 50/s, transaction: [{update: t, rows: 3}]}}";
  const std::string erase = "workload.big.transaction=[{delete: t, rows: 100000}]";
  report.runs = {{"full", {}},
                 {"default", {plain}},
                 {"small full", {small}},
                 {"small default", {small, plain}},
                 {"delete full", {erase}},
                 {"delete default", {erase, plain}}};
  for (Rows rows = 28000; rows <= 34000; rows += 500) {
    report.runs.push_back({fmt::format("full {}", rows), {fmt::format("{}={}", big_rows, rows)}});
    report.runs.push_back(
        {fmt::format("default {}", 2 * rows), {plain, fmt::format("{}={}", big_rows, 2 * rows)}});
  }
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const auto ratio = [&](const std::string& what, const char* metric) {
      return read.metric(what + "full", metric) / read.metric(what + "default", metric);
    };
    const double full = first_to_spill(read, "full", 28000, 34000, 500);
    const double plain_rows = first_to_spill(read, "default", 56000, 68000, 1000);
    return {
        {"updates: WAL, FULL over DEFAULT", ratio("", "wal_bytes"), "ratio", 1.7, 2.2},
        {"updates: decoded bytes, FULL over DEFAULT", ratio("", "total_bytes"), "ratio", 1.7, 2.2},
        {"deletes: WAL, FULL over DEFAULT, whose old rows are only keys", ratio("delete ", "wal_bytes"),
         "ratio", 1.7, 30},
        {"deletes: decoded bytes, FULL over DEFAULT", ratio("delete ", "total_bytes"), "ratio", 1.7, 30},
        {"rows that spill under FULL over DEFAULT", full / plain_rows, "ratio", 0.48, 0.55},
        {"small transactions: mean delay, FULL over DEFAULT", ratio("small ", "lag_s_mean"), "ratio", 1, 1.1},
        {"rows that spill under DEFAULT", plain_rows, "rows", 55000, 62000}};
  };
  return report;
}

} // namespace replisim
