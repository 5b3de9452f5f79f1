// What a user reads when a scenario file holds mistakes.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("the sound scenario of these tests has no mistake") { CHECK(errors_of(sound).empty()); }

TEST_CASE("six different mistakes give six precise errors, in order of position") {
  const std::string text = R"(replisim: 1
name: six mistakes
profile: lab-2core
hosts: {db: lab-2cores}
servers:
  pub: {host: db, version: 17, settings: {logical_decoding_work_mem: 64Mb}}
  sub: {host: db, version: 17}
tables: {t: {columns: {a: int4, b: text(32)}, primary_key: [a], rows: many}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p, streeming: on}}
workload: {w: {server: pub, at: 5, transaction: [{insert: t, rows: 10, rolled_back: 120%}]}}
)";
  const Lines found = errors_of(text);
  REQUIRE(found.size() == 6);
  CHECK(found[0] == "4:13 hosts.db.machine: unknown machine 'lab-2cores' (did you mean 'lab-2core'?)");
  CHECK(found[1].find("6:70 servers.pub.settings.logical_decoding_work_mem: ") == 0);
  CHECK(found[1].find("kB") != std::string::npos);
  CHECK(found[2] ==
        "8:71 tables.t.rows: 'many' is not a whole number; write digits, as in 5000000 or 5_000_000");
  CHECK(found[3] == "10:50 subscriptions.s.streeming: unknown key 'streeming' (did you mean 'streaming'?)");
  CHECK(found[4].find("11:33 workload.w.at: ") == 0);
  CHECK(found[4].find("ns, us, ms, s, min, h or d") != std::string::npos);
  CHECK(found[5] == "11:85 workload.w.transaction[0].rolled_back: 120% is out of range; allowed: 0% to 100%");
}

TEST_CASE("a duplicate key is an error beside the others") {
  CHECK(errors_of(sound + "name: again\nobserve: {interval: 1us}\n") ==
        Lines{"12:1 duplicate key 'name'; it was already given in line 2, column 1",
              "13:21 observe.interval: 1us is out of range; allowed: 1ms to 3600s"});
}

TEST_CASE("a mistyped key is one error, not two") {
  CHECK(errors_of(replaced(sound, "servers:", "servrs:")) ==
        Lines{"5:1 servrs: unknown key 'servrs' (did you mean 'servers'?)"});
  CHECK(errors_of(replaced(sound, "{server: sub,", "{sever: sub,")) ==
        Lines{"10:21 subscriptions.s.sever: unknown key 'sever' (did you mean 'server'?)"});
}

TEST_CASE("a key like none of the known ones lists them") {
  const Lines found = errors_of(sound + "observe: {colour: red}\n");
  CHECK(found == Lines{"12:11 observe.colour: unknown key 'colour'; known here: until, interval"});
}

TEST_CASE("what is missing is named with what it is for") {
  CHECK(errors_of(replaced(sound, "profile: lab-2core\n", "")) ==
        Lines{"1:1 profile: `profile` is missing: what each act of the pipeline costs: a file of "
              "calibration/profiles"});
  CHECK(errors_of(replaced(sound, "{host: db, version: 17}", "{host: db}")) ==
        Lines{"6:8 servers.pub.version: `version` is missing: PostgreSQL version, 17 or 17.4; a major means "
              "its latest minor"});
  CHECK(errors_of(replaced(sound, "rows: 10}]", "}]")) ==
        Lines{"11:43 workload.w.transaction[0].rows: `rows` is missing: how many rows the insert changes"});
}

TEST_CASE("the wrong kind of value says what stands there and what is wanted") {
  CHECK(errors_of(replaced(sound, "name: a test", "name: [a, test]")) ==
        Lines{"2:7 name: a list stands where a text is wanted"});
  CHECK(errors_of(replaced(sound, "tables: [t]", "tables: t")) ==
        Lines{"9:41 publications.p.tables: 't' stands where a list of names is wanted"});
  CHECK(errors_of(replaced(sound, "{db: lab-2core}", "lab-2core")) ==
        Lines{"4:8 hosts: 'lab-2core' stands where a map of named entries is wanted"});
  CHECK(errors_of(sound + "observe: fast\n") ==
        Lines{"12:10 observe: 'fast' stands where a map is wanted; its keys: until, interval"});
  CHECK(errors_of(replaced(sound, "name: a test", "name:")) ==
        Lines{"2:1 name: has no value; a text is wanted: what the scenario shows"});
}

TEST_CASE("empty lists and maps are errors where something must be there") {
  CHECK(errors_of(replaced(sound, "tables: [t]", "tables: []")) ==
        Lines{"9:41 publications.p.tables: is empty; at least one entry is needed: the published tables"});
  CHECK(errors_of(replaced(sound, "[{insert: t, rows: 10}]", "")).size() == 1);
}

TEST_CASE("a name that leads nowhere suggests the nearest one") {
  CHECK(errors_of(replaced(sound, "publication: p}", "publication: pp}")) ==
        Lines{"10:47 subscriptions.s.publication: unknown publication 'pp' (did you mean 'p'?)"});
  CHECK(errors_of(replaced(sound, "{insert: t,", "{insert: orders,")) ==
        Lines{"11:52 workload.w.transaction[0].insert: unknown table 'orders' (allowed: t)"});
  CHECK(errors_of(replaced(sound, "{host: db,", "{host: dc,")) ==
        Lines{"6:15 servers.pub.host: unknown host 'dc' (did you mean 'db'?)"});
  CHECK(errors_of(replaced(sound, "profile: lab-2core", "profile: lab-2cor")) ==
        Lines{"3:10 profile.name: unknown profile 'lab-2cor' (did you mean 'lab-2core'?)"});
}

TEST_CASE("settings carry PostgreSQL's names, values and versions") {
  const auto with = [](const std::string& settings) {
    return errors_of(replaced(sound, "version: 17}", "version: 15, settings: {" + settings + "}}"));
  };
  CHECK(with("work_memm: 4MB") ==
        Lines{"6:43 servers.pub.settings.work_memm: unknown setting 'work_memm' (did you mean 'work_mem'?)"});
  CHECK(with("max_parallel_apply_workers_per_subscription: 4") ==
        Lines{"6:43 servers.pub.settings.max_parallel_apply_workers_per_subscription: "
              "max_parallel_apply_workers_per_subscription exists from PostgreSQL 16 on; pub is version " +
              to_string(load_text(replaced(sound, "17}", "15}")).servers.at("pub").version)});
  CHECK(
      with("logical_decoding_work_mem: [64kB]") ==
      Lines{"6:70 servers.pub.settings.logical_decoding_work_mem: a list stands where the value of a setting "
            "is wanted"});
  CHECK(with("logical_decoding_work_mem: 64kB").empty());
  CHECK(with("fsync: maybe").size() == 1);
}

TEST_CASE("sessions and events may be left empty") {
  CHECK(errors_of(sound + "sessions: {}\nevents: []\n").empty());
  CHECK(errors_of(sound + "sessions:\nevents:\n").empty());
}

TEST_CASE("columns and keys") {
  const auto with = [](const std::string& table) {
    return errors_of(replaced(sound, "columns: {a: int4, b: text(32)}, primary_key: [a]", table));
  };
  CHECK(with("columns: {a: int5}, primary_key: [a]") ==
        Lines{"8:27 tables.t.columns.a.type: unknown column type 'int5' (did you mean 'int2'?)"});
  CHECK(with("columns: {a: int4, b: text}, primary_key: [a]") ==
        Lines{"8:36 tables.t.columns.b.type: 'text' needs the mean width of its values in bytes, as in "
              "text(32)"});
  CHECK(with("columns: {a: int4(4)}, primary_key: [a]") ==
        Lines{"8:27 tables.t.columns.a.type: 'int4(4)': int4 has a fixed width; leave the parentheses out"});
  CHECK(with("columns: {a: int4, b: 'numeric(10,2)'}, primary_key: [a]").size() == 1);
  CHECK(with("columns: {a: int4}, primary_key: [a, c]") ==
        Lines{"8:51 tables.t.primary_key[1]: table t has no column 'c' (allowed: a)"});
  CHECK(with("columns: {a: int4}, primary_key: [a, a]") ==
        Lines{"8:51 tables.t.primary_key[1]: 'a' is named twice"});
  CHECK(
      with("columns: {a: {type: text(5), value: sequence}}, primary_key: [a]") ==
      Lines{
          "8:50 tables.t.columns.a.value: column a holds no integers; only `typical` describes its values"});
}

TEST_CASE("steps of a transaction") {
  const auto with = [](const std::string& steps) {
    return errors_of(replaced(sound, "{insert: t, rows: 10}", steps));
  };
  CHECK(with("{savepoint: x}, {insert: t, rows: 1}, {rollback_to: x}, {rollback_to: x}").empty());
  CHECK(with("{savepoint: one}, {rollback_to: on}") ==
        Lines{"11:75 workload.w.transaction[1].rollback_to: unknown savepoint 'on' (did you mean 'one'?)"});
  CHECK(with("{rollback_to: x}") ==
        Lines{"11:57 workload.w.transaction[0].rollback_to: unknown savepoint 'x'; "
              "no savepoint is open here"});
  // Rolling back to the first savepoint ends the second one.
  CHECK(with("{savepoint: x}, {savepoint: y}, {rollback_to: x}, {rollback_to: y}").size() == 1);
  CHECK(
      with("{insert: t, delete: t, rows: 1}") ==
      Lines{
          "11:43 workload.w.transaction[0]: insert and delete stand in one step; each is a step of its own"});
  CHECK(with("{rows: 1}") == Lines{"11:43 workload.w.transaction[0]: says nothing to do; a step is one of "
                                   "insert, update, delete, savepoint, rollback_to, release and pause"});
  CHECK(with("{insert: t, rows: 1, set: {b: 1}}").size() == 1);
  CHECK(with("{savepoint: x, rows: 1}") ==
        Lines{"11:64 workload.w.transaction[0].rows: `rows` does not go with savepoint"});
  CHECK(with("{update: t, rows: 1, set: {c: 1}}") ==
        Lines{"11:70 workload.w.transaction[0].set.c: table t has no column 'c' (allowed: a, b)"});
  CHECK(
      with("{update: t, rows: 1, set: {b: 1}}") ==
      Lines{"11:73 workload.w.transaction[0].set.b: column b holds no integers; only `typical` describes its "
            "values"});
  CHECK(with("{update: t, rows: 1, set: {a: 1}}").size() == 1);
}

TEST_CASE("files that are no scenario at all") {
  CHECK(errors_of("") == Lines{"1:1 the file is empty; a scenario begins with `replisim: 1`"});
  CHECK(errors_of(std::string("\x7f"
                              "ELF\x01\0",
                              6)) == Lines{"1:1 byte 0x7f: this is not a UTF-8 text file"});
  CHECK(errors_of("- a\n- b\n") ==
        Lines{"1:1 a list stands where a scenario is wanted: a map that begins with `replisim: 1`"});
  CHECK(errors_of("replisim_machine: 1\n") ==
        Lines{"1:1 this file describes a machine: name it in `hosts`; it is no scenario"});
  CHECK(errors_of(replaced(sound, "replisim: 1", "replisim: 2")) ==
        Lines{"1:11 replisim: 2 is out of range; allowed: 1"});
  CHECK_THROWS_AS(load_scenario("no/such/file.yaml", {}, shipped_library()), UsageError);
}

TEST_CASE("names must fit into field paths") {
  const Lines found = errors_of(replaced(sound, "hosts: {db:", "hosts: {db: lab-2core, 10.0.0.1:"));
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("4:24 hosts.10.0.0.1: '10.0.0.1' cannot be a name here") == 0);
}
