// User reports: each gets its right answer, and a wrong one is noticed.
#include "calibration/suites/reports_catalogue.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using namespace replisim;

namespace {

Library library() {
  Library out;
  out.root = REPLISIM_SOURCE_DIR;
  return out;
}

void answers_rightly(const Report& report) {
  const auto judged = judge_reports({report}, library(), {}, forked_report_simulator());
  REQUIRE(judged.size() == 1);
  CHECK(judged.front().error.empty());
  CHECK_FALSE(judged.front().checks.empty());
  for (const ReportCheck& check : judged.front().checks) {
    INFO(check.quantity << ": " << check.value << " " << check.unit << ", allowed " << check.low << " to "
                        << check.high);
    CHECK(check.ok());
  }
}

/// A report of two runs, one of which is judged.
Report two_runs() {
  Report report{"U99", "two runs", "scenarios/reports/u23_replica_identity_full.yaml", {}, {}};
  report.runs = {{"plain", {}}, {"longer", {"observe.until=90s"}}};
  report.checks = [](const ReportResults& results) -> ReportChecks {
    const ReportReader read(results);
    return {{"tps of plain", read.metric("plain", "tps"), "1/s", 2, 3},
            {"length of longer", read.metric("longer", "length_s"), "s", 90, 90}};
  };
  return report;
}

/// Gives each run tps = 2.5 and its own length, without simulating.
std::vector<ReportRunOutcome> pretended(const std::vector<Scenario>& scenarios) {
  std::vector<ReportRunOutcome> out;
  for (const Scenario& scenario : scenarios) {
    ReportRunOutcome run;
    run.result.metrics = {{"tps", 2.5}, {"length_s", scenario.observe.until_s}};
    out.push_back(run);
  }
  return out;
}

/// Three samples of a, b: (0: 1, 5), (10: 3, 4), (20: 7, 6); a slot lost at 12 s, a disk full at 14 s and at
/// 15 s.
ReportResults sampled() {
  RunResult run;
  run.metrics = {{"tps", 4}};
  run.subscriptions["s"] = {{"sent_bytes", 8}};
  run.timeline = {{"t_s", "a", "b"}, {{0, 1, 5}, {10, 3, 4}, {20, 7, 6}}};
  run.outcomes = {{12, "slot_lost", "s", ""}, {14, "disk_full", "d", ""}, {15, "disk_full", "d", ""}};
  return {{"run", run}};
}

} // namespace

TEST_CASE("user report U01: a silent client makes no progress") { answers_rightly(report_u01()); }
TEST_CASE("user report U03: the threshold moves with wal_sender_timeout") { answers_rightly(report_u03()); }
TEST_CASE("user report U05: spill files fill the data directory") { answers_rightly(report_u05()); }
TEST_CASE("user report U06: work_mem does not cap the spill files") { answers_rightly(report_u06()); }
TEST_CASE("user report U08: GRANT on all tables before 14") { answers_rightly(report_u08()); }
TEST_CASE("user report U11: lag above and below the knee") { answers_rightly(report_u11()); }
TEST_CASE("user report U12: one core of four") { answers_rightly(report_u12()); }
TEST_CASE("user report U13: CPU credits used up") { answers_rightly(report_u13()); }
TEST_CASE("user report U14: one frozen slot holds the WAL of all") { answers_rightly(report_u14()); }
TEST_CASE("user report U15: a forgotten slot") { answers_rightly(report_u15()); }
TEST_CASE("user report U18: an open transaction pins restart_lsn") { answers_rightly(report_u18()); }
TEST_CASE("user report U20: an idle database beside busy ones") { answers_rightly(report_u20()); }
TEST_CASE("user report U21: thirteen slots catch up") { answers_rightly(report_u21()); }
TEST_CASE("user report U22: an aborted INSERT costs every walsender") { answers_rightly(report_u22()); }
TEST_CASE("user report U23: REPLICA IDENTITY FULL") { answers_rightly(report_u23()); }
TEST_CASE("user report U24: a row filter's cost") { answers_rightly(report_u24()); }
TEST_CASE("user report U27: time until the WAL volume is full") { answers_rightly(report_u27()); }
TEST_CASE("user report U29: ten minutes of pgbench") { answers_rightly(report_u29()); }
TEST_CASE("user report U31: a slot lost in an overload") { answers_rightly(report_u31()); }

TEST_CASE("user report U33: how long parallel holds locks") { answers_rightly(report_u33()); }

TEST_CASE("user report U34: the WAL that comes while a table is copied") { answers_rightly(report_u34()); }

TEST_CASE("a check accepts its whole range and no missing number") {
  CHECK(ReportCheck{"q", 1, "s", 1, 2}.ok());
  CHECK(ReportCheck{"q", 2, "s", 1, 2}.ok());
  CHECK_FALSE(ReportCheck{"q", 2.0001, "s", 1, 2}.ok());
  CHECK_FALSE(ReportCheck{"q", 0.9999, "s", 1, 2}.ok());
  CHECK_FALSE(ReportCheck{"q", std::numeric_limits<double>::quiet_NaN(), "s", 1, 2}.ok());
}

TEST_CASE("no report is right when its runs say nothing") {
  for (const Report& report : report_catalogue()) {
    ReportResults silent;
    for (const auto& check : report.checks(silent)) {
      INFO(report.id << ": " << check.quantity);
      CHECK_FALSE(check.ok());
    }
  }
}

TEST_CASE("the reports come in order, each with a contrast and its scenario's file named after it") {
  std::vector<std::string> ids;
  for (const Report& report : report_catalogue()) {
    ids.push_back(report.id);
    CHECK(report.runs.size() >= 2);
    std::string number = report.id;
    number.front() = 'u';
    CHECK(report.scenario.starts_with("scenarios/reports/" + number + "_"));
  }
  CHECK(ids == std::vector<std::string>{"U01", "U03", "U05", "U06", "U07", "U08", "U09", "U11",
                                        "U12", "U13", "U14", "U15", "U18", "U20", "U21", "U22",
                                        "U23", "U24", "U27", "U29", "U31", "U33", "U34"});
}

TEST_CASE("the reader of runs finds metrics, outcomes and samples") {
  const ReportResults results = sampled();
  const ReportReader read(results);
  CHECK(read.metric("run", "tps") == 4);
  CHECK(std::isnan(read.metric("run", "none")));
  CHECK(std::isnan(read.metric("other", "tps")));
  CHECK(read.slot("run", "s", "sent_bytes") == 8);
  CHECK(std::isnan(read.slot("run", "t", "sent_bytes")));
  CHECK(read.outcome_s("run", "disk_full") == 14);
  CHECK(read.outcomes("run", "disk_full") == 2);
  CHECK(read.outcomes("run", "sender_timeout") == 0);
  CHECK(std::isnan(read.outcome_s("run", "sender_timeout")));
  CHECK(std::isnan(read.outcomes("other", "disk_full")));
  CHECK(read.sample("run", "a", 10) == 3);
  CHECK(read.sample("run", "a", 19.9) == 3);
  CHECK(std::isnan(read.sample("run", "a", -1)));
  CHECK(std::isnan(read.sample("run", "none", 10)));
  const auto less = [](const std::vector<double>& v) { return v.at(0) - v.at(1); };
  CHECK(read.largest("run", {"a", "b"}, 0, 10, less) == -1);
  CHECK(read.largest("run", {"a", "b"}, 0, 20, less) == 1);
  CHECK(std::isnan(read.largest("run", {"a", "b"}, 21, 30, less)));
  CHECK(read.first_above_s("run", "a", 3) == 20);
  CHECK(std::isnan(read.first_above_s("run", "a", 7)));
}

TEST_CASE("overrides for a range of consumers") {
  CHECK(for_consumers("slot", 9, 10, "streaming=on") ==
        std::vector<std::string>{"consumers.slot09.streaming=on", "consumers.slot10.streaming=on"});
}

TEST_CASE("reports are judged, and printed as JSON, table and CSV") {
  const auto judged = judge_reports({two_runs()}, library(), {}, pretended);
  CHECK(all_ok(judged));
  const auto json = reports_json(judged);
  CHECK(json["pass"] == true);
  CHECK(json["reports"].size() == 1);
  CHECK(json["reports"][0]["id"] == "U99");
  CHECK_FALSE(json["reports"][0].contains("error"));
  CHECK(json["reports"][0]["checks"][0].dump() ==
        R"({"quantity":"tps of plain","value":2.5,"unit":"1/s","low":2,"high":3,"ok":true})");
  CHECK(reports_table(judged) == "ok    U99  two runs: tps of plain 2.5 1/s; length of longer 90 s\n\n"
                                 "reports: 1 of 1 answered rightly\n");
  CHECK(reports_csv(judged) == "id,quantity,value,unit,low,high,ok\n"
                               "U99,\"tps of plain\",2.5,1/s,2,3,true\n"
                               "U99,\"length of longer\",90,s,90,90,true\n");
}

TEST_CASE("a wrong answer is named with what is allowed") {
  const auto judged = judge_reports({two_runs()}, library(), {"observe.until=80s"}, pretended);
  CHECK_FALSE(all_ok(judged));
  CHECK(reports_json(judged)["pass"] == false);
  CHECK(reports_table(judged) == "WRONG U99  two runs: tps of plain 2.5 1/s; length of longer 80 s\n"
                                 "           length of longer: 80 s, allowed 90 to 90 s\n\n"
                                 "reports: 0 of 1 answered rightly\n");
}

TEST_CASE("a run that ends with an error makes its report wrong") {
  const auto failing = [](const std::vector<Scenario>& scenarios) {
    auto out = pretended(scenarios);
    out.back().error = "an invariant does not hold";
    return out;
  };
  const auto judged = judge_reports({two_runs()}, library(), {}, failing);
  CHECK_FALSE(judged.front().ok());
  CHECK(judged.front().error == "run 'longer': an invariant does not hold");
  CHECK(reports_json(judged)["reports"][0]["error"] == "run 'longer': an invariant does not hold");
  CHECK_THAT(reports_table(judged), Catch::Contains("           run 'longer': an invariant does not hold\n"));
}
