// Machines and cost profiles: files, inheritance, the ratio of core speeds.
#include "tests/scenario/scenario_files.hpp"

#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/library_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

using namespace replisim;
using namespace replisim::test;

namespace {

/// A library with one machine and the profiles a test writes.
class TestLibrary {
public:
  TestLibrary() {
    folder_.write("scenarios/hardware/box.yaml",
                  "replisim_machine: 1\nname: box\ncores_per_socket: 4\nguessed: {disks: unknown}\n"
                  "disks: [{fsync_latency: 1ms, write_bandwidth: 1GB/s, read_bandwidth: 1GB/s}]\n");
    // The base profile: 10 us for each row and change, 1 ns a byte, whatever is in range.
    std::string text = "replisim_profile: 1\nname: base\nmachine: box\nserver_version: 17\nparameters:\n";
    std::string group;
    for (const CostParameter& parameter : cost_parameters()) {
      const std::string name(parameter.name);
      const std::size_t dot = name.find('.');
      if (name.substr(0, dot) != group) {
        group = name.substr(0, dot);
        text += "  " + group + ":\n";
      }
      text += "    " + name.substr(dot + 1) + ": {value: " + (parameter.high < 1e-6 ? "1ns" : "1us") +
              ", provenance: fitted, source: a test}\n";
    }
    write_profile("base",
                  replaced(replaced(text, "worker_start: {value: 1us", "worker_start: {value: 1ms"),
                           "latency:\n    wakeup: {value: 1us", "latency:\n    wakeup: {value: 40us"));
  }
  void write_profile(const std::string& name, const std::string& text) const {
    folder_.write("calibration/profiles/" + name + ".yaml", text);
  }
  Library library() const { return {folder_.root()}; }
  CostProfile load(const std::string& name) const { return load_profile(name, library()); }

private:
  Folder folder_;
};

const std::string child_head =
    "replisim_profile: 1\nname: child\nextends: base\nmachine: box\nserver_version: 18\n";

double effective(const CostProfile& profile, const std::string& name) {
  return effective_cost_s(profile, *find_cost_parameter(name));
}

} // namespace

TEST_CASE("a profile alone: costs, origins, fitted parameters") {
  const CostProfile base = TestLibrary().load("base");
  CHECK(base.cpu_speed == 1.0);
  CHECK(base.costs.apply_insert_row_s == Approx(1e-6));
  CHECK(base.costs.wal_read_byte_s == Approx(1e-9));
  CHECK(base.fitted.size() == cost_parameters().size());
  CHECK(base.origins.at("apply.insert_row").source == "a test");
}

TEST_CASE("cpu_speed divides what is inherited; what a profile states is its own machine's cost") {
  const TestLibrary files;
  files.write_profile("child", child_head +
                                   "cpu_speed: {value: 0.5, provenance: fitted, source: s}\n"
                                   "parameters:\n"
                                   "  apply: {insert_row: {value: 7us, provenance: measured, source: s}}\n"
                                   "  latency: {wakeup: {value: 90us, provenance: guess, source: s}}\n");
  const CostProfile child = files.load("child");
  CHECK(child.cpu_speed == 0.5);
  CHECK(effective(child, "apply.delete_row") == Approx(2e-6));
  CHECK(effective(child, "apply.insert_row") == Approx(7e-6));
  CHECK(child.costs.apply_insert_row_s / child.cpu_speed == Approx(7e-6));
  CHECK(child.costs.wakeup_latency_s == Approx(90e-6));
  CHECK(child.costs.worker_start_s == Approx(1e-3)); // latencies are no CPU costs
  CHECK(child.fitted == Lines{"cpu_speed"});
  CHECK(child.server_version == "18");

  files.write_profile("grandchild", replaced(replaced(child_head, "name: child", "name: grandchild"),
                                             "extends: base", "extends: child") +
                                        "cpu_speed: {value: 2, provenance: measured, source: s}\n");
  const CostProfile grandchild = files.load("grandchild");
  CHECK(grandchild.cpu_speed == 1.0); // twice as fast as the one half as fast
  CHECK(effective(grandchild, "apply.insert_row") == Approx(3.5e-6));
  CHECK(grandchild.fitted.empty());
}

TEST_CASE("mistakes in profiles have a file and a position") {
  const TestLibrary files;
  const auto problem = [&](const std::string& text) {
    files.write_profile("child", text);
    try {
      files.load("child");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(problem(child_head).empty());
  CHECK_THAT(problem(child_head + "parameters: {aply: {}}\n"),
             Catch::Contains(
                 "child.yaml:6:14: parameters.aply: unknown group of costs 'aply' (did you mean 'apply'?)"));
  CHECK_THAT(problem(child_head + "parameters: {apply: {insert_rows: 1us}}\n"),
             Catch::Contains("unknown cost 'insert_rows' of apply (did you mean 'insert_row'?)"));
  CHECK_THAT(problem(child_head + "parameters: {apply: {insert_row: 1us}}\n"),
             Catch::Contains("parameters.apply.insert_row.provenance: `provenance` is missing") and
                 Catch::Contains("`source` is missing"));
  CHECK_THAT(
      problem(child_head + "parameters: {apply: {insert_row: {value: 5s, provenance: guess, source: s}}}\n"),
      Catch::Contains("5s is out of range; allowed: 1us to 60us"));
  CHECK_THAT(problem(replaced(child_head, "name: child", "name: kid")),
             Catch::Contains("'kid' differs from the file's name, 'child'"));
  CHECK_THAT(problem(replaced(child_head, "extends: base", "extends: child")),
             Catch::Contains("extends itself"));
  CHECK_THAT(problem(replaced(child_head, "extends: base\n", "")),
             Catch::Contains("no value for backend.insert_row, ") and
                 Catch::Contains("latency.worker_start"));
  CHECK_THAT(problem("replisim: 1\n"), Catch::Contains("does not begin with `replisim_profile: 1`"));
  CHECK_THROWS_WITH(files.load("bas"), "unknown profile 'bas' (did you mean 'base'?)");
}

TEST_CASE("a scenario refines a profile inline") {
  const Scenario s = load_text(
      replaced(sound, "profile: lab-2core",
               "profile: {name: lab-2core, cpu_speed: 0.5, parameters: {apply: {insert_row: 30us}}}"));
  const CostProfile named = load_profile("lab-2core", shipped_library());
  CHECK(s.profile.cpu_speed == 0.5);
  CHECK(effective(s.profile, "apply.insert_row") == Approx(30e-6));
  CHECK(effective(s.profile, "apply.delete_row") == Approx(2 * effective(named, "apply.delete_row")));
  CHECK(s.profile.fitted == named.fitted);
  const auto is_stated = [](const Guess& g) {
    return g == Guess{"apply.insert_row", "30us", "stated by the scenario"};
  };
  CHECK(std::count_if(s.guesses.begin(), s.guesses.end(), is_stated) == 1);
  CHECK(errors_of(sound, {{"profile.parameters.apply.insert_row", "2s"}}).size() == 1);
}

TEST_CASE("guesses of a machine name the host, and end where the scenario states the field") {
  const TestLibrary files;
  const Folder folder;
  const std::string text =
      replaced(replaced(sound, "profile: lab-2core", "profile: base"), "{db: lab-2core}", "{db: box}");
  const Scenario s = load_scenario(folder.write("s.yaml", text), {}, files.library());
  REQUIRE(s.guesses.size() == 1);
  CHECK(s.guesses[0].path == "hosts.db.disks");
  CHECK(s.guesses[0].reason == "unknown");
  const std::string stated = "[{fsync_latency: 2ms, write_bandwidth: 1GB/s, read_bandwidth: 1GB/s}]";
  CHECK(load_scenario(folder.write("s.yaml", text), {{"hosts.db.disks", stated}}, files.library())
            .guesses.empty());
}

TEST_CASE("machines and profiles may be files beside the scenario") {
  const Folder folder;
  folder.write("mine.yaml", "replisim_machine: 1\nname: mine\ncores_per_socket: 6\n"
                            "disks: [{fsync_latency: 1ms, write_bandwidth: 1GB/s, read_bandwidth: 1GB/s}]\n");
  const auto file = folder.write("s.yaml", replaced(sound, "{db: lab-2core}", "{db: mine.yaml}"));
  CHECK(load_scenario(file, {}, shipped_library()).hosts.at("db").cpus() == 6);
  const auto missing = folder.write("m.yaml", replaced(sound, "{db: lab-2core}", "{db: yours.yaml}"));
  const Lines found = errors_in(missing);
  REQUIRE(found.size() == 1);
  CHECK(found[0] ==
        "4:13 hosts.db.machine: " + (folder.root() / "yours.yaml").string() + ": there is no such file");
}

TEST_CASE("the library is found through the environment or above the program") {
  const TestLibrary files;
  setenv("REPLISIM_HOME", files.library().root.c_str(), 1);
  CHECK(find_library().root == files.library().root);
  setenv("REPLISIM_HOME", "no/such/folder", 1);
  CHECK_THROWS_AS(find_library(), UsageError);
  unsetenv("REPLISIM_HOME");
  CHECK(std::filesystem::exists(find_library().root / "scenarios" / "hardware"));
}
