// User reports about catalog changes: what they make decoding remember, execute and look through.
#include "calibration/suites/reports_catalogue.hpp"

namespace replisim {

Report report_u07() {
  Report report{"U07",
                "snapshots of vacuums fill the spill files of an open transaction",
                "scenarios/reports/u07_snapshots_spill.yaml",
                {},
                {}};
  report.runs = {
      {"100,000 vacuums", {}},
      {"50,000 vacuums", {"workload.long.transaction[1].pause=502s", "workload.vacuums.until=501s"}},
      {"short transactions",
       {"workload.long.transaction[1].pause=5s", "workload.long.every=20s", "workload.long.times=50"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const char* full = "100,000 vacuums";
    const auto spill = [&](const char* run) { return read.metric(run, "catalog_spill_bytes"); };
    // Each one takes 8 bytes more in a file than in memory.
    const double snapshots =
        read.metric(full, "distributed_snapshot_bytes") + 8 * read.metric(full, "distributed_snapshots");
    return {
        {"snapshots of one open transaction, as written", snapshots / 1e9, "1e9 bytes", 20.0194, 20.0194},
        {"largest spill file", read.metric(full, "peak_spill_file_bytes") / 1e9, "1e9 bytes", 19.95, 20.05},
        {"spill over that of half as many vacuums", spill(full) / spill("50,000 vacuums"), "ratio", 3.98,
         4.02},
        {"rows among it", (read.metric(full, "spill_bytes") - spill(full)) / mega_bytes, "MB", 0, 1},
        {"short transactions: spill", spill("short transactions"), "bytes", 0, 0}};
  };
  return report;
}

Report report_u08() {
  Report report{"U08",
                "GRANT on all tables stops a walsender before 14",
                "scenarios/reports/u08_bulk_grant.yaml",
                {},
                {}};
  // A hook of an extension in the relcache callback: 7,200 s of 20,000 commands times 60,000 messages.
  const std::string hook = "profile={name: lab-2core, parameters: {invalidation: {message: 6us}}}";
  report.runs = {{"13", {}},
                 {"13, half the tables", {"workload.grant.relations=10000"}},
                 {"13, hook", {hook}},
                 {"14", {"servers.pub.version=14"}},
                 {"14, hook", {"servers.pub.version=14", hook}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const auto cpu = [&](const char* run) { return read.metric(run, "cpu_pub.walsender_s"); };
    const auto lag = [&](const char* run) { return read.metric(run, "total_s"); };
    return {{"13: walsender CPU", cpu("13"), "s", 5, 20},
            {"13: over half as many tables", cpu("13") / cpu("13, half the tables"), "ratio", 3.8, 4.1},
            {"13, hook: walsender CPU", cpu("13, hook"), "s", 6500, 7900},
            {"13, hook: cores busy from 1 to 2 h",
             (read.sample("13, hook", "cpu_pub.walsender_s", 7000) -
              read.sample("13, hook", "cpu_pub.walsender_s", 3600)) /
                 3400,
             "cores", 0.99, 1.01},
            {"13, hook: LSN moved meanwhile",
             read.sample("13, hook", "sent_lsn", 7000) - read.sample("13, hook", "sent_lsn", 60), "bytes", 0,
             0},
            {"13, hook: a transaction 9 s later waits", lag("13, hook"), "s", 6500, 7900},
            {"14: walsender CPU", cpu("14"), "s", 0, 1},
            {"14: that transaction waits", lag("14"), "s", 0, 0.5},
            {"14, hook: walsender CPU", cpu("14, hook"), "s", 0, 2}};
  };
  return report;
}

Report report_u09() {
  Report report{"U09",
                "DDL on many tables takes quadratic time to decode",
                "scenarios/reports/u09_ddl_on_many_tables.yaml",
                {},
                {}};
  const auto tables = [](const std::string& count) -> std::vector<std::string> {
    return {"tables.t.copies=" + count, "workload.fill.transaction[0].rows=" + count,
            "workload.alter.times=" + count};
  };
  auto unseen = tables("50000");
  unseen.push_back("workload.fill.transaction[0].rows=1");
  auto few_unseen = tables("10000");
  few_unseen.push_back("workload.fill.transaction[0].rows=1");
  report.runs = {{"1,000", tables("1000")},
                 {"10,000", {}},
                 {"50,000", tables("50000")},
                 {"50,000 unseen", unseen},
                 {"10,000 unseen", few_unseen}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const auto seconds = [&](const char* run) { return read.metric(run, "decode_s"); };
    return {{"10,000 tables", seconds("10,000"), "s", 1.1, 2.25},
            {"50,000 tables over 10,000", seconds("50,000") / seconds("10,000"), "ratio", 25, 40},
            {"10,000 tables over 1,000", seconds("10,000") / seconds("1,000"), "ratio", 50, 110},
            {"tables whose changes nobody decoded: 50,000 over 10,000",
             seconds("50,000 unseen") / seconds("10,000 unseen"), "ratio", 4.5, 7}};
  };
  return report;
}

} // namespace replisim
