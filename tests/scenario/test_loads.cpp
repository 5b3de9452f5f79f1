// The three kinds of workload: transactions at a given time, flows of small ones, WAL of other databases.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// The sound scenario with another entry in place of its only transaction.
std::string with_load(const std::string& entry, const std::string& observe = "") {
  return replaced(sound, "{server: pub, transaction: [{insert: t, rows: 10}]}",
                  "{server: pub, " + entry + "}") +
         (observe.empty() ? "" : "observe: {" + observe + "}\n");
}

Scenario loaded(const std::string& entry, const std::string& observe = "") {
  return load_text(with_load(entry, observe));
}

Lines errors(const std::string& entry, const std::string& observe = "") {
  return errors_of(with_load(entry, observe));
}

const std::string one_insert = "transaction: [{insert: t, rows: 1}]";

} // namespace

TEST_CASE("a transaction runs once unless the file says otherwise") {
  const BatchLoad once = loaded(one_insert).batches.at(0);
  CHECK(once.times == 1);
  CHECK(once.every_s == 0);
  CHECK_FALSE(once.rolls_back);

  const BatchLoad often =
      loaded("at: 5s, every: 1min, times: 10, ends: rollback, " + one_insert).batches.at(0);
  CHECK(often.at_s == 5);
  CHECK(often.every_s == 60);
  CHECK(often.times == 10);
  CHECK(often.rolls_back);
}

TEST_CASE("every without times counts the runs that begin before the end") {
  const auto times = [](const std::string& when, const std::string& until) {
    return loaded(when + ", " + one_insert, "until: " + until).batches.at(0).times;
  };
  CHECK(times("every: 1min", "1h") == 60);
  CHECK(times("every: 1min", "3601s") == 61);
  CHECK(times("at: 10min, every: 1min", "1h") == 50);
  CHECK(times("every: 0.1s", "0.3s") == 3);
  CHECK(times("every: 2h", "1h") == 1);
  CHECK(times("every: 1min, times: 7", "1h") == 7);
  CHECK(errors("every: 1ms, " + one_insert, "until: 1d") ==
        Lines{"11:36 workload.w.every: 86,400,000 runs would begin before the end of the run, 1,000,000 are "
              "allowed; small transactions that come so often are a flow (`rate`)"});
}

TEST_CASE("runs need a number and a distance") {
  CHECK(
      errors("every: 1min, " + one_insert) ==
      Lines{
          "11:36 workload.w.every: it repeats without end; give it `times`, or `observe.until` a duration"});
  CHECK(errors("times: 3, " + one_insert) ==
        Lines{"11:36 workload.w.times: more than one run needs `every`, the distance of their starts"});
  CHECK(errors("every: 1s, times: 1, " + one_insert) ==
        Lines{"11:36 workload.w.every: one run has no distance from the next; raise `times`"});
  CHECK(errors("times: 1, " + one_insert).empty());
  CHECK(errors("times: 0, " + one_insert) ==
        Lines{"11:36 workload.w.times: 0 is out of range; allowed: 1 to 1,000,000"});
  CHECK(errors("ends: abort, " + one_insert) ==
        Lines{"11:35 workload.w.ends: 'abort' is none of commit, rollback"});
}

TEST_CASE("a session may pause within its transaction") {
  const auto steps = loaded("transaction: [{insert: t, rows: 5}, {pause: 30s}, {delete: t, rows: 105}]")
                         .batches.at(0)
                         .transaction;
  REQUIRE(steps.size() == 3);
  CHECK(std::get<PauseStep>(steps[1]).seconds == 30);
  CHECK(errors("transaction: [{pause: 30s, rows: 5}]") ==
        Lines{"11:62 workload.w.transaction[0].rows: `rows` does not go with pause"});
  CHECK(errors("transaction: [{pause: 0s}]").size() == 1);
  CHECK(errors("transaction: [{pause: 1s, savepoint: x}]").size() == 1);
}

TEST_CASE("a rate makes a flow of small transactions") {
  const Scenario s =
      loaded("rate: 500/s, arrivals: poisson, from: 10s, until: 1h, curve: [{at: 20min, factor: "
             "10}, {at: 30min, factor: 0}], curve_period: 1h, transaction: [{update: t, rows: "
             "3}, {insert: t, rows: 1}]");
  CHECK(s.batches.empty());
  REQUIRE(s.flows.size() == 1);
  const FlowLoad& flow = s.flows[0];
  CHECK(flow.name == "w");
  CHECK(flow.server == "pub");
  CHECK(flow.rate_per_s == 500);
  CHECK(flow.poisson);
  CHECK(flow.from_s == 10);
  CHECK(flow.until_s == 3600);
  CHECK(flow.curve_period_s == 3600);
  REQUIRE(flow.curve.size() == 3); // the file leaves the first out
  CHECK(flow.curve[0].at_s == 0);
  CHECK(flow.curve[0].factor == 1);
  CHECK(flow.curve[1].at_s == 1200);
  CHECK(flow.curve[1].factor == 10);
  CHECK(flow.curve[2].factor == 0);
  REQUIRE(flow.transaction.size() == 2);
  CHECK(flow.transaction[0].operation == Operation::Update);
  CHECK(flow.transaction[0].rows == 3);
  CHECK(flow.transaction[1].table == "t");

  const FlowLoad plain =
      loaded("rate: 30/min, until: 1h, curve: [{at: 0s, factor: 2}], " + one_insert).flows.at(0);
  CHECK(plain.rate_per_s == 0.5);
  CHECK_FALSE(plain.poisson);
  CHECK(plain.curve.size() == 1);
  CHECK(loaded("rate: 900/h, until: 1h, " + one_insert).flows.at(0).curve.empty());
}

TEST_CASE("a flow is of statements only") {
  const auto with = [](const std::string& step) {
    return errors("rate: 1/s, until: 1h, transaction: [" + step + "]");
  };
  CHECK(with("{pause: 1s}") ==
        Lines{"11:73 workload.w.transaction[0].pause: `pause` does not stand in a flow: its transactions are "
              "statements and a commit; a workload without `rate` can hold it"});
  CHECK(with("{savepoint: x}").size() == 1);
  CHECK(with("{insert: t, rows: 1, rolled_back: 50%}").size() == 1);
  CHECK(with("{insert: t, rows: 0}").size() == 1);
  CHECK(with("{insert: u, rows: 1}").size() == 1);
}

TEST_CASE("a flow changes the same rows again and again") {
  CHECK(errors("rate: 1/s, until: 1h, transaction: [{delete: t, rows: 101}]").empty());
  // What a flow inserts is there for a later transaction, but nobody counts it.
  const std::string text = with_load("rate: 1/s, until: 1h, " + one_insert);
  const auto later = [&](const std::string& step) {
    return errors_of(
        replaced(text, "workload: {", "workload: {b: {server: pub, at: 1h, transaction: [" + step + "]}, "));
  };
  CHECK(later("{delete: t, rows: 3000}").empty());
}

TEST_CASE("a curve stands in order of time and is longer than its last point") {
  const auto with = [](const std::string& curve) {
    return errors("rate: 1/s, until: 1h, " + curve + ", " + one_insert);
  };
  CHECK(with("curve: [{at: 10s, factor: 1}, {at: 10s, factor: 2}]") ==
        Lines{"11:86 workload.w.curve[1].at: the points stand in order of time; 10s comes after 10s"});
  CHECK(with("curve: [{at: 0s, factor: 1}, {at: 20min, factor: 2}], curve_period: 10min") ==
        Lines{"11:119 workload.w.curve_period: the curve starts again after 10min, before its last point at "
              "20min"});
  CHECK(with("curve_period: 10min") == Lines{"11:65 workload.w.curve_period: there is no `curve` to repeat"});
  CHECK(with("curve: [{at: 0s}]").size() == 1);
  CHECK(with("curve: [{at: 0s, factor: -1}]").size() == 1);
}

TEST_CASE("rates are numbers per time") {
  CHECK(errors("rate: 500, until: 1h, " + one_insert) ==
        Lines{"11:35 workload.w.rate: '500' has no unit; use /s, /min or /h"});
  CHECK(errors("rate: 0/s, until: 1h, " + one_insert) ==
        Lines{"11:35 workload.w.rate: 0/s is out of range; allowed: 0.0001/s to 10000000/s"});
}

TEST_CASE("other_wal is the WAL of other databases") {
  const Scenario s = loaded("other_wal: 10MB/s, from: 1min, until: 1h");
  CHECK(s.batches.empty());
  REQUIRE(s.other_wal.size() == 1);
  CHECK(s.other_wal[0].name == "w");
  CHECK(s.other_wal[0].server == "pub");
  CHECK(s.other_wal[0].bytes_per_s == 10.0 * 1024 * 1024);
  CHECK(s.other_wal[0].from_s == 60);
  CHECK(s.other_wal[0].until_s == 3600);
}

/// The one error has all these parts; which kinds of entries there are besides is not looked at.
void check_one_error(const Lines& found, const std::vector<std::string>& parts) {
  REQUIRE(found.size() == 1);
  for (const std::string& part : parts) {
    INFO(found.front());
    CHECK(found.front().find(part) != std::string::npos);
  }
}

TEST_CASE("an entry is of one kind") {
  check_one_error(errors("at: 5s, rate: 1/s, until: 1h, " + one_insert),
                  {"11:29 workload.w.at: `at` belongs to a transaction at a given time",
                   "; this entry is a flow of small transactions, as it has a `rate`"});
  check_one_error(errors("until: 1h, " + one_insert),
                  {"11:29 workload.w.until: `until` belongs to a flow of small transactions",
                   " and to WAL of other databases",
                   "; this entry is a transaction at a given time, as it has"});
  check_one_error(errors("other_wal: 1MB/s, rate: 5/s, until: 1h"),
                  {"11:47 workload.w.rate: `rate` belongs to a flow of small transactions",
                   "; this entry is WAL of other databases, as it has `other_wal`"});
  CHECK(errors("other_wal: 1MB/s, until: 1h, " + one_insert).size() == 1);
  check_one_error(
      errors("at: 5s"),
      {"11:15 workload.w: says nothing to do; an entry has a `transaction`, a flow of small ones has a "
       "`rate` besides, "});
  CHECK(errors("rate: 1/s, until: 1h") ==
        Lines{"11:15 workload.w.transaction: `transaction` is missing: the statements of "
              "one transaction of the flow"});
  CHECK(errors("transaction: []") ==
        Lines{"11:42 workload.w.transaction: is empty; at least one step is needed"});
  // One mistyped key is one error, whatever it would have made of the entry.
  CHECK(errors("ratte: 1/s, until: 1h, " + one_insert) ==
        Lines{"11:29 workload.w.ratte: unknown key 'ratte' (did you mean 'rate'?)"});
}

TEST_CASE("what goes on without end needs a run that ends") {
  CHECK(errors("rate: 1/s, " + one_insert) ==
        Lines{"11:15 workload.w: it goes on without end; give it `until`, or `observe.until` a duration"});
  CHECK(errors("rate: 1/s, " + one_insert, "until: caught_up").size() == 1);
  CHECK(errors("rate: 1/s, " + one_insert, "until: 1h").empty());
  CHECK(errors("other_wal: 1MB/s").size() == 1);
  CHECK(errors("other_wal: 1MB/s", "until: 1h").empty());
  // A mistaken end is one mistake.
  CHECK(errors("other_wal: 1MB/s", "until: soon") ==
        Lines{"12:18 observe.until: 'soon' is not a duration; write a number and a unit, such as 0.1ms, or "
              "`caught_up`"});
  CHECK(errors("other_wal: 1MB/s", "until: 0s") ==
        Lines{"12:18 observe.until: 0s is out of range; allowed: 1ms to 366d"});
  CHECK(errors("other_wal: 1MB/s, from: 1h, until: 60min") ==
        Lines{"11:64 workload.w.until: 60min is not after `from`, 1h"});
}

TEST_CASE("the end of the run is caught_up or a duration") {
  CHECK(load_text(sound).observe.until_s == 0);
  CHECK(load_text(sound + "observe: {until: caught_up}\n").observe.until_s == 0);
  CHECK(load_text(sound + "observe: {until: 90min}\n").observe.until_s == 5400);
  CHECK(loaded("at: 2h, " + one_insert, "until: 1h").warnings ==
        Lines{"workload.w begins at 2 h 00 min, the run ends at 1 h 00 min: it never runs"});
}

TEST_CASE("rows are counted over all runs") {
  const auto with = [](const std::string& entry) { return errors(entry); };
  CHECK(with("every: 1s, times: 4, transaction: [{delete: t, rows: 25}]").empty());
  CHECK(with("every: 1s, times: 5, transaction: [{delete: t, rows: 25}]") ==
        Lines{"11:82 workload.w.transaction[0].rows: delete of 25 rows, but t holds 0 at that point of run 5 "
              "of 5 "
              "(`tables.t.rows` says how many there are at the start)"});
  CHECK(with("every: 1s, times: 5, ends: rollback, transaction: [{delete: t, rows: 25}]").empty());
  CHECK(with("every: 1s, times: 5, transaction: [{insert: t, rows: 25}, {delete: t, rows: 25}]").empty());
  CHECK(with("every: 1s, times: 6, transaction: [{delete: t, rows: 60}, {insert: t, rows: 50}]").size() == 1);
  // Two loads, one run after the other: 100 - 30 + 10 - 30 + 10 - 30 + 10 - 30 leaves too few for the fifth.
  const std::string two = replaced(
      with_load("every: 2s, times: 4, transaction: [{delete: t, rows: 30}]"), "workload: {",
      "workload: {fill: {server: pub, at: 1s, every: 2s, times: 4, transaction: [{insert: t, rows: 10}]}, ");
  CHECK(errors_of(two).empty());
  CHECK(errors_of(replaced(two, "every: 2s, times: 4, transaction: [{delete",
                           "every: 2s, times: 5, transaction: "
                           "[{delete"))
            .size() == 1);
  // Runs after the end of the run do not count.
  CHECK(errors("every: 1s, times: 5, transaction: [{delete: t, rows: 25}]", "until: 4s").empty());
}

TEST_CASE("a question about a rate or a duration keeps its unit") {
  const auto unit = [](const std::string& over, const std::string& range) {
    return load_text(with_load("rate: 5/s, until: 1h, " + one_insert) +
                     "break_even: [{between: {subscriptions.s.streaming: [off, on]}, over: " + over +
                     ", range: [" + range + "]}]\n")
        .break_even.at(0)
        .over_unit;
  };
  CHECK(unit("workload.w.rate", "1/s, 100/s") == "/s");
  CHECK(unit("workload.w.until", "1min, 1h") == "s");
  CHECK(unit("servers.pub.settings.logical_decoding_work_mem", "64kB, 1MB") == "B");
  CHECK(unit("servers.pub.settings.wal_writer_delay", "1ms, 1s") == "s");
  CHECK(unit("tables.t.rows", "0, 1000").empty());
  CHECK(unit("publications.p.row_filters.t.passes", "0%, 100%") == "%");
}

TEST_CASE("a rate can be swept over a range") {
  const Scenario s = load_text(with_load("rate: 5/s, until: 1h, " + one_insert) +
                               "sweep: {workload.w.rate: {from: 60/min, to: 3/s, count: 3}}\n");
  REQUIRE(s.sweep.size() == 1);
  using Values = std::vector<std::pair<std::string, std::string>>;
  CHECK(s.sweep[0].values == Values{{"1/s", "1/s"}, {"2/s", "2/s"}, {"3/s", "3/s"}});
}
