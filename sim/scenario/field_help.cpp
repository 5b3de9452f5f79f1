#include "sim/scenario/field_help.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"
#include "models/cost_profile.hpp"
#include "models/settings.hpp"
#include "sim/scenario/descriptors.hpp"
#include "sim/scenario/field_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace replisim {

namespace {

using T = FieldType;

/// "a.b[0].c" as a, b, c: which item of a list is meant does not matter.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts = {""};
  bool in_brackets = false;
  for (const char c : path) {
    if (c == '[' or c == ']')
      in_brackets = c == '[';
    else if (c == '.' and not in_brackets)
      parts.emplace_back();
    else if (not in_brackets)
      parts.back() += c;
  }
  return parts;
}

std::string line(std::string_view label, std::string_view text) {
  return text.empty() ? "" : fmt::format("  {:<10} {}\n", label, text);
}

/// A walk from object to object along the parts of a path.
class Walk {
public:
  explicit Walk(const std::string& path) : path_(path), parts_(parts_of(path)) {
    if (std::any_of(parts_.begin(), parts_.end(), [](const std::string& part) { return part.empty(); }))
      throw UsageError(fmt::format("'{}' is no field path; write names with one dot between them, as in "
                                   "subscriptions.s.streaming",
                                   path));
  }

  std::string help() {
    const ObjectDescriptor* object = &object_of("scenario");
    while (true) {
      const std::string key = take();
      const FieldDescriptor* field = object->find(key);
      if (field == nullptr)
        throw unknown(key, names_of(*object));
      if (field->type == T::Settings and not at_end())
        return whole(setting(take()));
      if (field->type == T::Costs and not at_end())
        return whole(cost());
      if (field->type == T::ObjectMap and not at_end())
        take(); // the name of an entry
      if (at_end())
        return fmt::format("{}\n{}", path_, about(*field));
      if (field->object.empty())
        throw too_long(parts_[next_ - 1]);
      object = &object_of(field->object);
    }
  }

private:
  bool at_end() const { return next_ >= parts_.size(); }
  std::string take() { return at_end() ? std::string() : parts_[next_++]; }

  static std::vector<std::string> names_of(const ObjectDescriptor& object) {
    std::vector<std::string> names;
    for (const FieldDescriptor& field : object.fields)
      names.emplace_back(field.name);
    return names;
  }

  UsageError unknown(const std::string& key, const std::vector<std::string>& names) const {
    const std::string near = nearest_name(key, names);
    return UsageError(fmt::format("{}: unknown key '{}'{}", path_, key,
                                  near.empty() ? fmt::format("; known here: {}", fmt::join(names, ", "))
                                               : fmt::format(" (did you mean '{}'?)", near)));
  }

  UsageError too_long(const std::string& last) const {
    return UsageError(fmt::format("{}: nothing lies below '{}', which has no keys of its own", path_, last));
  }

  /// The answer, when it used up the path.
  std::string whole(const std::string& answer) const {
    if (not at_end())
      throw too_long(parts_[next_ - 1]);
    return answer;
  }

  std::string about(const FieldDescriptor& field) const {
    std::string out = line("meaning", field.sentence);
    out += line("value", field.allowed.empty() or field.type == T::WordOrDuration
                             ? wanted(field)
                             : fmt::format("one of {}", fmt::join(field.allowed, ", ")));
    if (std::isfinite(field.minimum) or std::isfinite(field.maximum))
      out += line("range", show_range(field));
    out += line("default", field.required ? "none, it is required" : field.default_value);
    out += line("names", field.refers_to.empty() ? "" : fmt::format("an entry of {}", field.refers_to));
    out += line("PostgreSQL", field.guc);
    if (not field.object.empty())
      out += line("keys", fmt::format("{}", fmt::join(names_of(object_of(field.object)), ", ")));
    return out;
  }

  std::string setting(const std::string& name) const {
    const GucDescriptor* guc = find_guc(name);
    if (guc == nullptr) {
      std::vector<std::string> names;
      for (const GucDescriptor& known : guc_table())
        names.emplace_back(known.name);
      throw UsageError(fmt::format("{}: unknown setting '{}'{}", path_, name, suggestion(name, names)));
    }
    std::string out = fmt::format("{}\n{}", path_, line("meaning", guc->sentence));
    out += line("unit", guc->unit.empty() ? "none" : fmt::format("a bare number counts {}", guc->unit));
    out += line("allowed", fmt::format("{}", fmt::join(guc->allowed, ", ")));
    out += line("default", guc->default_value);
    if (guc->since_major > 0)
      out += line("since", fmt::format("version {}", guc->since_major));
    constexpr int never = 99;
    if (guc->until_major < never)
      out += line("until", fmt::format("version {}", guc->until_major));
    return out + line("effect",
                      guc->modelled ? "the model follows it" : "accepted and checked; no effect on a run");
  }

  std::string cost() {
    const std::string group = take();
    const std::string name = at_end() ? group : fmt::format("{}.{}", group, take());
    const CostParameter* parameter = find_cost_parameter(name);
    if (parameter == nullptr) {
      std::vector<std::string> names;
      for (const CostParameter& known : cost_parameters())
        names.emplace_back(known.name);
      throw UsageError(fmt::format("{}: unknown cost '{}'{}", path_, name, suggestion(name, names)));
    }
    return fmt::format("{}\n{}{}{}", path_, line("meaning", parameter->sentence),
                       line("unit", parameter->unit),
                       line("range", fmt::format("{} to {}", show_number(T::Duration, parameter->low),
                                                 show_number(T::Duration, parameter->high)))) +
           line("default", "what the profile says, with its source: see calibration/profiles");
  }

  const std::string& path_;
  std::vector<std::string> parts_;
  std::size_t next_ = 0;
};

} // namespace

std::string field_help(const std::string& path) { return Walk(path).help(); }

} // namespace replisim
