// replisim storm as a user runs it.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

using namespace replisim::test;

namespace {
/// A pair whose slot may hold back 128 MB: 16 s of the WAL that others write.
const std::string weak = R"(replisim: 1
name: "a weak pair: 'tis so"
profile: lab-2core
hosts: {db: lab-2core, far: lab-2core}
links: [{between: [db, far], bandwidth: 1Gbps, latency: 1ms}]
servers:
  pub: {host: db, version: 17, settings: {max_slot_wal_keep_size: 128MB, max_wal_size: 64MB}}
  sub: {host: far, version: 17}
tables: {t: {columns: {a: int4, b: text(32)}, primary_key: [a], rows: 100}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p}}
workload:
  w: {server: pub, rate: 50/s, transaction: [{insert: t, rows: 1}]}
  others: {server: pub, other_wal: 8MB/s}
observe: {until: 60s, interval: 1s}
)";
} // namespace

TEST_CASE("storm saves the smallest scenario that breaks a promise, and that scenario breaks it") {
  const ScratchFolder folder;
  const std::string scenario = folder.write("weak.yaml", weak);
  const std::string out = (folder / "worst.yaml").string();
  const std::string command = fmt::format(
      "storm {} --promise 'no slot_lost' --tries 25 --longest 40s --until 50s --most-faults 5", scenario);
  const Outcome storm = program(command + " --out " + out);
  CHECK(storm.err.empty());
  CHECK(storm.exit_code == 1);
  CHECK_THAT(storm.out, Catch::Contains("25 random combinations of 1 to 5 faults"));
  CHECK_THAT(storm.out, Catch::Contains("smallest that still breaks: no slot_lost"));
  CHECK_THAT(storm.out, Catch::Contains("saved as " + out));
  const std::string saved = read_file(out);
  CHECK_THAT(saved, Catch::Contains("extends: 'weak.yaml'") and Catch::Contains("events:"));
  const Outcome again = program("run " + out + " --format json");
  REQUIRE(again.exit_code == 0);
  CHECK_THAT(again.out, Catch::Contains("\"slot_lost\""));
  const Outcome calm = program("run " + out + " --set events=[] --format json");
  CHECK_THAT(calm.out, not Catch::Contains("\"slot_lost\""));
  CHECK(program(command + " --jobs 1 --format json").out == program(command + " --format json").out);
  const auto json = nlohmann::json::parse(program(command + " --format json").out);
  CHECK(json.at("tried") == 25);
  CHECK(json.at("smallest").at("faults").size() <= 3);
}

TEST_CASE("storm ends with 0 when every promise is kept, and with 2 where the question is wrong") {
  const ScratchFolder folder;
  const std::string scenario = folder.write("weak.yaml", weak);
  const Outcome kept = program("storm " + scenario + " --promise 'no slot_lost' --tries 4 --longest 2s");
  CHECK(kept.exit_code == 0);
  CHECK_THAT(kept.out, Catch::Contains("every promise is kept"));
  const auto wrong = [&](const std::string& arguments, const std::string& sentence) {
    const Outcome outcome = program("storm " + scenario + " --tries 2 " + arguments);
    INFO(arguments << ": " << outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, Catch::Contains(sentence));
  };
  wrong("", "--promise");
  wrong("--promise lag", "'lag' is no promise");
  wrong("--promise 'lag_s_max<=soon'", "'soon' is no limit");
  wrong("--promise 'lagg_s_max<=1s'", "no run has the metric of the promise lagg_s_max<=1s");
  wrong("--promise 'tps>=1000000'", "is broken without any fault");
  wrong("--promise 'no slot_lost' --faults subscriber_dawn", "did you mean 'subscriber_down'?");
  wrong("--promise 'no slot_lost' --from 10s --until 5s", "no time at all");
}
