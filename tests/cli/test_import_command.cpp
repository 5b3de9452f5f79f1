// import as a user runs it.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>

using namespace replisim::test;

namespace {
const std::string wal = "tests/calibration/samples/pg_waldump_15.txt";
}

TEST_CASE("import writes a scenario that runs") {
  const ScratchFolder folder;
  const std::string out = (folder / "mine.yaml").string();
  const Outcome first = program("import " + wal + " --out " + out);
  CHECK(first.exit_code == 0);
  CHECK(first.err.empty());
  CHECK_THAT(first.out,
             Catch::Contains("9 committed transactions that change rows (48 changes), 1 rolled back"));
  CHECK_THAT(first.out, Catch::Contains("next:    replisim run " + out));
  const Outcome run = program("run " + out + " --format json");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.out, Catch::Contains("\"committed_transactions\": 9") and
                          Catch::Contains("\"committed_changes\": 48"));
  CHECK_THAT(program("import " + wal + " --out " + out).err,
             Catch::Contains("mine.yaml is there already; choose another name, or --force to replace it"));
  CHECK(program("import " + wal + " --force --out " + out).exit_code == 0);
}

TEST_CASE("import says what is wrong and leaves nothing behind") {
  const ScratchFolder folder;
  const std::string out = " --out " + (folder / "mine.yaml").string();
  const auto complaint = [](const std::string& arguments) {
    const Outcome outcome = program("import " + arguments);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    return outcome.err;
  };
  CHECK(complaint("nowhere.txt" + out) == "there is no file 'nowhere.txt'\n");
  CHECK_THAT(complaint("tests" + out),
             Catch::StartsWith("'tests' is a folder; import reads the output of pg_waldump"));
  CHECK_THAT(complaint("README.md" + out), Catch::StartsWith("README.md: neither the output of pg_waldump"));
  CHECK_THAT(complaint(wal + " --out " + (folder / "mine.txt").string()),
             Catch::Contains("a scenario's file ends in .yaml"));
  CHECK_THAT(complaint(wal + " --out " + (folder / "none/mine.yaml").string()),
             Catch::Contains("there is no folder"));
  CHECK_THAT(complaint(wal + " --databse 5" + out), Catch::Contains("did you mean '--database'?"));
  CHECK_THAT(complaint(wal + " --server-version 99" + out),
             Catch::Contains("servers.pub.version: found '99'"));
  CHECK(program("import " + wal + out).exit_code == 0); // nothing stands in its way
}
