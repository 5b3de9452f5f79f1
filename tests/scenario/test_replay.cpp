// Replays in a scenario: the list of transactions, and what is wrong with one.
#include "tests/scenario/scenario_files.hpp"

#include "sim/scenario/replay_file.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::string header = std::string(replay_header) + "\n";

std::string with_replay(const std::string& replay) {
  return replaced(sound, "transaction: [{insert: t, rows: 10}]", "replay: " + replay);
}

Scenario loaded(const std::string& list, const std::string& replay = "list.csv") {
  const Folder folder;
  folder.write("list.csv", list);
  return load_scenario(folder.write("s.yaml", with_replay(replay)), {}, shipped_library());
}

/// The mistakes of a list: "line: message".
Lines mistakes(const std::string& list) {
  try {
    loaded(list);
  } catch (const ScenarioError& error) {
    Lines out;
    for (const Diagnostic& d : error.diagnostics())
      out.push_back(std::to_string(d.line) + ": " + d.message);
    return out;
  }
  return {};
}

} // namespace

TEST_CASE("a list of transactions is read as it is written") {
  const std::string list = header +
                           "0.5,0.25,commit,1: insert t 3; update t 1\n"
                           "1,0,commit,1\r\n"
                           "\n"
                           "2,10,rollback,savepoint a; delete t 7; rollback_to a; release a; insert t 2\n";
  const ReplayLoad load = loaded(list).replays.at(0);
  CHECK(load.name == "w");
  CHECK(load.server == "pub");
  REQUIRE(load.transactions.size() == 3);
  CHECK(load.transactions[1].steps == load.transactions[0].steps);
  CHECK(load.transactions[1].at_s == 1);
  CHECK(load.transactions[2].lasts_s == 10);
  CHECK(load.transactions[2].rolls_back);
  REQUIRE(load.distinct.size() == 2);
  CHECK(steps_text(load.distinct[0]) == "insert t 3; update t 1");
  CHECK(steps_text(load.distinct[1]) == "savepoint a; delete t 7; rollback_to a; release a; insert t 2");

  // What is assigned is by name in the file, by number in the identity of a scenario.
  const auto assigns =
      loaded(header + "0,0,commit,update t 2 set a; update t 1\n").replays.at(0).distinct.at(0);
  CHECK(steps_text(assigns) == "update t 2 set 0; update t 1");
  CHECK(steps_text(assigns, loaded(list).tables) == "update t 2 set a; update t 1");

  const ReplayLoad fast = loaded(list, "{file: list.csv, speed: 4}").replays.at(0);
  CHECK(fast.transactions[2].at_s == 0.5);
  CHECK(fast.transactions[2].lasts_s == 2.5);
}

TEST_CASE("a mistaken list says line and reason") {
  CHECK(mistakes("") ==
        Lines{"1: found '' in the first line; allowed is the header 'at_s,lasts_s,ends,steps'"});
  CHECK(mistakes(header) == Lines{"1: there is no transaction below the header"});
  CHECK(mistakes(header + "1,2,commit\n") ==
        Lines{"2: found 3 cells; a line has the four of the header 'at_s,lasts_s,ends,steps'"});
  CHECK(mistakes(header + "0,1,commit,insert t 1\nx,-1,abort,insert t 1\n") ==
        Lines{"3: at_s: found 'x'; allowed are seconds from 0 to 31622400",
              "3: lasts_s: found '-1'; allowed are seconds from 0 to 31622400",
              "3: ends: found 'abort'; allowed: commit, rollback"});
  CHECK(mistakes(header + "2,0,commit,insert t 1\n1,0,commit,insert t 1\n") ==
        Lines{"3: at_s: 1 comes after 2; the lines stand in order of time"});
  CHECK(mistakes(header + "0,0,commit,insrt t 1\n") ==
        Lines{"2: steps: 'insrt' is no step (did you mean 'insert'?)"});
  CHECK(mistakes(header + "0,0,commit,insert tt 1\n") ==
        Lines{"2: steps: the scenario has no table 'tt' (did you mean 't'?)"});
  CHECK(mistakes(header + "0,0,commit,insert t 0\n") ==
        Lines{"2: steps: found '0' after 'insert t'; allowed is the number of its rows"});
  CHECK(mistakes(header + "0,0,commit,4\n") == Lines{"2: steps: no line above defines number 4"});
  CHECK(mistakes(header + "0,0,commit,4: insert t 1\n1,0,commit,4: insert t 2\n") ==
        Lines{"3: steps: number 4 is defined twice"});
  CHECK(mistakes(header + "0,0,commit,savepoint a; release b\n") ==
        Lines{"2: steps: no savepoint 'b' is open at this release (allowed: a)"});
  CHECK(mistakes(header + "0,0,commit,update t 2 set aa; insert t 1 set a; update t 1 for\n") ==
        Lines{"2: steps: table 't' has no column 'aa' (did you mean 'a'?)",
              "2: steps: found 'set a' after 'insert t 1'; allowed is only 'set COLUMN', after an update",
              "2: steps: found 'for' after 'update t 1'; allowed is only 'set COLUMN', after an update"});
  CHECK(mistakes(header + "0,0,commit,\n") == Lines{"2: steps: there is none"});
}

TEST_CASE("a list that is not there, and fields that do not go with it") {
  CHECK(errors_of(with_replay("nowhere.csv")).at(0).find("nowhere.csv cannot be read") != std::string::npos);
  const std::string mixed =
      errors_of(replaced(sound, "transaction: [{insert: t, rows: 10}]", "replay: a.csv, rate: 1/s")).back();
  CHECK(mixed.find("11:44 workload.w.rate: `rate` belongs to a flow of small transactions") == 0);
  CHECK(mixed.ends_with("; this entry is a replay, as it has a `replay`"));
}

TEST_CASE("a replay changes only rows that something identifies, and the number of rows is not checked") {
  const Folder folder;
  folder.write("list.csv", header + "0,0,commit,delete t 5000\n");
  CHECK(errors_in(folder.write("s.yaml", with_replay("list.csv"))).empty());
  CHECK(
      errors_in(folder.write("n.yaml", replaced(with_replay("list.csv"), ", primary_key: [a]", ""))).at(0) ==
      "11:37 workload.w.replay: PostgreSQL refuses to delete rows of t: publication p publishes it and it "
      "has no "
      "replica identity; give it a primary key or `replica_identity: full`");
}

TEST_CASE("the list is part of a scenario's identity") {
  const std::string list = header + "0,0,commit,insert t 5\n";
  CHECK(loaded(list).hash == loaded(list).hash);
  CHECK(loaded(list).hash != loaded(header + "0,0,commit,insert t 6\n").hash);
}

TEST_CASE("a savepoint can be released, and then no longer be rolled back to") {
  const std::string steps = "transaction: [{savepoint: a}, {insert: t, rows: 1}, {release: a}";
  const Scenario s = load_text(replaced(sound, "transaction: [{insert: t, rows: 10}", steps));
  CHECK(std::get<ReleaseStep>(s.batches.at(0).transaction.at(2)).savepoint == "a");
  CHECK(
      errors_of(replaced(sound, "transaction: [{insert: t, rows: 10}", steps + ", {rollback_to: a}")) ==
      Lines{
          "11:109 workload.w.transaction[3].rollback_to: unknown savepoint 'a'; no savepoint is open here"});
}
