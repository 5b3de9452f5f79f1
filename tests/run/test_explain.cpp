// Explanations of models whose indices are known.
#include "sim/plan/explain.hpp"
#include "sim/plan/explain_resolution.hpp"
#include "sim/report/explain_report.hpp"
#include "sim/scenario/library_files.hpp"
#include "test_paths.hpp"
#include "tests/run/planning_engine.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;
using namespace replisim::test;
using Catch::Contains;

namespace {

/// What the formula rests on, with coefficients of the logarithm of each cost.
const std::vector<std::pair<std::string, double>>& weights() {
  static const std::vector<std::pair<std::string, double>> all = {{"apply.insert_row", 4},
                                                                  {"walsender.send_change", 3},
                                                                  {"walsender.decode_change", 2},
                                                                  {"leader.receive_change", 1}};
  return all;
}

double cost(const Scenario& scenario, const std::string& name) {
  return effective_cost_s(scenario.profile, *find_cost_parameter(name));
}

/// Additive in the logarithms: the variance of each term is known.
RunResult by_formula(const Scenario& scenario, std::uint64_t) {
  RunResult out;
  double total = 1000;
  for (const auto& [name, weight] : weights())
    total += weight * std::log(cost(scenario, name) * 1e6);
  out.metrics["total_s"] = total;
  out.bottleneck = "sub.apply_worker";
  return out;
}

Explanation explained(ExplainMethod method, int samples = 0) {
  const PlanningFile file(sound, by_formula);
  ExplainOptions options;
  options.method = method;
  options.samples = samples;
  return explain(file.planned().scenario, file.sweep(), options);
}

/// The width of an input's range in the formula's terms.
double width(const Explanation& e, const std::string& name) {
  for (const InputEffect& effect : e.inputs)
    if (effect.input.path == "profile.parameters." + name)
      return std::abs(effect.ends[1].metric - effect.ends[0].metric);
  return 0;
}

const InputEffect& effect_of(const Explanation& e, const std::string& name) {
  for (const InputEffect& effect : e.inputs)
    if (effect.input.path == "profile.parameters." + name)
      return effect;
  throw std::runtime_error("no effect of " + name);
}

} // namespace

TEST_CASE("the tornado finds every input of the formula, no other, and ranks them by their effect") {
  const Explanation e = explained(ExplainMethod::Tornado);
  CHECK(e.metric == "total_s");
  REQUIRE(e.inputs.size() == weights().size());
  CHECK(e.still > 50);
  for (std::size_t i = 1; i < e.inputs.size(); ++i)
    CHECK(e.inputs[i].span <= e.inputs[i - 1].span);
  const Scenario base = PlanningFile(sound).planned().scenario;
  for (const auto& [name, weight] : weights()) {
    const InputEffect& effect = effect_of(e, name);
    CHECK(effect.input.guess.empty() == (base.profile.origins.at(name).provenance != Provenance::Guess));
    CHECK(effect.span > 0);
  }
}

TEST_CASE("Morris' effects are the widths of the terms, in the right order") {
  const Explanation e = explained(ExplainMethod::Morris);
  for (const auto& [name, weight] : weights()) {
    const InputEffect& effect = effect_of(e, name);
    REQUIRE(effect.morris);
    CHECK(effect.morris->mean_absolute == Approx(width(e, name)).epsilon(1e-6));
    CHECK(effect.morris->deviation == Approx(0).margin(1e-6));
  }
}

TEST_CASE("Sobol's indices are the terms' shares of the variance, in the right order") {
  const Explanation e = explained(ExplainMethod::Sobol, 128);
  double all = 0;
  for (const auto& [name, weight] : weights())
    all += width(e, name) * width(e, name);
  std::vector<std::pair<double, double>> known;
  for (const auto& [name, weight] : weights()) {
    const InputEffect& effect = effect_of(e, name);
    REQUIRE(effect.sobol);
    const double share = width(e, name) * width(e, name) / all;
    CHECK(effect.sobol->first == Approx(share).margin(0.08));
    CHECK(effect.sobol->total == Approx(share).margin(0.08));
    known.emplace_back(share, effect.sobol->total);
  }
  std::sort(known.begin(), known.end());
  for (std::size_t i = 1; i < known.size(); ++i)
    CHECK(known[i].second >= known[i - 1].second);
}

TEST_CASE("an explanation names the limit, the next one, and the inputs that decide") {
  const PlanningFile file(R"(replisim: 1
name: an apply worker that is too slow
simulation: {time_resolution: 200ms}
profile: {name: lab-2core, parameters: {apply: {insert_row: 30us}}}
hosts: {a: xeon-e7-4890-v2, b: xeon-e7-4890-v2}
servers: {pub: {host: a, version: 17}, sub: {host: b, version: 17}}
links: [{between: [a, b], bandwidth: 10Gbps, latency: 0.1ms}]
tables: {t: {columns: {id: {type: int8, value: sequence}}, primary_key: [id]}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p, streaming: off}}
workload: {w: {server: pub, transaction: [{insert: t, rows: 200000}]}}
)");
  ExplainOptions options;
  options.method = ExplainMethod::Tornado;
  const Explanation e = explain(file.planned().scenario, file.sweep(), options);
  CHECK_THAT(e.bottleneck, Contains("sub.apply_worker"));
  REQUIRE_FALSE(e.chain.empty());
  CHECK(e.chain[0].stage == "sub.apply_worker");
  CHECK(e.chain[0].metric < 0.5 * e.base);
  CHECK(e.stages.front().stage == "sub.apply_worker");
  CHECK(e.decide.front() == "profile.parameters.apply.insert_row");
  const std::string table = explain_table(e, 10);
  CHECK_THAT(table, Contains("? apply.insert_row")); // the scenario's own value: nobody measured it
  CHECK_THAT(table, Contains("inputs decide total_s"));
}

TEST_CASE("an unknown metric is named with the nearest one") {
  const PlanningFile file(sound, by_formula);
  ExplainOptions options;
  options.metric = "totals";
  CHECK_THROWS_WITH(explain(file.planned().scenario, file.sweep(), options),
                    Contains("did you mean 'total_s'"));
}

TEST_CASE("explanations run at the coarsest resolution that agrees, and at none beyond one that does not") {
  const ResolutionLook base{"", 100, "sub.apply_worker"};
  const auto chosen = [&](double at_20, double at_40, double at_80, const char* bottleneck_at_80) {
    return coarsest_that_agrees({{"20ms", at_20, "sub.apply_worker"},
                                 {"40ms", at_40, "sub.apply_worker"},
                                 {"80ms", at_80, bottleneck_at_80}},
                                base);
  };
  CHECK(chosen(100, 100.4, 99.6, "sub.apply_worker") == "80ms");
  CHECK(chosen(100, 100.4, 99.6, "pub.walsender") == "40ms");
  CHECK(chosen(100, 100.6, 100, "sub.apply_worker") == "20ms");
  CHECK(chosen(NAN, 100, 100, "sub.apply_worker").empty());
}

TEST_CASE("only gathered loads are looked at more coarsely, and only where nobody stated a resolution") {
  const Library library{REPLISIM_SOURCE_DIR};
  const auto of = [&](const char* file, std::vector<Override> overrides = {}) {
    return coarser_resolutions(load_scenario(library.root / "scenarios" / file, overrides, library));
  };
  CHECK(of("planning/largest_oltp_load.yaml") == std::vector<std::string>{"40ms", "160ms"});
  CHECK(of("planning/largest_oltp_load.yaml", {{"simulation.time_resolution", "5ms"}}).empty());
  CHECK(of("published/streaming_insert.yaml").empty());
}

TEST_CASE("statements that a transaction repeats are one input, moved together") {
  const Library library{REPLISIM_SOURCE_DIR};
  const Scenario scenario =
      load_scenario(library.root / "scenarios/planning/nightly_batch.yaml", {}, library);
  std::size_t found = 0;
  for (const ExplainInput& input : explain_inputs(scenario)) {
    if (not input.path.starts_with("workload.batch.transaction["))
      continue;
    ++found;
    CHECK(input.path == "workload.batch.transaction[0].rows");
    CHECK(input.alike == 9);
    const auto moved = input.at(1);
    REQUIRE(moved.size() == 10);
    CHECK(moved.back().path == "workload.batch.transaction[18].rows");
    CHECK(moved.back().value == moved.front().value);
  }
  CHECK(found == 1);
}
