// Studies: detected or declared, estimated, ended early, and what their samples do not support.
#include "sim/run/analytic_companion.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/run/statistics_json.hpp"
#include "sim/run/study.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// A flow of small transactions of which the apply worker has no trouble.
std::string flow_text(const std::string& rate, const std::string& until, const std::string& more = "") {
  return replaced(sound, "workload: {w: {server: pub, transaction: [{insert: t, rows: 10}]}}",
                  "workload: {w: {server: pub, rate: " + rate +
                      ", arrivals: poisson, transaction: [{insert: t, rows: 1}]}}\nobserve: {until: " +
                      until + "}\n" + more);
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

} // namespace

TEST_CASE("a constant load to the end of a run is a steady study, all else is not") {
  CHECK(study_of(load_text(flow_text("100/s", "60s"))).steady);
  CHECK_FALSE(study_of(load_text(sound)).steady);
  const auto curve = load_text(flow_text("100/s", "60s"), {{"workload.w.until", "30s"}});
  CHECK_FALSE(study_of(curve).steady);
  CHECK(study_of(curve).why == "detected: the load w changes");
  const auto declared = load_text(flow_text("100/s", "60s"), {{"statistics.study", "terminating"}});
  CHECK_FALSE(study_of(declared).steady);
  CHECK(study_of(declared).why == "declared");
}

TEST_CASE("a steady study needs a time to observe, and precision is a percentage") {
  CHECK(
      errors_of(sound + "statistics: {study: steady}\n") ==
      Lines{
          "12:21 statistics.study: a steady state is observed over a time; give `observe.until` a duration"});
  CHECK(errors_of(sound + "statistics: {precision: 80%}\n").size() == 1);
}

TEST_CASE("a steady run is estimated: warm-up, intervals, and the laws beside it without a disagreement") {
  const auto run = run_simulation(load_text(flow_text("400/s", "60s")), 1);
  const RunStatistics& statistics = run.statistics;
  CHECK(statistics.steady);
  CHECK_FALSE(statistics.shortened);
  REQUIRE(statistics.estimates.contains("tps"));
  const MetricEstimate& tps = statistics.estimates.at("tps");
  CHECK(tps.refused.empty());
  CHECK(tps.value == Approx(400).epsilon(0.02));
  CHECK(tps.half_width > 0);
  CHECK(std::abs(tps.value - 400) < 3 * tps.half_width);
  CHECK(statistics.estimates.at("lag_s_mean").value == Approx(run.metrics.at("lag_s_mean")).epsilon(0.05));
  CHECK(statistics.refused.empty());
  CHECK(statistics.quantiles.at("lag_s_p99").low <= run.metrics.at("lag_s_p99"));
  CHECK(statistics.quantiles.at("lag_s_p99").high >= run.metrics.at("lag_s_p99"));
  for (const auto& sentence : run.analytic.disagreements)
    UNSCOPED_INFO(sentence);
  CHECK(run.analytic.disagreements.empty());
  CHECK(run.analytic.little.at("s").skipped.empty());
  CHECK(run.analytic.little.at("s").rate_per_s == Approx(400).epsilon(0.03));
  CHECK(statistics_json(statistics_from(statistics_json(statistics))) == statistics_json(statistics));
}

TEST_CASE("a run ends when it is as precise as asked, and its answer is that of the whole one") {
  auto scenario = load_text(flow_text("2000/s", "300s"), {{"servers.pub.settings.checkpoint_timeout", "1d"}});
  const auto whole = run_simulation(scenario, 1);
  scenario.statistics.precision = 0.01;
  scenario.statistics.metrics = {"tps"};
  const auto part = run_simulation(scenario, 1);
  REQUIRE(part.statistics.shortened);
  CHECK(part.statistics.run_s < 200);
  CHECK(part.statistics.asked_s == 300);
  CHECK(says(part.warnings, "estimated: "));
  CHECK(part.metrics.at("tps") == Approx(whole.metrics.at("tps")).epsilon(0.01));
  CHECK(part.metrics.at("committed_transactions") ==
        Approx(whole.metrics.at("committed_transactions")).epsilon(0.01));
  CHECK(part.metrics.at("wal_bytes") == Approx(whole.metrics.at("wal_bytes")).epsilon(0.03));
  CHECK(part.metrics.at("cpu_pub.walsender_s") ==
        Approx(whole.metrics.at("cpu_pub.walsender_s")).epsilon(0.03));
  CHECK(part.statistics.refused.contains("lag_s_max"));

  scenario.statistics.exact = true;
  CHECK_FALSE(run_simulation(scenario, 1).statistics.shortened);
}

TEST_CASE(
    "an overloaded subscriber is no steady state: nothing is cut short, and the verdict says what it is") {
  auto scenario = load_text(flow_text("3000/s", "40s"), {{"profile.parameters.apply.transaction", "500us"}});
  scenario.statistics.precision = 0.05;
  const auto run = run_simulation(scenario, 1);
  CHECK_FALSE(run.statistics.shortened);
  CHECK_FALSE(run.statistics.estimates.at("lag_s_mean").refused.empty());
  CHECK(run.verdicts.at("s").state == "falling behind");
  CHECK(std::any_of(run.analytic.stations.begin(), run.analytic.stations.end(),
                    [](const AnalyticStation& at) { return not at.laws.stable; }));
  CHECK(run.analytic.disagreements.empty());
}

TEST_CASE("percentiles that few transactions do not support are refused with the reason") {
  const auto run = run_simulation(load_text(flow_text("2/s", "60s")), 1);
  REQUIRE(run.statistics.refused.contains("lag_s_p99"));
  CHECK(run.statistics.refused.at("lag_s_p99").find("368 are needed") != std::string::npos);
  const auto summary = summarise_replications({run});
  CHECK_FALSE(summary.metrics.contains("lag_s_p99"));
  CHECK(summary.metrics.contains("lag_s_mean"));
}

TEST_CASE("replications are added until the precision is reached or the budget is spent") {
  auto scenario = load_text(flow_text("400/s", "20s"));
  scenario.statistics.precision = 0.01;
  scenario.statistics.metrics = {"tps"};
  const auto enough = run_replications(scenario, 1, 1, {2, {}, {}});
  CHECK(enough.precision.met);
  CHECK(enough.metrics.at("tps").half_width <= 0.01 * enough.metrics.at("tps").mean);
  CHECK(enough.precision.stop.empty());

  scenario.statistics.precision = 0.00005;
  scenario.statistics.most_replications = 6;
  const auto spent = run_replications(scenario, 1, 1, {2, {}, {}});
  CHECK_FALSE(spent.precision.met);
  CHECK(spent.runs.size() == 6);
  CHECK(spent.precision.stop == "the budget of 6 replications is spent");

  // One large transaction is not random: two runs show it.
  auto large = load_text(sound);
  large.statistics.precision = 0.005;
  const auto same = run_replications(large, 1, 1, {2, {}, {}});
  CHECK(same.deterministic);
  CHECK(same.precision.met);
  CHECK(same.runs.size() == 5);
}

TEST_CASE("the companion bounds one large transaction and knows what it leaves out") {
  const auto scenario = load_text(replaced(sound, "rows: 10}]", "rows: 100000}]"));
  const AnalyticAnswer answer = analytic_answer(scenario);
  const auto run = run_simulation(scenario, 1);
  REQUIRE(answer.bounds.contains("total_s"));
  CHECK(answer.bounds.at("total_s").low <= run.metrics.at("total_s"));
  CHECK(answer.bounds.at("total_s").high >= run.metrics.at("total_s"));
  CHECK(run.analytic.disagreements.empty());
}

TEST_CASE("clients one by one get through what their means do, and each has its own lag and lock wait") {
  const std::string text = replaced(
      replaced(replaced(sound,
                        "tables: {t: {columns: {a: int4, b: text(32)}, primary_key: [a], rows: 100}}\n", ""),
               "tables: [t]",
               "tables: [pgbench_accounts, pgbench_tellers, pgbench_branches, pgbench_history]"),
      "workload: {w: {server: pub, transaction: [{insert: t, rows: 10}]}}",
      "workload: {w: {server: pub, clients: 20, mix: tpcb-like, scale: 10, rate: 500/s}}\n"
      "observe: {until: 30s}");
  auto scenario = load_text(text);
  const auto means = run_simulation(scenario, 1);
  scenario.statistics.exact = true;
  const auto exact = run_simulation(scenario, 1);
  CHECK_FALSE(means.metrics.contains("lock_wait_s"));
  CHECK(exact.metrics.at("lock_wait_s_max") > exact.metrics.at("lock_wait_s"));
  CHECK(exact.metrics.at("tps") == Approx(means.metrics.at("tps")).epsilon(0.02));
  CHECK(exact.metrics.at("latency_s") == Approx(means.metrics.at("latency_s")).epsilon(0.1));
  CHECK(exact.metrics.at("lag_s_mean") == Approx(means.metrics.at("lag_s_mean")).epsilon(0.3));
  CHECK(exact.lag_anatomies.at("s").transactions ==
        static_cast<std::int64_t>(exact.subscriptions.at("s").at("apply_tps") * exact.simulated_s + 0.5));
  CHECK(run_simulation(scenario, 1).fingerprint == exact.fingerprint);
  CHECK(run_simulation(scenario, 2).fingerprint != exact.fingerprint);
}
