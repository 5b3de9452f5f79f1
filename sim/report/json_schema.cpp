#include "sim/report/json_schema.hpp"

#include "models/base/units.hpp"
#include "models/cost_profile.hpp"
#include "models/settings.hpp"
#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/field_value.hpp"

#include <cmath>
#include <regex>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace replisim {

namespace {

using Json = nlohmann::ordered_json;
using T = FieldType;

const std::string number_pattern = "[+-]?([0-9][0-9_]*(\\.[0-9]+)?|\\.[0-9]+)([eE][+-]?[0-9]+)?";
const std::string name_pattern = "^[^\\W\\d][\\w-]*$";

Json reference(std::string_view object, bool complete) {
  return {{"$ref", fmt::format("#/definitions/{}{}", object, complete ? "" : "_part")}};
}

Json any_of(std::vector<Json> choices) { return {{"anyOf", std::move(choices)}}; }

/// A number with one of the dimension's units; bare 0 has none.
Json quantity(Dimension dimension) {
  // "ns, us, ms, s, min, h or d"
  static const std::regex between(", | or ");
  const std::string units = std::regex_replace(unit_names(dimension), between, "|");
  return any_of(
      {{{"type", "string"}, {"pattern", fmt::format("^\\s*{}\\s*({})\\s*$", number_pattern, units)}},
       {{"const", 0}},
       {{"const", "0"}}});
}

/// Plain numbers; YAML takes `5_000_000` for a text.
Json number(const FieldDescriptor& field, bool whole) {
  Json plain = {{"type", whole ? "integer" : "number"}};
  if (std::isfinite(field.minimum))
    plain["minimum"] = field.minimum;
  if (std::isfinite(field.maximum))
    plain["maximum"] = field.maximum;
  return any_of({plain,
                 {{"type", "string"},
                  {"pattern", whole ? "^-?[0-9]+(_[0-9]+)*$" : fmt::format("^{}$", number_pattern)}}});
}

Json text() { return {{"type", {"string", "number", "boolean"}}}; }

Json flag() {
  return any_of({{{"type", "boolean"}},
                 {{"type", "string"},
                  {"pattern", "^([oO][nN]|[oO][fF][fF]|[tT][rR][uU][eE]|"
                              "[fF][aA][lL][sS][eE]|[yY][eE][sS]|[nN][oO])$"}}});
}

/// A bare number counts base units; PostgreSQL's units are no others.
Json setting(const GucDescriptor& guc) {
  const auto with_unit = [](const char* units) -> Json {
    return {{"type", {"string", "number"}},
            {"pattern", fmt::format("^\\s*{}\\s*({})?\\s*$", number_pattern, units)}};
  };
  switch (guc.type) {
  case GucType::Size:
    return with_unit("B|kB|MB|GB|TB");
  case GucType::Duration:
    return with_unit("us|ms|s|min|h|d");
  case GucType::Integer:
  case GucType::Real:
    return with_unit("");
  default:
    return text();
  }
}

Json choice(const FieldDescriptor& field) {
  Json words = Json::array();
  bool switches = false;
  for (const std::string_view word : field.allowed) {
    words.push_back(word);
    switches = switches or word == "on" or word == "off";
  }
  Json out = {{"enum", words}};
  return switches ? any_of({out, flag()}) : out;
}

class Schema {
public:
  explicit Schema(bool complete) : complete_(complete) {}

  Json object(const ObjectDescriptor& object) const {
    Json properties = Json::object();
    Json required = Json::array();
    for (const FieldDescriptor& field : object.fields) {
      properties[std::string(field.name)] = described(field);
      // A mix of clients brings its tables along.
      if (field.required and complete_ and not(object.name == "scenario" and field.name == "tables"))
        required.push_back(field.name);
    }
    Json out = {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
    if (not required.empty())
      out["required"] = required;
    if (object.shorthand.empty())
      return out;
    return any_of({out, value(*object.find(object.shorthand))}); // a single value stands for that field
  }

private:
  Json described(const FieldDescriptor& field) const {
    Json out = value(field);
    std::string sentence(field.sentence);
    if (not field.guc.empty())
      sentence += fmt::format(" (PostgreSQL: {})", field.guc);
    if (std::isfinite(field.minimum) or std::isfinite(field.maximum))
      sentence += fmt::format("; {}", show_range(field));
    out["description"] = sentence;
    if (not field.default_value.empty())
      out["default"] = field.default_value;
    return out;
  }

  Json scalar(const FieldDescriptor& field) const {
    switch (field.type) {
    case T::Integer:
      return number(field, true);
    case T::Number:
      return number(field, false);
    case T::Duration:
      return quantity(Dimension::Duration);
    case T::Size:
      return quantity(Dimension::Size);
    case T::ByteRate:
      return quantity(Dimension::ByteRate);
    case T::Percent:
      return quantity(Dimension::Percent);
    case T::EventRate:
      return quantity(Dimension::EventRate);
    case T::Frequency:
      return quantity(Dimension::Frequency);
    case T::WordOrDuration:
      return any_of({{{"const", field.allowed.front()}}, quantity(Dimension::Duration)});
    case T::Flag:
      return flag();
    case T::Choice:
      return choice(field);
    case T::Version:
      return any_of({{{"type", "number"}}, {{"type", "string"}, {"pattern", "^[0-9]+(\\.[0-9]+)*$"}}});
    case T::ColumnValue:
      return column_value();
    default:
      return text();
    }
  }

  static Json column_value() {
    return any_of({{{"enum", {"typical", "sequence"}}},
                   {{"type", "integer"}},
                   {{"type", "string"}, {"pattern", "^-?[0-9]+(_[0-9]+)*$"}}});
  }

  Json value(const FieldDescriptor& field) const {
    switch (field.type) {
    case T::Object:
      return with_null(reference(field.object, complete_), field);
    case T::ObjectMap:
      return with_null(
          {{"type", "object"},
           {"propertyNames", {{"pattern", name_pattern}}},
           {"additionalProperties", any_of({reference(field.object, complete_), {{"type", "null"}}})}},
          field);
    case T::ObjectList:
      return with_null({{"type", "array"}, {"items", reference(field.object, complete_)}}, field);
    case T::NameList:
      return with_null({{"type", "array"}, {"items", text()}}, field);
    case T::Settings:
      return with_null(settings(), field);
    case T::Costs:
      return with_null(costs(field), field);
    case T::Assignments:
      return with_null({{"type", "object"}, {"additionalProperties", column_value()}}, field);
    case T::Reasons:
      return with_null({{"type", "object"}, {"additionalProperties", text()}}, field);
    case T::Axes:
      return with_null(
          {{"type", "object"}, {"additionalProperties", {{"type", {"array", "object", "string"}}}}}, field);
    case T::Pair:
      return {{"type", "object"},
              {"minProperties", 1},
              {"maxProperties", 1},
              {"additionalProperties", {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}}}};
    case T::Range:
      return {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}};
    case T::Reserved:
      return any_of({{{"type", "null"}},
                     {{"type", "object"}, {"maxProperties", 0}},
                     {{"type", "array"}, {"maxItems", 0}}});
    default:
      return scalar(field);
    }
  }

  /// A key without a value is an empty map or list.
  Json with_null(Json schema, const FieldDescriptor& field) const {
    return field.required and complete_ ? schema : any_of({std::move(schema), {{"type", "null"}}});
  }

  static Json settings() {
    Json properties = Json::object();
    for (const GucDescriptor& guc : guc_table()) {
      Json described = setting(guc);
      described["description"] =
          fmt::format("{}{}", guc.sentence, guc.modelled ? "" : "; accepted, without effect on a run");
      described["default"] = guc.default_value;
      properties[std::string(guc.name)] = described;
    }
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
  }

  Json costs(const FieldDescriptor& field) const {
    Json groups = Json::object();
    for (const CostParameter& parameter : cost_parameters()) {
      const std::string name(parameter.name);
      const std::size_t dot = name.find('.');
      Json& group = groups[name.substr(0, dot)];
      group["type"] = "object";
      group["additionalProperties"] = false;
      group["properties"][name.substr(dot + 1)] = reference(field.object, complete_);
    }
    return {{"type", "object"}, {"additionalProperties", false}, {"properties", groups}};
  }

  bool complete_;
};

/// The objects that `root` leads to.
void collect(std::string_view root, std::set<std::string_view>& seen) {
  if (not seen.insert(root).second)
    return;
  for (const FieldDescriptor& field : object_of(root).fields)
    if (not field.object.empty())
      collect(field.object, seen);
}

} // namespace

Json scenario_schema() {
  std::set<std::string_view> used;
  collect("scenario", used);
  Json definitions = Json::object();
  for (const ObjectDescriptor& object : scenario_objects()) {
    if (not used.contains(object.name))
      continue;
    definitions[std::string(object.name)] = Schema(true).object(object);
    definitions[fmt::format("{}_part", object.name)] = Schema(false).object(object);
  }
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"title", "replisim scenario, format 1"},
          {"description", "Generated by `replisim schema`; see docs/scenario-format.md."},
          {"if", {{"type", "object"}, {"required", {"extends"}}}},
          {"then", reference("scenario", false)},
          {"else", reference("scenario", true)},
          {"definitions", definitions}};
}

} // namespace replisim
