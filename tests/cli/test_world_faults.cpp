// Faults of the world: a disk that is full, files that cannot be read, signals, a worker that is killed. No
// file gets its name half written, none is left over, and the exit codes are those promised.
#include "test_paths.hpp"
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

#include <unistd.h>

using namespace replisim::test;
using Catch::Contains;

namespace {

/// No file may grow beyond a kilobyte: the disk is full in the middle of every output.
Outcome on_full_disk(const std::string& arguments) {
  return shell("ulimit -f 1; exec timeout 60 \"$REPLISIM\" " + arguments);
}

const std::string streaming = "subscriptions.s.streaming";
const std::string rows = " --set workload.batch.transaction[0].rows=10000";

struct FileOutput {
  std::string command;            ///< with {0} for the folder
  std::vector<std::string> files; ///< in the folder
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
};

} // namespace

TEST_CASE("a full disk: exit code 2, a sentence, nothing half written, nothing left over") {
  const ScratchFolder made;
  const std::string db = (made / "ready.db").string();
  REQUIRE(program("sweep " + insert + rows + " --vary " + streaming + "=off,on --db " + db).exit_code == 0);
  for (const auto& output : outputs) {
    const ScratchFolder folder;
    const std::string where = (folder / "").string();
    const std::string command =
        fmt::format(fmt::runtime(output.command), where.substr(0, where.size() - 1), db);
    INFO(command);
    const Outcome r = on_full_disk(command);
    INFO(r.err);
    CHECK(r.exit_code == 2);
    CHECK_THAT(r.err, Contains("File too large"));
    CHECK(shell("find " + where + " -type f").out.empty());
  }
}

TEST_CASE("a full disk leaves the files of before as they were") {
  for (const auto& output : outputs) {
    if (output.command.find("results") == 0 or output.command.find("report") == 0 or
        (output.command.find("import") == 0 and output.command.find("--force") == std::string::npos))
      continue;
    const ScratchFolder folder;
    for (const auto& file : output.files)
      folder.write(file, "of before\n");
    const std::string where = (folder / "").string();
    const Outcome r =
        on_full_disk(fmt::format(fmt::runtime(output.command), where.substr(0, where.size() - 1)));
    INFO(output.command << "\n" << r.err);
    CHECK(r.exit_code == 2);
    for (const auto& file : output.files)
      CHECK(read_file(folder / file) == "of before\n");
    CHECK(shell("ls -A " + where + " | wc -l").out == fmt::format("{}\n", output.files.size()));
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
  // The first point would take hours; its worker is killed, and the second one goes on.
  const Outcome killed =
      shell("\"$REPLISIM\" sweep " + insert + " --jobs 1 --vary " + streaming +
            "=off --vary servers.pub.settings.logical_decoding_work_mem=64kB"
            " --vary workload.batch.transaction[0].rows=1000000000000,1000 --format json & sweep=$!\n"
            "for i in $(seq 60); do sleep 0.5; child=$(pgrep -P $sweep)\n"
            "  [[ -n $child && $child == \"$before\" ]] && break; before=$child; done\n"
            "kill -KILL $child; wait $sweep");
  INFO(killed.err);
  CHECK(killed.exit_code == 1);
  CHECK_THAT(killed.err + killed.out, Contains("Killed"));
}

TEST_CASE("a clock that jumps changes no result") {
  if (shell("command -v faketime").exit_code != 0) {
    WARN("skipped: faketime is not installed");
    return;
  }
  const Outcome now = program("run " + insert + rows + " --format json");
  const Outcome then = shell("faketime -f '+2y x1000' \"$REPLISIM\" run " + insert + rows + " --format json");
  const Outcome back =
      shell("faketime '1999-12-31 23:59:59' \"$REPLISIM\" run " + insert + rows + " --format json");
  CHECK(now.exit_code == 0);
  CHECK(then.out == now.out);
  CHECK(back.out == now.out);
}
