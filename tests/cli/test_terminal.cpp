// What people see on a terminal and what programs get in a pipe; help, completion and manual pages.
#include "tests/cli/program.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace replisim::test;
using Catch::Contains;

namespace {

const std::string quick = insert + " --set 'workload.batch.transaction[0].rows=20000'";

/// The program on a terminal of so many columns (script(1) of util-linux makes one).
Outcome on_terminal(const std::string& arguments, int columns, const std::string& environment = "") {
  return shell(fmt::format(
      "env -u NO_COLOR LC_ALL=C.UTF-8 TERM=xterm {} script -qec \"stty cols {}; '$REPLISIM' {} 2>/dev/null\" "
      "/dev/null",
      environment, columns, arguments));
}

std::size_t columns_of(const std::string& line) {
  std::size_t columns = 0;
  for (const char c : line)
    columns += (static_cast<unsigned char>(c) & 0xc0) != 0x80 and c != '\r' ? 1 : 0;
  return columns;
}

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, columns_of(line));
  return widest;
}

std::vector<std::string> commands() {
  return {"run",      "sweep",   "init",      "check",  "explain-key", "schema",     "import", "results",
          "validate", "observe", "calibrate", "replay", "diff",        "completion", "man",    "reference"};
}

} // namespace

TEST_CASE("a pipe gets the table, without colour, pictures or progress") {
  const auto piped = program("run " + quick);
  CHECK(piped.err.empty());
  CHECK_THAT(piped.out, Contains("\nTimes\n") and not Contains("\033"));
  CHECK(widest_line(piped.out) <= 100);
}

TEST_CASE("a terminal gets one screen with the verdict, the lag, the stages and the riskiest guesses") {
  const auto screen = on_terminal("run " + quick, 100, "NO_COLOR=1");
  INFO(screen.out);
  CHECK(screen.exit_code == 0);
  for (const char* part : {"verdict", "lag", "p50", "p95", "p99", "WAL behind", "stages", "bottleneck",
                           "inputs are guesses", "1. ", "--format table"})
    CHECK_THAT(screen.out, Contains(part));
  CHECK(count_lines(screen.out) <= 24);
  CHECK_THAT(screen.out, not Contains("\033"));
  CHECK_THAT(screen.out, Contains("█"));
}

TEST_CASE("colour adds nothing that is not said") {
  const auto coloured = on_terminal("run " + quick, 100);
  const auto plain = on_terminal("run " + quick, 100, "NO_COLOR=1");
  CHECK_THAT(coloured.out, Contains("\033["));
  std::string stripped;
  for (std::size_t at = 0; at < coloured.out.size(); ++at)
    if (coloured.out[at] == '\033')
      at = coloured.out.find('m', at);
    else
      stripped += coloured.out[at];
  CHECK(stripped == plain.out);
  CHECK_THAT(on_terminal("run " + quick + " --format json", 100).out, not Contains("\033"));
}

TEST_CASE("reports fit the window") {
  for (const int columns : {50, 70, 100}) {
    INFO(columns);
    for (const std::string& arguments : {"run " + quick, "run " + quick + " --format table",
                                         "sweep " + quick + " --vary subscriptions.s.streaming=off,on"}) {
      INFO(arguments);
      const auto outcome = on_terminal(arguments, columns, "NO_COLOR=1");
      CHECK(outcome.exit_code == 0);
      INFO(outcome.out);
      CHECK(widest_line(outcome.out) <= static_cast<std::size_t>(columns));
    }
  }
}

TEST_CASE("every command has help with an example, a manual page and completion") {
  const std::string bash = program("completion bash").out;
  const std::string fish = program("completion fish").out;
  const std::string zsh = program("completion zsh").out;
  for (const std::string& command : commands()) {
    INFO(command);
    CHECK_THAT(program(command + " --help").out, Contains("Example"));
    CHECK_THAT(program("man " + command).out, Contains(".SH NAME") and Contains(".SH OPTIONS"));
    CHECK_THAT(bash, Contains("'" + command + "') words="));
    CHECK_THAT(fish, Contains(" -a " + command + " "));
    CHECK_THAT(zsh, Contains("_replisim_" + command + "()"));
  }
  // Commands of the help that this list has not: add them above.
  const std::string help = program("--help").out;
  for (const std::string& command : commands())
    CHECK_THAT(help, Contains("\n  " + command + " "));
}

TEST_CASE("bash completes commands, options and values") {
  const auto completions = [](const std::string& words) {
    return shell("source <(\"$REPLISIM\" completion bash); compopt() { :; }; COMP_WORDS=(" + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _replisim; printf '%s\\n' \"${COMPREPLY[@]}\"")
        .out;
  };
  CHECK(completions("replisim sw") == "sweep\n");
  CHECK_THAT(completions("replisim run --pre"), Contains("--precision\n"));
  CHECK(completions("replisim run x.yaml --format s") == "summary\n");
  CHECK_THAT(completions("replisim results r.db li") + completions("replisim results li"),
             Contains("list\n"));
  CHECK_THAT(completions("replisim results list --so"), Contains("--sort\n"));
  CHECK_THAT(completions("replisim completion z"), Contains("zsh\n"));
  CHECK_THAT(completions("replisim run Make"), Contains("Makefile\n"));
}

TEST_CASE("manual pages are written for every command") {
  const ScratchFolder folder;
  REQUIRE(program("man --out " + (folder / "man1").string()).exit_code == 0);
  for (const char* page : {"replisim.1", "replisim-run.1", "replisim-results-list.1"}) {
    INFO(page);
    CHECK_THAT(read_file(folder / "man1" / page), Contains(".TH REPLISIM") and Contains(".SH SYNOPSIS"));
  }
  CHECK(program("man rum").exit_code == 2);
  CHECK_THAT(program("man rum").err, Contains("did you mean 'run'?"));
}
