#include "sim/scenario/field_path.hpp"

#include <fmt/format.h>

#include <charconv>

namespace replisim {

std::optional<FieldPath> parse_path(std::string_view text, std::string& problem) {
  FieldPath path;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '[') {
      const std::size_t end = text.find(']', at);
      std::size_t index = 0;
      const char* const stop = text.data() + (end == std::string_view::npos ? text.size() : end);
      const auto [rest, error] = std::from_chars(text.data() + at + 1, stop, index);
      if (end == std::string_view::npos or error != std::errc() or rest != stop or path.empty()) {
        problem = fmt::format("'{}' is not a field path: an index is written [0], after a name", text);
        return std::nullopt;
      }
      path.push_back({"", index});
      at = end + 1;
      if (at < text.size() and text[at] != '[' and text[at] != '.') {
        problem = fmt::format("'{}' is not a field path: after ']' comes '.' or '['", text);
        return std::nullopt;
      }
      continue;
    }
    if (text[at] == '.' and at > 0)
      ++at;
    const std::size_t end = std::min(text.find_first_of(".[", at), text.size());
    if (end == at) {
      problem = fmt::format("'{}' is not a field path: a name is missing next to a '.'", text);
      return std::nullopt;
    }
    path.push_back({std::string(text.substr(at, end - at)), 0});
    at = end;
    if (at + 1 == text.size()) {
      problem = fmt::format("'{}' is not a field path: it ends in '{}'", text, text[at]);
      return std::nullopt;
    }
  }
  if (path.empty()) {
    problem = "the field path is empty; it looks like servers.pub.settings.logical_decoding_work_mem";
    return std::nullopt;
  }
  return path;
}

const Node* find_node(const Node& root, const FieldPath& path) {
  const Node* node = &root;
  for (const PathStep& step : path) {
    if (step.is_index())
      node = node->is_list() and step.index < node->items.size() ? &node->items[step.index] : nullptr;
    else
      node = node->is_map() ? node->find(step.key) : nullptr;
    if (node == nullptr)
      return nullptr;
  }
  return node;
}

std::string put_node(Node& root, const FieldPath& path, const Node& value, const Position& key_at) {
  Node* node = &root;
  std::string so_far;
  for (const PathStep& step : path) {
    if (step.is_index()) {
      if (not node->is_list())
        return fmt::format("`{}` is {}, not a list; it has no [{}]", so_far, describe(*node), step.index);
      if (step.index >= node->items.size())
        return fmt::format("`{}` has {} entries, counted from 0; there is no [{}]", so_far,
                           node->items.size(), step.index);
      node = &node->items[step.index];
      so_far += fmt::format("[{}]", step.index);
      continue;
    }
    if (node->is_list())
      return fmt::format("`{}` is a list; choose an entry, as in {}[0].{}", so_far, so_far, step.key);
    if (node->is_scalar())
      return fmt::format("`{}` is the single value {}; it has no field '{}'", so_far, describe(*node),
                         step.key);
    if (node->kind == Node::Kind::Null) {
      node->kind = Node::Kind::Map;
      node->at = key_at;
    }
    if (node->find(step.key) == nullptr or &step == &path.back()) {
      Node fresh;
      fresh.at = key_at;
      node->put(step.key, std::move(fresh), key_at);
    }
    node = node->find(step.key);
    so_far += (so_far.empty() ? "" : ".") + step.key;
  }
  *node = value;
  return {};
}

namespace {

/// Where a walk through the format stands: in the fields of an object, or in what a field holds.
struct Place {
  const ObjectDescriptor* object = nullptr;
  const FieldDescriptor* field = nullptr;
  bool inside = false; ///< one step into a map or list field

  static Place at(const FieldDescriptor* field) {
    if (field != nullptr and field->type == FieldType::Object)
      return {&object_of(field->object), field, false};
    return {nullptr, field, false};
  }
};

} // namespace

std::optional<KnownField> known_field(const ObjectDescriptor& root, const FieldPath& path) {
  Place place{&root, nullptr, false};
  std::string group; // of a cost parameter
  for (const PathStep& step : path) {
    if (place.object != nullptr) {
      const FieldDescriptor* field = step.is_index() ? nullptr : place.object->find(step.key);
      if (field == nullptr)
        return std::nullopt;
      place = Place::at(field);
      continue;
    }
    if (place.field == nullptr)
      return std::nullopt;
    const FieldType type = place.field->type;
    if ((type == FieldType::ObjectMap and not step.is_index()) or
        (type == FieldType::ObjectList and step.is_index())) {
      place = {&object_of(place.field->object), place.field, true};
    } else if (type == FieldType::Settings and not step.is_index()) {
      const GucDescriptor* guc = find_guc(step.key);
      if (guc == nullptr or &step != &path.back())
        return std::nullopt;
      return KnownField{place.field, guc, false};
    } else if (type == FieldType::Costs and not step.is_index()) {
      group += (group.empty() ? "" : ".") + step.key;
      if (find_cost_parameter(group) != nullptr)
        place = {&object_of(place.field->object), place.field, true};
    } else {
      return std::nullopt;
    }
  }
  return KnownField{place.field, nullptr, place.inside};
}

bool has_field(const ObjectDescriptor& object, const Node& root, const FieldPath& path) {
  if (not known_field(object, path))
    return false;
  for (auto step = path.begin() + 1; step < path.end(); ++step) {
    if (find_node(root, {path.begin(), step + 1}) != nullptr)
      continue;
    const auto container = known_field(object, {path.begin(), step});
    const FieldType type = container->field->type;
    if ((type == FieldType::ObjectMap or type == FieldType::ObjectList) and not container->is_entry)
      return false;
  }
  return true;
}

} // namespace replisim
