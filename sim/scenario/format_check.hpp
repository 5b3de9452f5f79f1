// The structural check of a file: every key, type, unit, range and reference, driven by the descriptors.
#pragma once

#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/loader.hpp"
#include "sim/scenario/problems.hpp"

#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// Replaces each scalar that stands for a map by that map (`db: lab-2core` by `db: {machine: lab-2core}`).
void expand_shorthands(Node& node, const ObjectDescriptor& object);

class FormatCheck {
public:
  FormatCheck(const Library& library, Problems& problems) : library_(library), problems_(problems) {}

  /// Checks the whole tree of a file whose shorthands are expanded; marks what is wrong as bad.
  void check(Node& root, const ObjectDescriptor& object);

private:
  void check_object(Node& node, const ObjectDescriptor& object, const std::string& path);
  void check_missing(const Node& node, const ObjectDescriptor& object, const std::string& path);
  void check_field(Node& node, const FieldDescriptor& field, const std::string& path, const Position& key_at);
  void check_scalar(Node& node, const FieldDescriptor& field, const std::string& path);
  void check_name(Node& node, const FieldDescriptor& field, const std::string& path);
  void check_map(Node& node, const FieldDescriptor& field, const std::string& path);
  void check_list(Node& node, const FieldDescriptor& field, const std::string& path);
  void check_setting(MapEntry& entry, const std::string& path);
  void check_cost_group(MapEntry& group, const FieldDescriptor& field, const std::string& path);
  void check_cost(MapEntry& entry, const std::string& name, const FieldDescriptor& field,
                  const std::string& path);
  void report(Node& node, const std::string& path, std::string message);
  std::optional<std::vector<std::string>> known_names(std::string_view kind) const;

  const Library& library_;
  Problems& problems_;
  Node* root_ = nullptr;
};

} // namespace replisim
