// Of the code that works with real servers, what needs none: plans, SQL, process titles, connection strings.
#include "calibration/live/cluster_scenario.hpp"
#include "calibration/live/collect_sql.hpp"
#include "calibration/live/connection.hpp"
#include "calibration/live/plan.hpp"
#include "calibration/live/process_cpu.hpp"
#include "calibration/live/twin.hpp"

#include <test_paths.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

using namespace replisim;
using namespace replisim::live;

namespace {

namespace fs = std::filesystem;

const Library library{REPLISIM_SOURCE_DIR};

Version version_of(const std::string& text) {
  Version version;
  std::string problem;
  REQUIRE(parse_version(text, version, problem));
  return version;
}

std::string plan_error(const std::string& text) {
  const fs::path file = fs::temp_directory_path() / ("replisim-plan-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << text;
  std::string error;
  try {
    read_plan(file, library, version_of("18"));
  } catch (const UsageError& e) {
    error = e.what();
  }
  fs::remove(file);
  return error;
}

} // namespace

TEST_CASE("every shipped lab plan runs on each version, parallel apply left out before 16", "[live]") {
  for (const char* name : {"quick", "full"})
    for (const char* version : {"15.18", "16.14", "17.10", "18.4"}) {
      const Plan plan = read_plan(shipped_plan(name, library), library, version_of(version));
      CHECK(plan.skipped.empty() == (version_of(version).major >= 16));
      bool fits = false;
      for (const Experiment& experiment : plan.experiments) {
        fits = fits or experiment.is_fitted;
        std::vector<Override> overrides = experiment.overrides;
        overrides.push_back({"servers.pub.version", version});
        if (experiment.scenario.filename().string().find("invalidation") == std::string::npos)
          overrides.push_back({"servers.sub.version", version});
        INFO(name << " " << version << " " << experiment.name);
        if (version_of(version).major >= 16)
          require_loads(load_scenario(experiment.scenario, overrides, library));
      }
      CHECK(fits);
    }
}

TEST_CASE("mistakes of a lab plan name file, line and what is allowed", "[live]") {
  const std::string head = "replisim_lab_plan: 1\nname: x\n";
  CHECK(plan_error("name: x\n").find("does not begin with `replisim_lab_plan: 1`") != std::string::npos);
  CHECK(plan_error(head + "repeat: 3\nexperiments: [{name: a, scenario: scenarios/lab/pgbench.yaml}]\n")
            .find("yaml:3:1: repeat: is no field of a lab plan") != std::string::npos);
  CHECK(plan_error(head + "experiments: []\n").find("experiments") != std::string::npos);
  CHECK(plan_error(head + "experiments: [{name: a b, scenario: scenarios/lab/pgbench.yaml}]\n")
            .find("letters, digits") != std::string::npos);
  CHECK(plan_error(head + "experiments: [{name: a, scenario: nowhere.yaml}]\n")
            .find("there is no file nowhere.yaml") != std::string::npos);
  CHECK(plan_error(head + "experiments: [{name: a, scenario: scenarios/lab/pgbench.yaml, use: test}]\n")
            .find("fit and predict are allowed") != std::string::npos);
}

TEST_CASE("processes are known by their titles, in every version's words", "[live]") {
  CHECK(process_class("postgres: walsender postgres postgres [local] START_REPLICATION") == "walsender");
  CHECK(process_class("postgres: logical replication worker for subscription 16393 ") == "apply_worker");
  CHECK(process_class("postgres: logical replication apply worker for subscription 16393 ") ==
        "apply_worker");
  CHECK(process_class("postgres: logical replication parallel apply worker for subscription 1 ") ==
        "parallel_apply_worker");
  CHECK(process_class("postgres: 18/main: walwriter ") == "walwriter");
  CHECK(process_class("postgres: io worker 0") == "io_worker");
  CHECK(process_class("postgres: postgres postgres [local] idle in transaction") == "backend");
  CHECK(process_class("sleep 1000").empty());
}

TEST_CASE("a table of a scenario becomes SQL with rows of its widths", "[live]") {
  const Scenario scenario =
      load_scenario(library.root / "scenarios/lab/streaming_rollback_20pct.yaml", {}, library);
  const Table& table = scenario.tables.at("test_tab");
  CHECK(create_table_sql(table).find("primary key (\"a\")") != std::string::npos);
  RowBook book(scenario);
  const std::string first = book.statement({Operation::Insert, "test_tab", 10, {}});
  CHECK(first.find("generate_series(1, 10)") != std::string::npos);
  CHECK(book.statement({Operation::Insert, "test_tab", 5, {}}).find("generate_series(11, 15)") !=
        std::string::npos);
  CHECK(book.statement({Operation::Delete, "test_tab", 3, {}}).find("between 1 and 3") != std::string::npos);
  CHECK(book.statement({Operation::Update, "test_tab", 2, {}}).find("between 4 and 5") != std::string::npos);
}

TEST_CASE("what collect asks for holds no connection string and no value of a column", "[live]") {
  for (const int version : {140000, 150000, 160000, 180000})
    for (const std::string& sql : {views_sql(version), facts_sql(version), tables_sql()})
      for (const char* secret : {"subconninfo", "primary_conninfo", "archive_command", "most_common",
                                 "histogram", "a.query", "passfile", "pg_authid"})
        CHECK(sql.find(secret) == std::string::npos);
}

TEST_CASE("a string that libpq cannot read is refused without repeating it", "[live]") {
  try {
    require_conninfo("host=a password=x y-secret", "--publisher");
    FAIL("accepted");
  } catch (const UsageError& error) {
    CHECK(std::string(error.what()).find("secret") == std::string::npos);
    CHECK(std::string(error.what()).find("--publisher") == 0);
  }
}

TEST_CASE("a twin is complete in one file and runs with the machine it names", "[live]") {
  const Plan plan = read_plan(shipped_plan("quick", library), library, version_of("18.4"));
  const std::string twin =
      twin_text(plan.experiments.front(), {"../hardware/m.yaml", "../profiles/m.yaml", "18.4", 0.02, 0.01});
  CHECK(twin.find("db: ../hardware/m.yaml") != std::string::npos);
  CHECK(twin.find("extends") == std::string::npos);
  CHECK(twin.find("sampler: {host: db, cores: 0.0200}") != std::string::npos);
}

TEST_CASE("a folder without facts is refused with the way to get them", "[live]") {
  CHECK_THROWS_WITH(scenario_of_cluster({.folder = REPLISIM_SOURCE_DIR "/docs"}),
                    Catch::Contains("holds no facts of the publisher") and
                        Catch::Contains("replisim collect"));
}
