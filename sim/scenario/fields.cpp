#include "sim/scenario/fields.hpp"

#include "models/base/check.hpp"

namespace replisim {

const Node* Fields::given(std::string_view name) const {
  const Node* node = node_.find(name);
  return node != nullptr and not node->bad ? node : nullptr;
}

bool Fields::usable(std::string_view name) const {
  const Node* node = node_.find(name);
  const FieldDescriptor* field = object_.find(name);
  REPLISIM_REQUIRE(field != nullptr, "{} has no field {}", object_.name, name);
  return node == nullptr ? not field->required : not node->bad;
}

FieldValue Fields::value(std::string_view name) const {
  const FieldDescriptor* field = object_.find(name);
  REPLISIM_REQUIRE(field != nullptr, "{} has no field {}", object_.name, name);
  std::string problem;
  if (const Node* node = given(name); node != nullptr and node->is_scalar())
    if (const auto read = read_scalar(*field, node->text, problem))
      return *read;
  if (field->default_value.empty())
    return {};
  const auto read = read_scalar(*field, field->default_value, problem);
  REPLISIM_REQUIRE(read.has_value(), "default of {}.{}: {}", object_.name, name, problem);
  return *read;
}

const Position& Fields::at(std::string_view name) const {
  const Node* node = node_.find(name);
  return node == nullptr ? node_.at : node->at;
}

Fields Fields::child(std::string_view name) const {
  const Node* node = given(name);
  REPLISIM_REQUIRE(node != nullptr, "{} is not given", name);
  return {*node, object_of(object_.find(name)->object)};
}

} // namespace replisim
