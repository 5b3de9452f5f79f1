#include "sim/scenario/include_conf.hpp"

#include "models/base/suggest.hpp"
#include "models/settings.hpp"
#include "sim/scenario/conf_file.hpp"
#include "sim/scenario/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace replisim {

namespace {

namespace fs = std::filesystem;

/// A map of `settings` and a list of `notes`.
using ConfTree = Node;

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const GucDescriptor& guc : guc_table())
    names.emplace_back(guc.name);
  return names;
}

Node scalar(const std::string& text, const Position& at) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.text = text;
  node.at = at;
  return node;
}

std::string place_of(const ConfSetting& setting) {
  return fmt::format("{}:{}", fs::path(*setting.name_at.file).filename().string(), setting.name_at.line);
}

ConfTree tree_of(const std::vector<ConfSetting>& settings, const std::string& file, Problems& problems) {
  Node known;
  known.kind = Node::Kind::Map;
  std::map<std::string, std::string> unmodelled, unknown; // name and place, by name
  for (const ConfSetting& setting : settings) {
    if (find_guc(setting.name) != nullptr) {
      known.put(setting.name, scalar(setting.value, setting.value_at), setting.name_at);
    } else if (bears_on_replication(setting.name)) {
      unmodelled[setting.name] = fmt::format("{} ({})", setting.name, place_of(setting));
    } else if (setting.name.find('.') == std::string::npos and not is_other_postgres_setting(setting.name)) {
      if (const std::string near = nearest_name(setting.name, known_names()); not near.empty())
        problems.add(setting.name_at, setting.name,
                     fmt::format("PostgreSQL has no setting '{}' (did you mean '{}'?)", setting.name, near));
      else
        unknown[setting.name] = fmt::format("{} ({})", setting.name, place_of(setting));
    }
  }
  Node notes;
  notes.kind = Node::Kind::List;
  const auto note = [&](const std::map<std::string, std::string>& names, std::string_view about) {
    std::vector<std::string> places;
    for (const auto& [name, place] : names)
      places.push_back(place);
    if (not places.empty())
      notes.items.push_back(scalar(fmt::format("{}: {}: {}", file, about, fmt::join(places, ", ")), {}));
  };
  note(unmodelled, "settings that bear on replication and that the model does not know");
  note(unknown, "left out, no settings of PostgreSQL that replisim has heard of");
  ConfTree tree;
  tree.kind = Node::Kind::Map;
  tree.put("settings", known, {});
  tree.put("notes", notes, {});
  return tree;
}

/// The file's tree, from the cache where a sweep has read it before.
ConfTree conf_tree(const Node& named_by, const std::string& path, const Library& library,
                   Problems& problems) {
  fs::path file = named_by.text;
  if (named_by.at.layer != override_layer and named_by.at.file)
    file = (fs::path(*named_by.at.file).parent_path() / file).lexically_normal();
  const std::string key = "include_conf " + file.string();
  if (library.cache != nullptr)
    if (const auto known = library.cache->files.find(key); known != library.cache->files.end())
      return known->second;
  Problems own;
  ConfTree tree = tree_of(read_conf_file(file, named_by.at, path, own), file.string(), own);
  problems.add_new(own, Problems());
  if (own.empty() and library.cache != nullptr)
    library.cache->files.emplace(key, tree);
  return tree;
}

/// Adds what the file says to `settings`, which wins.
void lay_under(Node& server, const Node& from_file, const Position& at) {
  Node* settings = server.find("settings");
  if (settings == nullptr) {
    Node empty;
    empty.kind = Node::Kind::Map;
    empty.at = at;
    server.put("settings", empty, at);
    settings = server.find("settings");
  }
  if (settings->kind == Node::Kind::Null)
    settings->kind = Node::Kind::Map;
  if (settings->is_map())
    for (const MapEntry& entry : from_file.entries)
      if (settings->find(entry.key) == nullptr)
        settings->put(entry.key, entry.value, entry.at);
}

} // namespace

std::vector<std::string> include_conf_files(Node& root, const Library& library, Problems& problems) {
  std::vector<std::string> notes;
  Node* servers = root.find("servers");
  if (servers == nullptr or not servers->is_map())
    return notes;
  for (MapEntry& server : servers->entries) {
    const Node* named_by = server.value.find("include_conf");
    if (named_by == nullptr or not named_by->is_scalar() or named_by->text.empty())
      continue; // the check of the format says what is wrong
    const Position at = named_by->at;
    const std::string path = fmt::format("servers.{}.include_conf", server.key);
    const ConfTree tree = conf_tree(*named_by, path, library, problems);
    lay_under(server.value, *tree.find("settings"), at);
    for (const Node& note : tree.find("notes")->items)
      notes.push_back(fmt::format("{}: {}", path, note.text));
    server.value.remove("include_conf");
  }
  return notes;
}

} // namespace replisim
