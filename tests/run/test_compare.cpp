// Paired differences: exact ones, real ones, their coverage, and what is recommended.
#include "models/base/random.hpp"
#include "sim/plan/compare.hpp"
#include "sim/report/compare_report.hpp"
#include "tests/run/planning_engine.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;
using Catch::Contains;

namespace {

/// A single-server queue under Poisson arrivals, short enough to be run thousands of times.
const std::string queue = R"(replisim: 1
name: a queue
profile: lab-2core
hosts: {a: xeon-e7-4890-v2, b: xeon-e7-4890-v2}
servers: {pub: {host: a, version: 17}, sub: {host: b, version: 17}}
links: [{between: [a, b], bandwidth: 10Gbps, latency: 0.1ms}]
tables: {t: {columns: {id: {type: int8, value: sequence}}, primary_key: [id]}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p, streaming: off}}
workload: {w: {server: pub, rate: 1500/s, arrivals: poisson, transaction: [{insert: t, rows: 80}]}}
observe: {until: 4s, interval: 1s}
)";

Arm arm(const PlanningFile& file, std::string label, std::vector<Override> overrides = {}) {
  Arm out;
  out.label = std::move(label);
  out.engine = file.sweep();
  out.overrides = std::move(overrides);
  return out;
}

/// Metrics by formula: `luck` is shared by the arms, as common random numbers are.
RunResult by_formula(const Scenario& scenario, std::uint64_t seed) {
  const double luck = RandomStream(seed, "luck").uniform(0),
               own = RandomStream(seed, scenario.name).uniform(0);
  RunResult out;
  out.scenario = scenario.name;
  out.seed = seed;
  const bool fast = scenario.name != "first";
  out.metrics["total_s"] = 100 + 20 * luck + own - (fast ? 30 : 0);
  out.metrics["wal_bytes"] = 1000 + 100 * luck;
  out.metrics["blocked_s_total"] = (scenario.name == "blocking" ? 500 : 1) + own;
  return out;
}

Comparison of_two(const std::string& first, const std::string& second, int replications = 10) {
  const PlanningFile file(sound, by_formula);
  return compare_arms({arm(file, first, {{"name", first}}), arm(file, second, {{"name", second}})},
                      replications, {});
}

} // namespace

TEST_CASE("a scenario differs from itself by exactly 0 in every metric") {
  const PlanningFile file(queue);
  const Comparison c = compare_arms({arm(file, "one"), arm(file, "the same")}, 3, {});
  REQUIRE(c.differences.size() == 1);
  CHECK_FALSE(c.deterministic);
  CHECK(c.differences[0].metrics.size() > 20);
  for (const MetricDifference& d : c.differences[0].metrics) {
    INFO(d.metric);
    CHECK(d.paired.difference == Interval{0, 0});
    CHECK(d.belief == Belief::Same);
  }
}

TEST_CASE("what is not random is compared exactly, with two replications") {
  const PlanningFile file(sound);
  const Comparison c = compare_arms({arm(file, "off", {{"subscriptions.s.streaming", "off"}}),
                                     arm(file, "rows", {{"workload.w.transaction[0].rows", "20"}})},
                                    10, {});
  CHECK(c.deterministic);
  CHECK(c.replications == 2);
  const MetricDifference* changes = c.differences[0].find("committed_changes");
  REQUIRE(changes != nullptr);
  CHECK(changes->paired.difference == Interval{10, 0});
  CHECK(changes->belief == Belief::Real);
  CHECK_THAT(compare_table(c, false), Contains("the differences are exact"));
}

TEST_CASE("common random numbers make the interval narrower by the printed factor") {
  const Comparison c = of_two("first", "fast");
  const MetricDifference& total = *c.differences[0].find("total_s");
  CHECK(total.belief == Belief::Real);
  CHECK(total.paired.difference.mean == Approx(-30).margin(1));
  CHECK(total.paired.variance_factor > 20);
  CHECK(c.differences[0].find("wal_bytes")->belief == Belief::Same);
  CHECK_THAT(compare_table(c, true), Contains("times smaller than between independent runs"));
  CHECK(compare_json(c)["differences"][0]["metrics"]["total_s"]["variance_factor"] ==
        total.paired.variance_factor);
}

TEST_CASE("the faster arm is recommended unless others wait for its locks") {
  CHECK_THAT(of_two("first", "fast").recommendation.back(), Contains("Take fast"));
  const Comparison c = of_two("first", "blocking");
  CHECK_THAT(c.recommendation.front(),
             Contains("better: transaction applied after") && (Contains("worse: sessions blocked")));
  CHECK_THAT(c.recommendation.back(), Contains("Take first, unless nobody else works on those tables"));
}

TEST_CASE("an arm that cannot be simulated is named") {
  const PlanningFile file(sound);
  CHECK_THROWS_WITH(compare_arms({arm(file, "good"), arm(file, "bad", {{"tables.t.rows", "many"}})}, 2, {}),
                    Contains("bad cannot be simulated"));
}

// 200 intervals of ten replications each, seeds from 1 on, against the difference of a thousand other ones.
TEST_CASE("intervals of differences cover the truth in 183 to 197 of 200 repetitions", "[.][coverage]") {
  const PlanningFile file(queue);
  const auto both = [&](std::uint64_t seed, int replications) {
    ArmsOptions options;
    options.seed = seed;
    return compare_arms(
        {arm(file, "as it is"), arm(file, "dearer", {{"profile.parameters.apply.insert_row", "5us"}})},
        replications, options);
  };
  const Comparison truth = both(1'000'001, 1000);
  std::map<std::string, int> covered;
  double factor = 0;
  constexpr int repetitions = 200, replications = 10;
  for (int r = 0; r < repetitions; ++r) {
    const Comparison c = both(1 + static_cast<std::uint64_t>(r) * replications, replications);
    for (const char* metric : {"lag_s_mean", "lag_s_p95"}) {
      const Interval& found = c.differences[0].find(metric)->paired.difference;
      const double real = truth.differences[0].find(metric)->paired.difference.mean;
      covered[metric] += std::abs(found.mean - real) <= found.half_width ? 1 : 0;
    }
    factor += c.differences[0].find("lag_s_mean")->paired.variance_factor / repetitions;
  }
  WARN("lag_s_mean covered " << covered["lag_s_mean"] << ", lag_s_p95 " << covered["lag_s_p95"]
                             << " of 200; variance " << factor << " times smaller by pairing");
  for (const auto& [metric, times] : covered) {
    INFO(metric << ": " << times);
    CHECK(times >= 183);
    CHECK(times <= 197);
  }
  CHECK(factor > 1);
}
