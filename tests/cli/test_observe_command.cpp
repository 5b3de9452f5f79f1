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

TEST_CASE("observe ends with 2 where nothing can be read") {
  const ScratchFolder folder;
  const Outcome empty = program("observe " + folder.write("empty.log", ""));
  CHECK(empty.exit_code == 2);
  CHECK_THAT(empty.err, Catch::Contains("nothing could be read") and Catch::Contains("empty.log: is empty"));
  CHECK(program("observe").exit_code == 2);
  CHECK(program("observe nowhere.log").err == "there is no file or folder 'nowhere.log'\n");
  CHECK_THAT(
      program("observe " + folder.write("a.log", "LOG:  duration: 1.0 ms\n") + " --log-line-prefix '%y'").err,
      Catch::Contains("'%y' at character 1 is no escape"));
}
