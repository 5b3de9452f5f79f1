// Small transactions at random: how they wait for each other.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;
using namespace replisim::test;

TEST_CASE("random arrivals wait for each other as in an M/D/1 queue, whatever the rate") {
  for (const double rate_per_s : {50.0, 1000.0, 20000.0})
    for (const double load : {0.5, 0.8}) {
      const double service_s = load / rate_per_s;
      CostParameters costs;
      costs.apply_transaction_s = service_s;
      Scenario scenario = cluster(costs, Streaming::Off, "64MB");
      scenario.flows = {flow_of(rate_per_s, 1e5 / rate_per_s)};
      scenario.flows[0].poisson = true;
      const auto result = run(until(scenario, 1e5 / rate_per_s + 1));
      const Metrics& slot = result.subscriptions.at("s");
      INFO(rate_per_s << "/s, load " << load);
      const double wait_s = load * service_s / (2 * (1 - load)); // Pollaczek and Khinchine
      CHECK(slot.at("lag_s_mean") == Approx(service_s + wait_s).epsilon(load > 0.6 ? 0.06 : 0.02));
      // P(wait = 0) = 1 - load: some find nobody; and the worst of a hundred thousand waits long.
      CHECK(slot.at("lag_s_p50") < service_s + wait_s);
      CHECK(slot.at("lag_s_max") > service_s + 5 * wait_s);
      CHECK(result.lag_anatomies.at("s").transactions == std::llround(slot.at("total_txns")));
    }
}
