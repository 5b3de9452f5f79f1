// replay and diff as a user runs them: the same bytes again, or what has changed; the event in which two runs
// part.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

using namespace replisim::test;
using Catch::Contains;

namespace {

const std::string quick = insert + " --set 'workload.batch.transaction[0].rows=20000'";

/// Runs the quick scenario into a folder.
void record(const std::filesystem::path& folder, const std::string& more = "") {
  REQUIRE(program("run " + quick + " --out " + folder.string() + " " + more).exit_code == 0);
}

void write(const std::filesystem::path& file, const std::string& text) { std::ofstream(file) << text; }

} // namespace

TEST_CASE("replay gives the same bytes again, of one run and of several") {
  const ScratchFolder folder;
  for (const std::string more :
       {"", "--replications 3", "--seed 7 --set subscriptions.s.streaming=off", "--exact"}) {
    INFO(more);
    record(folder / "run", more);
    const auto again = program("replay " + (folder / "run").string());
    CHECK(again.exit_code == 0);
    CHECK_THAT(again.out, Contains("identical: ") and Contains("are the recorded ones"));
    CHECK(again.err.empty());
  }
}

TEST_CASE("replay says what is different when the result is") {
  const ScratchFolder folder;
  REQUIRE(program("init " + (folder / "mine.yaml").string()).exit_code == 0);
  const std::string mine = (folder / "mine.yaml").string();
  REQUIRE(program("run " + mine + " --out " + (folder / "run").string()).exit_code == 0);
  const std::string text = read_file(mine);
  write(mine, std::string(text).replace(text.find("rows: 1_000_000"), 15, "rows: 1_100_000"));
  const auto changed = program("replay " + (folder / "run" / "manifest.json").string());
  CHECK(changed.exit_code == 1);
  CHECK_THAT(changed.out, Contains("NOT identical") and
                              Contains("since then: scenario, its machines and costs: ") and
                              Contains("committed_changes"));
  CHECK_THAT(changed.out, not Contains("version of replisim"));
  write(mine, text);
  CHECK(program("replay " + (folder / "run").string()).exit_code == 0);

  auto manifest = nlohmann::json::parse(read_file(folder / "run" / "manifest.json"));
  manifest["version"] = "0.0.9";
  manifest["profile_hash"] = "0123456789abcdef";
  write(folder / "run" / "manifest.json", manifest.dump());
  const auto older = program("replay " + (folder / "run").string());
  CHECK(older.exit_code == 0); // the bytes are what counts
  CHECK_THAT(older.out,
             Contains("version of replisim: 0.0.9 then") and Contains("costs of profile lab-2core"));
}

TEST_CASE("a scenario that has moved is named, and can be told") {
  const ScratchFolder folder;
  const std::string mine = (folder / "mine.yaml").string();
  REQUIRE(program("init " + mine).exit_code == 0);
  REQUIRE(program("run " + mine + " --out " + (folder / "run").string()).exit_code == 0);
  std::filesystem::rename(mine, folder / "moved.yaml");
  const auto gone = program("replay " + (folder / "run").string());
  CHECK(gone.exit_code == 2);
  CHECK_THAT(gone.err, Contains("mine.yaml") and Contains("--scenario FILE"));
  CHECK(program("replay " + (folder / "run").string() + " --scenario " + (folder / "moved.yaml").string())
            .exit_code == 0);
}

TEST_CASE("no manifest, and one that is none") {
  const ScratchFolder folder;
  CHECK_THAT(program("replay " + (folder / "nothing").string()).err, Contains("there is no file"));
  const std::string broken = folder.write("manifest.json", "{\"version\": 5}");
  const auto outcome = program("replay " + broken);
  CHECK(outcome.exit_code == 2);
  CHECK_THAT(outcome.err, Contains("is no manifest of a run"));
}

TEST_CASE("diff finds the first event in which two runs part") {
  const ScratchFolder folder;
  record(folder / "a");
  record(folder / "b", "--set subscriptions.s.streaming=off");
  record(folder / "same");
  const auto equal = program("diff " + (folder / "a").string() + " " + (folder / "same").string());
  CHECK(equal.exit_code == 0);
  CHECK_THAT(equal.out, Contains("all of them equal"));
  const auto different = program("diff " + (folder / "a").string() + " " + (folder / "b").string());
  CHECK(different.exit_code == 1);
  CHECK_THAT(different.out, Contains("overrides: ") and Contains("subscriptions.s.streaming=off") and
                                Contains("First event that differs: number ") and Contains("  A     ") and
                                Contains("total_s"));
  const auto as_json = nlohmann::json::parse(
      program("diff " + (folder / "a").string() + " " + (folder / "b").string() + " --format json").out);
  const auto& first = as_json.at("first_different_event");
  CHECK(first.at("number").get<int>() > 0);
  CHECK(first.at("a") != first.at("b"));
  CHECK(as_json.at("metrics").contains("spill_count"));
}
