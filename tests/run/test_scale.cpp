// Sixty-four subscriptions and two hundred sessions: a minute of them here, the hour in the soak tests.
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"
#include "test_paths.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

/// Runs the fleet until `until`; simulate() checks that no change is lost and no lag has a gap.
RunResult run_fleet(const std::string& until) {
  Library library;
  library.root = REPLISIM_SOURCE_DIR;
  const Scenario scenario = load_scenario(library.root / "scenarios/scale/64_subscriptions.yaml",
                                          {parse_override("observe.until=" + until)}, library);
  REQUIRE(scenario.subscriptions.size() == 64);
  REQUIRE(scenario.flows.size() + scenario.batches.size() == 200);
  return run_simulation(scenario, 1);
}

/// Every slot has got its share, and each of its transactions is in the anatomy of its lags.
void check_fleet(const RunResult& result, double seconds) {
  CHECK(result.simulated_s == seconds);
  CHECK(result.outcomes.empty());
  REQUIRE(result.subscriptions.size() == 64);
  for (const auto& [name, metrics] : result.subscriptions) {
    INFO(name << ": " << result.verdicts.at(name).text);
    CHECK(metrics.at("apply_tps") > 3); // eleven sessions or so, every 1 to 3 s
    const std::string& state = result.verdicts.at(name).state;
    CHECK((state == "keeping up" or state == "caught up in the end")); // a load may be under way at a sample
    const LagSummary& lags = result.lag_anatomies.at(name);
    CHECK(static_cast<double>(lags.transactions) >= metrics.at("apply_tps") * seconds - 0.5);
    double sum_s = 0;
    for (std::size_t i = 1; i + 1 < lag_stages; ++i)
      sum_s += lags.stages[i].mean_s;
    CHECK(sum_s == Approx(lags.lag.mean_s).epsilon(1e-9));
    CHECK(lags.lag.p50_s < 0.05);
  }
}

} // namespace

TEST_CASE("a fleet of 64 subscriptions and 200 sessions keeps up, and every change of a minute arrives") {
  check_fleet(run_fleet("60s"), 60);
}

TEST_CASE("500 open transactions bear 10 DDL a second, and not 100") {
  Library library;
  library.root = REPLISIM_SOURCE_DIR;
  const auto state = [&](const std::string& rate) {
    const Scenario scenario = load_scenario(
        library.root / "scenarios/planning/ddl_rate.yaml",
        {parse_override("workload.ddl.rate=" + rate), parse_override("observe.until=130s")}, library);
    const RunResult result = run_simulation(scenario, 1);
    CHECK((result.metrics.at("catalog_spill_bytes") > 0) == (rate != "1/s"));
    return result.verdicts.at("s").state;
  };
  CHECK(state("1/s") == "keeping up");
  CHECK(state("10/s") == "keeping up");
  CHECK(state("100/s") == "falling behind");
}

TEST_CASE("a fleet of 64 subscriptions and 200 sessions over an hour", "[.][fleet]") {
  check_fleet(run_fleet("1h"), 3600);
}
