// What `run` prints and writes, and that equal runs give equal bytes.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace replisim::test;
using Catch::Contains;
using nlohmann::json;

TEST_CASE("the table shows times, the bottleneck and the guesses") {
  const auto r = program("run " + insert + " --set servers.pub.settings.logical_decoding_work_mem=64MB");
  CHECK(r.exit_code == 0);
  CHECK(r.err.empty());
  CHECK_THAT(r.out, Contains("logical_decoding_work_mem = 64MB") and Contains("5,000,000 rows"));
  CHECK_THAT(r.out, Contains("total ") and Contains("bottleneck: ") and Contains("Guesses"));
}

TEST_CASE("the JSON object has the fixed keys") {
  const auto r = program("run " + insert + " --format json");
  REQUIRE(r.exit_code == 0);
  const json object = json::parse(r.out);
  for (const auto* key : {"scenario", "version", "seed", "metrics", "subscriptions", "stages", "bottleneck",
                          "transactions", "warnings", "guesses", "scenario_hash", "fingerprint"})
    CHECK(object.contains(key));
  CHECK(object["seed"] == 1);
  CHECK(object["metrics"]["total_s"].is_number());
  CHECK(object["metrics"]["total_s"] > object["metrics"]["commit_s"]);
  CHECK(object["stages"].contains(object["bottleneck"].get<std::string>()));
  CHECK(object["transactions"][0]["rows"] == 5'000'000);
  CHECK(object["guesses"].size() > 0);
}

TEST_CASE("equal runs give equal bytes, alone or beside others") {
  const auto first = program("run " + insert + " --format json --seed 7");
  CHECK(first.out == program("run " + insert + " --format json --seed 7").out);
  const std::string replicated = "run " + insert + " --format json --replications 3 --jobs ";
  CHECK(program(replicated + "1").out == program(replicated + "2").out);
}

TEST_CASE("an override reaches the simulation, and the flag may stand before the file") {
  const auto off =
      program("run --set subscriptions.s.streaming=off --set workload.batch.transaction[0].rows=100000 " +
              insert + " --format json");
  REQUIRE(off.exit_code == 0);
  const json object = json::parse(off.out);
  CHECK(object["metrics"]["stream_count"] == 0);
  CHECK(object["transactions"][0]["rows"] == 100'000);
}

TEST_CASE("CSV names and values") {
  const auto r = program("run " + insert + " --format csv");
  CHECK(r.exit_code == 0);
  CHECK(r.out.substr(0, 13) == "metric,value\n");
  CHECK_THAT(r.out, Contains("\ntotal_s,"));
}

TEST_CASE("the option --out writes three files; result.json is what JSON prints") {
  const ScratchFolder folder;
  const std::string where = (folder / "a/b").string();
  const auto printed = program("run " + insert + " --format json --out " + where);
  REQUIRE(printed.exit_code == 0);
  CHECK(read_file(folder / "a/b/result.json") == printed.out);
  CHECK_THAT(read_file(folder / "a/b/timeline.csv"), Catch::StartsWith("t_s,"));
  CHECK(count_lines(read_file(folder / "a/b/timeline.csv")) > 10);
  const json manifest = json::parse(read_file(folder / "a/b/manifest.json"));
  for (const auto* key : {"version", "commit", "compiler", "engine_options", "scenario_file", "scenario_hash",
                          "seed", "fingerprint", "events", "simulated_s", "wall_s", "simulated_s_per_wall_s",
                          "overrides", "command_line"})
    CHECK(manifest.contains(key));
  CHECK(manifest["scenario_file"] == insert);
  CHECK(manifest["fingerprint"] == json::parse(printed.out)["fingerprint"]);
  CHECK(manifest["command_line"][1] == "run");
  // A second run replaces the files and leaves no other.
  const std::string timeline = read_file(folder / "a/b/timeline.csv");
  CHECK(program("run " + insert + " --out " + where).exit_code == 0);
  CHECK(read_file(folder / "a/b/result.json") == printed.out);
  CHECK(read_file(folder / "a/b/timeline.csv") == timeline);
  CHECK(shell("ls -A " + where).out == "manifest.json\nresult.json\ntimeline.csv\n");
}
