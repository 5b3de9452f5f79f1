// Hosts, servers, links, cost profile and run options from the checked tree.
#include "sim/scenario/library_files.hpp"
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace replisim {

std::vector<NamedFields> named_entries(const Node& root, const std::string& map) {
  std::vector<const MapEntry*> entries;
  if (const Node* node = root.find(map); node != nullptr and not node->bad)
    for (const MapEntry& entry : node->entries)
      if (not entry.value.bad and entry.value.is_map())
        entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(),
            [](const MapEntry* a, const MapEntry* b) { return a->key < b->key; });
  const ObjectDescriptor& object = object_of(object_of("scenario").find(map)->object);
  std::vector<NamedFields> out;
  for (const MapEntry* entry : entries)
    out.push_back({entry->key, join_path(map, entry->key), Fields(entry->value, object)});
  return out;
}

const Node* find_entry(const Node& root, const std::string& map, const std::string& name) {
  const Node* node = root.find(map);
  const Node* entry = node == nullptr ? nullptr : node->find(name);
  return entry != nullptr and not entry->bad and entry->is_map() ? entry : nullptr;
}

std::vector<std::string> names_in(const Fields& fields, std::string_view list) {
  std::vector<std::string> out;
  if (const Node* node = fields.given(list))
    for (const Node& item : node->items)
      if (not item.bad)
        out.push_back(item.text);
  return out;
}

void build_profile(Building& building) {
  const Node* node = building.root.find("profile");
  if (node == nullptr or node->bad)
    return;
  const Fields fields(*node, object_of("profile"));
  const Node* name = fields.given("name");
  if (name == nullptr)
    return;
  auto profile = read_profile_file(*name, "profile", building.library, building.problems);
  if (not profile)
    return;
  refine_profile(*profile, fields.number("cpu_speed"), fields.given("parameters"), object_of("stated_cost"));
  building.scenario.profile = std::move(*profile);
}

void build_hosts(Building& building) {
  for (const auto& [name, path, fields] : named_entries(building.root, "hosts")) {
    const Node* machine = fields.given("machine");
    if (machine == nullptr)
      continue;
    auto tree = read_machine_file(*machine, path + ".machine", building.library, building.problems);
    if (not tree)
      continue;
    Node own = fields.node();
    own.remove("machine");
    own.shorthand = false;
    merge_over(*tree, own);
    const Machine built = machine_from(Fields(*tree, object_of("machine_file")));
    if (built.threads_per_core > 1 and built.smt_gain > built.threads_per_core)
      building.problems.add(
          fields.at("smt_gain"), path + ".smt_gain",
          fmt::format("{:g} is more than the {} threads of a core could do if each were a core of its own",
                      built.smt_gain, built.threads_per_core));
    building.scenario.hosts[name] = built;
    building.machines[name] = std::move(*tree);
  }
}

void build_servers(Building& building) {
  for (const auto& [name, path, fields] : named_entries(building.root, "servers")) {
    Server server;
    server.name = name;
    server.host = fields.text("host");
    server.checkpoint_before_workload = fields.flag("checkpoint_before_workload");
    std::string problem;
    if (fields.given("version") != nullptr)
      parse_version(fields.text("version"), server.version, problem);
    if (const Node* settings = fields.given("settings"))
      for (const MapEntry& entry : settings->entries)
        if (not entry.value.bad)
          server.settings.set(entry.key, *parse_guc(*find_guc(entry.key), entry.value.text, problem));
    building.scenario.servers[name] = std::move(server);
  }
}

void build_links(Building& building) {
  const Node* links = building.root.find("links");
  if (links == nullptr or links->bad)
    return;
  std::set<std::set<std::string>> joined;
  for (std::size_t i = 0; i < links->items.size(); ++i) {
    if (links->items[i].bad)
      continue;
    const Fields fields(links->items[i], object_of("link"));
    const Node* between = fields.given("between");
    if (between == nullptr)
      continue;
    const auto ends = names_in(fields, "between");
    const std::string path = fmt::format("links[{}].between", i);
    if (between->items.size() != 2) {
      building.problems.add(between->at, path,
                            fmt::format("a link joins two hosts, this list holds {}", between->items.size()));
      continue;
    }
    if (ends.size() != 2)
      continue; // an unknown host, reported
    if (not joined.insert({ends[0], ends[1]}).second)
      building.problems.add(between->at, path,
                            fmt::format("{} and {} are joined by an earlier link already", ends[0], ends[1]));
    building.scenario.links.push_back(
        {ends[0], ends[1], fields.number("bandwidth"), fields.number("latency"), fields.integer("window")});
  }
}

void build_run_options(Building& building) {
  const Node& root = building.root;
  const Fields top(root, object_of("scenario"));
  building.scenario.name = top.text("name");
  if (top.given("simulation") != nullptr)
    building.scenario.time_resolution_s = top.child("simulation").number("time_resolution");
  const Node nothing;
  const Node* observe = top.given("observe");
  building.scenario.observe.interval_s =
      Fields(observe == nullptr ? nothing : *observe, object_of("observe")).number("interval");
  for (const auto& [name, path, fields] : named_entries(root, "background"))
    building.scenario.background.push_back({name, fields.text("host"), fields.number("cores")});
}

} // namespace replisim
