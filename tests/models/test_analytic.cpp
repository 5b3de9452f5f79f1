// The laws over stations, and what counts as a disagreement.
#include "models/analytic.hpp"
#include "models/queueing.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;

namespace {

QueueStation station(double rate, double service_s, double most_s) {
  QueueStation out;
  out.name = out.cpu_metric = "walsender";
  out.arrivals_per_s = rate;
  out.service_s = service_s;
  out.service_most_s = most_s;
  return out;
}

} // namespace

TEST_CASE("utilisation, limit and waits of a station by hand") {
  const StationLaws laws = laws_of(station(100, 0.005, 0.006));
  CHECK(laws.utilisation == Approx(0.5));
  CHECK(laws.utilisation_most == Approx(0.6));
  CHECK(laws.limit_per_s == Approx(200));
  CHECK(laws.stable);
  CHECK(laws.md1_wait_s == Approx(0.0025)); // rho S / (2 (1 - rho))
  CHECK(laws.mm1_wait_s == Approx(0.005));
  CHECK(laws.kingman_wait_s == Approx(100 * 1e-4 / (2 * 0.4)));
  CHECK(laws.kingman_wait_s > laws.md1_wait_s);
}

TEST_CASE("a station beyond its capacity has no steady state") {
  const StationLaws laws = laws_of(station(300, 0.005, 0.005));
  CHECK_FALSE(laws.stable);
  CHECK(std::isinf(laws.md1_wait_s));
  CHECK(std::isinf(laws.kingman_wait_s));
}

TEST_CASE("several servers share the load, and batches wait for each other") {
  QueueStation four = station(100, 0.02, 0.02);
  four.servers = 4;
  CHECK(laws_of(four).utilisation == Approx(0.5));
  QueueStation grouped = station(100, 0.005, 0.005);
  grouped.batch = 10;
  CHECK(laws_of(grouped).kingman_wait_s == Approx(10 * laws_of(station(100, 0.005, 0.005)).kingman_wait_s));
}

TEST_CASE("Kingman's bound is the Pollaczek-Khinchine wait and half a gap's variance above it") {
  const double wait_s = queueing::mg1_wait_s(50, 0.01, 0.25);
  CHECK(queueing::kingman_wait_s(50, 0.01, 1, 0.25) > wait_s);
  CHECK(queueing::kingman_wait_s(50, 0.01, 0, 0) == 0); // D/D/1 does not wait
}

TEST_CASE("what agrees says nothing, what does not says it with both figures") {
  AnalyticAnswer answer;
  QueueStation at = station(100, 0.005, 0.006);
  answer.stations.push_back({at, laws_of(at), 0.55});
  answer.little["s"] = {50, 100, 0.5, 3, ""};
  answer.bounds["lag_s_mean of s"] = {0.1, 1, 0.5, ""};
  CHECK(disagreements_of(answer).empty());

  answer.stations.front().measured = 0.7;
  answer.little["s"].number = 54;
  answer.bounds["lag_s_mean of s"].measured = 1.2;
  const auto sentences = disagreements_of(answer);
  REQUIRE(sentences.size() == 3);
  CHECK(sentences[0].find("utilisation law: walsender says 70.0 %") == 0);
  CHECK(sentences[1].find("Little's law: 54") == 0);
  CHECK(sentences[2].find("1.2 s lies outside of its bounds, 0.1 to 1 s") != std::string::npos);

  answer.little["s"].skipped = "the slot does not keep up";
  answer.bounds["lag_s_mean of s"].skipped = "processes wait for CPUs";
  CHECK(disagreements_of(answer).size() == 1);
}

TEST_CASE("stations of one process are compared together") {
  AnalyticAnswer answer;
  const QueueStation at = station(100, 0.003, 0.003);
  answer.stations = {{at, laws_of(at), 0.6}, {at, laws_of(at), 0.6}};
  CHECK(disagreements_of(answer).empty());
  answer.stations.pop_back();
  CHECK(disagreements_of(answer).size() == 1);
}
