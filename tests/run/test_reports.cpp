// What people read: widths, units, wrapping, and what a run's table says.
#include "sim/report/run_report.hpp"
#include "sim/report/text.hpp"
#include "tests/run/sample.hpp"

#include <catch2/catch.hpp>

#include <sstream>

using namespace replisim;
using test::sample_result;

namespace {

std::size_t widest_line(const std::string& text) {
  std::istringstream in(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(in, line);)
    widest = std::max(widest, display_width(line));
  return widest;
}

Scenario sample_scenario() {
  Scenario s;
  s.name = "one big insert";
  s.hosts["db"].cores_per_socket = 8;
  s.servers["pub"].version = {17, 4};
  s.servers["pub"].settings.set("logical_decoding_work_mem", {65536, ""});
  s.servers["sub"].version = {18, 1};
  for (const std::string name : {"pub", "sub"}) {
    s.servers[name].name = name;
    s.servers[name].host = "db";
  }
  s.publications["p"].name = "p";
  s.publications["p"].server = "pub";
  s.publications["p"].tables = {"test_tab"};
  s.subscriptions["s"] = {"s", "sub", "p", Streaming::Off, false};
  s.batches.emplace_back();
  s.batches[0].name = "batch";
  s.batches[0].server = "pub";
  s.batches[0].transaction = {StatementStep{Operation::Insert, "test_tab", 5'000'000, {}}};
  return s;
}

} // namespace

TEST_CASE("width counts characters, not bytes") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xc2\xb5s") == 2);
  CHECK(display_width("") == 0);
}

TEST_CASE("clipping keeps characters whole") {
  CHECK(clipped("abcdef", 6) == "abcdef");
  CHECK(clipped("abcdefg", 6) == "abc...");
  CHECK(clipped("\xc2\xb5\xc2\xb5\xc2\xb5\xc2\xb5\xc2\xb5", 4) == "\xc2\xb5...");
}

TEST_CASE("long sentences wrap under their first word") {
  const std::string text = wrapped("- ", std::string(60, 'a') + " " + std::string(60, 'b') + "  c");
  CHECK(text == "- " + std::string(60, 'a') + "\n  " + std::string(60, 'b') + " c\n");
  CHECK(wrapped("- ", "") == "- \n");
  CHECK(wrapped("", std::string(150, 'x')) == std::string(150, 'x') + "\n");
}

TEST_CASE("CSV fields are quoted where they must be") {
  CHECK(csv_field("plain") == "plain");
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("say \"x\"\n") == "\"say \"\"x\"\"\n\"");
  CHECK(csv_number(92'000'000) == "92000000");
  CHECK(csv_number(0.1) == "0.1");
}

TEST_CASE("durations and settings read as people write them") {
  CHECK(seconds_text(37.304) == "37.304 s");
  CHECK(seconds_text(0.0121) == "12.100 ms");
  CHECK(seconds_text(0.000085) == "85.0 us");
  CHECK(seconds_text(0) == "0 s");
  CHECK(setting_size(65536) == "64kB");
  CHECK(setting_size(64.0 * 1024 * 1024) == "64MB");
  CHECK(setting_size(1000) == "1000B");
  CHECK(whole_text(5'000'000) == "5,000,000");
  CHECK(whole_text(2.5) == "2.5");
}

TEST_CASE("table columns line up and short headers stand low") {
  TextTable table({"name", "logical_\nmem", "s"}, 1);
  table.add({"a", "1", "22"});
  table.add_with_note({"long name", "333"}, "note");
  CHECK(table.render(1) == "            logical_\n"
                           " name            mem   s\n"
                           " a                 1  22\n"
                           " long name       333  note\n");
  CHECK(table.width() == 23);
}

TEST_CASE("the run's table says what ran, how long, and who held it up") {
  const std::string table = run_table(sample_scenario(), summarise_replications({sample_result()}));
  CHECK_THAT(table, Catch::StartsWith("one big insert\n"));
  CHECK_THAT(table, Catch::Contains("pub (PostgreSQL 17.4) -> sub (PostgreSQL 18.1), streaming = off"));
  CHECK_THAT(table, Catch::Contains("logical_decoding_work_mem = 64kB; both on host db (8 CPUs)"));
  CHECK_THAT(table, Catch::Contains("insert test_tab 5,000,000 rows, commit"));
  CHECK_THAT(table, Catch::Contains("37.304 s  BEGIN to the commit applied on the subscriber"));
  CHECK_THAT(table, Catch::Contains("zero: stream_count"));
  CHECK_THAT(table, Catch::Contains("92,000,000"));
  CHECK_THAT(table, Catch::Contains("pub.walsender"));
  CHECK_THAT(table, Catch::Contains("75.0 %             25.0 %               0.0 %"));
  CHECK_THAT(table, Catch::Contains("bottleneck: walsender, because it never waits for output"));
  CHECK_THAT(table, Catch::Contains("a \"quoted\" warning"));
  CHECK_THAT(table, Catch::Contains("Guesses the answer rests on (1)"));
  CHECK_THAT(table, Catch::Contains("hosts.db.machine = seed1-host: nobody said"));
  CHECK_THAT(table, Catch::Contains("third"));
  CHECK(widest_line(table) <= report_columns);
}

TEST_CASE("two hosts show their link, savepoints their rollback") {
  Scenario s = sample_scenario();
  s.servers["sub"].host = "far";
  s.hosts["far"] = {};
  s.links = {{"far", "db", 1e9 / 8, 0.02, 6'000'000}};
  s.batches[0].transaction = {StatementStep{Operation::Insert, "test_tab", 8, {}}, SavepointStep{"sp"},
                              StatementStep{Operation::Insert, "test_tab", 2, {}}, RollbackToStep{"sp"}};
  const std::string table = run_table(s, summarise_replications({sample_result()}));
  CHECK_THAT(table, Catch::Contains("hosts db and far, 1 Gbps, 20.000 ms one way"));
  CHECK_THAT(table, Catch::Contains("savepoint sp, insert test_tab 2 rows, rollback to sp, commit"));
}

TEST_CASE("many guesses and long ones stay short") {
  RunResult r = sample_result();
  r.guesses.assign(40, {"hosts.db.machine", "seed1-host", std::string(200, 'y')});
  const std::string table = run_table(sample_scenario(), summarise_replications({r}));
  CHECK(widest_line(table) <= report_columns);
  CHECK_THAT(table, Catch::Contains("and 28 more"));
}

TEST_CASE("replications print intervals, or say that there is nothing random") {
  RunResult second = sample_result();
  second.seed = 2;
  const auto equal = run_table(sample_scenario(), summarise_replications({sample_result(), second}));
  CHECK_THAT(equal, Catch::Contains("deterministic, all of them equal"));
  CHECK_THAT(equal, not Catch::Contains("+-"));
  second.metrics["total_s"] = 37.504;
  const auto random = summarise_replications({sample_result(), second});
  // mean 37.404, half width 12.7062 * 0.1414214 / sqrt(2) = 1.27062
  CHECK_THAT(run_table(sample_scenario(), random), Catch::Contains("37.404 s +- 1.271 s"));
  const auto json = run_json(random);
  CHECK(json["metrics"]["total_s"].get<double>() == Approx(37.404));
  CHECK(json["replications"]["count"] == 2);
  CHECK(json["replications"]["deterministic"] == false);
  CHECK(json["replications"]["half_width_95"]["total_s"].get<double>() == Approx(1.27062).epsilon(1e-5));
  CHECK_THAT(run_csv(random),
             Catch::StartsWith("metric,value,half_width_95\n") and Catch::Contains("spill_count,1401,0\n"));
}

TEST_CASE("CSV has one line per metric") {
  const std::string csv = run_csv(summarise_replications({sample_result()}));
  CHECK_THAT(csv, Catch::StartsWith("metric,value\ncpu_pub.walsender_s,2\n"));
  CHECK_THAT(csv, Catch::Contains("subscriptions.s.total_s,0.30000000000000004\n"));
  CHECK_THAT(csv, Catch::Contains("stages.apply.blocked,0.375\n"));
}
