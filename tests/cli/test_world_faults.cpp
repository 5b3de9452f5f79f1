// Faults of the world: a disk that is full, files that cannot be read, signals, a worker that is killed or
// out of memory, a clock that jumps. No file gets its name half written, none is left over, and the exit
// codes are those promised.
#include "test_paths.hpp"
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include <unistd.h>

using namespace replisim::test;
using Catch::Contains;

namespace {

/// No file may grow beyond so many kilobytes: the disk is full at, or in the middle of, every output. What
/// the program says goes through a pipe, which is no file.
Outcome on_full_disk(const std::string& arguments, int kilobytes = 1) {
  return shell(fmt::format("(ulimit -f {}; exec timeout 60 \"$REPLISIM\" {} 2>&1 >/dev/null) | cat >&2\n"
                           "exit ${{PIPESTATUS[0]}}",
                           kilobytes, arguments));
}

/// The library that stands between the program and the world: see world_shim.cpp.
std::string with_shim(const std::string& setting) {
  return "export LD_PRELOAD='" REPLISIM_WORLD_SHIM "' " + setting + "\n";
}

/// A pair that a plan and a storm answer at once. `{plan}` comes last.
const std::string small_pair = R"(replisim: 1
name: a small pair
profile: lab-2core
hosts: {db: lab-2core}
servers: {pub: {host: db, version: 17}, sub: {host: db, version: 17}}
tables: {t: {columns: {a: int8}, primary_key: [a]}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p}}
workload: {w: {server: pub, rate: 10/s, until: 5s, transaction: [{insert: t, rows: 1}]}}
observe: {until: 10s, interval: 1s}
)";
const std::string small_plan = R"(plan:
  find: cheapest
  promises: [total_txns > 1]
  knobs: [{field: subscriptions.s.streaming, values: [{value: off, cost: 1}, {value: on, cost: 0}]}]
)";

const std::string streaming = "subscriptions.s.streaming";
const std::string rows = " --set workload.batch.transaction[0].rows=10000";

struct FileOutput {
  std::string command; ///< with {0} for the folder, {1} for a results database, {2} for the small pair
  std::vector<std::string> files; ///< in the folder
  int room_kb = 1;                ///< on the disk
};

const std::vector<FileOutput> outputs = {
    {"run " + insert + rows + " --out {0}", {"result.json", "timeline.csv", "manifest.json"}},
    {"run " + insert + rows + " --trace {0}/trace.json", {"trace.json"}},
    {"sweep " + insert + rows + " --vary " + streaming + "=off,on --format json --out {0}/s.json",
     {"s.json"}},
    {"results {1} export --out {0}/r.csv", {"r.csv"}},
    {"report {1} --out {0}/r.html", {"r.html"}},
    {"import tests/calibration/samples/pg_waldump_15.txt --out {0}/i.yaml", {"i.yaml", "i.csv"}},
    {"import tests/calibration/samples/pg_waldump_15.txt --force --out {0}/i.yaml", {"i.yaml", "i.csv"}},
    {"man --out {0}", {"replisim.1", "replisim-run.1"}},
    {"init {0}/mine.yaml", {"mine.yaml"}},
    {"plan {2} --sql {0}/apply.sql", {"apply.sql"}, 0},
    {"storm {2} --tries 2 --faults subscriber_down --promise 'lag_s_max<500ms' --out {0}/worst.yaml",
     {"worst.yaml"},
     0},
};

/// What the commands above need, made once for a test.
class Inputs {
public:
  Inputs()
      : pair_(folder_.write("pair.yaml", small_pair + small_plan)),
        database_((folder_ / "ready.db").string()) {
    REQUIRE(
        program("sweep " + insert + rows + " --vary " + streaming + "=off,on --db " + database_).exit_code ==
        0);
  }
  /// `folder` without a slash at its end.
  std::string command(const FileOutput& output, const std::string& folder) const {
    return fmt::format(fmt::runtime(output.command), folder, database_, pair_);
  }

private:
  ScratchFolder folder_;
  std::string pair_, database_;
};

std::string path_of(const ScratchFolder& folder) {
  const std::string path = (folder / "").string();
  return path.substr(0, path.size() - 1);
}

} // namespace

TEST_CASE("a full disk: exit code 2, a sentence, nothing half written, nothing left over") {
  const Inputs inputs;
  for (const auto& output : outputs) {
    const ScratchFolder folder;
    const std::string command = inputs.command(output, path_of(folder));
    INFO(command);
    const Outcome r = on_full_disk(command, output.room_kb);
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK_THAT(r.err, Contains("File too large"));
    CHECK(shell("find " + path_of(folder) + " -type f").out.empty());
  }
}

TEST_CASE("a full disk leaves the files of before as they were") {
  const Inputs inputs;
  for (const auto& output : outputs) {
    const auto starts_with = [&](const char* name) { return output.command.find(name) == 0; };
    // These do not replace a file unless told to.
    if (starts_with("init") or
        (starts_with("import") and output.command.find("--force") == std::string::npos))
      continue;
    const ScratchFolder folder;
    for (const auto& file : output.files)
      folder.write(file, "of before\n");
    const std::string command = inputs.command(output, path_of(folder));
    const Outcome r = on_full_disk(command, output.room_kb);
    INFO(command << "\n" << r.err);
    CHECK(r.exit_code == 2);
    for (const auto& file : output.files)
      CHECK(read_file(folder / file) == "of before\n");
    CHECK(shell("ls -A " + path_of(folder) + " | wc -l").out == fmt::format("{}\n", output.files.size()));
  }
}

TEST_CASE("a results database on a full disk is no file that looks finished") {
  const ScratchFolder folder;
  const std::string db = (folder / "r.db").string();
  const Outcome r = on_full_disk("sweep " + insert + rows + " --vary " + streaming + "=off,on --db " + db);
  INFO(r.err);
  CHECK(r.exit_code == 2);
  CHECK_THAT(r.err, Contains("the results database"));
  // What is left is either nothing, or taken up again once there is room.
  const Outcome again = program("sweep " + insert + rows + " --vary " + streaming + "=off,on --db " + db);
  INFO(again.err);
  CHECK(again.exit_code == 0);
  CHECK(program("results " + db + " list").exit_code == 0);
}

TEST_CASE("standard output that is full is an error, too") {
  for (const char* command :
       {"run {0}{1} --format json", "run {0}{1}", "reference", "validate --list", "man"}) {
    const std::string line = fmt::format(fmt::runtime(command), insert, rows);
    INFO(line);
    CHECK(program(line + " >/dev/full").exit_code == 2);
  }
}

TEST_CASE("files that may not be read are named, with exit code 2") {
  if (::geteuid() == 0 and shell("setpriv --reuid=65534 --clear-groups true").exit_code != 0) {
    WARN("skipped: root reads everything, and setpriv cannot give that up");
    return;
  }
  const std::string as_nobody = ::geteuid() == 0 ? "setpriv --reuid=65534 --clear-groups " : "";
  const ScratchFolder folder;
  const std::string file = folder.write("secret.yaml", "replisim: 1\n");
  shell("chmod 755 " + (folder / "").string() + "; chmod 000 " + file);
  for (const char* command : {"run", "observe", "report", "calibrate", "explain", "plan", "compare"}) {
    const Outcome r = shell(fmt::format("{} \"$REPLISIM\" {} {}", as_nobody, command, file));
    if (r.exit_code == 126 or r.exit_code == 127) {
      WARN("skipped: the program itself is out of reach of others");
      return;
    }
    INFO(command << ": " << r.err);
    CHECK(r.exit_code == 2);
    CHECK_THAT(r.err, Contains("secret.yaml") or Contains("secret"));
    CHECK_THAT(r.err, not Contains("error of replisim itself"));
  }
}

TEST_CASE("SIGINT and SIGTERM end a run, a sweep and an import with nothing left") {
  const Outcome r = shell("SIGNALS_WAIT_S=0.7 tests/cli/signals.sh \"$REPLISIM\" \"$PWD\" run sweep import");
  INFO(r.err);
  CHECK(r.exit_code == 0);
}

TEST_CASE("a worker that is killed is a failed point and not the sweep's end") {
  // The first point would take long; its worker is killed, and the second one goes on.
  const Outcome killed =
      shell("\"$REPLISIM\" sweep " + insert + " --jobs 1 --vary " + streaming +
            "=off --vary servers.pub.settings.logical_decoding_work_mem=64kB"
            " --vary workload.batch.transaction[0].rows=400000000000,1000 --format json & sweep=$!\n"
            "for i in $(seq 60); do sleep 0.5; child=$(pgrep -P $sweep)\n"
            "  [[ -n $child && $child == \"$before\" ]] && break; before=$child; done\n"
            "kill -KILL $child; wait $sweep");
  INFO(killed.err);
  CHECK(killed.exit_code == 1);
  CHECK_THAT(killed.err + killed.out, Contains("Killed"));
}

TEST_CASE("a worker at the memory limit is a failed point that says so, and the sweep goes on") {
  const ScratchFolder folder;
  const std::string pair = folder.write("pair.yaml", small_pair);
  // Half a million transactions that are remembered one by one, beside two.
  const Outcome r =
      program("sweep " + pair + " --set observe.until=1h --set 'workload.b={server: pub, every: 2ms, " +
              "times: 2, transaction: [{insert: t, rows: 1}]}' --vary workload.b.times=500000,2 " +
              "--memory-limit 32MB --format json");
  INFO(r.err);
  CHECK(r.exit_code == 1);
  const auto points = nlohmann::json::parse(r.out).at("points");
  REQUIRE(points.size() == 2);
  CHECK_THAT(points[0].at("error").get<std::string>(), Contains("needs more than the memory limit of 32 MB"));
  CHECK(points[1].at("error").is_null());
}

TEST_CASE("SIGTERM, SIGHUP or Ctrl-C while a file is being written leaves neither it nor what it was to be") {
  const Inputs inputs;
  const auto ended_by = [&](const FileOutput& output, const std::string& signal) {
    const ScratchFolder folder;
    const std::string where = path_of(folder);
    // The file is there when the disk is asked to keep it, which takes a minute.
    const Outcome r =
        shell(with_shim("SHIM_FSYNC_WAITS_S=60") + "set -m; timeout -k 1 60 \"$REPLISIM\" " +
              inputs.command(output, where) + " & pid=$!\nfor i in $(seq 3000); do sleep 0.01; ls -A " +
              where + " | grep . && break; done\nkill -" + signal + " $pid; wait $pid");
    INFO(output.command << " " << signal << "\n" << r.out << r.err);
    CHECK_FALSE(r.out.empty());
    CHECK(shell("ls -A " + where).out.empty());
    return r.exit_code;
  };
  for (const auto& output : outputs)
    CHECK(ended_by(output, "TERM") == 143);
  CHECK(ended_by(outputs.front(), "HUP") == 129);
  // Simulations take Ctrl-C for the wish to see what is finished, and write that.
  const FileOutput init = {"init {0}/mine.yaml", {"mine.yaml"}};
  CHECK(ended_by(init, "INT") == 130);
}

TEST_CASE("a clock that jumps changes no result and no exit code") {
  const ScratchFolder folder;
  const std::string pair = folder.write("pair.yaml", small_pair + small_plan);
  const std::string db = (folder / "r.db").string();
  const std::string sampled = "workload.batch.transaction[0].rows=1000,2000,3000";
  for (const std::string& command :
       {"run " + insert + rows + " --format json", "run " + insert + rows + " --replications 3 --format json",
        "sweep " + insert + " --vary " + sampled + " --format json", "plan " + pair + " --format json",
        "compare " + pair + " --vary subscriptions.s.streaming=off,on --format json",
        "storm " + pair + " --tries 3 --promise 'no slot_lost' --format json"}) {
    const Outcome steady = program(command);
    const Outcome jumping =
        shell(with_shim("SHIM_CLOCK_JUMPS=1") + "exec timeout 60 \"$REPLISIM\" " + command);
    INFO(command << "\n" << jumping.err);
    CHECK(steady.exit_code == 0);
    CHECK(jumping.exit_code == 0);
    CHECK(jumping.out == steady.out);
  }
  // A limit on a job's time is one of time that passes.
  const Outcome limited = shell(with_shim("SHIM_CLOCK_JUMPS=1") + "exec timeout 60 \"$REPLISIM\" sweep " +
                                insert + " --vary " + sampled + " --time-limit 50s --db " + db);
  INFO(limited.err);
  CHECK(limited.exit_code == 0);
  // The shim does what it says.
  const Outcome years = shell(with_shim("SHIM_CLOCK_JUMPS=1") +
                              "date +%Y; exec python3 -c "
                              "'import time; print(len({round(time.time(), -6) for _ in range(6)}))'");
  CHECK(years.out.substr(years.out.size() - 2) != "1\n");
}
