// User reports about slots and the WAL they hold.
#include "calibration/suites/reports_catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace replisim {

namespace {
double identity(const std::vector<double>& values) { return values.front(); }
double difference(const std::vector<double>& values) { return values.at(0) - values.at(1); }
} // namespace

Report report_u14() {
  Report report{
      "U14", "WAL kept is the maximum over slots", "scenarios/reports/u14_one_frozen_slot.yaml", {}, {}};
  report.runs = {{"frozen", {}}, {"well", {"consumers.frozen.connected_until=3h"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    const double kept = read.metric("frozen", "retained_wal_bytes");
    double healthy = 0;
    for (int i = 1; i <= 4; ++i) {
      const double held = read.slot("frozen", fmt::format("healthy{:02}", i), "retained_wal_bytes");
      healthy = std::isnan(healthy) or held <= healthy ? healthy : held; // a missing one stays missing
    }
    return {{"WAL kept", kept / giga_bytes, "GB", 1.215, 1.225},
            {"the frozen slot's over all", read.slot("frozen", "frozen", "retained_wal_bytes") / kept,
             "ratio", 1, 1},
            {"most that a healthy slot holds", healthy / giga_bytes, "GB", 0, 0.01},
            {"well: WAL kept", read.metric("well", "retained_wal_bytes") / giga_bytes, "GB", 0, 0.01}};
  };
  return report;
}

Report report_u15() {
  Report report{"U15",
                "WAL kept is rate x time, and the cap makes the slot lost",
                "scenarios/reports/u15_forgotten_slot.yaml",
                {},
                {}};
  report.runs = {{"forgotten", {}},
                 {"51 minutes", {"observe.until=3132s"}},
                 {"large table", {"tables.t.rows=100000000"}},
                 {"cap", {"servers.pub.settings.max_slot_wal_keep_size=100GB"}},
                 {"cron", {"consumers.sync={publication: p, host: db, connects_every: 10min}"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double rate_mb_per_s = 10, unread_s = 65903.2 - 60;
    const auto kept = [&](const char* run) { return read.metric(run, "retained_wal_bytes") / giga_bytes; };
    const double most_by_cron =
        read.largest("cron", {"retained_wal_bytes"}, 0, 65903.2, identity) / giga_bytes;
    return {{"WAL kept", kept("forgotten"), "GB", 640, 646},
            {"WAL kept over rate x time", kept("forgotten") * 1024 / (rate_mb_per_s * unread_s), "ratio",
             0.99, 1.01},
            {"published data", read.metric("forgotten", "sent_bytes") / mega_bytes, "MB", 0, 1},
            {"WAL kept after 51 min", kept("51 minutes"), "GB", 29.7, 30.3},
            {"with a table 10,000 times as large over this", kept("large table") / kept("forgotten"), "ratio",
             1, 1},
            {"100 GB cap: slots lost", read.outcomes("cap", "slot_lost"), "count", 1, 1},
            // 100 GB at 10 MB/s, then the checkpoint after.
            {"100 GB cap: lost after", read.outcome_s("cap", "slot_lost"), "s", 10240, 10240 + 60 + 300},
            {"100 GB cap: WAL kept", kept("cap"), "GB", 0, 0},
            // A slot has one candidate for restart_lsn: it is two visits behind at most.
            {"cron: most WAL kept", most_by_cron, "GB", 5.8, 11.8},
            {"cron: slots lost", read.outcomes("cron", "slot_lost"), "count", 0, 0}};
  };
  return report;
}

Report report_u18() {
  Report report{"U18",
                "an open transaction pins restart_lsn while confirmed_flush_lsn moves",
                "scenarios/reports/u18_restart_lsn_pinned.yaml",
                {},
                {}};
  const std::string connected = "consumers.cdc={publication: p, host: client}";
  const std::string brief = "workload.bulk.transaction[1].pause=1s";
  report.runs = {
      {"connected", {connected}}, {"visits", {}}, {"brief", {connected, brief}}, {"brief visits", {brief}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double begin_s = 100, open_s = 1800, end_s = begin_s + open_s;
    // How long restart_lsn stays at or before where the transaction began (a sample later: its BEGIN is in
    // it).
    const auto pinned_s = [&](const char* run) {
      return read.first_above_s(run, "restart_lsn", read.sample(run, "wal_lsn", begin_s)) - begin_s;
    };
    const auto moved = [&](const char* column) {
      return read.sample("connected", column, end_s) - read.sample("connected", column, begin_s);
    };
    double behind = 0; // when the client comes back
    for (const double visit_s : {600.0, 1200.0, 1800.0, 2400.0})
      behind += read.sample("visits", "confirmed_flush_lsn", visit_s - 5) -
                read.sample("visits", "restart_lsn", visit_s - 5);
    const auto sent_each = [&](const char* run) {
      return read.metric(run, "sent_bytes") / read.metric(run, "apply_tps") / 2700;
    };
    const auto most_kept = [&](const char* run) {
      return read.largest(run, {"retained_wal_bytes"}, 0, 2700, identity);
    };
    return {{"restart_lsn pinned", pinned_s("connected"), "s", open_s, open_s + 45},
            {"confirmed_flush_lsn moved meanwhile, over WAL written",
             moved("confirmed_flush_lsn") / moved("wal_lsn"), "ratio", 0.99, 1.01},
            {"most WAL kept over WAL written meanwhile", most_kept("connected") / moved("wal_lsn"), "ratio",
             1, 1.06},
            {"bytes read again", read.slot("visits", "cdc", "reread_bytes") / mega_bytes, "MB", 500, 1000},
            {"bytes read again over confirmed - restart", read.slot("visits", "cdc", "reread_bytes") / behind,
             "ratio", 0.999, 1.001},
            {"sent per transaction, with visits over connected", sent_each("visits") / sent_each("connected"),
             "ratio", 0.999, 1.001},
            {"open for 1 s: pinned", pinned_s("brief"), "s", 0, 45},
            {"open for 1 s: most WAL kept", most_kept("brief") / most_kept("connected"), "ratio", 0, 0.05},
            {"open for 1 s: bytes read again", read.slot("brief visits", "cdc", "reread_bytes") / mega_bytes,
             "MB", 0, 20}};
  };
  return report;
}

Report report_u20() {
  Report report{"U20",
                "with nothing published, the neighbours' WAL is kept",
                "scenarios/reports/u20_idle_database_busy_neighbours.yaml",
                {},
                {}};
  report.runs = {
      {"idle", {}},
      {"half the time", {"observe.until=30min"}},
      {"heartbeat",
       {"workload.heartbeat={server: pub, every: 30s, transaction: [{update: heartbeat, rows: 1}]}"}},
      {"keepalives", {"consumers.cdc.confirms_keepalives=on"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double rate_mb_per_s = 10, length_s = 3600, heartbeat_s = 30, tick_s = 1;
    const auto kept = [&](const char* run) { return read.metric(run, "retained_wal_bytes") / mega_bytes; };
    const auto most_kept = [&](const char* run) {
      return read.largest(run, {"retained_wal_bytes"}, 60, length_s, identity) / mega_bytes;
    };
    const double unconfirmed =
        read.largest("heartbeat", {"wal_lsn", "confirmed_flush_lsn"}, 60, length_s, difference) / mega_bytes;
    return {
        {"WAL kept over rate x time", kept("idle") / (rate_mb_per_s * length_s), "ratio", 0.99, 1.01},
        {"sent", read.metric("idle", "sent_bytes"), "bytes", 0, 0},
        {"in half the time", kept("half the time") / kept("idle"), "ratio", 0.49, 0.51},
        {"100 MB kept after", read.first_above_s("idle", "retained_wal_bytes", 100 * mega_bytes), "s", 10,
         20},
        {"time-outs of the idle client", read.slot("idle", "cdc", "sender_timeouts"), "count", 0, 0},
        {"heartbeat: most WAL unconfirmed", unconfirmed, "MB", rate_mb_per_s * (heartbeat_s - 10),
         rate_mb_per_s * (heartbeat_s + tick_s)},
        {"heartbeat: most WAL kept", most_kept("heartbeat"), "MB", rate_mb_per_s * heartbeat_s,
         rate_mb_per_s * (2 * heartbeat_s + tick_s)},
        // Running-xacts records come every 15 s; the candidate before the last is confirmed.
        {"keepalives: most WAL kept", most_kept("keepalives"), "MB", 0, rate_mb_per_s * (2 * 15 + tick_s)}};
  };
  return report;
}

Report report_u27() {
  Report report{"U27",
                "time to full is free space / WAL rate, unless the slot is lost first",
                "scenarios/reports/u27_wal_volume_fills.yaml",
                {},
                {}};
  const std::string cap = "servers.pub.settings.max_slot_wal_keep_size=";
  report.runs = {{"50 MB/s", {}},
                 {"100 MB/s", {"workload.midnight.other_wal=100MB/s"}},
                 {"cap 60 GB", {cap + "60GB"}},
                 {"cap 85 GB", {cap + "85GB"}},
                 {"somebody reads", {"consumers.orphan.connected_until=2h"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    constexpr double free_mb = 80 * 1024;
    const auto full_s = [&](const char* run) { return read.outcome_s(run, "disk_full"); };
    const double most_kept = read.largest("somebody reads", {"retained_wal_bytes"}, 0, 3600, identity);
    return {{"time to full", full_s("50 MB/s"), "s", 1630, 1645},
            {"time to full over free / rate", full_s("50 MB/s") / (free_mb / 50), "ratio", 0.99, 1.01},
            {"at 100 MB/s over free / rate", full_s("100 MB/s") / (free_mb / 100), "ratio", 0.99, 1.01},
            // 60 GB at 50 MB/s, then the checkpoint after.
            {"cap 60 GB: slot lost after", read.outcome_s("cap 60 GB", "slot_lost"), "s", 1228, 1290},
            {"cap 60 GB: disks full", read.outcomes("cap 60 GB", "disk_full"), "count", 0, 0},
            {"cap 85 GB: disk full after", full_s("cap 85 GB"), "s", 1630, 1645},
            {"cap 85 GB: slots lost", read.outcomes("cap 85 GB", "slot_lost"), "count", 0, 0},
            {"somebody reads: disks full", read.outcomes("somebody reads", "disk_full"), "count", 0, 0},
            {"somebody reads: most WAL kept", most_kept / giga_bytes, "GB", 0, 2}};
  };
  return report;
}

Report report_u31() {
  Report report{"U31",
                "a slot is lost at the checkpoint after its cap",
                "scenarios/reports/u31_overload_loses_slot.yaml",
                {},
                {}};
  const std::string cap = "servers.pub.settings.max_slot_wal_keep_size=";
  const auto factor = [](int times) { return fmt::format("workload.zones.curve[0].factor={}", times); };
  report.runs = {{"10x", {}},
                 {"20 minutes", {cap + "-1", "observe.until=20min"}},
                 {"20 GB", {cap + "20GB", "workload.zones.curve[1].at=40min"}},
                 {"3x", {factor(3)}},
                 {"5x", {factor(5)}}};
  report.checks = [](const ReportResults& results) {
    const ReportReader read(results);
    const double behind = read.metric("20 minutes", "lag_bytes");
    ReportChecks checks = {
        {"behind after 20 min", behind / giga_bytes, "GB", 11.8, 12.2},
        {"slope", behind / mega_bytes / 1200, "MB/s", 9.8, 10.5},
        {"lost under 10 GB after", read.outcome_s("10x", "slot_lost") / 60, "min", 16, 18},
        {"lost under 20 GB after", read.outcome_s("20 GB", "slot_lost") / 60, "min", 32, 35}};
    for (const char* run : {"3x", "5x"}) {
      const double kept = read.largest(run, {"retained_wal_bytes"}, 0, 2400, identity) / giga_bytes;
      checks.push_back({std::string(run) + ": slots lost", read.outcomes(run, "slot_lost"), "count", 0, 0});
      checks.push_back({std::string(run) + ": most WAL kept", kept, "GB", 0, 1});
    }
    return checks;
  };
  return report;
}

} // namespace replisim
