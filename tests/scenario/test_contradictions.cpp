// What does not fit together although each field alone is right.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("a server does not subscribe to itself") {
  CHECK(errors_of(replaced(sound, "{server: sub, publication: p}", "{server: pub, publication: p}")) ==
        Lines{"10:47 subscriptions.s.publication: publication p is on pub too; a server cannot subscribe to "
              "itself here"});
}

TEST_CASE("more rows than there are cannot be changed") {
  const auto with = [](const std::string& steps) {
    return errors_of(replaced(sound, "{insert: t, rows: 10}", steps));
  };
  CHECK(with("{delete: t, rows: 100}").empty());
  CHECK(with("{delete: t, rows: 101}") ==
        Lines{"11:61 workload.w.transaction[0].rows: delete of 101 rows, but t holds 100 at that point "
              "(`tables.t.rows` says how many there are at the start)"});
  CHECK(with("{insert: t, rows: 5}, {update: t, rows: 105}").empty());
  CHECK(with("{delete: t, rows: 60}, {update: t, rows: 41}").size() == 1);
  // Rows that were rolled back are not there, deleted ones are there again.
  CHECK(with("{insert: t, rows: 10, rolled_back: 50%}, {delete: t, rows: 106}").size() == 1);
  CHECK(with("{savepoint: x}, {delete: t, rows: 100}, {rollback_to: x}, {delete: t, rows: 100}").empty());
  CHECK(with("{delete: t, rows: 100, rolled_back: 100%}, {delete: t, rows: 100}").empty());
}

TEST_CASE("rows are counted over all transactions, in order of time") {
  const std::string two =
      replaced(sound, "workload: {w: {server: pub, transaction: [{insert: t, rows: 10}]}}",
               "workload:\n"
               "  a: {server: pub, at: 2s, transaction: [{delete: t, rows: 101}]}\n"
               "  b: {server: pub, at: 1s, transaction: [{insert: t, rows: 1}]}");
  CHECK(errors_of(two).empty());
  CHECK(errors_of(replaced(two, "at: 1s", "at: 3s")).size() == 1);
}

TEST_CASE("a table holds no more row versions than fit into its pages") {
  // 61 bytes, with padding and line pointer 68, make 120 rows a page, times 2^32 - 1 (docs: PostgreSQL
  // Limits).
  const std::string sentence =
      " do not fit into t: PostgreSQL keeps a table in at most 4294967295 pages of 8 kB, which "
      "hold 515396075400 of its rows";
  const auto rows = [](const std::string& count) { return replaced(sound, "rows: 100", "rows: " + count); };
  CHECK(errors_of(rows("1")).empty());
  const auto full = errors_of(rows("515396075401"));
  REQUIRE(full.size() == 1);
  CHECK_THAT(full.front(), Catch::Contains("tables.t.rows: 515396075401 rows" + sentence));
  const auto with = [](const std::string& steps) {
    return errors_of(replaced(sound, "{insert: t, rows: 10}", steps));
  };
  CHECK(with("{insert: t, rows: 515396075300}").empty());
  const auto more = with("{insert: t, rows: 515396075301}");
  REQUIRE(more.size() == 1);
  CHECK_THAT(more.front(), Catch::Contains("workload.w.transaction[0].rows: " +
                                           std::string("515396075401 row "
                                                       "versions, with those that are there before it,") +
                                           sentence));
  // Versions that are updated or rolled back take their place until the transaction ends.
  CHECK(with("{insert: t, rows: 515396075230}, {update: t, rows: 70}").empty());
  CHECK(with("{insert: t, rows: 515396075230, rolled_back: 100%}, {update: t, rows: 71}").size() == 1);
  CHECK(errors_of(replaced(rows("1"), "primary_key: [a], ", "primary_key: [a], copies: 2, ")).empty());
  CHECK(errors_of(replaced(replaced(sound, "primary_key: [a], ", "primary_key: [a], copies: 2, "),
                           "rows: 10}", "rows: 999999999999}"))
            .empty());
}

TEST_CASE("updates and deletes of a published table need a replica identity") {
  const std::string keyless = replaced(sound, "primary_key: [a], ", "");
  CHECK(errors_of(keyless).empty()); // inserts need none
  const std::string deletes = replaced(keyless, "{insert: t,", "{delete: t,");
  CHECK(
      errors_of(deletes) ==
      Lines{
          "11:52 workload.w.transaction[0].delete: PostgreSQL refuses to delete rows of t: publication p "
          "publishes it and it has no replica identity; give it a primary key or `replica_identity: full`"});
  CHECK(errors_of(replaced(deletes, "rows: 100", "rows: 100, replica_identity: full")).empty());
  CHECK(errors_of(replaced(replaced(sound, "{insert: t,", "{update: t,"), "rows: 100",
                           "rows: 100, replica_identity: nothing"))
            .size() == 1);
}

TEST_CASE("streaming needs versions that know it, on both sides") {
  const auto with = [](const std::string& pub, const std::string& sub, const std::string& streaming) {
    std::string text =
        replaced(sound, "pub: {host: db, version: 17}", "pub: {host: db, version: " + pub + "}");
    text = replaced(text, "sub: {host: db, version: 17}", "sub: {host: db, version: " + sub + "}");
    return replaced(text, "publication: p}", "publication: p, streaming: " + streaming + "}");
  };
  CHECK(errors_of(with("16.0", "16.0", "parallel")).empty());
  CHECK(
      errors_of(with("15.3", "16.0", "parallel")) ==
      Lines{
          "10:61 subscriptions.s.streaming: parallel needs PostgreSQL 16 on both sides; pub is version 15.3 "
          "(possible: off and on)"});
  CHECK(errors_of(with("16.0", "15.3", "parallel")).size() == 1);
  CHECK(errors_of(with("13.2", "17", "on")) ==
        Lines{"10:61 subscriptions.s.streaming: on needs PostgreSQL 14 on both sides; pub is version 13.2 "
              "(possible: off)"});
  CHECK(errors_of(with("13.2", "13.2", "off")).empty());
}

TEST_CASE("servers on two hosts that replicate need a link") {
  const std::string two = replaced(replaced(sound, "{db: lab-2core}", "{db: lab-2core, far: lab-2core}"),
                                   "sub: {host: db", "sub: {host: far");
  CHECK(errors_of(two) == Lines{"10:20 subscriptions.s: pub on host db and sub on host far replicate, but no "
                                "link joins the hosts; add one to `links`"});
  const std::string link = "links: [{between: [far, db], bandwidth: 1Gbps, latency: 20ms}]\n";
  CHECK(errors_of(two + link).empty());
  CHECK(errors_of(two + replaced(link, "far, db", "far, far")).size() == 1);
  CHECK(errors_of(two + replaced(link, "far, db", "far, db, far")).size() >= 1);
  CHECK(errors_of(two + replaced(link, "}]", "}, {between: [db, far], bandwidth: 1Gbps, latency: 1ms}]")) ==
        Lines{"12:74 links[1].between: db and far are joined by an earlier link already"});
}

TEST_CASE("a workload runs where its changes are published") {
  CHECK(
      errors_of(replaced(sound, "{w: {server: pub", "{w: {server: sub")) ==
      Lines{
          "11:24 workload.w.server: no publication is on sub: nothing of this workload would be replicated"});
  const std::string other = replaced(sound, "primary_key: [a], rows: 100}}",
                                     "primary_key: [a], rows: 100}, u: {columns: {a: int4}}}");
  const Scenario loaded = load_text(replaced(other, "{insert: t,", "{insert: u,"));
  CHECK_THAT(loaded.warnings, Catch::VectorContains(std::string(
                                  "workload.w.transaction[0]: no publication of pub holds u; its changes are "
                                  "decoded and buffered like all others, but never sent")));
}

TEST_CASE("publishers need wal_level logical, and binary needs version 14") {
  CHECK(
      errors_of(replaced(sound, "version: 17}", "version: 17, settings: {wal_level: replica}}")) ==
      Lines{"6:54 servers.pub.settings.wal_level: pub has a publication, which needs wal_level logical, not "
            "replica"});
  CHECK(errors_of(replaced(sound, "version: 17}", "version: 17, settings: {wal_level: logical}}")).empty());
  CHECK(errors_of(replaced(replaced(sound, "version: 17}", "version: 13.2}"), "publication: p}",
                           "publication: p, binary: true}"))
            .size() == 1);
}

TEST_CASE("changes that would come twice or go round are refused, cascades are not") {
  std::string text = replaced(sound, "publications: {p: {server: pub, tables: [t]}}",
                              "publications: {p: {server: pub, tables: [t]}, q: {server: sub, tables: [t]}}");
  text = replaced(text, "{s: {server: sub, publication: p}}",
                  "{s: {server: sub, publication: p}, s2: {server: pub, publication: q}}");
  const Lines found = errors_of(text);
  REQUIRE(found.size() == 2);
  CHECK_THAT(found[0],
             Catch::Contains("subscriptions.s.publication: changes of sub in t would come back to sub, and "
                             "go round for ever; with `origin: none` only changes of pub's own clients"));
  CHECK_THAT(found[1],
             Catch::Contains("subscriptions.s2.publication: changes of pub in t would come back to pub"));
  text = replaced(replaced(text, "publication: p}", "publication: p, origin: none}"), "publication: q}",
                  "publication: q, origin: none}");
  CHECK(errors_of(text).empty());
  const Lines early =
      errors_of(replaced(replaced(text, "version: 17", "version: 15"), "version: 17", "version: 15"));
  REQUIRE(early.size() == 2);
  CHECK(early[0].find("origin exists from PostgreSQL 16 on; sub is version 15") != std::string::npos);
}

TEST_CASE("a server may hand on what it receives, within limits") {
  std::string text = replaced(sound, "publications: {p: {server: pub, tables: [t]}}",
                              "publications: {p: {server: pub, tables: [t]}, q: {server: sub, tables: [t]}}");
  text = replaced(text, "  sub: {host: db, version: 17}",
                  "  sub: {host: db, version: 17}\n  c: {host: db, version: 17}");
  text = replaced(text, "{s: {server: sub, publication: p}}",
                  "{s: {server: sub, publication: p}, s2: {server: c, publication: q}}");
  CHECK(errors_of(text).empty());
  CHECK(load_text(replaced(text, "publication: q}", "publication: q, origin: none}"))
            .subscriptions.at("s2")
            .own_changes_only);
  const Lines twice = errors_of(replaced(text, "s2: {", "s3: {server: c, publication: p}, s2: {"));
  REQUIRE(twice.size() == 1);
  CHECK_THAT(twice[0],
             Catch::Contains("subscriptions.s2.publication: changes of pub in t would come twice to c"));
  const Lines filtered = errors_of(replaced(text, "p: {server: pub, tables: [t]}",
                                            "p: {server: pub, tables: [t], row_filters: {t: 10%}}"));
  REQUIRE(filtered.size() == 1);
  CHECK_THAT(filtered[0], Catch::Contains("sub receives what slot s2 hands on, and part of a table"));
  const Lines synchronised =
      errors_of(replaced(text, "publication: p}", "publication: p, initial_sync: 1s}"));
  REQUIRE(synchronised.size() == 1);
  CHECK_THAT(synchronised[0], Catch::Contains("subscriptions.s.initial_sync"));
}

TEST_CASE("settings that do nothing here are told in one warning") {
  const Scenario scenario = load_text(
      replaced(sound, "version: 17}",
               "version: 17, settings: {autovacuum: off, shared_buffers: 1GB, wal_level: logical}}"));
  REQUIRE(scenario.warnings.size() == 1);
  CHECK(scenario.warnings[0] == "settings without effect on the simulation: autovacuum, shared_buffers");
}
