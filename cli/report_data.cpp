#include "cli/report_data.hpp"

#include "sim/run/result_json.hpp"
#include "sim/scenario/scenario_tree.hpp"

#include <fmt/format.h>

#include <array>

namespace replisim::cli {

using nlohmann::json;

namespace {

void flatten(const Node& node, const std::string& path, json& out) {
  if (node.is_map() and not node.entries.empty()) {
    for (const auto& entry : node.entries)
      flatten(entry.value, path.empty() ? entry.key : fmt::format("{}.{}", path, entry.key), out);
    return;
  }
  const bool plain_list =
      node.is_list() and (node.items.empty() or node.items.front().is_scalar() or node.items.size() == 1);
  if (node.is_list() and not plain_list) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      flatten(node.items[i], fmt::format("{}[{}]", path, i), out);
    return;
  }
  out.push_back({path, flow_text(node)});
}

constexpr std::array modes = {std::pair("off", Streaming::Off), std::pair("on", Streaming::On),
                              std::pair("parallel", Streaming::Parallel)};

/// The mode that all subscriptions have; empty when they differ.
std::string common_mode(const Scenario& scenario) {
  std::string out;
  for (const auto& [name, mode] : modes)
    if (std::all_of(scenario.subscriptions.begin(), scenario.subscriptions.end(),
                    [mode = mode](const auto& entry) { return entry.second.streaming == mode; }))
      out = name;
  return out;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

} // namespace

json settings_json(const std::string& file, const std::vector<Override>& overrides) {
  Problems problems;
  Node root = read_tree(file, problems);
  apply_overrides(root, overrides, problems);
  json out = json::array();
  flatten(root, "", out);
  return out;
}

json modes_json(const ScenarioSource& source, const std::vector<Override>& overrides, std::uint64_t seed,
                bool exact, const PoolOptions& pool) {
  const Scenario base = source.load_point(overrides);
  if (base.subscriptions.empty())
    return {{"modes", json::array()},
            {"reason", "The scenario has no subscription: streaming is a setting of subscriptions."}};
  const std::string current = common_mode(base);
  std::vector<Job> work;
  for (const auto& [name, mode] : modes) {
    std::vector<Override> all = overrides;
    for (const auto& [subscription, settings] : base.subscriptions)
      all.push_back({fmt::format("subscriptions.{}.streaming", subscription), name});
    work.push_back({name, [all, &source, seed, exact] {
                      Scenario scenario = source.load_point(all);
                      scenario.statistics.exact = exact;
                      scenario.statistics.estimates_long = true;
                      std::vector<RunResult> runs;
                      runs.push_back(decode_result(simulation_job("", scenario, seed).work()));
                      RunResult shown = runs.front();
                      const Replications summary = summarise_replications(std::move(runs));
                      for (const auto& [metric, interval] : summary.metrics)
                        shown.metrics[metric] = interval.mean;
                      return encode_result(shown);
                    }});
  }
  const auto outcomes = run_forked(work, pool);
  json out = json::array();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    json mode = {{"streaming", modes[i].first}, {"current", current == modes[i].first}};
    try {
      const json result = result_json(decode_result(outcomes[i].get()));
      mode["metrics"] = result.at("metrics");
      mode["stages"] = result.at("stages");
      mode["bottleneck"] = result.at("bottleneck");
    } catch (const UsageError& e) {
      mode["metrics"] = mode["stages"] = json::object();
      mode["bottleneck"] = "";
      mode["error"] = first_line(e.what());
    }
    out.push_back(std::move(mode));
  }
  return {{"modes", std::move(out)}, {"reason", ""}};
}

} // namespace replisim::cli
