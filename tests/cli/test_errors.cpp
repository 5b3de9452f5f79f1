// What goes wrong outside the program gets a sentence and exit code 2; never a crash.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>

using namespace replisim::test;
using Catch::Contains;

TEST_CASE("help and version are no errors") {
  for (const auto* arguments : {"--help", "run --help", "sweep --help", "validate --help", "--version"}) {
    const auto r = program(arguments);
    CHECK(r.exit_code == 0);
    CHECK(r.err.empty());
    CHECK_THAT(r.out, Contains("replisim"));
  }
}

TEST_CASE("mistyped commands and options are answered with the nearest name") {
  const auto command = program("rum x.yaml");
  CHECK(command.exit_code == 2);
  CHECK_THAT(command.err, Contains("'rum' (did you mean 'run'?)"));
  const auto option = program("run --fromat json");
  CHECK(option.exit_code == 2);
  CHECK_THAT(option.err, Contains("'--fromat' (did you mean '--format'?)"));
  CHECK(program("").exit_code == 2);
  CHECK(program("run").exit_code == 2);
}

TEST_CASE("values out of range are refused") {
  for (const auto* arguments : {"--format xml", "--seed -1", "--seed 99999999999999999999", "--seed two",
                                "--jobs 0", "--replications 0"}) {
    INFO(arguments);
    const auto r = program("run " + insert + " " + arguments);
    CHECK(r.exit_code == 2);
    CHECK(r.out.empty());
    CHECK_FALSE(r.err.empty());
  }
}

TEST_CASE("a scenario that is not there, a folder, a far place") {
  const auto missing = program("run scenarios/published/streaming_inser.yaml");
  CHECK(missing.exit_code == 2);
  CHECK(missing.err == "there is no file 'scenarios/published/streaming_inser.yaml' (did you mean "
                       "'streaming_insert.yaml'?)\n");
  const auto folder = program("run scenarios/published");
  CHECK(folder.exit_code == 2);
  CHECK(folder.err == "'scenarios/published' is a folder; a scenario is a YAML file\n");
  const auto far = program("sweep nowhere/x.yaml");
  CHECK(far.exit_code == 2);
  CHECK_THAT(far.err, Contains("the folder 'nowhere' does not exist"));
}

TEST_CASE("six mistakes in a file give six lines that say where") {
  const ScratchFolder folder;
  const std::string file = folder.write("six.yaml", R"(replisim: 1
name: six mistakes
profile: seed1-host
hosts:
  db: {machine: seed1-hots}
servers:
  pub: {host: db, version: 99, settings: {logical_decoding_work_mem: 64Mb}}
  sub: {host: bd, version: 17}
tables:
  test_tab: {columns: {a: int4}, primary_key: [a]}
publications: {p: {server: pub, tables: [test_tab]}}
subscriptions: {s: {server: sub, publication: p, streeming: off}}
workload:
  batch: {server: pub, transaction: [{insert: test_tab, rows: -5}]}
)");
  const auto r = program("run " + file);
  CHECK(r.exit_code == 2);
  CHECK(r.out.empty());
  INFO(r.err);
  CHECK(count_lines(r.err) == 6);
  for (const auto* place : {"six.yaml:5:", "six.yaml:7:", "six.yaml:8:", "six.yaml:12:", "six.yaml:14:"})
    CHECK_THAT(r.err, Contains(place));
  CHECK_THAT(r.err, Contains("did you mean 'streaming'?") and Contains("did you mean 'seed1-host'?"));
}

TEST_CASE("overrides are checked like the file") {
  const auto shape = program("run " + insert + " --set nonsense");
  CHECK(shape.exit_code == 2);
  CHECK_THAT(shape.err, Contains("path=value"));
  const auto unknown = program("run " + insert + " --set subscriptions.s.streeming=off");
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err,
             Contains("--set subscriptions.s.streeming") and Contains("did you mean 'streaming'?"));
}

TEST_CASE("a reader that goes away is no error, a full disk is one") {
  const auto early = shell("\"$REPLISIM\" run " + insert + " --format json | true; echo ${PIPESTATUS[0]}");
  CHECK(early.out == "0\n");
  CHECK(early.err.empty());
  for (const auto* arguments : {"--help", "run scenarios/published/streaming_insert.yaml"}) {
    const auto full = program(std::string(arguments) + " > /dev/full");
    CHECK(full.exit_code == 2);
    CHECK(full.err == "cannot write to standard output: No space left on device\n");
  }
  const auto closed = program("run " + insert + " >&-");
  CHECK(closed.exit_code == 2);
  CHECK_THAT(closed.err, Contains("cannot write to standard output"));
}

TEST_CASE("an unwritable --out is one sentence") {
  const ScratchFolder folder;
  const std::string file = folder.write("file", "x");
  const auto r = program("run " + insert + " --out " + file);
  CHECK(r.exit_code == 2);
  CHECK(r.out.empty());
  CHECK(count_lines(r.err) == 1);
  CHECK_THAT(r.err, Contains(file));
}
