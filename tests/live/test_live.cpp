// Of the code that works with real servers, what needs none: plans, SQL, process titles, connection strings.
#include "calibration/live/cluster_scenario.hpp"
#include "calibration/live/collect_sql.hpp"
#include "calibration/live/connection.hpp"
#include "calibration/live/plan.hpp"
#include "calibration/live/process_cpu.hpp"
#include "calibration/live/scenario_sql.hpp"
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

namespace {

/// What `collect` writes of a server at one look, with what this host shows of it.
std::string facts_of(double at_s, int decoded, const std::string& cpu) {
  const std::string table =
      R"({"bytes":8192,"columns":[{"name":"id","type":"int4","width":4,"null_frac":0}],"deleted":0,"hot":0,)"
      R"("identity":"d","index_scans":0,"inserted":)" +
      std::to_string(decoded) + R"(,"key":["id"],"name":"t","rows":10,"schema":"public","updated":0})";
  return R"({"collected_at":"facts","view":"facts","row":{"clients":2,"cpus":4,"local":true,)"
         R"("memory_bytes":8589934592,"flush_s":0.0002,"settings":{},"version":180004,"taken_at":)" +
         std::to_string(at_s) + R"(,"cpu_s":)" + cpu + R"(,"decoded":{"s":)" + std::to_string(decoded) +
         R"(},"tables":[)" + table +
         R"(],"publications":[{"name":"p","tables":[{"name":"t","schema":"public"}]}],"subscriptions":)"
         R"([{"name":"s","enabled":true,"streaming":"off","publications":["p"]}]}})"
         "\n";
}

} // namespace

TEST_CASE("a collected cluster's machine is what was found: cores, flushes, and the speed that its CPU says",
          "[live]") {
  const fs::path folder = fs::temp_directory_path() / ("replisim-collected-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "c.pub.views") << facts_of(0, 100, R"({"walsender":1.0,"backend":1})")
                                        << facts_of(10, 10'100, R"({"walsender":1.5,"backend":9})");
  std::ofstream(folder / "c.sub.views")
      << facts_of(0, 0, R"({"apply_worker":2.0})") << facts_of(10, 0, R"({"apply_worker":3.5})");
  const ClusterScenario plain = scenario_of_cluster({.folder = folder});
  const ClusterScenario fast = scenario_of_cluster(
      {.folder = folder, .speed = 1.5, .disk = Disk{"ssd", 1, 250 * 1024 * 1024.0, 400 * 1024 * 1024.0}});
  fs::remove_all(folder);
  CHECK(plain.yaml.find("cores_per_socket: 4\n    memory: 8GB\n") != std::string::npos);
  CHECK(plain.yaml.find("disks:") == std::string::npos);
  CHECK(fast.yaml.find("fsync_latency: 0.2ms, write_bandwidth: 250MB/s, read_bandwidth: 400MB/s") !=
        std::string::npos);
  CHECK(plain.yaml.find("speed:") == std::string::npos);
  CHECK(fast.yaml.find("speed: 1.5 ") != std::string::npos);
  REQUIRE(plain.cpu_a_transaction_s.size() == 2); // backends may do other things
  CHECK(plain.cpu_a_transaction_s.at("cpu_pub.walsender_s") == Approx(50e-6));
  CHECK(plain.cpu_a_transaction_s.at("cpu_sub.apply_worker_s") == Approx(150e-6));

  RunResult run; // 300 us a transaction where 200 us were measured
  run.metrics = {
      {"committed_transactions", 1000}, {"cpu_pub.walsender_s", 0.1}, {"cpu_sub.apply_worker_s", 0.2}};
  CHECK(speed_beyond(plain, run).value() == Approx(1.5));
  run.metrics["committed_transactions"] = 0;
  CHECK_FALSE(speed_beyond(plain, run));
}

TEST_CASE("wide values cost the backend little to make, and are stored at their width", "[live]") {
  const Scenario scenario = load_scenario(library.root / "scenarios/lab/wide_rows.yaml", {}, library);
  const Table& table = scenario.tables.at("test_tab");
  CHECK(create_table_sql(table).find("alter column \"b\" set storage external") != std::string::npos);
  RowBook book(scenario);
  CHECK(book.statement({Operation::Insert, "test_tab", 1, {}})
            .find("(repeat(md5(i::text), 31) || left(md5(i::text), 8))") != std::string::npos);
}
