// User reports about time-outs and throughput.
#include "calibration/suites/reports_catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace replisim {

namespace {

/// Rows of the runs "NAME ROWS" of a series, every `step` from `first` to `last`.
void add_series(std::vector<ReportRun>& runs, const std::string& name, const std::string& path, Rows first,
                Rows last, Rows step, const std::vector<std::string>& overrides) {
  for (Rows rows = first; rows <= last; rows += step) {
    ReportRun run{fmt::format("{} {}", name, rows), overrides};
    run.overrides.push_back(fmt::format("{}={}", path, rows));
    runs.push_back(std::move(run));
  }
}

/// The largest transaction of a series that was delivered without a time-out; NaN unless the series goes on
/// beyond it.
double largest_survivor(const ReportReader& read, const std::string& name, Rows first, Rows last, Rows step) {
  double survived = std::numeric_limits<double>::quiet_NaN();
  for (Rows rows = first; rows <= last; rows += step) {
    const std::string run = fmt::format("{} {}", name, rows);
    if (read.slot(run, "cdc", "sender_timeouts") > 0 or not(read.slot(run, "cdc", "total_s") > 0))
      return survived;
    survived = static_cast<double>(rows);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

constexpr const char* load_rows = "workload.load.transaction[0].rows";

/// WAL of one transaction of the only flow of a run, and WAL per second that `tps` of them are.
double wal_per_transaction(const ReportReader& read, const std::string& run, double length_s) {
  return read.metric(run, "wal_bytes") / (read.metric(run, "tps") * length_s);
}

} // namespace

Report report_u01() {
  Report report{
      "U01", "a silent client makes no progress at all", "scenarios/reports/u01_timeout_loop.yaml", {}, {}};
  report.runs = {{"loop", {}},
                 {"first cycle", {"observe.until=100s"}},
                 {"client answers", {"consumers.cdc.feedback_in_transaction=on"}},
                 {"patient server", {"servers.pub.settings.wal_sender_timeout=10min"}}};
  report.checks = [](const ReportResults& results) {
    const ReportReader read(results);
    const double first_s = read.slot("first cycle", "cdc", "last_timeout_s");
    const double last_s = read.slot("loop", "cdc", "last_timeout_s");
    const auto moved = [&](const char* column) {
      return read.sample("loop", column, last_s) - read.sample("loop", column, first_s);
    };
    ReportChecks checks = {
        {"time-outs in 400 s", read.slot("loop", "cdc", "sender_timeouts"), "count", 6, 6},
        {"cycle", (last_s - first_s) / 5, "s", 62.5, 63.5},
        {"confirmed_flush_lsn moved in 5 cycles", moved("confirmed_flush_lsn"), "bytes", 0, 0},
        {"restart_lsn moved in 5 cycles", moved("restart_lsn"), "bytes", 0, 0}};
    for (const char* run : {"client answers", "patient server"}) {
      checks.push_back(
          {std::string(run) + ": time-outs", read.slot(run, "cdc", "sender_timeouts"), "count", 0, 0});
      checks.push_back(
          {std::string(run) + ": delivered after", read.slot(run, "cdc", "total_s"), "s", 200, 300});
    }
    return checks;
  };
  return report;
}

Report report_u03() {
  Report report{"U03",
                "half the timeout, half the largest transaction that survives",
                "scenarios/reports/u03_timeout_threshold.yaml",
                {},
                {}};
  add_series(report.runs, "30 s", load_rows, 260000, 340000, 4000, {});
  add_series(report.runs, "15 s", load_rows, 130000, 170000, 2000,
             {"servers.pub.settings.wal_sender_timeout=15s"});
  report.runs.push_back(
      {"client answers", {fmt::format("{}=600000", load_rows), "consumers.cdc.feedback_in_transaction=on"}});
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const double whole = largest_survivor(read, "30 s", 260000, 340000, 4000);
    const double half = largest_survivor(read, "15 s", 130000, 170000, 2000);
    return {{"largest survivor at 30 s", whole, "rows", 270000, 330000},
            {"largest survivor at 15 s", half, "rows", 135000, 165000},
            {"15 s over 30 s", half / whole, "ratio", 0.48, 0.52},
            {"client answers: time-outs on twice as much",
             read.slot("client answers", "cdc", "sender_timeouts"), "count", 0, 0},
            {"client answers: delivered after", read.slot("client answers", "cdc", "total_s"), "s", 55, 75}};
  };
  return report;
}

Report report_u11() {
  Report report{"U11",
                "lag grows at rate - C above the knee and not at all below",
                "scenarios/reports/u11_apply_knee.yaml",
                {},
                {}};
  const std::string below = "workload.oltp.rate=3096/s", near = "links[0].latency=0.1ms";
  report.runs = {{"45", {}},
                 {"45 near", {near}},
                 {"40", {"workload.oltp.rate=5630/s"}},
                 {"22", {below}},
                 {"22 near", {below, near}},
                 {"quick apply", {"profile.parameters.apply.insert_row=4.42us"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double length_s = 600;
    const double per_transaction = wal_per_transaction(read, "45", length_s);
    const auto rate = [&](const char* run) { return read.metric(run, "tps") * per_transaction; };
    const double capacity = read.metric("45", "apply_tps") * per_transaction;
    const auto grown = [&](const char* run) {
      return read.metric(run, "lag_bytes") / ((rate(run) - capacity) * length_s);
    };
    const double half_way =
        read.sample("45", "wal_lsn", length_s / 2) - read.sample("45", "replay_lsn", length_s / 2);
    return {
        {"WAL offered", rate("45") / mega_bytes, "MB/s", 44.5, 45.5},
        {"capacity C", capacity / mega_bytes, "MB/s", 25, 40},
        {"lag after 10 min", read.metric("45", "lag_bytes") / giga_bytes, "GB", 3, 12},
        {"lag at 45 MB/s over (rate - C) x time", grown("45"), "ratio", 0.97, 1.03},
        {"lag at 40 MB/s over (rate - C) x time", grown("40"), "ratio", 0.97, 1.03},
        {"lag half way over lag at the end", half_way / read.metric("45", "lag_bytes"), "ratio", 0.48, 0.52},
        {"WAL offered below the knee", rate("22") / mega_bytes, "MB/s", 21.5, 22.5},
        {"largest lag below the knee", read.metric("22", "lag_s_max"), "s", 0, 0.1},
        {"throughput far over near", read.metric("45", "apply_tps") / read.metric("45 near", "apply_tps"),
         "ratio", 0.99, 1.01},
        {"lag that 9.9 ms more of distance add below the knee",
         1000 * (read.metric("22", "lag_s_mean") - read.metric("22 near", "lag_s_mean")), "ms", 9.8, 10.2},
        {"quick apply: largest lag", read.metric("quick apply", "lag_s_max"), "s", 0, 0.1}};
  };
  return report;
}

Report report_u21() {
  Report report{"U21",
                "each slot decodes all WAL, on a core of its own where there is one",
                "scenarios/reports/u21_thirteen_slots_catch_up.yaml",
                {},
                {}};
  const auto others_stay_away = for_consumers("slot", 2, 13, "connected_from=1d");
  auto one_unpublished = others_stay_away;
  one_unpublished.push_back("publications.p.tables=[other]");
  report.runs = {{"34 cores", {}},
                 {"4 cores", {"hosts.db.cores_per_socket=4"}},
                 {"half the WAL", {fmt::format("{}=5000000", load_rows)}},
                 {"unpublished", {"publications.p.tables=[other]"}},
                 {"one slot", others_stay_away},
                 {"one slot unpublished", one_unpublished}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const std::string cpu = "cpu_pub.walsender_s";
    const auto work = [&](const char* run) { return read.metric(run, cpu); };
    const auto cores = [&](const char* run) { // over half a minute of the catch-up; work counts when it ends
      return (read.sample(run, cpu, 140) - read.sample(run, cpu, 110)) / 30;
    };
    const auto drained_s = [&](const char* run) { return read.metric(run, "total_s") - 100; };
    double first_s = std::numeric_limits<double>::infinity();
    for (int i = 1; i <= 13; ++i)
      first_s = std::min(first_s, read.slot("4 cores", fmt::format("slot{:02}", i), "total_s") - 100);
    return {{"cores busy", cores("34 cores"), "cores", 12.9, 13.1},
            {"cores busy of 4", cores("4 cores"), "cores", 3.96, 4.04},
            {"catch-up on 4 cores over 34", drained_s("4 cores") / drained_s("34 cores"), "ratio", 3.2, 3.3},
            {"on 4 cores, last slot over first", drained_s("4 cores") / first_s, "ratio", 1, 1.02},
            {"work on 4 cores over 34", work("4 cores") / work("34 cores"), "ratio", 0.99, 1.01},
            {"work of 13 slots over one", work("34 cores") / work("one slot"), "ratio", 12.87, 13.13},
            {"work of half the WAL", work("half the WAL") / work("34 cores"), "ratio", 0.49, 0.51},
            {"nothing published: sent", read.metric("unpublished", "sent_bytes") / mega_bytes, "MB", 0, 0.1},
            {"nothing published: work of 13 slots over one",
             work("unpublished") / work("one slot unpublished"), "ratio", 12.87, 13.13},
            {"nothing published: work over published", work("unpublished") / work("34 cores"), "ratio", 0.3,
             0.95},
            {"one slot: cores busy", cores("one slot"), "cores", 0.99, 1.01}};
  };
  return report;
}

Report report_u24() {
  Report report{"U24",
                "a filter of cost f lowers capacity to 1 / (decode + f), for dropped rows too",
                "scenarios/reports/u24_row_filter_cost.yaml",
                {},
                {}};
  const std::string flood = "workload.oltp.rate=30000/s", filter = "publications.p.row_filters.t.";
  report.runs = {{"3000/s", {}},
                 {"free", {flood, filter + "cost=0s"}},
                 {"20 us", {flood}},
                 {"40 us", {flood, filter + "cost=40us"}},
                 {"all pass", {flood, filter + "passes=100%"}},
                 {"no filter", {flood, filter + "cost=0s", filter + "passes=100%"}},
                 {"3000/s free", {filter + "cost=0s"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double rows_per_transaction = 20, length_s = 120, f_s = 20e-6;
    const auto capacity = [&](const char* run) {
      return rows_per_transaction * read.metric(run, "apply_tps");
    };
    const double decode_s = 1 / capacity("free");
    const double per_transaction = wal_per_transaction(read, "3000/s", length_s);
    const double behind =
        (read.metric("3000/s", "tps") - read.metric("20 us", "apply_tps")) * per_transaction;
    return {
        {"capacity at f = 0", capacity("free"), "rows/s", 60000, 1e6},
        {"capacity at 20 us over 1 / (decode + f)", capacity("20 us") * (decode_s + f_s), "ratio", 0.98,
         1.02},
        {"capacity at 40 us over 1 / (decode + f)", capacity("40 us") * (decode_s + 2 * f_s), "ratio", 0.98,
         1.02},
        {"capacity with 10 % sent over all sent", capacity("20 us") / capacity("all pass"), "ratio", 1, 1.15},
        {"capacity with 10 % sent over no filter", capacity("20 us") / capacity("no filter"), "ratio", 0.1,
         0.5},
        {"bytes sent over no filter",
         read.metric("20 us", "sent_bytes") / read.metric("no filter", "sent_bytes"), "ratio", 0, 0.1},
        {"lag at 60,000 rows/s over (rate - C) x time",
         read.metric("3000/s", "lag_bytes") / (behind * length_s), "ratio", 0.95, 1.05},
        {"free filter: lag at 60,000 rows/s", read.metric("3000/s free", "lag_bytes") / mega_bytes, "MB", 0,
         2}};
  };
  return report;
}

} // namespace replisim
