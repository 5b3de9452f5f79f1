// Everything nobody measured or stated, gathered for the report; and the identity of a scenario.
#include "sim/scenario/field_path.hpp"
#include "sim/scenario/library_files.hpp"
#include "sim/scenario/replay_file.hpp"
#include "sim/scenario/scenario_parts.hpp"
#include "sim/scenario/subscriber_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace replisim {

namespace {

std::string short_text(const Node& node) {
  constexpr std::size_t longest = 80;
  const std::string text = node.is_scalar() ? node.text : flow_text(node);
  return text.size() <= longest ? text : text.substr(0, longest - 3) + "...";
}

/// The value at a path that the format knows and the file leaves out.
std::string default_text(const KnownField& known) {
  if (known.guc != nullptr)
    return std::string(known.guc->default_value);
  return known.field->default_value.empty() ? "default" : std::string(known.field->default_value);
}

/// Entries of a `guessed` map. A guess of a base file ends where a higher layer states the value itself.
template <typename Accept>
void add_stated(Building& building, const Node& root, const ObjectDescriptor& object,
                const std::string& prefix, Accept accept) {
  const Node* guessed = root.find("guessed");
  if (guessed == nullptr or guessed->bad)
    return;
  for (const MapEntry& entry : guessed->entries) {
    if (entry.value.bad)
      continue;
    std::string problem;
    const auto path = parse_path(entry.key, problem);
    const Node* node = path ? find_node(root, *path) : nullptr;
    const auto known = path ? known_field(object, *path) : std::nullopt;
    if (not path or not has_field(object, root, *path)) {
      building.problems.add(entry.at, join_path("guessed", entry.key),
                            path ? fmt::format("there is no field {}", entry.key) : problem);
      continue;
    }
    if (node != nullptr and (node->bad or node->at.layer > entry.at.layer or not accept(*path)))
      continue;
    building.scenario.guesses.push_back(
        {prefix + entry.key, node == nullptr ? default_text(*known) : short_text(*node), entry.value.text});
  }
}

void add_machines(Building& building) {
  const ObjectDescriptor& object = object_of("machine_file");
  for (const auto& [host, tree] : building.machines) {
    const Node& inline_fields = *find_entry(building.root, "hosts", host);
    add_stated(building, tree, object, "hosts." + host + ".",
               [&](const FieldPath& path) { return inline_fields.find(path.front().key) == nullptr; });
  }
}

void add_links(Building& building) {
  const Node* links = building.root.find("links");
  if (links == nullptr)
    return;
  const FieldDescriptor& window = *object_of("link").find("window");
  for (std::size_t i = 0; i < links->items.size(); ++i)
    if (links->items[i].is_map() and links->items[i].find("window") == nullptr)
      building.scenario.guesses.push_back({fmt::format("links[{}].window", i),
                                           std::string(window.default_value),
                                           "default: between Linux's initial and largest socket buffers"});
}

/// Defaults of the format that are guesses themselves.
void add_defaults(Building& building, const std::string& map, const std::string& field,
                  const std::string& reason) {
  for (const auto& [name, path, fields] : named_entries(building.root, map))
    if (fields.node().find(field) == nullptr)
      building.scenario.guesses.push_back(
          {join_path(path, field),
           std::string(object_of(object_of("scenario").find(map)->object).find(field)->default_value),
           "default: " + reason});
}

void add_row_filters(Building& building) {
  const FieldDescriptor& cost = *object_of("row_filter").find("cost");
  for (const auto& [name, path, fields] : named_entries(building.root, "publications")) {
    const Node* filters = fields.given("row_filters");
    if (filters == nullptr)
      continue;
    for (const MapEntry& filter : filters->entries)
      if (filter.value.is_map() and filter.value.find("cost") == nullptr)
        building.scenario.guesses.push_back({path + ".row_filters." + filter.key + ".cost",
                                             std::string(cost.default_value),
                                             "default: a comparison with a constant, not measured"});
  }
}

/// A default that matters only where it is used: triggers there are, tables that memory does not hold.
void add_used_defaults(Building& building) {
  Scenario& scenario = building.scenario;
  const auto add = [&](const std::string& path, std::string_view object, std::string_view field,
                       const std::string& reason) {
    scenario.guesses.push_back(
        {path, std::string(object_of(object).find(field)->default_value), "default: " + reason});
  };
  for (const auto& [name, path, fields] : named_entries(building.root, "tables"))
    if (fields.number("triggers") > 0 and fields.node().find("trigger_cost") == nullptr)
      add(path + ".trigger_cost", "table", "trigger_cost", "a short PL/pgSQL function, not measured");
  if (not building.problems.empty())
    return;
  std::set<std::string> hosts; // of subscribers that read from their disks
  for (const auto& [name, subscription] : scenario.subscriptions)
    if (data_bytes(scenario, subscription.server) > cache_bytes(scenario, subscription.server))
      hosts.insert(scenario.servers.at(subscription.server).host);
  for (const auto& host : hosts) {
    const Node* disks = building.machines.at(host).find("disks");
    for (std::size_t i = 0; disks != nullptr and i < disks->items.size(); ++i)
      if (disks->items[i].find("read_latency") == nullptr)
        add(fmt::format("hosts.{}.disks[{}].read_latency", host, i), "disk", "read_latency",
            "an SSD; not measured");
  }
}

void add_costs(Building& building) {
  const CostProfile& profile = building.scenario.profile;
  for (const auto& [name, origin] : profile.origins) {
    if (origin.provenance != Provenance::Guess)
      continue;
    const CostParameter* parameter = find_cost_parameter(name);
    const std::string value = parameter == nullptr
                                  ? fmt::format("{:g}", profile.cpu_speed)
                                  : show_number(FieldType::Duration, effective_cost_s(profile, *parameter));
    building.scenario.guesses.push_back({name, value, origin.source});
  }
}

void add_copies(Building& building) {
  for (const auto& [name, subscription] : building.scenario.subscriptions)
    if (subscription.initial_sync and subscription.initial_sync->copies and
        subscription.initial_sync->rate_bytes_per_s <= 0)
      building.scenario.guesses.push_back(
          {fmt::format("subscriptions.{}.initial_sync.copy_rate", name), "by the profile's costs",
           "a row of COPY costs what an applied insert does besides its executor state; not measured"});
}

/// In what state a leader that retains dead tuples is when the run begins.
void add_retention(Building& building) {
  for (const auto& [name, subscription] : building.scenario.subscriptions)
    if (subscription.retain_dead_tuples and not subscription.initial_sync)
      building.scenario.guesses.push_back({fmt::format("subscriptions.{}.retain_dead_tuples", name),
                                           "quiet before the run",
                                           "assumed: no transaction ran on the subscriber, so the distance "
                                           "of two looks for a transaction id had "
                                           "grown to wal_receiver_status_interval, half of which is left"});
}

} // namespace

void collect_guesses(Building& building) {
  add_stated(building, building.root, object_of("scenario"), "", [](const FieldPath&) { return true; });
  add_machines(building);
  add_links(building);
  add_row_filters(building);
  add_defaults(building, "consumers", "cost_per_change",
               "a client that keeps up with a walsender; not measured");
  add_defaults(building, "consumers", "buffer", "socket buffers and the client's own; not measured");
  add_used_defaults(building);
  add_costs(building);
  add_copies(building);
  add_retention(building);
  std::sort(building.scenario.guesses.begin(), building.scenario.guesses.end());
}

std::string scenario_hash(const Building& building) {
  Node tree = building.root;
  tree.remove("sweep");
  tree.remove("break_even");
  tree.remove("plan");
  std::string text = canonical_text(tree);
  for (const auto& [host, machine] : building.machines)
    text += "\n" + host + ": " + canonical_text(machine);
  const CostProfile& profile = building.scenario.profile;
  text += fmt::format("\n{} {:.17g}", profile.name, profile.cpu_speed);
  for (const CostParameter& parameter : cost_parameters())
    text += fmt::format("\n{} {:.17g}", parameter.name, profile.costs.*parameter.field);
  for (const ReplayLoad& replay : building.scenario.replays)
    text += "\n" + replay.name + ": " + replay_text(replay);
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

} // namespace replisim
