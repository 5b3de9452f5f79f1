// Hostile input through the program: a sentence, exit code 2, bounded memory and time.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace replisim::test;
using Catch::Contains;

namespace {

/// Runs with 1.5 GB of address space and a minute: far more than a refusal needs, far less than a bomb.
Outcome limited(const std::string& arguments) {
  return shell("ulimit -v 1500000; exec timeout -k 1 60 \"$REPLISIM\" " + arguments);
}

void refused(const std::string& arguments, const std::string& sentence) {
  INFO(arguments);
  const Outcome r = limited(arguments);
  INFO(r.err.substr(0, 500));
  CHECK(r.exit_code == 2);
  CHECK_THAT(r.err, Contains(sentence));
  CHECK(r.err.size() < 200'000);
  CHECK_THAT(r.err, not Contains("error of replisim itself"));
}

std::string many(const std::string& before, int count, const std::string& pattern,
                 const std::string& after = "") {
  std::string text = before;
  for (int i = 0; i < count; ++i)
    text += fmt::format(fmt::runtime(pattern), i);
  return text + after;
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

} // namespace

TEST_CASE("scenario files: bombs, depths, masses of keys, bytes that are no text") {
  const ScratchFolder folder;
  std::string bomb = "replisim: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i)
    bomb += fmt::format("a{0}: &a{0} [*a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}, *a{1}]\n", i, i - 1);
  refused("run " + folder.write("bomb.yaml", bomb), "more than 200000 values, counting what aliases repeat");
  refused("run " + folder.write("deep.yaml", "a: " + nested(100'000)), "nested deeper than 50 levels");
  refused("run " + folder.write("keys.yaml", many("replisim: 1\n", 190'000, "k{}: 1\n")),
          "more than 10000 keys in one map");
  refused("run " + folder.write("subscriptions.yaml",
                                many("replisim: 1\nsubscriptions:\n", 60'000, "  q{}: {{server: sub}}\n")),
          "more than 10000 keys in one map");
  refused("run " + folder.write("nul.yaml", std::string("replisim: 1\nname: a\0b\n", 23)),
          "byte 0x00: this is not a UTF-8 text file");
  refused("run " + folder.write("latin.yaml", "replisim: 1\nname: caf\xe9\n"),
          "this is not a UTF-8 text file");
  refused("run " + folder.write("self.yaml", "replisim: 1\nextends: self.yaml\n"),
          "the files extend each other");
}

TEST_CASE("scenario files: numbers beyond all bounds") {
  const auto with = [](const std::string& setting, const std::string& sentence) {
    refused("run " + insert + " --set '" + setting + "'", sentence);
  };
  with("workload.batch.at=1e18s", "out of range");
  with("workload.batch.at=-1s", "out of range");
  with("workload.batch.at=nan", "is not a duration");
  with("workload.batch.at=inf", "is not a duration");
  with("workload.batch.at=1e999s", "workload.batch.at");
  with("observe.until=1e18s", "out of range");
  with("workload.batch.transaction[0].rows=1000000000000000000", "out of range");
  with("workload.batch.transaction[0].rows=1e18", "is not a whole number");
  with("workload.batch.transaction[0].rows=-1", "out of range");
  with("workload.batch.transaction[0].rows=nan", "rows");
  with("workload.batch.transaction[2000000000].rows=1", "transaction");
  with("hosts.db.cores_per_socket=1000000000", "out of range");
  with("servers.pub.settings.logical_decoding_work_mem=1e30GB", "logical_decoding_work_mem");
  with("workload.c={server: pub, clients: 1000000000, mix: tpcb-like, until: 1s}", "out of range");
  with("workload.f={server: pub, rate: 1e12/s, until: 1s, transaction: [{insert: test_tab, rows: 1}]}",
       "out of range");
  refused("run " + insert + " --replications 1000000000", "not in range");
  refused("run " + insert + " --seed -1", "is no seed");
  const std::string memory = "servers.pub.settings.logical_decoding_work_mem";
  refused("sweep " + insert + " --vary " + memory + "=64kB..64MB/1000000000", "is no number of values");
  refused("sweep " + insert + " --vary " + memory + "=64kB..64MB --sample sobol:1000000000", "more than");
}

TEST_CASE("what is no regular file is refused, or read to a limit") {
  const ScratchFolder folder;
  const std::string out = (folder / "out").string();
  refused("run /dev/zero", "larger than 4 MB");
  refused("calibrate /dev/zero", "larger than 4 MB");
  refused("report /dev/zero --out " + out, "is larger than 256 MB");
  refused("observe /dev/zero", "is binary");
  refused("import /dev/zero --out " + out + ".yaml", "zero");
  refused("results /dev/zero list", "this is no regular file");
  refused("replay /dev/zero", "there is no file");
  refused("diff /dev/zero /dev/zero", "there is no file");
  for (const char* command : {"run", "observe", "replay", "report", "calibrate"}) {
    shell(fmt::format("ln -sf b {0}/a; ln -sf a {0}/b", (folder / "").string()));
    refused(fmt::format("{} {}", command, (folder / "a").string()), "there is no file");
  }
  refused("run " + (folder / "").string(), "is a folder");
  refused("results " + (folder / "").string() + " list", "this is no regular file");
}

TEST_CASE("a file of ten gigabytes without a line end is refused at once") {
  const ScratchFolder folder;
  const std::string file = (folder / "sparse").string();
  REQUIRE(shell("truncate -s 10G " + file).exit_code == 0);
  refused("run " + file, "larger than 4 MB");
  refused("observe " + file, "is binary");
  refused("report " + file, "is larger than 256 MB");
  const std::string conf = folder.write("conf.yaml", "replisim: 1\nservers: {pub: {include_conf: sparse}}\n");
  refused("run " + conf, "larger than 4 MB");
}

TEST_CASE("configuration files that include each other end") {
  const ScratchFolder folder;
  folder.write("a.conf", many("", 50, "include 'a.conf' # {}\n"));
  folder.write("wide.conf", many("", 40, "include 'narrow.conf' # {}\n"));
  folder.write("narrow.conf", many("", 40, "include 'empty.conf' # {}\n"));
  folder.write("empty.conf", "");
  const auto with = [&](const std::string& conf) {
    return folder.write(conf + ".yaml", "replisim: 1\nservers: {pub: {include_conf: " + conf + "}}\n");
  };
  refused("run " + with("a.conf"), "is included more than 10 files deep");
  refused("run " + with("wide.conf"), "more than 200 files are included");
}

TEST_CASE("results that are JSON, but no results") {
  const ScratchFolder folder;
  const std::string out = " --out " + (folder / "r.html").string();
  const auto with = [&](const std::string& text) { return "report " + folder.write("x.json", text) + out; };
  refused(with(R"({"fingerprint": 1, "metrics": )" + nested(200'000) + "}"), "is no JSON");
  refused(with(R"({"parameters": 1, "profile": "x", "z": )" + nested(200'000) + "}"), "is no JSON");
  refused(with(R"({"parameters": 1, "profile": {}})"), "holds none of replisim's results");
  refused(with(R"({"suite": 1, "cells": {}})"), "holds none of replisim's results");
  refused(with(R"({"axes": [], "points": [1]})"), "this is no result");
  REQUIRE(program("run " + insert + " --out " + (folder / "run").string()).exit_code == 0);
  const std::string manifest = read_file(folder / "run/manifest.json");
  folder.write("run/manifest.json", R"({"deep": )" + nested(200'000) + "," + manifest.substr(1));
  refused("replay " + (folder / "run").string(), "is no manifest of a run");
  refused("diff " + (folder / "run").string() + " " + (folder / "run").string(), "is no manifest of a run");
  folder.write("run/manifest.json", "[]");
  refused("report " + (folder / "run").string() + out, "results");
  refused("replay " + (folder / "run").string(), "is no manifest of a run");
}

TEST_CASE("a results database with a foreign schema, or figures that cannot be, is refused") {
  const ScratchFolder folder;
  const std::string db = (folder / "r.db").string();
  REQUIRE(program("sweep " + insert + " --vary subscriptions.s.streaming=off,on --db " + db).exit_code == 0);
  const auto changed = [&](const std::string& sql) {
    const std::string copy = (folder / "copy.db").string();
    const auto r =
        shell("cp " + db + " " + copy + " && python3 -c 'import sqlite3, sys; c = sqlite3.connect(\"" + copy +
              "\"); c.executescript(sys.stdin.read()); c.commit()' <<'EOF'\n" + sql + "\nEOF");
    REQUIRE(r.exit_code == 0);
    return "results " + copy + " list";
  };
  CHECK(program(changed("")).exit_code == 0);
  refused(changed("UPDATE sweep SET seed = 'x'"), "is damaged: 'x' is no seed");
  refused(changed("UPDATE sweep SET axes = '['"), "is damaged: what the sweep varies");
  refused(changed("UPDATE sweep SET columns = '[1]'"), "is damaged: the names of its columns");
  refused(changed("UPDATE sweep SET points = 4000000000000000000"), "is damaged: it says that it has");
  refused(changed("UPDATE sweep SET replications = 0"), "is damaged: it says that it has");
  refused(changed("UPDATE sweep SET shards = 0"), "is damaged: it says that it is shard");
  refused(
      changed("DROP VIEW result; ALTER TABLE run RENAME TO old; CREATE VIEW run AS WITH RECURSIVE n(i) AS "
              "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS run, 0 AS point, 1 AS replication, "
              "'1' AS seed, 'done' AS status, '' AS reason, '' AS bottleneck, '' AS scenario_hash, "
              "'' AS fingerprint, NULL AS warnings FROM n"),
      "is damaged: a table of results is missing");
}

TEST_CASE("logs that unpack to gigabytes take little memory, in views as deep as they are long") {
  const ScratchFolder folder;
  const std::string gz = (folder / "bomb.gz").string();
  REQUIRE(shell("head -c 300000000 /dev/zero | tr '\\0' a | gzip -1 > " + gz).exit_code == 0);
  refused("observe " + gz, "nothing could be read");
  const std::string view =
      R"({"slot_name": )" + nested(300'000) + R"(, "plugin": "pgoutput", "slot_type": "logical"})";
  const Outcome r = limited("observe " + folder.write("slots.json", view + "\n"));
  CHECK((r.exit_code == 0 or r.exit_code == 2));
}
