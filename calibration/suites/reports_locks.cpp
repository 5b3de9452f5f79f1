// User reports about locks on the subscriber.
#include "calibration/suites/reports_catalogue.hpp"

namespace replisim {

Report report_u33() {
  Report report{"U33",
                "parallel holds locks for the publisher's transaction, off and on while they apply it",
                "scenarios/reports/u33_lock_hold.yaml",
                {},
                {}};
  const std::string brief = "workload.hour.transaction=[{update: t, rows: 4000000}]";
  for (const char* streaming : {"off", "on", "parallel"})
    report.runs.push_back({streaming, {std::string("subscriptions.s.streaming=") + streaming}});
  report.runs.push_back({"brief off", {"subscriptions.s.streaming=off", brief}});
  report.runs.push_back({"brief parallel", {"subscriptions.s.streaming=parallel", brief}});
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const auto minutes = [&](const char* run, const char* metric) { return read.metric(run, metric) / 60; };
    return {{"off: lock hold", minutes("off", "lock_hold_s"), "min", 4, 6},
            {"on: lock hold", minutes("on", "lock_hold_s"), "min", 4, 6},
            {"parallel: lock hold", minutes("parallel", "lock_hold_s"), "min", 60, 63},
            {"parallel: lock hold over the publisher's transaction",
             read.metric("parallel", "lock_hold_s") / read.metric("parallel", "commit_s"), "ratio", 0.99,
             1.02},
            {"parallel: vacuum's horizon", minutes("parallel", "snapshot_horizon_s"), "min", 60, 63},
            {"off: a session's longest wait", minutes("off", "blocked_s_max"), "min", 3.5, 6},
            {"parallel: a session's longest wait", minutes("parallel", "blocked_s_max"), "min", 59, 63},
            // Without the hour there is nothing to hold locks for.
            {"brief transaction: parallel over off",
             read.metric("brief parallel", "lock_hold_s") / read.metric("brief off", "lock_hold_s"), "ratio",
             0.5, 1.3}};
  };
  return report;
}

} // namespace replisim
