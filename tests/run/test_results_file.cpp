// Results files: what goes in comes out, resuming, shards, merging, refusals.
#include "models/base/errors.hpp"
#include "sim/report/results_report.hpp"
#include "sim/run/sweep_to_file.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

#include <csignal>

#include <sys/resource.h>
#include <unistd.h>

using namespace replisim;
using Catch::Contains;
using test::Folder;

namespace {

/// Runs whose total is the value of `a` plus a tenth of the seed; what some values of `a` do is told by name.
SweepEngine fake_engine() {
  return {[](const std::vector<Override>& overrides) {
            Scenario s;
            s.name = overrides.back().value;
            s.hash = "hash of " + s.name;
            if (s.name == "bad")
              throw ScenarioError({{"--set a", 0, 0, "a", "found bad; allowed 1 to 9"}});
            return s;
          },
          [](const Scenario& scenario, std::uint64_t seed) {
            if (scenario.name == "crash") {
              std::signal(SIGSEGV, SIG_DFL); // the test program's handler would report a failed test
              ::kill(::getpid(), SIGSEGV);
            }
            if (scenario.name == "endless")
              ::sleep(600);
            if (scenario.name == "huge") {
              RunResult touched;
              touched.transactions.resize(30'000'000);
              return touched;
            }
            RunResult r;
            r.scenario = scenario.name;
            r.scenario_hash = scenario.hash;
            r.seed = seed;
            r.metrics = {{"total_s", std::stod(scenario.name) + static_cast<double>(seed) / 10},
                         {"third", 1.0 / 3}};
            r.bottleneck = "walsender";
            r.fingerprint = seed;
            r.warnings = {"a warning"};
            return r;
          }};
}

Scenario base_with(const std::string& values) {
  Scenario s;
  s.name = "base";
  s.hash = "0123456789abcdef";
  s.sweep = {parse_vary("a=" + values)};
  return s;
}

std::string numbers(int count) {
  std::string out = "1";
  for (int i = 2; i <= count; ++i)
    out.append(",").append(std::to_string(i));
  return out;
}

std::string exported(const std::string& file, const ResultsQuery& query = {}) {
  std::string out;
  ResultsFile results = ResultsFile::open(file);
  export_json(results, query, [&](std::string_view text) { out += text; });
  return out;
}

SweepProgress sweep_into(const std::string& file, const Scenario& base, const SweepRequest& request = {},
                         const PoolOptions& options = {2, {}}, const Shard& shard = {}) {
  return run_sweep_to_file(base, request, {file, shard, false}, fake_engine(), options);
}

} // namespace

TEST_CASE("a row for each run, with the same seeds at every point") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  const auto progress =
      sweep_into(file, base_with("1,2"), {.overrides = {}, .vary = {}, .seed = 7, .replications = 2});
  CHECK(progress.total == 4);
  CHECK(progress.done == 4);
  CHECK(progress.failed == 0);
  const auto json = nlohmann::json::parse(exported(file));
  CHECK(json["sweep"]["points"] == 2);
  CHECK(json["sweep"]["axes"][0] == nlohmann::json{{"path", "a"}, {"values", {"1", "2"}}});
  REQUIRE(json["runs"].size() == 4);
  CHECK(json["runs"][3] == nlohmann::json{{"point", 1},
                                          {"replication", 2},
                                          {"seed", 8},
                                          {"axes", {{"a", "2"}}},
                                          {"status", "done"},
                                          {"warnings", {"a warning"}},
                                          {"reason", nullptr},
                                          {"metrics", {{"third", 1.0 / 3}, {"total_s", 2.8}}},
                                          {"bottleneck", "walsender"},
                                          {"scenario_hash", "hash of 2"},
                                          {"fingerprint", "0000000000000008"}});
  CHECK(json["runs"][0]["seed"] == 7);
  CHECK(json["runs"][2]["seed"] == 7);
  CHECK_FALSE(std::filesystem::exists(file + ".lock"));
}

TEST_CASE("equal contents for any number of jobs, and for shards put together") {
  const Folder folder;
  const Scenario base = base_with(numbers(23));
  const SweepRequest request{.overrides = {}, .vary = {}, .replications = 3};
  sweep_into(folder.root() / "one.db", base, request, {1, {}});
  sweep_into(folder.root() / "five.db", base, request, {5, {}});
  const std::string whole = exported(folder.root() / "one.db");
  CHECK(exported(folder.root() / "five.db") == whole);
  std::vector<std::string> shards;
  for (std::uint64_t k : {3U, 1U, 2U}) {
    shards.push_back(folder.root() / (std::to_string(k) + ".db"));
    CHECK(sweep_into(shards.back(), base, request, {2, {}}, {k, 3}).total == 23);
  }
  CHECK(merge_results(folder.root() / "merged.db", shards) == 0);
  CHECK(exported(folder.root() / "merged.db") == whole);
  // Two of three are a start: the sweep itself does the rest.
  CHECK(merge_results(folder.root() / "part.db", {shards[0], shards[1]}) == 23);
  const auto rest = sweep_into(folder.root() / "part.db", base, request);
  CHECK(rest.found == 46);
  CHECK(exported(folder.root() / "part.db") == whole);
}

TEST_CASE("a sweep goes on where it ended") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  const Scenario base = base_with(numbers(20));
  PoolOptions stopping{1, [](std::size_t done, std::size_t) {
                         if (done == 5)
                           throw UsageError("stop");
                       }};
  CHECK_THROWS_WITH(sweep_into(file, base, {}, stopping), "stop");
  const auto progress = sweep_into(file, base);
  CHECK(progress.found == 5);
  CHECK(progress.done == 20);
  sweep_into(folder.root() / "y.db", base);
  CHECK(exported(file) == exported(folder.root() / "y.db"));
  CHECK(sweep_into(file, base).found == 20);
}

TEST_CASE("failed runs are rows with seed and reason, the others run") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  PoolOptions options{2, {}, {}};
  options.limits.time_s = 1;
  // With AddressSanitizer every process has more memory than any limit.
#if defined(__SANITIZE_ADDRESS__)
  const std::uint64_t failures = 3;
  const Scenario base = base_with("1,crash,endless,7,bad,6");
#else
  const std::uint64_t failures = 4;
  const Scenario base = base_with("1,crash,endless,huge,bad,6");
  options.limits.memory_bytes = Bytes{256} << 20;
#endif
  const auto progress = sweep_into(file, base, {.overrides = {}, .vary = {}, .seed = 3}, options);
  CHECK(progress.done == 6);
  CHECK(progress.failed == failures);
  ResultsFile results = ResultsFile::open(file);
  std::map<std::string, StoredRun> failed;
  for_each_run(results, {{"status = failed"}, {}, 0, false},
               [&](const StoredRun& run) { failed[run.labels.at(0)] = run; });
  CHECK_THAT(failed["crash"].reason, Contains("signal 11"));
  CHECK(failed["crash"].seed == "3");
  CHECK(failed["endless"].reason == "'a=endless' ran longer than the time limit of 1 s");
  CHECK(failed["bad"].reason == "--set a: a: found bad; allowed 1 to 9");
#if not defined(__SANITIZE_ADDRESS__)
  CHECK(failed["huge"].reason == "'a=huge' needs more than the memory limit of 256 MB");
#endif
  CHECK(count_runs(results, {{"status = done"}, {}, 0, false}) == 6 - failures);
  const std::string table = results_table(results, {}, {});
  CHECK_THAT(table, Contains("failed, seed 3: 'a=endless' ran longer"));
}

TEST_CASE("failed runs stay, or run again on request") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  sweep_into(file, base_with("1,crash,3"));
  CHECK(sweep_into(file, base_with("1,crash,3")).found == 3);
  const auto again = run_sweep_to_file(base_with("1,crash,3"), {}, {file, {}, true}, fake_engine(), {1, {}});
  CHECK(again.found == 2);
  CHECK(again.failed == 1);
}

TEST_CASE("a file of another sweep, shard, version or kind is refused, and stays as it was") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  const Scenario base = base_with("1,2");
  sweep_into(file, base);
  const std::string before = exported(file);
  CHECK_THROWS_WITH(sweep_into(file, base_with("1,2,3")),
                    Contains("another sweep") and Contains("other axes"));
  CHECK_THROWS_WITH(sweep_into(file, base, {.overrides = {}, .vary = {}, .seed = 2}),
                    Contains("seed 1 with 1 replication;"));
  Scenario other = base;
  other.hash = "fedcba9876543210";
  CHECK_THROWS_WITH(sweep_into(file, other), Contains("another scenario ('base', hash 0123456789abcdef"));
  CHECK_THROWS_WITH(sweep_into(file, base, {}, {1, {}}, {2, 4}),
                    Contains("holds the whole sweep, and shard 2/4 was asked for"));
  CHECK(exported(file) == before);
  Database(file, Database::Mode::Write).execute("UPDATE sweep SET program = 'replisim 0.0.1'");
  CHECK_THROWS_WITH(sweep_into(file, base), Contains("another version of the program (replisim 0.0.1)"));
  Database(file, Database::Mode::Write).execute("PRAGMA user_version = 99");
  CHECK_THROWS_WITH(sweep_into(file, base), Contains("tables of version 99; this program knows version 1"));
  CHECK_THROWS_WITH(ResultsFile::open(file), Contains("version 99"));
  const std::string text = folder.write("text.db", std::string(5000, 'x'));
  CHECK_THROWS_WITH(sweep_into(text, base), Contains("no SQLite database"));
  CHECK_THROWS_WITH(sweep_into("/dev/full", base), Contains("no regular file"));
  CHECK_THROWS_WITH(sweep_into(folder.root() / "no/x.db", base), Contains("cannot be written"));
  CHECK_THROWS_WITH(ResultsFile::open(folder.root() / "none.db"), Contains("there is no file"));
  Database(folder.root() / "foreign.db", Database::Mode::Create).execute("CREATE TABLE t (a)");
  CHECK_THROWS_WITH(sweep_into(folder.root() / "foreign.db", base), Contains("holds no results of replisim"));
}

TEST_CASE("one writer at a time") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  const Scenario base = base_with("1,2");
  // A lock belongs to a process: the second sweep must be another one.
  PoolOptions options{1, [&](std::size_t done, std::size_t) {
                        if (done > 1)
                          return;
                        const auto outcome = run_forked({{"second", [&] {
                                                            sweep_into(file, base);
                                                            return std::string();
                                                          }}});
                        CHECK_THROWS_WITH(outcome[0].get(), Contains("another sweep is writing"));
                      }};
  CHECK(sweep_into(file, base, {}, options).done == 2);
}

TEST_CASE("merging refuses what does not belong together") {
  const Folder folder;
  const std::string one = folder.root() / "1.db";
  const std::string two = folder.root() / "2.db";
  sweep_into(one, base_with("1,2,3,4"), {}, {1, {}}, {1, 2});
  sweep_into(two, base_with("1,2,3,5"), {}, {1, {}}, {2, 2});
  CHECK_THROWS_WITH(merge_results(folder.root() / "out.db", {one, two}),
                    Contains("does not belong together") and Contains("other axes"));
  CHECK_FALSE(std::filesystem::exists(folder.root() / "out.db"));
  CHECK_THROWS_WITH(merge_results(one, {one, two}), Contains("exists already"));
  // Equal sweeps, but a result that is not the same.
  std::filesystem::copy(one, folder.root() / "forged.db");
  Database(folder.root() / "forged.db", Database::Mode::Write)
      .execute("UPDATE run SET fingerprint = 'f' WHERE run = 2");
  CHECK_THROWS_WITH(merge_results(folder.root() / "out.db", {one, folder.root() / "forged.db"}),
                    Contains("contradicts"));
  CHECK(merge_results(folder.root() / "out.db", {one, one}) == 2);
}

TEST_CASE("filters compare metrics as numbers and columns as quantities") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  sweep_into(file, base_with("5,10,20"), {.overrides = {}, .vary = {}, .seed = 0});
  ResultsFile results = ResultsFile::open(file);
  const auto count = [&](const std::vector<std::string>& where) {
    return count_runs(results, {where, {}, 0, false});
  };
  CHECK(count({"total_s < 10"}) == 1);
  CHECK(count({"total_s<=10"}) == 2);
  CHECK(count({"total_s >= 0.01min"}) == 3);
  CHECK(count({"a > 6"}) == 2); // as text "10" would come before "6"
  CHECK(count({"a = 10"}) == 1);
  CHECK(count({"a != 10", "total_s > 5"}) == 1);
  CHECK(count({"point = 2"}) == 1);
  CHECK(count({"bottleneck = walsender"}) == 3);
  CHECK(count({"bottleneck != walsender"}) == 0);
  CHECK_THROWS_WITH(count({"total < 5"}), Contains("no metric or column 'total' (did you mean 'total_s'?)"));
  CHECK_THROWS_WITH(count({"total_s"}), Contains("NAME OP VALUE"));
  CHECK_THROWS_WITH(count({"total_s < long"}), Contains("'long' is no number"));
  CHECK_THROWS_WITH(count({"seed < 5"}), Contains("= and != only"));
  std::vector<std::uint64_t> order;
  for_each_run(results, {{}, "-total_s", 2, false},
               [&](const StoredRun& run) { order.push_back(run.point); });
  CHECK(order == std::vector<std::uint64_t>{2, 1});
  const auto summary = summarise_runs(results, {}, {"total_s"}, "");
  REQUIRE(summary.size() == 1);
  CHECK(summary[0].count == 3);
  CHECK(summary[0].minimum == 5);
  CHECK(summary[0].mean == Approx(35.0 / 3));
  CHECK(summary[0].maximum == 20);
  const auto by = summarise_runs(results, {}, {"total_s"}, "a");
  REQUIRE(by.size() == 3);
  CHECK(by[1].group == "10");
  CHECK_THROWS_WITH(summarise_runs(results, {}, {}, "b"), Contains("no column 'b'"));
}

TEST_CASE("one point in full, with intervals over its replications") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  sweep_into(file, base_with("1,2"), {.overrides = {}, .vary = {}, .seed = 0, .replications = 2});
  ResultsFile results = ResultsFile::open(file);
  const std::string text = results_point(results, 1);
  // Means of 2.0 and 2.1 s: 2.05, half width 12.7062 * 0.0707107 / sqrt(2) = 0.6353
  CHECK_THAT(text, Contains("a = 2") and Contains("2.050 s") and Contains("635.310 ms"));
  CHECK_THROWS_WITH(results_point(results, 2), Contains("no row of point 2") and Contains("0 to 1"));
  std::string csv;
  export_csv(results, {{"point = 0"}, {}, 0, false}, [&](std::string_view piece) { csv += piece; });
  CHECK(csv == "point,replication,seed,a,third,total_s,bottleneck,status,reason\n"
               "0,1,0,1,0.3333333333333333,1,walsender,done,\n"
               "0,2,1,1,0.3333333333333333,1.1,walsender,done,\n");
}

TEST_CASE("a full file system ends the sweep with a sentence and loses nothing") {
  const Folder folder;
  const std::string file = folder.root() / "x.db";
  const Scenario base = base_with(numbers(200));
  const auto outcome = run_forked({{"limited", [&] {
                                      std::signal(SIGXFSZ, SIG_IGN);
                                      const rlimit size{100'000, 100'000};
                                      ::setrlimit(RLIMIT_FSIZE, &size);
                                      sweep_into(file, base, {}, {1, {}});
                                      return std::string();
                                    }}});
  CHECK_THROWS_AS(outcome[0].get(), UsageError);
  CHECK_THROWS_WITH(outcome[0].get(), Contains(file));
  const auto rest = sweep_into(file, base);
  CHECK(rest.found > 0);
  CHECK(rest.found < 200);
  CHECK(rest.done == 200);
  sweep_into(folder.root() / "y.db", base);
  CHECK(exported(file) == exported(folder.root() / "y.db"));
}

TEST_CASE("shards are written K/N") {
  CHECK(parse_shard("2/8") == Shard{2, 8});
  for (const auto* text : {"0/3", "4/3", "2", "a/b", "1/2x", "-1/2", ""})
    CHECK_THROWS_WITH(parse_shard(text), Contains("write K/N"));
}

TEST_CASE("the parent's memory does not grow with 100,000 points", "[.][soak]") {
  const Folder folder;
  const auto resident_bytes = [] {
    std::ifstream in("/proc/self/statm");
    std::int64_t size = 0;
    std::int64_t resident = 0;
    in >> size >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
  };
  Scenario base;
  base.name = "base";
  base.sweep = {parse_vary("workload.w.transaction[0].rows=1..100000000")};
  SweepRequest request;
  request.sample = SamplePlan{SampleMethod::LatinHypercube, 100'000, 1};
  std::int64_t early = 0;
  const PoolOptions options{2, [&](std::size_t done, std::size_t) {
                              if (done == 1000)
                                early = resident_bytes();
                            }};
  const auto progress = sweep_into(folder.root() / "x.db", base, request, options);
  CHECK(progress.done == 100'000);
  const std::int64_t grown = resident_bytes() - early;
  WARN("grown by " << grown / 1024 << " kB from 1,000 points to 100,000, of " << early / 1024 << " kB");
  CHECK(grown < std::int64_t{4} * 1024 * 1024);
}
