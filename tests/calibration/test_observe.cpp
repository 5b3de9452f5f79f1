// What observe says: figures of the lab's runs against their table, findings, clock offsets, outputs.
#include "calibration/observe/observe.hpp"
#include "calibration/suites/streaming_cells.hpp"
#include "models/base/errors.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

using namespace replisim::readers;
namespace fs = std::filesystem;

namespace {

const fs::path samples = fs::path(REPLISIM_SOURCE_DIR) / "tests/calibration/data/lab_artefacts";

const ObserveReport& lab_report() {
  static const ObserveReport report = make_report(read_paths({samples}, {}));
  return report;
}

const GroupReport& group(const ObserveReport& report, const std::string& name) {
  const auto found = std::find_if(report.groups.begin(), report.groups.end(),
                                  [&](const GroupReport& each) { return each.group.name == name; });
  REQUIRE(found != report.groups.end());
  return *found;
}

const Figure& figure(const std::string& run, const std::string& metric) {
  const auto& figures = lab_report().read.observation.figures;
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure& each) {
    return each.metric == metric and each.labels.at("run") == run;
  });
  REQUIRE(found != figures.end());
  return *found;
}

/// The measured row of a run, by its file names: streaming18-SCENARIO-KBkB-MODE-r1.
double measured(const std::string& run, const std::string& metric) {
  static const replisim::CsvTable table =
      replisim::read_lab_streaming({REPLISIM_SOURCE_DIR}, "lab/streaming_pg18_500k.csv");
  for (std::size_t row = 0; row < table.row_count(); ++row)
    if (table.text(row, "rep") == "1" and run == "streaming18-" + table.text(row, "scenario") + "-" +
                                                     table.text(row, "work_mem_kb") + "kB-" +
                                                     table.text(row, "streaming") + "-r1")
      return table.number(row, metric);
  FAIL("no row for " << run);
  return 0;
}

const std::vector<std::string> runs = {
    "streaming18-delete-64kB-parallel-r1", "streaming18-rollback_20pct-64kB-off-r1",
    "streaming18-update-64kB-parallel-r1", "streaming18-update-65536kB-off-r1"};

ObserveReport report_of(const std::vector<std::pair<std::string, std::string>>& files) {
  ReadResult read;
  for (const auto& [name, text] : files) {
    LineInput input = LineInput::over_text(name, text, read.problems);
    read_input(input, {}, read.observation, read.problems);
  }
  return make_report(std::move(read));
}

std::string finding(const GroupReport& report, const std::string& kind) {
  for (const Finding& each : report.findings)
    if (each.kind == kind)
      return each.text;
  return "none of kind " + kind;
}

} // namespace

TEST_CASE("times of the lab's runs are within the sampling error of their table") {
  for (const std::string& run : runs) {
    for (const char* metric : {"total_s", "commit_s", "lock_hold_s"}) {
      const Figure& found = figure(run, metric);
      INFO(run << " " << metric << " " << found.value << " against " << measured(run, metric));
      REQUIRE(found.uncertainty.has_value());
      CHECK(*found.uncertainty <= 0.06);
      CHECK(std::abs(found.value - measured(run, metric)) <= *found.uncertainty);
    }
  }
}

TEST_CASE("CPU seconds of the lab's runs are those of their table") {
  for (const std::string& run : runs) {
    for (const char* metric : {"cpu_pub.walsender_s", "cpu_sub.apply_worker_s"}) {
      INFO(run << " " << metric);
      CHECK(figure(run, metric).value == Approx(measured(run, metric)).margin(0.0101));
    }
    // Sessions that measure are backends, too: a part of each figure, and of its uncertainty.
    INFO(run);
    const Figure& backend = figure(run, "cpu_pub.backend_s");
    CHECK(*backend.uncertainty <= 0.2);
    CHECK(std::abs(backend.value - measured(run, "cpu_pub.backend_s")) <= *backend.uncertainty);
  }
  CHECK(figure(runs[0], "cpu_sub.parallel_apply_worker_s").value == Approx(2.57).margin(0.001));
}

TEST_CASE("sizes of the lab's runs are those of their table") {
  for (const std::string& run : runs) {
    CHECK(figure(run, "wal_bytes").value == Approx(measured(run, "wal_bytes")).margin(64 * 1024));
    CHECK(figure(run, "peak_spill_file_bytes").value == measured(run, "peak_spill_file_bytes"));
    CHECK(figure(run, "peak_sub_tmp_file_bytes").value == measured(run, "peak_sub_tmp_file_bytes"));
  }
}

TEST_CASE("the mode of the lab's runs shows in logs and samples") {
  const ObserveReport& report = lab_report();
  REQUIRE(report.groups.size() == 4);
  CHECK(report.read.problems.empty());
  CHECK(group(report, runs[0]).streaming == "parallel");
  CHECK(group(report, runs[0]).transport == "streamed to parallel apply workers");
  CHECK(group(report, runs[1]).streaming == "off");
  CHECK(group(report, runs[1]).transport == "spilled on the publisher");
  CHECK_THAT(finding(group(report, runs[1]), "spill_file_bytes"),
             Catch::Contains("up to 73.2 MiB at a time"));
  CHECK_THAT(finding(group(report, runs[2]), "lock_waits"),
             Catch::Contains("waited for locks once beyond deadlock_timeout, 1.001 s in all"));
}

TEST_CASE("both logs of a pair bound the offset of their clocks") {
  const auto& offset = group(lab_report(), runs[0]).clock_offset;
  REQUIRE(offset.has_value());
  CHECK(offset->starts == 1);
  CHECK(*offset->at_most_s == Approx(0.005));
  CHECK(*offset->at_least_s == Approx(-0.016)); // the slot was made 16 ms before its worker started
  CHECK(*offset->estimate_s() == Approx(-0.0055));
  CHECK(*offset->uncertainty_s() == Approx(0.0105));
  for (const GroupReport& each : lab_report().groups) { // both servers ran on one machine
    REQUIRE(each.clock_offset.has_value());
    CHECK(*each.clock_offset->at_least_s <= 0);
    CHECK(*each.clock_offset->at_most_s >= 0);
  }
  CHECK(offset->remark.empty());
}

TEST_CASE("clock offsets follow from matched starts") {
  const auto pub = [](const std::string& time, int pid) {
    return "2026-01-01 " + time + " UTC [" + std::to_string(pid) +
           "] LOG:  received replication command: START_REPLICATION SLOT \"s\" LOGICAL 0/0 (proto_version "
           "'4')\n";
  };
  const auto sub = [](const std::string& time, int pid) {
    return "2026-01-01 " + time + " UTC [" + std::to_string(pid) +
           "] LOG:  logical replication apply worker for subscription \"s\" has started\n";
  };
  // The publisher's clock is 2 s ahead; the connection takes 10 to 30 ms; one worker found no publisher.
  const std::string pubs = pub("00:00:02.030", 1) + pub("00:01:02.010", 2) + pub("00:02:02.020", 3);
  const std::string refused =
      sub("00:00:30.000", 12) +
      "2026-01-01 00:00:30.100 UTC [12] ERROR:  could not connect to the publisher: refused\n";
  const std::string subs =
      sub("00:00:00.000", 11) + refused + sub("00:01:00.000", 13) + sub("00:02:00.000", 14);
  const auto report = report_of({{"a.log", pubs}, {"b.log", subs}});
  REQUIRE(report.groups.size() == 1);
  REQUIRE(report.groups[0].clock_offset.has_value());
  CHECK(report.groups[0].clock_offset->starts == 3);
  CHECK(*report.groups[0].clock_offset->at_most_s == Approx(2.010));
  CHECK_FALSE(report.groups[0].clock_offset->uncertainty_s().has_value());
  CHECK_THAT(observe_table(report), Catch::Contains("clock of a.log against b.log: at most +2.010 s"));
  // A log that begins later: the starts that fit evenly are matched.
  const auto later =
      report_of({{"a.log", pubs}, {"b.log", sub("00:01:00.000", 13) + sub("00:02:00.000", 14)}});
  CHECK(*later.groups[0].clock_offset->at_most_s == Approx(2.010));
  // An hour is a zone.
  const auto zone = report_of({{"a.log", pub("01:00:00.020", 1)}, {"b.log", sub("00:00:00.000", 2)}});
  CHECK(zone.groups[0].clock_offset->remark == "+1.00 h look like a time zone and not like a clock");
}

TEST_CASE("clocks are bound by times in views where there are no logs") {
  const std::string sub =
      "collected_at,subname,received_lsn,last_msg_send_time,last_msg_receipt_time\n"
      "2026-11-30 15:00:00+00,s,0/1000,2026-11-30 15:00:01.5+00,2026-11-30 14:59:59.9+00\n"
      "2026-11-30 15:00:10+00,s,0/1000,2026-11-30 15:00:11.5+00,2026-11-30 15:00:09.6+00\n";
  const std::string pub = "collected_at,application_name,sync_state,reply_time\n"
                          "2026-11-30 15:00:05+00,s,async,2026-11-30 15:00:02.9+00\n";
  const ObserveReport report = report_of({{"r.pub.csv", pub}, {"r.sub.csv", sub}});
  REQUIRE(report.groups.size() == 1);
  const auto& offset = report.groups[0].clock_offset;
  REQUIRE(offset.has_value());
  CHECK(*offset->at_least_s == Approx(1.9)); // sent 1.9 s before it came, by the two clocks
  CHECK(*offset->at_most_s == Approx(2.1));
  CHECK(*offset->estimate_s() == Approx(2.0));
  CHECK_THAT(observe_table(report),
             Catch::Contains("clock of r.pub.csv against r.sub.csv: +2.000 s +-0.100"));
  CHECK(*report_of({{"sub.csv", sub}}).groups[0].clock_offset->estimate_s() == Approx(1.9));
}

TEST_CASE("what views show of slots, spilling and errors stands out") {
  const ObserveReport report = report_of(
      {{"slots.csv",
        "collected_at,slot_name,restart_lsn,active,temporary,wal_status,invalidation_reason\n"
        "2026-11-30 15:00:00+00,a,0/1000,t,f,reserved,\n2026-11-30 15:00:00+00,b,0/1000,f,f,extended,\n"
        "2026-11-30 15:00:00+00,c,,f,f,lost,wal_removed\n"},
       {"stats.csv", "collected_at,slot_name,spill_bytes\n2026-11-30 15:00:00+00,a,1048576\n"
                     "2026-11-30 15:00:10+00,a,3145728\n"},
       {"errors.csv", "subname,apply_error_count,confl_insert_exists\ns,3,0\n"}});
  const GroupReport& found = report.groups.at(0);
  CHECK_THAT(finding(found, "slot_lost"), Catch::Contains("slot \"c\": wal_removed"));
  CHECK_THAT(finding(found, "slot_inactive"), Catch::Contains("slot \"b\": active is false"));
  CHECK(finding(found, "spill_bytes") == "slot \"a\" spilled 2.0 MiB of decoded changes (accounted memory)");
  CHECK(finding(found, "apply_error_count") ==
        "subscription \"s\": apply_error_count 3 times since the statistics were reset");
  CHECK(finding(found, "confl_insert_exists") == "none of kind confl_insert_exists");
  CHECK(found.transport == "spilled on the publisher");
}

TEST_CASE("posted reports show what stands out") {
  std::string text;
  for (const char* read_from : {"4/66D1A2D0", "4/70DE1CF8"})
    text +=
        std::string(
            "2021-05-24 11:05:34.108 UTC [81] LOG:  starting logical decoding for slot \"m\"\n"
            "2021-05-24 11:05:34.108 UTC [81] DETAIL:  Streaming transactions committing after 4/7124A9E0, "
            "reading WAL from ") +
        read_from +
        ".\n2021-05-24 11:06:34.108 UTC [81] LOG:  terminating walsender process due to replication timeout\n"
        "2021-05-24 11:06:34.108 UTC [81] CONTEXT:  slot \"m\", output plugin \"pgoutput\", in the change "
        "callback, "
        "associated LSN 4/A3CA8AE0\n";
  const auto report = report_of({{"a.log", text}});
  const GroupReport& found = report.groups[0];
  CHECK_THAT(finding(found, "no_progress"),
             Catch::StartsWith("slot \"m\" started 2 times in a row without having moved"));
  CHECK(finding(found, "restarts") == "decoding of slot \"m\" started 2 times");
  CHECK(finding(found, "redecoded") ==
        "slot \"m\" decoded 169.6 MiB again in all (165.2 MiB at most in one start)");
  CHECK_THAT(finding(found, "decode_rate"),
             Catch::Contains("MiB/s on average before it was cut off, 2 times"));
  CHECK(finding(found, "walsender_timeout") ==
        "walsenders were ended by wal_sender_timeout 2 times (first after 60.000 s)");
}

TEST_CASE("inputs that files identify are told from those to collect") {
  const auto& rows = lab_report().parameters;
  const auto row = [&](const std::string& parameter) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Identification& each) { return each.parameter == parameter; });
    REQUIRE(found != rows.end());
    return *found;
  };
  CHECK(row("servers.NAME.version").is_identified);
  CHECK(row("servers.NAME.version").how == "18.4");
  CHECK(row("subscriptions.NAME.streaming").how == "off, parallel");
  CHECK_FALSE(row("walsender.*").is_identified); // nobody counted the changes
  CHECK_THAT(row("walsender.*").how, Catch::Contains("the number of changes is not"));
  CHECK_FALSE(row("workload (transactions, changes)").is_identified);
  CHECK_THAT(row("workload (transactions, changes)").how, Catch::Contains("pg_stat_replication_slots"));
}

TEST_CASE("JSON and CSV hold the series") {
  const auto json = nlohmann::json::parse(observe_json(lab_report()));
  CHECK(json.at("sources").size() == 12);
  CHECK(json.at("groups").size() == 4);
  bool found = false;
  for (const auto& series : json.at("series"))
    if (series.at("metric") == "cpu_pub.walsender_s") {
      found = true;
      CHECK(series.at("count") == series.at("samples").size());
    }
  CHECK(found);
  const std::string csv = observe_csv(lab_report());
  CHECK(csv.starts_with("source,metric,labels,t_s,value,line\n"));
  CHECK_THAT(csv, Catch::Contains("r1.timeline.csv,total_s,run=streaming18-delete-64kB-parallel-r1,,3.58"));
  CHECK_THAT(csv, Catch::Contains(",replay_lsn,,0.000000,114397608,2\n"));
}

TEST_CASE("nothing at all is an error with the reasons") {
  CHECK_THROWS_WITH(
      report_of({{"a.log", ""}, {"b.log", "Dear diary\n"}}),
      Catch::StartsWith("nothing could be read\n  a.log: is empty\n  b.log: is of no kind that is read"));
  CHECK_THROWS_AS(report_of({{"a.log", ""}}), replisim::UsageError);
}

TEST_CASE("files are grouped by what their names share") {
  std::vector<Source> sources(5);
  const char* names[] = {"d/r1.pub.log", "d/r1.sub.log.gz", "d/alone.x.log", "e/r1.pub.log", "d/server.log"};
  for (std::size_t i = 0; i < 5; ++i)
    sources[i].file = names[i];
  const auto groups = group_sources(sources);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].name == "r1");
  CHECK(groups[0].sources == std::vector<std::size_t>{0, 1});
  CHECK(groups[1].name.empty());
  CHECK(groups[1].sources == std::vector<std::size_t>{2, 3, 4});
  CHECK(node_in_name("d/r1.sub.log.gz") == "sub");
  CHECK(node_in_name("d/server.log").empty());
}
