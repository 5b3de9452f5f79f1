// User reports about apply workers that cannot keep up.
#include "calibration/suites/reports_catalogue.hpp"

namespace replisim {

namespace {

/// When all was applied, to a sample: the last one at which some WAL was not.
double drained_s(const ReportReader& read, const std::string& run, double end_s) {
  return read.largest(run, {"t_s", "wal_lsn", "replay_lsn"}, 0, end_s, [](const std::vector<double>& at) {
    constexpr double applied = 0.9999; // running-xacts records come after the last commit
    return at[2] < applied * at[1] ? at[0] : 0.0;
  });
}

} // namespace

Report report_u12() {
  Report report{"U12",
                "an apply worker is one process on one core: 25 % of four",
                "scenarios/reports/u12_one_core_of_four.yaml",
                {},
                {}};
  report.runs = {{"4 CPUs", {}},
                 {"faster disk",
                  {"hosts.sub.disks=[{name: data, fsync_latency: 0.4ms, write_bandwidth: 1250MB/s, "
                   "read_bandwidth: 1250MB/s, "
                   "read_latency: 0.1ms}]"}},
                 {"16 CPUs", {"hosts.sub.cores_per_socket=16"}},
                 {"two subscriptions",
                  {"publications.p.tables=[documents]", "publications.q={server: pub, tables: [entries]}",
                   "subscriptions.z={server: sub, publication: q, streaming: off}"}},
                 {"no secondary indexes",
                  {"tables.documents.secondary_indexes=0", "tables.entries.secondary_indexes=0"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double length_s = 300;
    const double lag = read.metric("4 CPUs", "lag_bytes");
    const double half_way =
        read.sample("4 CPUs", "wal_lsn", length_s / 2) - read.sample("4 CPUs", "replay_lsn", length_s / 2);
    const double applied = read.metric("4 CPUs", "apply_tps");
    return {
        {"CPU of the apply worker over 4 CPUs",
         read.metric("4 CPUs", "cpu_sub.apply_worker_s") / length_s / 4, "ratio", 0.245, 0.25},
        {"lag after 5 min", lag / giga_bytes, "GB", 1, 100},
        {"lag half way over lag at the end", half_way / lag, "ratio", 0.35, 0.65},
        {"faster disk: transactions applied", read.metric("faster disk", "apply_tps") / applied, "ratio",
         0.99, 1.01},
        {"16 CPUs: transactions applied", read.metric("16 CPUs", "apply_tps") / applied, "ratio", 0.99, 1.01},
        {"two subscriptions: transactions applied", read.metric("two subscriptions", "apply_tps") / applied,
         "ratio", 1.8, 2.05},
        {"no secondary indexes: transactions applied",
         read.metric("no secondary indexes", "apply_tps") / applied, "ratio", 1.3, 3}};
  };
  return report;
}

Report report_u13() {
  Report report{"U13",
                "a burstable subscriber keeps up until its CPU credits are used up; then lag grows in a line",
                "scenarios/reports/u13_cpu_credits.yaml",
                {},
                {}};
  report.runs = {{"burstable", {}},
                 {"twice the credits", {"hosts.sub.cpu_credits=10min"}},
                 {"twice the baseline", {"hosts.sub.baseline=0.4"}},
                 {"two subscriptions",
                  {"publications.p.tables=[dockets]", "publications.q={server: pub, tables: [opinions]}",
                   "subscriptions.z={server: sub, publication: q, streaming: off}"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double length_s = 2400, credits_s = 300, earned = 0.4;
    const auto lag = [&](const char* run, double t_s) {
      return read.sample(run, "wal_lsn", t_s) - read.sample(run, "replay_lsn", t_s);
    };
    const double gone_s = read.outcome_s("burstable", "credits_used_up");
    // What it uses while it keeps up, on all CPUs, says when the stock is gone and what is left afterwards.
    const double used = read.metric("twice the baseline", "cpu_sub.apply_worker_s") / length_s;
    const double middle_s = (gone_s + length_s) / 2;
    const double grown = lag("burstable", length_s) - lag("burstable", gone_s);
    return {
        {"credits are gone after", gone_s / (credits_s / (used - earned)), "ratio", 0.98, 1.02},
        {"lag before",
         read.largest("burstable", {"t_s", "wal_lsn", "replay_lsn"}, 10, gone_s,
                      [](const std::vector<double>& at) { return at[1] - at[2]; }) /
             grown,
         "ratio", 0, 0.02},
        {"lag after, half way", (lag("burstable", middle_s) - lag("burstable", gone_s)) / grown, "ratio",
         0.48, 0.52},
        // A worker that is behind never sleeps: it saves what waking it costs.
        {"WAL that is not applied, of what is written after",
         grown /
             (read.sample("burstable", "wal_lsn", length_s) - read.sample("burstable", "wal_lsn", gone_s)),
         "ratio", 0.7 * (1 - earned / used), 1 - earned / used},
        {"pg_wal over lag",
         read.slot("burstable", "s", "retained_wal_bytes") / read.slot("burstable", "s", "lag_bytes"),
         "ratio", 1, 2},
        {"twice the credits: gone after", read.outcome_s("twice the credits", "credits_used_up") / gone_s,
         "ratio", 1.95, 2.05},
        {"twice the baseline: credits used up", read.outcomes("twice the baseline", "credits_used_up"),
         "count", 0, 0},
        {"twice the baseline: lag at the end", lag("twice the baseline", length_s) / grown, "ratio", 0, 0.02},
        {"two subscriptions: credits used up", read.outcomes("two subscriptions", "credits_used_up"), "count",
         1, 1}};
  };
  return report;
}

Report report_u29() {
  Report report{"U29",
                "small transactions drain through one worker, whatever `streaming` says",
                "scenarios/reports/u29_ten_minutes_of_pgbench.yaml",
                {},
                {}};
  report.runs = {{"off", {}},
                 {"parallel", {"subscriptions.s.streaming=parallel"}},
                 {"parallel, 16 workers",
                  {"subscriptions.s.streaming=parallel",
                   "servers.sub.settings.max_parallel_apply_workers_per_subscription=16",
                   "servers.sub.settings.max_logical_replication_workers=20",
                   "servers.sub.settings.max_worker_processes=32"}},
                 {"two subscriptions",
                  {"publications.p.tables=[accounts1, tellers1, branches1, history1]",
                   "publications.q={server: pub, tables: [accounts2, tellers2, branches2, history2]}",
                   "subscriptions.z={server: sub, publication: q, streaming: off}"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double load_s = 600, length_s = 3000;
    const double off_s = drained_s(read, "off", length_s);
    // Hardware, load and costs are guesses: 4.6 within 15 %, and nothing is set to meet it.
    return {{"drain over load", off_s / load_s, "ratio", 3.91, 5.29},
            {"drain", off_s / 60, "min", 39.1, 52.9},
            {"parallel over off", drained_s(read, "parallel", length_s) / off_s, "ratio", 0.999, 1.001},
            {"parallel, 16 workers over off", drained_s(read, "parallel, 16 workers", length_s) / off_s,
             "ratio", 0.999, 1.001},
            {"streamed transactions", read.metric("parallel", "stream_txns"), "count", 0, 0},
            {"two subscriptions over one", drained_s(read, "two subscriptions", length_s) / off_s, "ratio",
             0.45, 0.55}};
  };
  return report;
}

} // namespace replisim
