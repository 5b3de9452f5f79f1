#include "sim/scenario/format_check.hpp"

#include "models/base/suggest.hpp"
#include "models/cost_profile.hpp"
#include "models/settings.hpp"
#include "sim/scenario/field_value.hpp"
#include "sim/scenario/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace replisim {

namespace {

using T = FieldType;

void expand_scalar(Node& node, const ObjectDescriptor& object) {
  if (not node.is_scalar() or object.shorthand.empty())
    return;
  Node map;
  map.kind = Node::Kind::Map;
  map.at = node.at;
  map.shorthand = true;
  map.put(object.shorthand, node, node.at);
  node = std::move(map);
}

void expand_value(Node& node, const FieldDescriptor& field) {
  const auto expand_one = [&](Node& value) {
    const ObjectDescriptor& object = object_of(field.object);
    expand_scalar(value, object);
    expand_shorthands(value, object);
  };
  if (field.type == T::Object)
    expand_one(node);
  if (field.type == T::ObjectMap)
    for (MapEntry& entry : node.entries)
      expand_one(entry.value);
  if (field.type == T::ObjectList)
    for (Node& item : node.items)
      expand_one(item);
  if (field.type == T::Costs)
    for (MapEntry& group : node.entries)
      for (MapEntry& entry : group.value.entries)
        expand_one(entry.value);
}

/// Names of hosts, servers, tables and so on: what a field path can hold without quotes.
bool is_simple_name(const std::string& name) {
  return not name.empty() and std::isdigit(static_cast<unsigned char>(name[0])) == 0 and
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 or c == '_' or c == '-' or c >= 0x80;
         });
}

bool is_container(FieldType type) { return not is_scalar_type(type); }

std::string singular(std::string_view plural) { return std::string(plural.substr(0, plural.size() - 1)); }

bool is_file_name(const std::string& name) { return name.ends_with(".yaml") or name.ends_with(".yml"); }

std::vector<std::string> field_names(const ObjectDescriptor& object) {
  std::vector<std::string> names;
  for (const FieldDescriptor& field : object.fields)
    names.emplace_back(field.name);
  return names;
}

} // namespace

void expand_shorthands(Node& node, const ObjectDescriptor& object) {
  for (MapEntry& entry : node.entries)
    if (const FieldDescriptor* field = object.find(entry.key))
      expand_value(entry.value, *field);
}

void FormatCheck::check(Node& root, const ObjectDescriptor& object) {
  root_ = &root;
  check_object(root, object, "");
}

void FormatCheck::report(Node& node, const std::string& path, std::string message) {
  node.bad = true;
  problems_.add(node.at, path, std::move(message));
}

void FormatCheck::check_object(Node& node, const ObjectDescriptor& object, const std::string& path) {
  if (node.kind == Node::Kind::Null)
    node.kind = Node::Kind::Map;
  const auto names = field_names(object);
  if (not node.is_map()) {
    report(
        node, path,
        fmt::format("{} stands where a map is wanted; its keys: {}", describe(node), fmt::join(names, ", ")));
    return;
  }
  for (MapEntry& entry : node.entries) {
    const std::string entry_path = join_path(path, entry.key);
    if (const FieldDescriptor* field = object.find(entry.key)) {
      check_field(entry.value, *field, entry_path, entry.at);
    } else {
      entry.value.bad = true;
      const std::string near = nearest_name(entry.key, names);
      problems_.add(entry.at, entry_path,
                    fmt::format("unknown key '{}'{}", entry.key,
                                near.empty() ? fmt::format("; known here: {}", fmt::join(names, ", "))
                                             : fmt::format(" (did you mean '{}'?)", near)));
    }
  }
  check_missing(node, object, path);
}

void FormatCheck::check_missing(const Node& node, const ObjectDescriptor& object, const std::string& path) {
  const auto names = field_names(object);
  for (const FieldDescriptor& field : object.fields) {
    if (not field.required or node.find(field.name) != nullptr)
      continue;
    // A mistyped key is one mistake, not two.
    const bool mistyped = std::any_of(node.entries.begin(), node.entries.end(), [&](const MapEntry& entry) {
      return object.find(entry.key) == nullptr and nearest_name(entry.key, names) == field.name;
    });
    if (not mistyped)
      problems_.add(node.at, join_path(path, std::string(field.name)),
                    fmt::format("`{}` is missing: {}", field.name, field.sentence));
  }
}

void FormatCheck::check_field(Node& node, const FieldDescriptor& field, const std::string& path,
                              const Position& key_at) {
  if (node.kind == Node::Kind::Null)
    node.at = key_at;
  if (field.type == T::Reserved) {
    if (node.is_scalar() or not node.entries.empty() or not node.items.empty())
      report(node, path, fmt::format("must be empty: {}", field.sentence));
    return;
  }
  if (field.type == T::Object) {
    check_object(node, object_of(field.object), path);
    return;
  }
  if (not is_container(field.type)) {
    check_scalar(node, field, path);
    return;
  }
  const bool list = field.type == T::ObjectList or field.type == T::NameList or field.type == T::Range;
  if (node.kind != Node::Kind::Null and node.kind != (list ? Node::Kind::List : Node::Kind::Map)) {
    report(node, path, fmt::format("{} stands where {} is wanted", describe(node), wanted(field)));
    return;
  }
  if (field.required and node.entries.empty() and node.items.empty()) {
    report(node, path, fmt::format("is empty; at least one entry is needed: {}", field.sentence));
    return;
  }
  if (list)
    check_list(node, field, path);
  else
    check_map(node, field, path);
}

void FormatCheck::check_scalar(Node& node, const FieldDescriptor& field, const std::string& path) {
  if (node.kind == Node::Kind::Null) {
    report(node, path, fmt::format("has no value; {} is wanted: {}", wanted(field), field.sentence));
    return;
  }
  if (not node.is_scalar()) {
    report(node, path, fmt::format("{} stands where {} is wanted", describe(node), wanted(field)));
    return;
  }
  std::string problem;
  if (not read_scalar(field, node.text, problem))
    report(node, path, problem);
  else if (field.type == T::Name)
    check_name(node, field, path);
}

void FormatCheck::check_name(Node& node, const FieldDescriptor& field, const std::string& path) {
  const bool from_library = field.refers_to == "machines" or field.refers_to == "profiles";
  if (from_library and is_file_name(node.text))
    return; // looked for when it is read
  const auto names = known_names(field.refers_to);
  if (names and std::find(names->begin(), names->end(), node.text) == names->end())
    report(node, path,
           fmt::format("unknown {} '{}'{}", singular(field.refers_to), node.text,
                       suggestion(node.text, *names)));
}

void FormatCheck::check_map(Node& node, const FieldDescriptor& field, const std::string& path) {
  for (MapEntry& entry : node.entries) {
    const std::string entry_path = join_path(path, entry.key);
    switch (field.type) {
    case T::ObjectMap:
      if (not is_simple_name(entry.key)) {
        problems_.add(entry.at, entry_path,
                      fmt::format("'{}' cannot be a name here; letters, digits, _ and - are allowed, and the "
                                  "first is no digit",
                                  entry.key));
      }
      check_object(entry.value, object_of(field.object), entry_path);
      break;
    case T::Settings:
      check_setting(entry, entry_path);
      break;
    case T::Costs:
      check_cost_group(entry, field, entry_path);
      break;
    case T::Assignments:
      check_field(entry.value, {.name = field.name, .type = T::ColumnValue, .sentence = field.sentence},
                  entry_path, entry.at);
      break;
    case T::Reasons:
      check_field(entry.value, {.name = field.name, .type = T::Text, .sentence = field.sentence}, entry_path,
                  entry.at);
      break;
    case T::Axes:
      if (entry.value.entries.empty() and entry.value.items.empty())
        report(entry.value, entry_path,
               fmt::format("{} stands where a list of values, or a map from label to value, is wanted",
                           describe(entry.value)));
      break;
    default: // Pair: break_even reads it
      if (not entry.value.is_list() or entry.value.items.size() != 2 or node.entries.size() != 1)
        report(node, path, fmt::format("wanted: {}", field.sentence));
      break;
    }
  }
}

void FormatCheck::check_list(Node& node, const FieldDescriptor& field, const std::string& path) {
  if (field.type == T::Range and node.items.size() != 2) {
    report(node, path, fmt::format("wanted: {}", field.sentence));
    return;
  }
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    Node& item = node.items[i];
    const std::string item_path = fmt::format("{}[{}]", path, i);
    if (field.type == T::ObjectList) {
      check_object(item, object_of(field.object), item_path);
      continue;
    }
    const bool named = not field.refers_to.empty();
    check_field(item,
                {.name = field.name,
                 .type = named ? T::Name : T::Text,
                 .refers_to = field.refers_to,
                 .sentence = field.sentence},
                item_path, item.at);
    for (std::size_t earlier = 0; named and not item.bad and earlier < i; ++earlier)
      if (node.items[earlier].is_scalar() and node.items[earlier].text == item.text)
        report(item, item_path, fmt::format("'{}' is named twice", item.text));
  }
}

void FormatCheck::check_setting(MapEntry& entry, const std::string& path) {
  const GucDescriptor* guc = find_guc(entry.key);
  if (guc == nullptr) {
    std::vector<std::string> names;
    for (const GucDescriptor& known : guc_table())
      names.emplace_back(known.name);
    const std::string near = nearest_name(entry.key, names);
    entry.value.bad = true;
    problems_.add(entry.at, path,
                  fmt::format("unknown setting '{}'{}", entry.key,
                              near.empty() ? "; it is none of the PostgreSQL settings replisim knows"
                                           : fmt::format(" (did you mean '{}'?)", near)));
    return;
  }
  if (entry.value.kind == Node::Kind::Null)
    entry.value.at = entry.at;
  std::string problem;
  if (not entry.value.is_scalar())
    report(entry.value, path,
           fmt::format("{} stands where the value of a setting is wanted", describe(entry.value)));
  else if (not parse_guc(*guc, entry.value.text, problem))
    report(entry.value, path, problem);
}

void FormatCheck::check_cost_group(MapEntry& group, const FieldDescriptor& field, const std::string& path) {
  std::vector<std::string> groups;
  std::vector<std::string> members;
  for (const CostParameter& parameter : cost_parameters()) {
    const std::string name(parameter.name);
    const std::string parameter_group = name.substr(0, name.find('.'));
    if (std::find(groups.begin(), groups.end(), parameter_group) == groups.end())
      groups.push_back(parameter_group);
    if (parameter_group == group.key)
      members.push_back(name.substr(name.find('.') + 1));
  }
  if (members.empty()) {
    group.value.bad = true;
    problems_.add(group.at, path,
                  fmt::format("unknown group of costs '{}'{}", group.key, suggestion(group.key, groups)));
    return;
  }
  if (group.value.is_scalar() or group.value.is_list()) {
    report(group.value, path,
           fmt::format("{} stands where a map from cost to value is wanted", describe(group.value)));
    return;
  }
  for (MapEntry& entry : group.value.entries) {
    const std::string entry_path = join_path(path, entry.key);
    if (std::find(members.begin(), members.end(), entry.key) != members.end()) {
      check_cost(entry, group.key + "." + entry.key, field, entry_path);
      continue;
    }
    entry.value.bad = true;
    problems_.add(
        entry.at, entry_path,
        fmt::format("unknown cost '{}' of {}{}", entry.key, group.key, suggestion(entry.key, members)));
  }
}

void FormatCheck::check_cost(MapEntry& entry, const std::string& name, const FieldDescriptor& field,
                             const std::string& path) {
  check_object(entry.value, object_of(field.object), path);
  Node* value = entry.value.find("value");
  if (value == nullptr or value->bad)
    return;
  // The range is the parameter's own.
  const CostParameter& parameter = *find_cost_parameter(name);
  FieldDescriptor ranged = *object_of(field.object).find("value");
  ranged.minimum = parameter.low;
  ranged.maximum = parameter.high;
  std::string problem;
  const auto read = read_scalar(ranged, value->text, problem);
  if (not read) {
    report(*value, join_path(path, "value"), problem);
    return;
  }
  for (const std::string_view end : {"low", "high"}) {
    const Node* limit = entry.value.find(end);
    const auto bound =
        limit == nullptr or limit->bad ? std::nullopt : read_scalar(ranged, limit->text, problem);
    if (bound and (end == "low" ? bound->number > read->number : bound->number < read->number))
      report(*value, join_path(path, "value"),
             fmt::format("'{}' lies outside of its own interval, whose `{}` is {}", value->text, end,
                         limit->text));
  }
}

std::optional<std::vector<std::string>> FormatCheck::known_names(std::string_view kind) const {
  if (kind == "machines")
    return machine_names(library_);
  if (kind == "profiles")
    return profile_names(library_);
  if (kind == "costs") {
    std::vector<std::string> names;
    for (const CostParameter& parameter : cost_parameters())
      names.emplace_back(parameter.name);
    return names;
  }
  const Node* map = root_->find(kind);
  if (map == nullptr or map->bad or not map->is_map())
    return std::nullopt; // the missing map is the mistake
  return map->keys();
}

} // namespace replisim
