// Distinct runs of a set of cells, and their predictions.
#include "calibration/suites/predictor.hpp"

#include "models/base/check.hpp"
#include "sim/run/simulate.hpp"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace replisim {

namespace {

constexpr std::uint64_t run_seed = 1;

std::string encode_metrics(const Metrics& metrics) {
  const std::vector<std::uint8_t> bytes = nlohmann::json::to_cbor(nlohmann::json(metrics));
  return {bytes.begin(), bytes.end()};
}

std::vector<Override> overrides_of(const Cell& cell) {
  std::vector<Override> overrides;
  for (const std::string& text : cell.overrides)
    overrides.push_back(parse_override(text));
  return overrides;
}

} // namespace

Scenario load_cell(const Cell& cell, const Library& library) {
  return load_scenario(library.root / cell.scenario, overrides_of(cell), library);
}

Simulator forked_simulator(PoolOptions options) {
  return [options = std::move(options)](const std::vector<Scenario>& scenarios) {
    std::vector<Job> jobs;
    for (const Scenario& scenario : scenarios)
      jobs.push_back(
          {scenario.name, [&scenario] { return encode_metrics(simulate(scenario, run_seed).metrics); }});
    std::vector<Metrics> results;
    for (const JobOutcome& outcome : run_forked(jobs, options))
      results.push_back(nlohmann::json::from_cbor(outcome.get()).get<Metrics>());
    return results;
  };
}

Predictor::Predictor(const std::vector<Cell>& cells, const Library& library) {
  std::map<std::pair<std::string, std::vector<std::string>>, std::size_t> known;
  std::map<std::string, ScenarioSource> sources; // each file is read once
  for (const Cell& cell : cells) {
    const auto [entry, is_new] = known.try_emplace({cell.scenario, cell.overrides}, scenarios_.size());
    if (is_new) {
      const auto source = sources.try_emplace(cell.scenario, library.root / cell.scenario, library).first;
      scenarios_.push_back(source->second.load(overrides_of(cell)));
    }
    reads_.push_back({entry->second, cell.metric});
  }
}

std::vector<double> Predictor::read(const Metrics* results) const {
  std::vector<double> predictions;
  for (const Read& read : reads_) {
    const Metrics& metrics = results[read.scenario];
    const auto found = metrics.find(read.metric);
    predictions.push_back(found != metrics.end() ? found->second : std::numeric_limits<double>::quiet_NaN());
  }
  return predictions;
}

std::vector<double> Predictor::predict(const Simulator& simulator) const {
  const std::vector<Metrics> results = simulator(scenarios_);
  REPLISIM_REQUIRE(results.size() == scenarios_.size(), "{} results for {} runs", results.size(),
                   scenarios_.size());
  return read(results.data());
}

std::vector<std::vector<double>> Predictor::predict_profiles(const Simulator& simulator,
                                                             const std::vector<CostProfile>& profiles) const {
  std::vector<Scenario> runs;
  for (const CostProfile& profile : profiles)
    for (const Scenario& scenario : scenarios_) {
      runs.push_back(scenario);
      runs.back().profile = profile;
    }
  const std::vector<Metrics> results = simulator(runs);
  REPLISIM_REQUIRE(results.size() == runs.size(), "{} results for {} runs", results.size(), runs.size());
  std::vector<std::vector<double>> predictions;
  for (std::size_t k = 0; k < profiles.size(); ++k)
    predictions.push_back(read(results.data() + k * scenarios_.size()));
  return predictions;
}

} // namespace replisim
