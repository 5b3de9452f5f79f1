// User reports about initial synchronisation.
#include "calibration/suites/reports_catalogue.hpp"

#include <limits>

namespace replisim {

namespace {

constexpr double step_s = 5; ///< distance of the timeline's samples

double lag_bytes(const ReportReader& read, const std::string& run, double t_s) {
  return read.sample(run, "wal_lsn", t_s) - read.sample(run, "replay_lsn", t_s);
}

/// The first sample after `from_s` at which less than `bytes` lie behind.
double caught_up_s(const ReportReader& read, const std::string& run, double from_s, double until_s,
                   double bytes) {
  for (double t_s = from_s; t_s <= until_s; t_s += step_s)
    if (lag_bytes(read, run, t_s) < bytes)
      return t_s;
  return std::numeric_limits<double>::quiet_NaN();
}

} // namespace

Report report_u34() {
  Report report{"U34",
                "the WAL of a copy's time is caught up with at the difference of capacity and rate, or never",
                "scenarios/reports/u34_backlog_after_initial_sync.yaml",
                {},
                {}};
  // Eight times the load, in four flows: one session alone writes less than a walsender decodes.
  const std::string more =
      "={server: pub, rate: 4000/s, transaction: [{insert: events, rows: 45}, {insert: big, rows: 1}]}";
  report.runs = {{"able", {}},
                 {"unable",
                  {"workload.events.rate=4000/s", "workload.second" + more, "workload.third" + more,
                   "workload.fourth" + more}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const TableSyncResult* able = read.table_sync("able", "big");
    const TableSyncResult* unable = read.table_sync("unable", "big");
    if (able == nullptr or unable == nullptr)
      return {{"tables synchronised", 0, "count", 2, 2}};
    const double end_s = 7200;
    const double copy_s = able->copied_s - able->snapshot_s;
    const double at_start = read.sample("able", "wal_lsn", able->snapshot_s);
    const double backlog = read.sample("able", "wal_lsn", able->copied_s) - at_start;
    const double rate = backlog / copy_s;
    // What the worker got through by itself, from the slot's start to the leader's position.
    const double capacity = backlog / (able->done_s - able->catchup_s);
    const double caught_s = caught_up_s(read, "able", able->done_s, end_s, 2 * step_s * rate);
    const double before = lag_bytes(read, "unable", unable->done_s + 600),
                 after = lag_bytes(read, "unable", end_s);
    return {{"copy", copy_s / 60, "min", 18, 22},
            {"backlog when it ends", backlog / giga_bytes, "GB", 18.2, 22.2},
            {"WAL a second over that of the whole run", rate / (read.metric("able", "wal_bytes") / end_s),
             "ratio", 0.98, 1.02},
            {"catch-up over backlog / (capacity - rate)",
             (caught_s - able->catchup_s) / (backlog / (capacity - rate)), "ratio", 0.9, 1.1},
            {"READY", read.slot("able", "s", "time_to_ready_s") / 60, "min", 20, 60},
            {"unable: says that it never catches up", read.sync_says("unable", "s", "never catches up"),
             "count", 1, 1},
            {"unable: lag at the end over that an hour earlier", after / before, "ratio", 1.2, 1000}};
  };
  return report;
}

} // namespace replisim
