// `--set path=value`.
#include "tests/scenario/scenario_files.hpp"

#include "sim/scenario/field_path.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("an override is split at the first equals sign") {
  CHECK(parse_override("a.b=64kB") == Override{"a.b", "64kB"});
  CHECK(parse_override(" a.b = x=y ") == Override{"a.b", "x=y"});
  CHECK(parse_override("a=") == Override{"a", ""});
  CHECK_THROWS_WITH(parse_override("streaming"), Catch::Contains("'streaming' is no override"));
  CHECK_THROWS_AS(parse_override("=x"), UsageError);
}

TEST_CASE("field paths") {
  std::string problem;
  const auto path = parse_path("workload.batch.transaction[12].rows", problem);
  REQUIRE(path);
  REQUIRE(path->size() == 5);
  CHECK((*path)[2].key == "transaction");
  CHECK((*path)[3].is_index());
  CHECK((*path)[3].index == 12);
  CHECK((*path)[4].key == "rows");
  CHECK(parse_path("a[0][1]", problem)->size() == 3);
  for (const char* wrong :
       {"", ".", "a.", ".a", "a..b", "[0]", "a[", "a[x]", "a[0", "a[0]b", "a[-1]", "a[0]."}) {
    INFO(wrong);
    CHECK_FALSE(parse_path(wrong, problem).has_value());
    CHECK_FALSE(problem.empty());
  }
}

TEST_CASE("overrides reach every kind of place") {
  const auto load = [](const std::string& path, const std::string& value) {
    return load_text(sound, {{path, value}});
  };
  CHECK(load("servers.pub.settings.logical_decoding_work_mem", "64kB")
            .servers.at("pub")
            .settings.bytes("logical_decoding_work_mem") == 65536); // the map `settings` is made on the way
  CHECK(load("hosts.db.cores_per_socket", "8").hosts.at("db").cpus() == 8); // hosts.db is a shorthand
  CHECK(load("hosts.db", "seed1-host").hosts.at("db").name == "seed1-host");
  CHECK(load("profile", "seed1-host").profile.name == "seed1-host");
  CHECK(load("workload.w.transaction[0].rows", "77").batches[0].transaction.size() == 1);
  CHECK(load("workload.w.transaction", "[{insert: t, rows: 1}, {delete: t, rows: 1}]")
            .batches[0]
            .transaction.size() == 2);
  CHECK(load("subscriptions.s.streaming", "off").subscriptions.at("s").streaming == Streaming::Off);
  CHECK(load("tables.t.columns.b", "text(100)").tables.at("t").columns[1].width_bytes == 100);
}

TEST_CASE("overrides apply in order") {
  const Scenario s = load_text(sound, {{"tables.t.rows", "5"}, {"tables.t.rows", "6"}});
  CHECK(s.tables.at("t").initial_rows == 6);
}

TEST_CASE("a wrong value is reported against the override") {
  CHECK(
      errors_of(sound, {{"subscriptions.s.streaming", "paralel"}}) ==
      Lines{
          "--set subscriptions.s.streaming subscriptions.s.streaming: 'paralel' is none of off, on, parallel "
          "(did you mean 'parallel'?)"});
  CHECK(errors_of(sound, {{"tables.t.rows", "[1, 2"}}).size() == 1);
  CHECK(errors_of(sound, {{"tables.t.rows", ""}}) ==
        Lines{"--set tables.t.rows tables.t.rows: has no value; a whole number is wanted: rows on both sides "
              "before the run"});
}

TEST_CASE("a path that leads nowhere is reported with the nearest field") {
  CHECK(errors_of(sound, {{"servers.pub.setings.work_mem", "4MB"}}) ==
        Lines{"--set servers.pub.setings.work_mem servers.pub.setings: unknown key 'setings' (did you mean "
              "'settings'?)"});
  CHECK(
      errors_of(sound, {{"workload.w.transaction[1].rows", "1"}}) ==
      Lines{
          "--set workload.w.transaction[1].rows workload.w.transaction[1].rows: `workload.w.transaction` has "
          "1 entries, counted from 0; there is no [1]"});
  CHECK(errors_of(sound, {{"workload.w.transaction.rows", "1"}}) ==
        Lines{"--set workload.w.transaction.rows workload.w.transaction.rows: `workload.w.transaction` is a "
              "list; "
              "choose an entry, as in workload.w.transaction[0].rows"});
  CHECK(
      errors_of(sound, {{"tables.t.rows.x", "1"}}) ==
      Lines{
          "--set tables.t.rows.x tables.t.rows.x: `tables.t.rows` is the single value '100'; it has no field "
          "'x'"});
  CHECK(errors_of(sound, {{"a..b", "1"}}).size() == 1);
  CHECK(errors_of(sound, {{"extends", "x.yaml"}}).size() == 1);
}

TEST_CASE("mistakes of the file come before those of overrides") {
  const Lines found = errors_of(replaced(sound, "rows: 100}", "rows: -1}"), {{"observe.interval", "fast"}});
  REQUIRE(found.size() == 2);
  CHECK(found[0].find("8:71 tables.t.rows") == 0);
  CHECK(found[1].find("--set observe.interval") == 0);
}
