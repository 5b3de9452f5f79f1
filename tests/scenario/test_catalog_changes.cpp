// DDL, sessions side by side and decoding through SQL in scenario files.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

std::string with_load(const std::string& entry, const std::string& more = "") {
  return replaced(sound, "{server: pub, transaction: [{insert: t, rows: 10}]}",
                  "{server: pub, " + entry + "}") +
         more;
}
Scenario loaded(const std::string& entry, const std::string& more = "") {
  return load_text(with_load(entry, more));
}
Lines errors(const std::string& entry, const std::string& more = "") {
  return errors_of(with_load(entry, more));
}

} // namespace

TEST_CASE("DDL at given times or at a rate") {
  const DdlLoad set =
      loaded("ddl: alter_publication_set, publication: p, at: 5s, every: 1s, times: 3").ddl.at(0);
  CHECK(set.kind == DdlKind::PublicationSet);
  CHECK(set.publication == "p");
  CHECK(set.at_s == 5);
  CHECK(set.every_s == 1);
  CHECK(set.times == 3);
  CHECK(set.rate_per_s == 0);
  const DdlLoad vacuum =
      loaded("ddl: vacuum, table: t, rate: 30/min, arrivals: poisson, from: 1s, until: 1h, open: 2s")
          .ddl.at(0);
  CHECK(vacuum.rate_per_s == 0.5);
  CHECK(vacuum.poisson);
  CHECK(vacuum.open_s == 2);
  CHECK(vacuum.until_s == 3600);
  CHECK(vacuum.table == "t");
}

TEST_CASE("mistakes in DDL get a sentence") {
  const Lines mistyped = errors("ddl: add_colum");
  REQUIRE(mistyped.size() == 1);
  CHECK(mistyped[0].find("11:34 workload.w.ddl: 'add_colum' is none of alter_publication_add_table, ") == 0);
  CHECK(mistyped[0].ends_with("(did you mean 'add_column'?)"));
  CHECK(errors("ddl: alter_publication_set") ==
        Lines{"11:15 workload.w.publication: `publication` is missing: which publication "
              "alter_publication_set changes"});
  CHECK(errors("ddl: analyze, publication: p") ==
        Lines{"11:56 workload.w.publication: analyze changes no publication"});
  CHECK(errors("ddl: create_table, table: t") ==
        Lines{"11:55 workload.w.table: create_table names no table that is decoded"});
  CHECK(errors("ddl: truncate, rate: 1/s, at: 5s", "observe: {until: 1h}\n").size() == 1);
  CHECK(errors("ddl: truncate, from: 5s").size() == 1);
  CHECK(errors("ddl: truncate, rows: 5").size() == 1);
  CHECK(errors("ddl: truncate, rate: 1/s") ==
        Lines{"11:15 workload.w: it goes on without end; give it `until`, or `observe.until` a duration"});
  CHECK(errors("ddl: truncate, transaction: [{insert: t, rows: 1}]").size() == 1);
  CHECK(errors("ddl: create_index, table: u").size() == 1);
  CHECK(errors("ddl: grant, table: t, other_database: on").size() == 1);
}

TEST_CASE("sessions multiply the rows and hold no savepoints") {
  CHECK(loaded("sessions: 500, transaction: [{insert: t, rows: 1}]").batches.at(0).sessions == 500);
  CHECK(errors("sessions: 60, transaction: [{delete: t, rows: 2}]").size() == 1); // of 100 rows
  CHECK(errors("sessions: 50, transaction: [{delete: t, rows: 2}]").empty());
  const Lines found = errors("sessions: 2, transaction: [{insert: t, rows: 4, rolled_back: 50%}]");
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("`rolled_back` does not stand in a transaction of several `sessions`") !=
        std::string::npos);
}

TEST_CASE("decoding through SQL is called once after the workload unless the file says otherwise") {
  const std::string insert = "transaction: [{insert: t, rows: 1}]";
  const DecodeCalls once = loaded(insert, "decode: {d: {publication: p}}\n").decode.at("d");
  CHECK(once.peeks);
  CHECK(once.at_s < 0);
  CHECK(once.times == 1);
  const DecodeCalls often =
      loaded(insert, "decode: {d: {publication: p, function: get, at: 0s, every: 1s, times: 5}}\n")
          .decode.at("d");
  CHECK_FALSE(often.peeks);
  CHECK(often.at_s == 0);
  CHECK(often.every_s == 1);
  CHECK(often.times == 5);
  CHECK(errors(insert, "decode: {s: {publication: p}}\n") ==
        Lines{"12:13 decode.s: a slot is named after it, and one of subscriptions has the same name"});
  CHECK(errors(insert, "decode: {d: {publication: q}}\n").size() == 1);
  CHECK(errors(insert, "decode: {d: {publication: p, every: 1s}}\n").size() == 1);
  CHECK(errors("rate: 5/s, " + insert, "decode: {d: {publication: p}}\nobserve: {until: 1h}\n") ==
        Lines{"12:13 decode.d.at: `at` is missing: part of the workload goes on to the end of the run, so it "
              "is never "
              "over"});
}
