// The statistics of `replisim run`, and its analytic companion, as a user sees them.
#include "tests/cli/program.hpp"

#include "test_paths.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace replisim::test;
using nlohmann::json;

namespace {

const std::string publisher = "scenarios/published/publisher_tps.yaml";
/// The same with a load that its subscriber keeps up with.
const std::string light = publisher + " --set workload.pgbench.rate=3000/s --set observe.until=60s "
                                      "--set workload.pgbench.until=60s ";

} // namespace

TEST_CASE("a steady run says its study, its warm-up and its intervals in every format") {
  const auto table = program("run " + light);
  INFO(table.err);
  REQUIRE(table.exit_code == 0);
  CHECK(table.out.find("\nStatistics\n  study        steady state (detected: ") != std::string::npos);
  CHECK(table.out.find("MSER-5") != std::string::npos);
  CHECK(table.out.find("By the laws of queueing theory\n") != std::string::npos);
  CHECK(table.out.find("simulation and theory disagree") == std::string::npos);

  const json result = json::parse(program("run " + light + "--format json").out);
  CHECK(result.at("statistics").at("study") == "steady");
  const json& tps = result.at("statistics").at("estimates").at("tps");
  CHECK(tps.at("half_width_95").get<double>() > 0);
  CHECK(result.at("metrics").at("tps") == tps.at("value"));
  CHECK(result.at("analytic").at("disagreements").empty());

  const auto csv = program("run " + light + "--format csv");
  CHECK(csv.out.find("metric,value,half_width_95\n") == 0);
}

TEST_CASE("option precision adds replications until it is reached, and says so") {
  const auto run = program("run " + light + "--precision 2% --format json");
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const json result = json::parse(run.out);
  const json& precision = result.at("statistics").at("precision");
  CHECK(precision.at("asked") == 0.02);
  CHECK(precision.at("met") == true);
  const auto wrong = program("run " + light + "--precision much");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("statistics.precision") != std::string::npos);
  CHECK(program("run " + insert + " --study steady").exit_code == 2);
}

TEST_CASE("option analytic-only answers at once, in every format") {
  const auto run = shell("timeout 5 $REPLISIM run " + publisher + " --analytic-only --format json");
  REQUIRE(run.exit_code == 0);
  const json answer = json::parse(run.out).at("analytic");
  CHECK(answer.at("metrics").at("tps").get<double>() == Approx(57'675).epsilon(0.01));
  CHECK(answer.at("stations").size() >= 3);
  const auto table = program("run " + publisher + " --analytic-only");
  CHECK(table.out.find("nothing was simulated") != std::string::npos);
  CHECK(table.out.find("sub.apply_worker: 100.0 %, OVERLOADED: ") != std::string::npos);
  CHECK(table.out.find("OVERLOADED") != std::string::npos);
  CHECK(program("run " + publisher + " --analytic-only --format csv").out.find("metric,value\n") == 0);
  CHECK(program("run " + publisher + " --analytic-only --out /tmp/never").exit_code == 2);
}

TEST_CASE("clients that a server would refuse, and a mix without statements, are sentences") {
  const auto many = program("run " + publisher + " --set servers.pub.settings.max_connections=50");
  CHECK(many.exit_code == 2);
  CHECK(many.err.find("publisher_tps.yaml:41:35: workload.pgbench.clients: 60 clients on pub, whose "
                      "max_connections is 50") != std::string::npos);
  const ScratchFolder folder;
  std::string text = read_file(std::string(REPLISIM_SOURCE_DIR) + "/scenarios/published/publisher_tps.yaml");
  const std::string mix = "mix: tpcb-like, scale: 100,";
  text.replace(text.find(mix), mix.size(), "transactions: [{statements: []}],");
  const auto empty = program("run " + folder.write("empty.yaml", text));
  CHECK(empty.exit_code == 2);
  CHECK(empty.err.find("empty.yaml:41:67: workload.pgbench.transactions[0].statements: there are none") !=
        std::string::npos);
}
