// Every file that replisim ships is sound.
#include "tests/scenario/scenario_files.hpp"

#include "sim/scenario/library.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace replisim;
using namespace replisim::test;

namespace {

/// Complete scenarios: everything below scenarios/ except machines and bases.
std::vector<std::filesystem::path> shipped_scenarios() {
  std::vector<std::filesystem::path> out;
  const std::filesystem::path root = shipped_library().root / "scenarios";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string room = entry.path().lexically_relative(root).begin()->string();
    if (entry.path().extension() == ".yaml" and room != "hardware" and room != "bases")
      out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

Scenario load_shipped(const std::string& name, const std::vector<Override>& overrides = {}) {
  return load_scenario(shipped_library().root / "scenarios" / name, overrides, shipped_library());
}

} // namespace

TEST_CASE("every shipped scenario loads, at every value of its sweep") {
  const auto files = shipped_scenarios();
  CHECK(files.size() >= 15);
  std::set<std::string> hashes;
  for (const auto& file : files) {
    INFO(file.string());
    CHECK(errors_in(file) == Lines{});
    const Scenario scenario = load_scenario(file, {}, shipped_library());
    CHECK(hashes.insert(scenario.hash).second);
    for (const SweepAxis& axis : scenario.sweep)
      for (const auto& [label, value] : axis.values) {
        INFO(axis.path << " = " << label);
        CHECK(errors_in(file, {{axis.path, value}}) == Lines{});
      }
  }
}

TEST_CASE("every shipped machine and profile loads and is named after its file") {
  for (const std::string& name : profile_names(shipped_library()))
    CHECK(load_profile(name, shipped_library()).name == name);
  for (const std::string& name : machine_names(shipped_library()))
    CHECK(load_shipped("published/streaming_insert.yaml", {{"hosts.db", name}}).hosts.at("db").name == name);
}

TEST_CASE("the large server counts 120 CPUs") {
  const Machine machine =
      load_shipped("published/streaming_insert.yaml", {{"hosts.db", "xeon-e7-4890-v2"}}).hosts.at("db");
  CHECK(machine.cpus() == 120);
  CHECK(machine.cores() == 60);
  CHECK(machine.memory_bytes == 800LL * 1024 * 1024 * 1024);
}

TEST_CASE("the published scenarios change five million rows of the lab's table") {
  for (const std::string kind : {"insert", "delete", "update", "rollback_05pct", "rollback_50pct"}) {
    INFO(kind);
    const Scenario s = load_shipped("published/streaming_" + kind + ".yaml");
    Rows rows = 0;
    for (const TransactionStep& step : s.batches.at(0).transaction)
      if (const auto* statement = std::get_if<StatementStep>(&step))
        rows += statement->rows;
    CHECK(rows == 5'000'000);
    CHECK(s.servers.at("pub").version.major == 17);
    CHECK(s.servers.at("pub").settings.bytes("logical_decoding_work_mem") == 65536);
    CHECK(s.subscriptions.at("s").streaming == Streaming::Parallel);
    const bool changes_rows = kind == "delete" or kind == "update";
    CHECK(s.tables.at("test_tab").initial_rows == (changes_rows ? 5'000'000 : 0));
    CHECK(change_bytes(s.tables.at("test_tab"), Operation::Insert) == 184);
    CHECK_FALSE(s.servers.at("pub").checkpoint_before_workload);
  }
}

TEST_CASE("the lab's updates and deletes follow a checkpoint") {
  CHECK(load_shipped("lab/streaming_update.yaml").servers.at("pub").checkpoint_before_workload);
  CHECK(load_shipped("lab/streaming_delete.yaml").servers.at("sub").checkpoint_before_workload);
  CHECK_FALSE(load_shipped("lab/streaming_insert.yaml").servers.at("pub").checkpoint_before_workload);
  CHECK(load_shipped("lab/streaming_insert.yaml").servers.at("sub").version.major == 18);
}

TEST_CASE("what the mail does not say is marked as guessed") {
  std::set<std::string> paths;
  for (const Guess& guess : load_shipped("published/streaming_insert.yaml").guesses) {
    CHECK_FALSE(guess.reason.empty());
    paths.insert(guess.path);
  }
  for (const char* path : {"hosts.db.machine", "servers.pub.version", "tables.test_tab.columns",
                           "observe.until", "servers.pub.settings.shared_buffers"})
    CHECK(paths.contains(path));
}

TEST_CASE("moving the subscriber behind a link takes a host and a link") {
  const Scenario s = load_shipped("published/streaming_insert.yaml",
                                  {{"hosts.far", "seed1-host"},
                                   {"servers.sub.host", "far"},
                                   {"links", "[{between: [db, far], bandwidth: 10Gbps, latency: 0.1ms}]"}});
  CHECK(s.links.size() == 1);
}
