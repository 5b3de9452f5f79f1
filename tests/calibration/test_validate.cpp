// `replisim validate` from outside: exit codes, what it prints, and that `run` agrees with its cells.
#include "test_paths.hpp"
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <sys/wait.h>

namespace {

struct Outcome {
  int exit_code = -1;
  std::string output; ///< standard output and standard error
};

Outcome replisim(const std::string& arguments) {
  const std::string command = "'" REPLISIM_PROGRAM "' " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    outcome.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

// Few rows: quick, and far enough from the measured times to be short of every bar.
const std::string few_rows = "--set 'workload.batch.transaction[0].rows=2000' ";

} // namespace

TEST_CASE("without a suite, validate lists them") {
  const Outcome outcome = replisim("validate");
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.output, Catch::Contains("seed-streaming") && Catch::Contains("lab-counters") &&
                                 Catch::Contains("lab-streaming"));
  CHECK(nlohmann::json::parse(replisim("validate --format json").output)["suites"].size() >= 6);
}

TEST_CASE("mistakes on the command line get a sentence and exit code 2") {
  const Outcome suite = replisim("validate seed-streming");
  CHECK(suite.exit_code == 2);
  CHECK_THAT(suite.output, Catch::Contains("did you mean 'seed-streaming'?"));
  const Outcome path = replisim("validate seed-streaming --set subscriptions.s.streming=off");
  CHECK(path.exit_code == 2);
  CHECK_THAT(path.output, Catch::Contains("streming") && Catch::Contains("'streaming'"));
  CHECK(replisim("validate seed-streaming --set nonsense").exit_code == 2);
  CHECK(replisim("validate seed-streaming --jobs 0").exit_code == 2);
  CHECK(replisim("validate seed-streaming --format xml").exit_code == 2);
}

TEST_CASE("short of its bars, a suite still prints its JSON, the same bytes for any number of jobs") {
  const Outcome one = replisim("validate seed-streaming --format json --jobs 1 " + few_rows);
  const Outcome two = replisim("validate seed-streaming --format json --jobs 2 " + few_rows);
  CHECK(one.exit_code == 1);
  CHECK(one.output == two.output);
  const auto report = nlohmann::json::parse(one.output);
  CHECK(report["pass"] == false);
  CHECK(report["cells"].size() == 42);
}

TEST_CASE("run with a cell's scenario and overrides prints the cell's prediction") {
  const auto report =
      nlohmann::json::parse(replisim("validate seed-streaming --format json " + few_rows).output);
  for (const std::size_t i : {std::size_t{0}, std::size_t{41}}) {
    const auto& cell = report["cells"][i];
    std::string arguments =
        "run '" REPLISIM_SOURCE_DIR "/" + cell["scenario"].get<std::string>() + "' --format json";
    for (const auto& text : cell["overrides"])
      arguments += " --set '" + text.get<std::string>() + "'";
    const Outcome outcome = replisim(arguments);
    REQUIRE(outcome.exit_code == 0);
    CHECK(nlohmann::json::parse(outcome.output)["metrics"]["total_s"] == cell["predicted"]);
  }
}

TEST_CASE("the counters of the lab come out as its servers counted them") {
  const Outcome outcome = replisim("validate lab-counters");
  INFO(outcome.output.substr(outcome.output.size() > 800 ? outcome.output.size() - 800 : 0));
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("user reports: a line each, exit code 1 when one is answered wrongly") {
  const Outcome wrong = replisim("validate reports --format json --set name=x --set observe.until=1s");
  CHECK(wrong.exit_code == 1);
  const auto report = nlohmann::json::parse(wrong.output);
  CHECK(report["pass"] == false);
  CHECK(report["reports"].size() == 23);
  for (const auto& entry : report["reports"])
    CHECK(entry["checks"].size() >= 4);
  CHECK(replisim("validate reports --set observe.untill=1s").exit_code == 2);
}

TEST_CASE("lab-pgbench keeps its bars") {
  const Outcome outcome = replisim("validate lab-pgbench");
  INFO(outcome.output);
  CHECK(outcome.exit_code == 0);
}

// Half of an interval of 10 s passes before the leader asks for the first time: the run must be longer.
TEST_CASE("seed-publisher-tps finds no difference, and says what it is made of") {
  const Outcome outcome =
      replisim("validate seed-publisher-tps --format json --set workload.pgbench.until=8s "
               "--set observe.until=8s");
  INFO(outcome.output);
  REQUIRE(outcome.exit_code == 0);
  const auto json = nlohmann::json::parse(outcome.output);
  CHECK(json.at("cells").size() == 4);
  CHECK(json.at("fitted_parameters") == 1);
  const auto& figures = json.at("figures");
  const double speed = figures.at("cpu_speed").at("value");
  CHECK(speed > 0.3);
  CHECK(speed < 3);
  for (const std::string variant : {"patch_on", "patch_on_interval_1s"}) {
    const auto value = [&](const std::string& name) {
      return figures.at(variant + "/" + name).at("value").get<double>();
    };
    CHECK(std::abs(value("difference")) < 0.3);
    CHECK(value("difference_status_requests") + value("difference_slot_updates") ==
          Approx(value("difference")).margin(0.001));
    CHECK(value("status_requests") > 0);
    CHECK(value("status_share") < 0.1);
    CHECK(value("variation") > 0);
    CHECK(value("variation") < 0.5);
  }
  CHECK_THAT(json.at("notes").at(0).get<std::string>(),
             Catch::StartsWith("budget of a transaction: 60 clients / 5") && Catch::Contains("lock wait"));
}
TEST_CASE("what 17 and 18 spill and stream follows from the version") {
  const Outcome outcome = replisim("validate lab-17-vs-18 --format json");
  INFO(outcome.output.substr(outcome.output.size() > 800 ? outcome.output.size() - 800 : 0));
  CHECK(outcome.exit_code == 0);
  const auto report = nlohmann::json::parse(outcome.output);
  CHECK(report["cells"].size() == 144); // 18 runs, 4 counters, 2 versions
  CHECK(report["bars"]["order"]["cells"] >= 2);
}

TEST_CASE("calibrate: mistakes of the command line and of specs") {
  const Outcome missing = replisim("calibrate '" REPLISIM_SOURCE_DIR "/calibration/specs/seed1-hots.yaml'");
  CHECK(missing.exit_code == 2);
  CHECK_THAT(missing.output, Catch::Contains("seed1-host.yaml"));
  CHECK(replisim("calibrate").exit_code == 2);
  CHECK(replisim("validate lab-counters --cross-validate").exit_code == 2);
  CHECK(replisim("validate --cross-validate").exit_code == 2);
  CHECK(replisim("validate reports --cross-validate").exit_code == 2);
  CHECK(replisim("validate seed-streaming --cross-validate --set name=x").exit_code == 2);
}

TEST_CASE("profiles of four runs are what their specs give, from the table as from files") {
  const std::string root = REPLISIM_SOURCE_DIR;
  for (const std::string name : {"lab-2core-64kb", "lab-2core-artefacts"}) {
    const Outcome outcome = replisim("calibrate '" + root + "/calibration/specs/" + name +
                                     ".yaml' --check '" + root + "/calibration/profiles/" + name + ".yaml'");
    INFO(outcome.output);
    CHECK(outcome.exit_code == 0);
  }
}
