// Sweep axes and break-even questions: fields to vary, each value checked as if the file held it.
#include "sim/scenario/field_path.hpp"
#include "sim/scenario/format_check.hpp"
#include "sim/scenario/scenario_parts.hpp"

#include <fmt/format.h>

#include <set>

namespace replisim {

namespace {

class SweepBuilder {
public:
  SweepBuilder(Building& building, const Node& tree) : building_(building), tree_(tree) {
    tree_.remove("sweep");
    tree_.remove("break_even");
    Node copy = tree_;
    FormatCheck(building_.library, own_problems_).check(copy, object_of("scenario"));
  }

  void add_axis(const MapEntry& axis) {
    const std::string where = join_path("sweep", axis.key);
    if (not has_path(axis.key, axis.at, where))
      return;
    SweepAxis built{axis.key, {}};
    std::set<std::string> labels;
    const auto add = [&](const std::string& label, const Node& value) {
      if (not labels.insert(label).second)
        building_.problems.add(value.at, where, fmt::format("the value {} stands twice in this axis", label));
      try_value(axis.key, value, axis.at);
      built.values.emplace_back(label, flow_text(value));
    };
    for (const Node& item : axis.value.items)
      add(item.is_scalar() ? item.text : flow_text(item), item);
    for (const MapEntry& entry : axis.value.entries)
      add(entry.key, entry.value);
    building_.scenario.sweep.push_back(std::move(built));
  }

  void add_break_even(const Fields& fields, const std::string& where) {
    const Node* between = fields.given("between");
    const Node* over = fields.given("over");
    const Node* range = fields.given("range");
    BreakEven built;
    built.metric = fields.text("metric");
    if (between != nullptr) {
      const MapEntry& pair = between->entries.front();
      built.path = pair.key;
      built.first = flow_text(pair.value.items[0]);
      built.second = flow_text(pair.value.items[1]);
      if (has_path(pair.key, pair.at, where + ".between"))
        for (const Node& value : pair.value.items)
          try_value(pair.key, value, pair.at);
      if (built.first == built.second)
        building_.problems.add(pair.value.at, where + ".between", "the two values are the same");
    }
    if (over != nullptr and range != nullptr and has_path(over->text, over->at, where + ".over"))
      read_range(built, *over, *range, where);
    building_.scenario.break_even.push_back(std::move(built));
  }

private:
  bool has_path(const std::string& text, const Position& at, const std::string& where) {
    std::string problem;
    const auto path = parse_path(text, problem);
    if (not path)
      building_.problems.add(at, where, problem);
    return path.has_value();
  }

  /// Checks the tree with `value` at `path` and keeps what the file alone does not show.
  void try_value(const std::string& path_text, const Node& value, const Position& key_at) {
    std::string problem;
    const FieldPath path = *parse_path(path_text, problem);
    Node copy = tree_;
    problem = put_node(copy, path, value, key_at);
    if (not problem.empty()) {
      building_.problems.add(key_at, path_text, problem);
      return;
    }
    const ObjectDescriptor& object = object_of("scenario");
    expand_shorthands(copy, object);
    Problems found;
    FormatCheck(building_.library, found).check(copy, object);
    building_.problems.add_new(found, own_problems_);
  }

  void read_range(BreakEven& built, const Node& over, const Node& range, const std::string& where) {
    std::string problem;
    const auto known = known_field(object_of("scenario"), *parse_path(over.text, problem));
    if (not known or known->field == nullptr) {
      building_.problems.add(over.at, where + ".over", fmt::format("there is no field {}", over.text));
      return;
    }
    built.over = over.text;
    double* const ends[] = {&built.low, &built.high};
    for (std::size_t i = 0; i < 2; ++i) {
      const Node& end = range.items[i];
      const auto value = read_quantity(*known, end.text, problem);
      if (not value)
        building_.problems.add(end.at, fmt::format("{}.range[{}]", where, i), problem);
      else
        *ends[i] = *value;
      if (value and not end.bad)
        try_value(over.text, end, over.at);
    }
    if (problem.empty() and built.low >= built.high)
      building_.problems.add(range.at, where + ".range", "the lowest value comes first, the highest second");
  }

  static std::optional<double> read_quantity(const KnownField& known, const std::string& text,
                                             std::string& problem) {
    if (known.guc != nullptr) {
      const auto value = parse_guc(*known.guc, text, problem);
      return value ? std::optional(value->number) : std::nullopt;
    }
    const FieldType type = known.field->type;
    const bool ordered = type >= FieldType::Integer and type <= FieldType::Frequency;
    if (not ordered) {
      problem = fmt::format("`{}` is no quantity; only quantities have values in between", known.field->name);
      return std::nullopt;
    }
    const auto value = read_scalar(*known.field, text, problem);
    return value ? std::optional(value->number) : std::nullopt;
  }

  Building& building_;
  Node tree_;
  Problems own_problems_; ///< of the file without its sweeps
};

} // namespace

void build_sweep(Building& building, const Node& tree) {
  const Node* sweep = building.root.find("sweep");
  const Node* break_even = building.root.find("break_even");
  if (sweep == nullptr and break_even == nullptr)
    return;
  SweepBuilder builder(building, tree);
  if (sweep != nullptr and not sweep->bad)
    for (const MapEntry& axis : sweep->entries)
      if (not axis.value.bad)
        builder.add_axis(axis);
  if (break_even == nullptr or break_even->bad)
    return;
  for (std::size_t i = 0; i < break_even->items.size(); ++i)
    if (not break_even->items[i].bad)
      builder.add_break_even(Fields(break_even->items[i], object_of("break_even")),
                             fmt::format("break_even[{}]", i));
}

} // namespace replisim
