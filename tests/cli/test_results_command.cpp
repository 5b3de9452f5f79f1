// Sweeps into results databases as a user would run them: resume, shards, limits, mistakes, questions.
#include "test_paths.hpp"
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

using namespace replisim::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::string memory = "servers.pub.settings.logical_decoding_work_mem";
/// A quick scenario.
const std::string small = insert + " --set 'workload.batch.transaction[0].rows=20000' "
                                   "--set subscriptions.s.streaming=on ";
const std::string twelve = "sweep " + small + "--vary " + memory + "=64kB..768kB/12 ";

std::string exported(const std::filesystem::path& file) {
  const auto r = program("results " + file.string() + " export --format json");
  REQUIRE(r.exit_code == 0);
  return r.out;
}

} // namespace

TEST_CASE("a sweep into a database says what it did; the rows equal those printed") {
  const ScratchFolder folder;
  const std::string file = (folder / "x.db").string();
  const auto r = program(twelve + "--db " + file);
  CHECK(r.exit_code == 0);
  CHECK(r.err.empty());
  CHECK_THAT(r.out,
             Contains("12 points x 1 replication, seed 1") and Contains("12 runs done, 0 failed, 0 missing"));
  const json rows = json::parse(exported(file));
  const json printed = json::parse(program(twelve + "--format json").out);
  REQUIRE(rows["runs"].size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(rows["runs"][i]["metrics"] == printed["points"][i]["metrics"]);
    CHECK(rows["runs"][i]["fingerprint"] == printed["points"][i]["fingerprint"]);
    CHECK(rows["runs"][i]["axes"] == printed["points"][i]["axes"]);
  }
  CHECK_THAT(program(twelve + "--db " + file).out, Contains("12 of them were there before"));
}

TEST_CASE("kill -9 at any moment loses no finished point") {
  const ScratchFolder folder;
  const std::string sweep = "sweep " + small + "--vary " + memory + "=64kB..12800kB/200 --jobs 2 ";
  const std::string killed = (folder / "killed.db").string();
  CHECK(program(sweep + "--db " + (folder / "whole.db").string()).exit_code == 0);
  std::string before;
  for (const auto* pause : {"0.15", "0.4", "0.27"}) {
    shell("\"$REPLISIM\" " + sweep + "--db " + killed + " >/dev/null 2>&1 &\npid=$!\nsleep " + pause +
          "\nkill -9 $pid\nwait $pid");
  }
  const auto rest = program(sweep + "--db " + killed);
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.out, Contains("200 runs done, 0 failed, 0 missing"));
  CHECK(exported(killed) == exported(folder / "whole.db"));
}

TEST_CASE("Ctrl-C ends with 130, and the same command goes on") {
  const ScratchFolder folder;
  const std::string file = (folder / "x.db").string();
  const std::string sweep = "sweep " + small + "--vary " + memory + "=64kB..6400kB/100 --jobs 1 --db " + file;
  const auto r = shell("set -m\n\"$REPLISIM\" " + sweep +
                       " &\npid=$!\n"
                       "until [ -s " +
                       file +
                       "-wal ]; do sleep 0.01; done\n"
                       "kill -INT -- -$pid\nwait $pid\necho $? >&2");
  CHECK(r.err == "130\n");
  CHECK_THAT(r.out, Contains("interrupted: the same command goes on from here"));
  const auto rest = program(sweep);
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.out, Contains("100 runs done, 0 failed, 0 missing"));
}

TEST_CASE("shards merge to what the whole sweep gives") {
  const ScratchFolder folder;
  std::string shards;
  for (const auto* shard : {"2", "3", "1"}) {
    const std::string file = (folder / (std::string(shard) + ".db")).string();
    CHECK(program(twelve + "--shard " + shard + "/3 --db " + file).exit_code == 0);
    shards += " " + file;
  }
  const auto merged = program("results merge " + (folder / "all.db").string() + shards);
  CHECK(merged.exit_code == 0);
  CHECK_THAT(merged.out, Contains("12 runs done, 0 failed, 0 missing"));
  CHECK(program(twelve + "--db " + (folder / "whole.db").string()).exit_code == 0);
  CHECK(exported(folder / "all.db") == exported(folder / "whole.db"));
}

TEST_CASE("crashes, memory and endless runs are rows with seed and reason, and the answer is no") {
  const ScratchFolder folder;
  const std::string file = (folder / "x.db").string();
  // A resolution of a microsecond for a large transaction takes minutes: one run meets the limit, and
  // another, which the test kills as a crash would, does not get that far.
  const std::string sweep =
      "sweep " + small +
      "--vary 'simulation.time_resolution, workload.batch.transaction[0].rows="
      "[auto,1000],[1us,500000000],[1us,400000000]' --seed 4 --jobs 1 --time-limit 2s --db " +
      file;
  const std::string unset = "sweep " + insert + " --set subscriptions.s.streaming=on ";
  const std::string command = unset + sweep.substr(sweep.find("--vary"));
  const auto r = shell("\"$REPLISIM\" " + command + " --set " + memory +
                       "=64kB &\npid=$!\nsleep 3.2\n"
                       "kill -SEGV $(cat /proc/$pid/task/$pid/children)\nwait $pid\necho $? >&2");
  CHECK_THAT(r.err, Catch::EndsWith("1\n"));
  CHECK_THAT(r.out, Contains("1 runs done, 2 failed, 0 missing"));
  const json rows = json::parse(exported(file));
  REQUIRE(rows["runs"].size() == 3);
  CHECK(rows["runs"][1]["seed"] == 4);
  CHECK_THAT(rows["runs"][1]["reason"].get<std::string>(), Contains("ran longer than the time limit of 2 s"));
  CHECK_THAT(rows["runs"][2]["reason"].get<std::string>(), Contains("signal 11"));
  const auto list = program("results " + file + " list --where 'status = failed'");
  CHECK_THAT(list.out, Contains("failed, seed 4: "));
}

TEST_CASE("mistakes end in one sentence and exit code 2, and the database stays as it was") {
  const ScratchFolder folder;
  const std::string file = (folder / "x.db").string();
  REQUIRE(program(twelve + "--db " + file).exit_code == 0);
  const std::string before = exported(file);
  const auto refused = [&](const std::string& arguments, const std::string& sentence) {
    INFO(arguments);
    const auto r = program(arguments);
    CHECK(r.exit_code == 2);
    CHECK(r.out.empty());
    CHECK(count_lines(r.err) == 1);
    CHECK_THAT(r.err, Contains(sentence));
  };
  refused(twelve + "--seed 2 --db " + file, "belongs to another sweep: it was made with seed 1");
  refused(twelve + "--set tables.test_tab.rows=5 --db " + file, "another scenario");
  refused(twelve + "--shard 1/2 --db " + file, "shard 1/2 was asked for");
  refused(twelve + "--shard 1/2", "--shard needs a results database");
  refused(twelve + "--shard 3/2 --db " + file, "write K/N");
  refused(twelve + "--format csv --db " + file, "export later");
  refused(twelve + "--time-limit 5 --db " + file, "--time-limit 5");
  refused(twelve + "--memory-limit 1kB --db " + file, "too small; allowed: 32 MB or more");
  refused(twelve + "--db /dev/full", "no regular file");
  refused(twelve + "--db " + (folder / "no/x.db").string(), "No such file or directory");
  refused(twelve + "--db " + insert, "no SQLite database");
  refused("results " + insert + " list", "no SQLite database");
  refused("results nowhere.db list", "there is no file 'nowhere.db'");
  refused("results list", "which results?");
  refused("results " + file + " list --where 'totals > 1'", "did you mean 'total_s'?");
  refused("results merge " + file + " " + file, "exists already");
  refused("results " + file + " export --out /dev/full", "No space left on device");
  refused("sweep " + small + "--vary " + memory + "=64kB..1MB", "add --sample");
  CHECK(exported(file) == before);
  CHECK(shell("ls -A " + (folder / "").string()).out == "x.db\n");
}

TEST_CASE("a folder that may not be written is a sentence") {
  const ScratchFolder folder;
  const std::string place = (folder / "closed").string();
  // root writes everywhere but where a file system says no.
  const auto r = shell("if [ $(id -u) = 0 ]; then cd /proc; place=/proc; else mkdir -m 500 " + place +
                       "; place=" + place + "; fi; cd '" REPLISIM_SOURCE_DIR "'; exec \"$REPLISIM\" " +
                       twelve + "--db $place/x.db");
  CHECK(r.exit_code == 2);
  CHECK(count_lines(r.err) == 1);
  CHECK_THAT(r.err, Contains("x.db' cannot be written"));
}

TEST_CASE("samples of ranges, and questions about them") {
  const ScratchFolder folder;
  const std::string file = (folder / "x.db").string();
  const auto r = program("sweep " + small + "--vary " + memory +
                         "=64kB..16MB/log --vary 'workload.batch.transaction[0].rolled_back=0%..50%' "
                         "--sample latin-hypercube:16 --sample-seed 3 --db " +
                         file);
  REQUIRE(r.exit_code == 0);
  const json rows = json::parse(exported(file));
  CHECK(rows["sweep"]["sample"] == json{{"method", "latin-hypercube"}, {"points", 16}, {"seed", 3}});
  CHECK(rows["runs"].size() == 16);
  const auto summary = program("results " + file + " summary --metric total_s --format json");
  CHECK(json::parse(summary.out)[0]["runs"] == 16);
  const auto few =
      program("results " + file + " list --where '" + memory + " < 1MB' --sort -total_s --limit 3");
  CHECK(few.exit_code == 0);
  CHECK_THAT(few.out, Contains("... 3 of 8 rows"));
  CHECK_THAT(program("results " + file + " show 5").out, Contains(memory + " = ") and Contains("total_s"));
  CHECK(count_lines(program("results " + file + " export").out) == 17);
}

TEST_CASE("without sbatch --slurm says so") {
  const ScratchFolder folder;
  const auto r =
      shell("PATH=/nowhere exec \"$REPLISIM\" " + twelve + "--slurm --db " + (folder / "x.db").string());
  CHECK(r.exit_code == 2);
  CHECK_THAT(r.err, Contains("there is no sbatch on this machine"));
}

TEST_CASE("the option --slurm writes a script for sbatch, which runs the shards") {
  const ScratchFolder folder;
  // An sbatch that runs every task of the array at once.
  folder.write("sbatch",
               "#!/bin/bash\nfor last; do :; done\necho \"$@\" >\"$(dirname $0)/arguments\"\n"
               "n=$(sed -n 's/^#SBATCH --array=1-//p' \"$last\")\n"
               "for i in $(seq $n); do SLURM_ARRAY_TASK_ID=$i bash \"$last\" >/dev/null; done\necho 17\n");
  const std::string file = (folder / "it's.db").string();
  const auto r = shell("chmod +x " + (folder / "sbatch").string() + "\nPATH=" + (folder / "").string() +
                       ":$PATH exec \"$REPLISIM\" " + twelve +
                       "--slurm --shards 3 --wait --slurm-options '--mem=1G' "
                       "--db \"" +
                       file + "\"");
  INFO(r.err);
  CHECK(r.exit_code == 0);
  CHECK_THAT(r.out, Contains("12 runs done, 0 failed, 0 missing"));
  CHECK_THAT(read_file(folder / "arguments"), Contains("--wait --mem=1G"));
  CHECK(program(twelve + "--db " + (folder / "whole.db").string()).exit_code == 0);
  CHECK(program("results \"" + file + "\" export --format json").out == exported(folder / "whole.db"));
  // A script that Slurm refuses is shown.
  folder.write("sbatch", "#!/bin/bash\necho 'sbatch: error: no such partition' >&2\nexit 1\n");
  const auto refused = shell("PATH=" + (folder / "").string() + ":$PATH exec \"$REPLISIM\" " + twelve +
                             "--slurm --db " + (folder / "y.db").string());
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.err, Contains("no such partition") and Contains("job.sh"));
}
