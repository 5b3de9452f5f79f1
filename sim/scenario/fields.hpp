// Typed access to the fields of a checked map, with the descriptors' defaults.
#pragma once

#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/field_value.hpp"
#include "sim/scenario/node.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace replisim {

/// A map and its descriptor. A field that is left out, or whose mistake is already reported, reads as its
/// default: nothing is built from a file with a mistake, but the other checks go on.
class Fields {
public:
  Fields(const Node& node, const ObjectDescriptor& object) : node_(node), object_(object) {}

  const Node& node() const { return node_; }
  /// The value as written; nullptr when left out or bad.
  const Node* given(std::string_view name) const;
  /// False when the field holds a reported mistake, or is required and left out.
  bool usable(std::string_view name) const;

  double number(std::string_view name) const { return value(name).number; }
  std::int64_t integer(std::string_view name) const { return static_cast<std::int64_t>(number(name)); }
  bool flag(std::string_view name) const { return number(name) != 0; }
  std::string text(std::string_view name) const { return value(name).text; }
  /// The position of the field's value, or of the map where it is left out.
  const Position& at(std::string_view name) const;
  /// The fields of an Object field; requires that it is given.
  Fields child(std::string_view name) const;

private:
  FieldValue value(std::string_view name) const;

  const Node& node_;
  const ObjectDescriptor& object_;
};

} // namespace replisim
