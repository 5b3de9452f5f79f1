#include "calibration/live/twin.hpp"

#include "models/settings.hpp"
#include "sim/scenario/scenario_tree.hpp"
#include "sim/scenario/yaml_document.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace replisim::live {

namespace {

Node parsed(const std::string& text) {
  Problems problems;
  const auto node = parse_yaml(text, Position{}, problems);
  return node.value_or(Node{});
}

/// Two levels of a map one below the other, what is deeper in one line.
std::string block_text(const Node& root) {
  std::string out;
  for (const MapEntry& entry : root.entries) {
    if (not entry.value.is_map() or entry.value.entries.empty()) {
      out += fmt::format("{}: {}\n", entry.key, flow_text(entry.value));
      continue;
    }
    out += fmt::format("{}:\n", entry.key);
    for (const MapEntry& inner : entry.value.entries) {
      Node key;
      key.kind = Node::Kind::Scalar;
      key.text = inner.key;
      out += fmt::format("  {}: {}\n", flow_text(key), flow_text(inner.value));
    }
  }
  return out;
}

/// Settings that this version does not have, in a scenario that was written for another one.
void drop_unknown_settings(Node* settings, int major) {
  if (settings == nullptr or not settings->is_map())
    return;
  for (const std::string& name : settings->keys())
    if (const GucDescriptor* guc = find_guc(name);
        guc != nullptr and (major < guc->since_major or major > guc->until_major))
      settings->remove(name);
}

} // namespace

std::string twin_text(const Experiment& experiment, const TwinContext& context) {
  Problems problems;
  Node root = read_tree(experiment.scenario, problems);
  apply_overrides(root, experiment.overrides, problems);
  problems.throw_if_any();
  const Position at;
  for (const char* left_out : {"sweep", "break_even", "guessed", "background"})
    root.remove(left_out);
  root.put("name", parsed(fmt::format("\"{}, as replisim lab ran it\"", experiment.name)), at);
  root.put("profile", parsed(context.profile), at);
  Node* hosts = root.find("hosts");
  Node* servers = root.find("servers");
  std::string host = "db";
  if (hosts != nullptr and hosts->is_map())
    for (MapEntry& entry : hosts->entries) {
      entry.value = parsed(context.machine);
      host = entry.key;
    }
  if (servers != nullptr and servers->is_map())
    for (MapEntry& entry : servers->entries)
      if (entry.value.is_map()) {
        entry.value.put("version", parsed(context.version), at);
        drop_unknown_settings(entry.value.find("settings"), std::atoi(context.version.c_str()));
      }
  std::vector<std::string> loads;
  constexpr double smallest = 0.001; // what a scenario can say
  for (const auto& [name, cores] :
       {std::pair("sampler", context.sampler_cores), std::pair("polling", context.session_cores)})
    if (cores >= smallest)
      loads.push_back(fmt::format("{}: {{host: {}, cores: {:.4f}}}", name, host, std::min(cores, 1.0)));
  if (not loads.empty())
    root.put("background", parsed(fmt::format("{{{}}}", fmt::join(loads, ", "))), at);
  return fmt::format(
      "# The twin of experiment {}; background is what measuring took. Made by `replisim lab`.\n{}",
      experiment.name, block_text(root));
}

} // namespace replisim::live
