// Sweep axes and break-even questions: fields to vary, each value checked as if the file held it.
#include "models/base/suggest.hpp"
#include "sim/scenario/axis_range.hpp"
#include "sim/scenario/field_path.hpp"
#include "sim/scenario/scenario_parts.hpp"
#include "sim/scenario/value_trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace replisim {

namespace {

/// The unit values between the ends are written in: of sizes bytes, of durations seconds.
std::string over_unit(const AxisRange& writing) {
  if (writing.unit == "kB" or writing.unit == "MB")
    return "B";
  return writing.unit == "ms" or writing.unit == "min" ? "s" : writing.unit;
}

class SweepBuilder {
public:
  SweepBuilder(Building& building, const Node& tree)
      : building_(building), trial_(building.library, tree, building.problems) {}

  void add_axis(const MapEntry& axis) {
    const std::string where = join_path("sweep", axis.key);
    if (axis.value.find("from") != nullptr and axis.value.find("to") != nullptr) {
      add_range(axis, where);
      return;
    }
    const auto paths = split_paths(axis.key);
    for (const std::string& path : paths)
      if (not has_path(path, axis.at, where))
        return;
    SweepAxis built{fmt::format("{}", fmt::join(paths, ", ")), {}};
    if (paths.size() > 1)
      built.zipped = paths;
    std::set<std::string> labels;
    const auto add = [&](const std::string& label, const Node& value) {
      if (not labels.insert(label).second)
        building_.problems.add(value.at, where, fmt::format("the value {} stands twice in this axis", label));
      try_together(paths, value, axis.at, where);
      built.values.emplace_back(label, flow_text(value));
    };
    for (const Node& item : axis.value.items)
      add(item.is_scalar() ? item.text : flow_text(item), item);
    for (const MapEntry& entry : axis.value.entries)
      add(entry.key, entry.value);
    building_.scenario.sweep.push_back(std::move(built));
  }

  void add_sample(const MapEntry& sample) {
    const std::string where = "sweep.sample";
    check_keys(sample.value, {"method", "points", "seed"}, where);
    std::string problem;
    auto plan = sample_plan(text_of(sample.value, "method"), text_of(sample.value, "points"), problem);
    const std::string seed = text_of(sample.value, "seed");
    if (plan and not seed.empty()) {
      const auto [end, error] = std::from_chars(seed.data(), seed.data() + seed.size(), plan->seed);
      if (error != std::errc() or end != seed.data() + seed.size())
        problem = fmt::format("'{}' is no seed; a whole number is wanted", seed);
    }
    if (not problem.empty())
      building_.problems.add(sample.value.at, where, problem);
    building_.scenario.sample = plan;
  }

  /// After all axes: what is to be sampled needs a plan.
  void finish(const Node& sweep) {
    const auto& axes = building_.scenario.sweep;
    const bool sampled =
        std::any_of(axes.begin(), axes.end(), [](const SweepAxis& axis) { return axis.range.has_value(); });
    if (sampled and sweep.find("sample") == nullptr)
      building_.problems.add(sweep.at, "sweep",
                             "a range without `count` or `step` is sampled: say how with "
                             "`sample: {method: latin-hypercube, points: 100}`");
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
  static std::string text_of(const Node& map, std::string_view key) {
    const Node* node = map.find(key);
    return node != nullptr and node->is_scalar() ? node->text : "";
  }

  void check_keys(const Node& map, const std::vector<std::string>& known, const std::string& where) {
    for (const MapEntry& entry : map.entries)
      if (std::find(known.begin(), known.end(), entry.key) == known.end())
        building_.problems.add(entry.at, where,
                               fmt::format("unknown key '{}'{}", entry.key, suggestion(entry.key, known)));
  }

  void add_range(const MapEntry& axis, const std::string& where) {
    check_keys(axis.value, {"from", "to", "count", "step", "scale"}, where);
    const Node& range = axis.value;
    std::string problem;
    if (range.find("count") != nullptr and range.find("step") != nullptr)
      problem = "give `count` or `step`, not both";
    auto built = problem.empty()
                     ? range_axis(axis.key,
                                  {text_of(range, "from"), text_of(range, "to"), text_of(range, "count"),
                                   text_of(range, "step"), text_of(range, "scale")},
                                  problem)
                     : std::nullopt;
    if (not built) {
      building_.problems.add(range.at, where, problem);
      return;
    }
    for (const char* end : {"from", "to"})
      try_value(axis.key, *range.find(end), axis.at);
    building_.scenario.sweep.push_back(std::move(*built));
  }

  /// One value of an axis: of a zipped one a list with one value a path.
  void try_together(const std::vector<std::string>& paths, const Node& value, const Position& key_at,
                    const std::string& where) {
    if (paths.size() == 1) {
      try_value(paths.front(), value, key_at);
      return;
    }
    if (not value.is_list() or value.items.size() != paths.size()) {
      building_.problems.add(value.at, where,
                             fmt::format("{} stands where a list of {} values is wanted, one for each path",
                                         describe(value), paths.size()));
      return;
    }
    for (std::size_t i = 0; i < paths.size(); ++i)
      try_value(paths[i], value.items[i], key_at);
  }

  bool has_path(const std::string& text, const Position& at, const std::string& where) {
    return trial_.is_path(text, at, where);
  }

  void try_value(const std::string& path, const Node& value, const Position& key_at) {
    trial_.put(path, value, key_at);
  }

  void read_range(BreakEven& built, const Node& over, const Node& range, const std::string& where) {
    std::string problem;
    const auto known = known_field(object_of("scenario"), *parse_path(over.text, problem));
    if (not known or known->field == nullptr) {
      building_.problems.add(over.at, where + ".over", fmt::format("there is no field {}", over.text));
      return;
    }
    built.over = over.text;
    built.over_unit = over_unit(writing_of(*known));
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

  Building& building_;
  ValueTrial trial_;
};

} // namespace

void build_sweep(Building& building, const Node& tree) {
  const Node* sweep = building.root.find("sweep");
  const Node* break_even = building.root.find("break_even");
  if (sweep == nullptr and break_even == nullptr)
    return;
  SweepBuilder builder(building, tree);
  if (sweep != nullptr and not sweep->bad)
    for (const MapEntry& axis : sweep->entries) {
      if (axis.key == "sample")
        builder.add_sample(axis);
      else if (not axis.value.bad)
        builder.add_axis(axis);
    }
  if (sweep != nullptr and not sweep->bad)
    builder.finish(*sweep);
  if (break_even == nullptr or break_even->bad)
    return;
  for (std::size_t i = 0; i < break_even->items.size(); ++i)
    if (not break_even->items[i].bad)
      builder.add_break_even(Fields(break_even->items[i], object_of("break_even")),
                             fmt::format("break_even[{}]", i));
}

} // namespace replisim
