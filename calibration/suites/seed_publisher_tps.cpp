// Suite seed-publisher-tps: pgbench on a publisher, head and a patch that retains dead tuples for conflict
// detection (calibration/data/seeds/publisher_tps_runs.csv). The model knows what the feature does on the
// publisher, and so predicts no difference: the posted gain of 1.6 % has no cause in it.
#include "calibration/csv.hpp"
#include "calibration/repeats.hpp"
#include "calibration/suites/runner.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/run_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

namespace replisim {

namespace {

constexpr const char* scenario_file = "scenarios/published/publisher_tps.yaml";
constexpr const char* head = "head";
constexpr int seeds = 10;
constexpr const char* no_status_cost = "profile.parameters.walsender.status_request=0us";

struct Variant {
  std::string name;
  std::vector<std::string> overrides;
};

const std::array<Variant, 4>& variants() {
  static const std::array<Variant, 4> all = {
      Variant{head, {}},
      Variant{"head_interval_1s", {"servers.sub.settings.wal_receiver_status_interval=1s"}},
      Variant{"patch_on", {"subscriptions.s.retain_dead_tuples=on"}},
      Variant{
          "patch_on_interval_1s",
          {"subscriptions.s.retain_dead_tuples=on", "servers.sub.settings.wal_receiver_status_interval=1s"}}};
  return all;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variation_pct(const std::vector<double>& values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values)
    squares += (value - middle) * (value - middle);
  return 100 * std::sqrt(squares / static_cast<double>(values.size() - 1)) / middle;
}

using Runs = std::map<std::string, std::vector<RunResult>>;

/// Every variant with ten seeds, and the variants with the feature once more with status requests for
/// nothing.
Runs run_all(const Library& library, const std::vector<std::string>& extra, const PoolOptions& options) {
  std::vector<std::string> names;
  std::vector<Job> jobs;
  const auto add = [&](const std::string& name, std::vector<std::string> changes) {
    changes.insert(changes.end(), extra.begin(), extra.end());
    std::vector<Override> overrides;
    for (const std::string& change : changes)
      overrides.push_back(parse_override(change));
    const Scenario scenario = load_scenario(library.root / scenario_file, overrides, library);
    for (int seed = 1; seed <= seeds; ++seed) {
      names.push_back(name);
      jobs.push_back(simulation_job(name, scenario, static_cast<std::uint64_t>(seed)));
    }
  };
  for (const Variant& variant : variants()) {
    add(variant.name, variant.overrides);
    if (not variant.name.starts_with(head)) {
      auto changes = variant.overrides;
      changes.emplace_back(no_status_cost);
      add(variant.name + " without status requests", changes);
    }
  }
  Runs runs;
  const auto outcomes = run_forked(jobs, options);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    runs[names[i]].push_back(decode_result(outcomes[i].get()));
  return runs;
}

std::vector<double> metric_of(const std::vector<RunResult>& runs, const std::string& metric) {
  std::vector<double> out;
  for (const RunResult& run : runs) {
    const auto found = run.metrics.find(metric);
    out.push_back(found == run.metrics.end() ? 0 : found->second);
  }
  return out;
}

/// Difference of two means in percent of the second.
double difference_pct(const std::vector<RunResult>& runs, const std::vector<RunResult>& base) {
  const double of = mean(metric_of(base, "tps"));
  return 100 * (mean(metric_of(runs, "tps")) - of) / of;
}

BarResult bar(const std::string& name, const std::string& sentence, double value, double at_most) {
  BarResult out{.name = name, .sentence = sentence, .limit = at_most, .value = value};
  out.ok = value <= at_most;
  return out;
}

/// Largest values over the variants.
struct Extremes {
  double difference = 0, variation = 0, share = 0;
};

void add_variant(SuiteReport& report, const std::string& name, const Runs& runs, double status_request_s,
                 Extremes& worst) {
  const auto& own = runs.at(name);
  const double variation = variation_pct(metric_of(own, "tps"));
  report.figures.push_back({name + "/variation", variation, "%", "of TPS over ten seeds"});
  worst.variation = std::max(worst.variation, variation);
  if (name == head)
    return;
  const double difference = difference_pct(own, runs.at(head));
  worst.difference = std::max(worst.difference, std::abs(difference));
  report.figures.push_back({name + "/difference", difference, "%", "of TPS to head"});
  if (name.starts_with(head))
    return;
  const auto& without = runs.at(name + " without status requests");
  const double requests = mean(metric_of(own, "status_requests"));
  const double share = 100 * requests * status_request_s / mean(metric_of(own, "cpu_pub.walsender_s"));
  worst.share = std::max(worst.share, share);
  report.figures.push_back(
      {name + "/difference_status_requests", difference_pct(own, without), "%", "part of it"});
  report.figures.push_back(
      {name + "/difference_slot_updates", difference_pct(without, runs.at(head)), "%", "the rest of it"});
  report.figures.push_back({name + "/status_requests", requests, "count", "answered by the walsender"});
  report.figures.push_back({name + "/slot_updates", mean(metric_of(own, "conflict_slot_updates")), "count",
                            "of pg_conflict_detection on the subscriber"});
  report.figures.push_back({name + "/status_share", share, "%", "of the walsender's CPU time answers them"});
}

void study(SuiteReport& report, const Library& library, const std::vector<std::string>& extra,
           const PoolOptions& options) {
  const Runs runs = run_all(library, extra, options);
  for (std::size_t i = 0; i < report.cells.size(); ++i) {
    report.cells[i].predicted = mean(metric_of(runs.at(report.suite.cells[i].id), "tps"));
  }
  std::vector<Override> overrides;
  for (const std::string& change : extra)
    overrides.push_back(parse_override(change));
  const CostProfile profile = load_scenario(library.root / scenario_file, overrides, library).profile;
  Extremes worst;
  for (const Variant& variant : variants())
    add_variant(report, variant.name, runs, profile.costs.status_request_s / profile.cpu_speed, worst);
  const RunResult& run = runs.at(head).front();
  report.figures.push_back(
      {"cpu_speed", profile.cpu_speed, "", "of this machine, the lab's being 1: fitted to head"});
  report.figures.push_back({"apply_tps", run.metrics.at("apply_tps"), "/s", "what the subscriber takes"});
  report.figures.push_back(
      {"lag_transactions", run.metrics.at("lag_transactions"), "count", "not yet applied at the end"});
  report.figures.push_back({"catch_up_s", run.metrics.at("catch_up_s"), "s", "to apply them, at that pace"});
  report.notes.push_back("budget of a transaction: " + run.clients.front().budget);
  for (const auto& [slot, verdict] : run.verdicts)
    report.notes.push_back("subscription " + slot + ": " + verdict.text);
  report.notes.push_back(
      "source of the variation: by seed, chance decides who meets whom on a row of pgbench_branches and "
      "pgbench_tellers and at which moment of a flush a commit comes; nothing else differs between seeds, "
      "and the "
      "noise of a real machine (0.13 to 0.26 % here) is not modelled");
  judge_again(
      report,
      {bar("difference_to_head", "largest difference of a variant's TPS to head, percent", worst.difference,
           0.3),
       bar("variation", "largest coefficient of variation over ten seeds, percent", worst.variation, 0.5),
       bar("status_share", "largest share of walsender CPU that answers status requests, percent",
           worst.share, 0.1),
       bar("fit_to_head", "distance of head from the median it was fitted to, percent",
           std::abs(report.cells.front().predicted / report.suite.cells.front().measured - 1) * 100, 0.5)});
}

} // namespace

Suite make_seed_publisher_tps(const Library& library) {
  const CsvTable table =
      read_measured(library.root, "seeds/publisher_tps_runs.csv", {"run", "variant", "tps"});
  Suite suite;
  std::vector<double> noise;
  for (const Variant& variant : variants()) {
    std::vector<double> repeats;
    for (std::size_t row = 0; row < table.row_count(); ++row)
      if (table.text(row, "variant") == variant.name)
        repeats.push_back(table.number(row, "tps"));
    const auto [low, high] = std::minmax_element(repeats.begin(), repeats.end());
    suite.cells.push_back({.id = variant.name,
                           .measured = median(repeats),
                           .measured_low = *low,
                           .measured_high = *high,
                           .unit = "count",
                           .metric = "tps",
                           .scenario = scenario_file,
                           .overrides = variant.overrides,
                           .repeats = repeats});
    for (const double error : leave_one_out_errors_pct(repeats))
      noise.push_back(error);
  }
  suite.noise = {{"tps", mean(noise)}};
  suite.limits = {{LimitKind::MaxErrorPct, 3}};
  suite.study = study;
  return suite;
}

} // namespace replisim
