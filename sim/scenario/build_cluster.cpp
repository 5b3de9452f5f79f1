// Hosts, servers, links, cost profile and run options from the checked tree.
#include "models/base/suggest.hpp"
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
  auto profile = read_profile_file(*name, "profile", building.library, building.problems, &building.envelope);
  if (not profile)
    return;
  refine_profile(*profile, fields.number("cpu_speed"), fields.given("parameters"), object_of("stated_cost"));
  building.scenario.profile = std::move(*profile);
}

namespace {

void check_disks(Building& building, const Node& machine, const std::string& path) {
  const Node* disks = machine.find("disks");
  if (disks == nullptr or disks->bad)
    return;
  std::set<std::string> names;
  for (std::size_t i = 0; i < disks->items.size(); ++i) {
    if (disks->items[i].bad)
      continue;
    const Fields disk(disks->items[i], object_of("disk"));
    const std::string disk_path = fmt::format("{}.disks[{}]", path, i);
    if (not names.insert(disk.text("name")).second)
      building.problems.add(disk.at("name"), disk_path + ".name",
                            fmt::format("two disks are named '{}'", disk.text("name")));
    if (not disk.usable("capacity") or not disk.usable("used") or disk.number("used") == 0)
      continue;
    if (disk.number("capacity") == 0)
      building.problems.add(disk.at("used"), disk_path + ".used",
                            "a disk that never fills has nothing used; give it a `capacity`");
    else if (disk.number("used") > disk.number("capacity"))
      building.problems.add(disk.at("used"), disk_path + ".used",
                            fmt::format("{} are used of a disk of {}", format_bytes(disk.number("used")),
                                        format_bytes(disk.number("capacity"))));
  }
}

} // namespace

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
    check_disks(building, *tree, path);
    if (const Fields machine_fields(*tree, object_of("machine_file"));
        machine_fields.given("price") != nullptr)
      building.prices[name] = machine_fields.number("price");
    building.scenario.hosts[name] = built;
    building.machines[name] = std::move(*tree);
  }
}

namespace {

/// The disk a server names, which must be one of its host.
std::string disk_of(Building& building, const NamedFields& server, const std::string& host_name,
                    std::string_view field) {
  const auto host = building.scenario.hosts.find(host_name);
  if (server.fields.given(field) == nullptr or host == building.scenario.hosts.end())
    return {};
  const std::string name = server.fields.text(field);
  std::vector<std::string> names;
  for (const Disk& disk : host->second.disks)
    names.push_back(disk.name);
  if (std::find(names.begin(), names.end(), name) == names.end())
    building.problems.add(
        server.fields.at(field), server.path + "." + std::string(field),
        fmt::format("host {} has no disk '{}'{}", host_name, name, suggestion(name, names)));
  return name;
}

/// What differs from the settings table, which holds the defaults of version 17.
void set_version_defaults(Server& server) {
  if (server.version.major < 14)
    server.settings.set("checkpoint_completion_target", {0.5, {}});
}

} // namespace

void build_servers(Building& building) {
  for (const NamedFields& entry : named_entries(building.root, "servers")) {
    const auto& [name, path, fields] = entry;
    Server server;
    server.name = name;
    server.host = fields.text("host");
    server.checkpoint_before_workload = fields.flag("checkpoint_before_workload");
    server.data_disk = disk_of(building, entry, server.host, "data_disk");
    server.wal_disk = disk_of(building, entry, server.host, "wal_disk");
    server.initial_retained_wal_bytes = fields.integer("retained_wal");
    std::string problem;
    if (fields.given("version") != nullptr)
      parse_version(fields.text("version"), server.version, problem);
    set_version_defaults(server);
    if (const Node* settings = fields.given("settings"))
      for (const MapEntry& setting : settings->entries)
        if (not setting.value.bad)
          server.settings.set(setting.key, *parse_guc(*find_guc(setting.key), setting.value.text, problem));
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
  const Fields observed(observe == nullptr ? nothing : *observe, object_of("observe"));
  building.scenario.observe.interval_s = observed.number("interval");
  building.scenario.observe.until_s = observed.number("until");
  for (const auto& [name, path, fields] : named_entries(root, "background"))
    building.scenario.background.push_back({name, fields.text("host"), fields.number("cores")});
}

} // namespace replisim
