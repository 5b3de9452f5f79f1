// replisim observe as a user runs it.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>

using namespace replisim::test;

TEST_CASE("observe prints what files hold, in three formats") {
  const std::string run = "tests/calibration/data/lab_artefacts/streaming18-delete-64kB-parallel-r1";
  const Outcome table = program("observe " + run + ".pub.log " + run + ".sub.log " + run + ".timeline.csv");
  CHECK(table.exit_code == 0);
  CHECK(table.err.empty());
  CHECK_THAT(table.out, Catch::Contains("streaming = parallel"));
  CHECK_THAT(table.out, Catch::Contains("lock_hold_s"));
  CHECK(program("observe " + run + ".sub.log --format csv")
            .out.starts_with("source,metric,labels,t_s,value,line\n"));
  CHECK(program("observe " + run + ".sub.log --format json").out.starts_with("{\n"));
}

TEST_CASE("observe unpacks what it reads from standard input") {
  const Outcome piped =
      shell("gzip -c tests/calibration/data/lab_artefacts/*update-64kB*sub.log | \"$REPLISIM\" observe -");
  CHECK(piped.exit_code == 0);
  CHECK_THAT(piped.out, Catch::Contains("waited for locks once"));
}

TEST_CASE("observe reads a table with a column map, and a WAL dump") {
  const ScratchFolder folder;
  const std::string map = folder.write("map.txt", "spilled_mb = spill_bytes MB\n");
  const Outcome table =
      program("observe calibration/data/public/spill_vs_work_mem_pg16.csv --columns " + map);
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.out, Catch::Contains("spill_bytes") and Catch::Contains("75,497,472 B"));
  const Outcome wal = program("observe tests/calibration/samples/pg_waldump_15.txt");
  CHECK_THAT(wal.out, Catch::Contains("records of the WAL; `replisim import` makes a scenario"));
  CHECK_THAT(wal.out, Catch::Contains("invalidation messages in the WAL"));
}

TEST_CASE("observe shows its progress on a terminal alone") {
  const Outcome terminal = shell("script -qec '\"$REPLISIM\" observe tests/calibration/samples' /dev/null");
  if (terminal.exit_code == 127)
    return; // no script(1) here
  CHECK_THAT(terminal.out, Catch::Contains("\r") and Catch::Contains("\033[K"));
  CHECK(program("observe tests/calibration/samples").err.empty());
}

TEST_CASE("observe ends with 2 where nothing can be read") {
  const ScratchFolder folder;
  const Outcome empty = program("observe " + folder.write("empty.log", ""));
  CHECK(empty.exit_code == 2);
  CHECK_THAT(empty.err, Catch::Contains("nothing could be read") and Catch::Contains("empty.log: is empty"));
  CHECK(program("observe").exit_code == 2);
  CHECK(program("observe nowhere.log").err == "there is no file or folder 'nowhere.log'\n");
  CHECK(program("observe " + folder.write("b.log", "LOG:  duration: 1.0 ms\n") + " --columns nowhere.map")
            .err == "the column map 'nowhere.map' cannot be read\n");
  CHECK_THAT(program("observe . --time-zone Mars").err, Catch::StartsWith("time zone 'Mars' is not known"));
  CHECK_THAT(
      program("observe " + folder.write("a.log", "LOG:  duration: 1.0 ms\n") + " --log-line-prefix '%y'").err,
      Catch::Contains("'%y' at character 1 is no escape"));
}
