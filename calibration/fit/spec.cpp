#include "calibration/fit/spec.hpp"

#include "models/base/errors.hpp"
#include "sim/scenario/fields.hpp"
#include "sim/scenario/library_files.hpp"
#include "sim/scenario/problems.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace replisim {

namespace {

std::vector<std::string> names_of(const Fields& fields, std::string_view list) {
  std::vector<std::string> names;
  if (const Node* node = fields.given(list))
    for (const Node& item : node->items)
      if (not item.bad)
        names.push_back(item.text);
  return names;
}

/// Builds a spec from a tree whose structure is checked; what contradicts itself goes to the problems.
class Builder {
public:
  Builder(const Node& root, CalibrationSpec& spec, Problems& problems)
      : fields_(root, object_of("calibration_file")), spec_(spec), problems_(problems) {}

  void build() {
    spec_.name = fields_.text("name");
    spec_.extends = fields_.text("extends");
    spec_.machine = fields_.text("machine");
    spec_.server_version = fields_.text("server_version");
    spec_.about = fields_.text("about");
    spec_.robust_limit = fields_.number("robust_limit");
    spec_.max_iterations = static_cast<int>(fields_.integer("iterations"));
    each("data", [&](const Fields& item) { add_data(item); });
    add_cpu_speed();
    costs("parameters", "fitted_cost",
          [&](const std::string& name, const Fields& cost) { add_free(name, cost); });
    each("together", [&](const Fields& item) { add_group(item); });
    costs("stated", "cost", [&](const std::string& name, const Fields& cost) { add_stated(name, cost); });
    each("derived", [&](const Fields& item) { add_derived(item); });
    each("relations", [&](const Fields& item) { add_relation(item); });
    check_whole();
  }

private:
  void each(std::string_view list, const auto& action) {
    if (const Node* node = fields_.given(list))
      for (const Node& item : node->items)
        if (not item.bad)
          action(Fields(item, object_of(object_of("calibration_file").find(list)->object)));
  }

  void costs(std::string_view map, std::string_view object, const auto& action) {
    if (const Node* node = fields_.given(map))
      for (const MapEntry& group : node->entries)
        for (const MapEntry& entry : group.value.entries)
          if (not group.value.bad and not entry.value.bad)
            action(group.key + "." + entry.key, Fields(entry.value, object_of(object)));
  }

  void add_data(const Fields& item) {
    spec_.data.push_back({.suite = item.text("suite"),
                          .metrics = names_of(item, "metrics"),
                          .only = names_of(item, "only"),
                          .exclude = names_of(item, "exclude"),
                          .error = item.number("error"),
                          .ratio_error = item.number("ratios"),
                          .artefacts = item.text("artefacts"),
                          .runs = {}});
    CalibrationData& data = spec_.data.back();
    if (data.suite.empty() == data.artefacts.empty())
      problems_.add(item.node().at, "data", "figures come from a `suite` or from a folder of `artefacts`");
    if (const Node* runs = item.given("runs"))
      for (const Node& node : runs->items)
        if (not node.bad)
          add_run(Fields(node, object_of("artefact_run")), data);
    if (data.artefacts.empty() != data.runs.empty())
      problems_.add(item.node().at, "data.runs",
                    data.runs.empty() ? "is missing: files do not tell what ran when they were written"
                                      : "belong to `artefacts`; a suite knows its own");
  }

  static void add_run(const Fields& run, CalibrationData& data) {
    data.runs.push_back({.files = names_of(run, "files"),
                         .scenario = run.text("scenario"),
                         .overrides = names_of(run, "set")});
  }

  void add_cpu_speed() {
    if (fields_.given("cpu_speed") == nullptr)
      return;
    const Fields ratio = fields_.child("cpu_speed");
    spec_.cpu_speed =
        FreeCosts{.names = {}, .start_factor = ratio.number("start"), .prior_spread = ratio.number("prior")};
    if (spec_.extends.empty())
      problems_.add(fields_.at("cpu_speed"), "cpu_speed",
                    "a ratio to the extended profile's core, but the profile extends none");
  }

  void claim(const std::string& name, const Position& at, const std::string& path) {
    if (not claimed_.insert(name).second)
      problems_.add(at, path, fmt::format("'{}' has a place in this spec already", name));
  }

  void add_free(const std::string& name, const Fields& cost) {
    claim(name, cost.node().at, "parameters." + name);
    FreeCosts free{.names = {name}, .prior_spread = cost.number("prior")};
    if (cost.given("start") != nullptr)
      free.start_s = cost.number("start");
    else if (spec_.extends.empty())
      problems_.add(cost.node().at, "parameters." + name,
                    "`start` is missing: there is no extended profile that would know it");
    if (free.start_s == 0)
      problems_.add(cost.at("start"), "parameters." + name + ".start",
                    "0 is no start: a fit moves logarithms; state the cost under `stated`, or start above 0");
    spec_.costs.push_back(std::move(free));
  }

  void add_group(const Fields& item) {
    FreeCosts group{.names = names_of(item, "costs"),
                    .start_factor = item.number("start"),
                    .prior_spread = item.number("prior")};
    for (const std::string& name : group.names)
      claim(name, item.node().at, "together");
    if (spec_.extends.empty())
      problems_.add(item.node().at, "together",
                    "a factor on costs of the extended profile, but the profile extends none");
    spec_.costs.push_back(std::move(group));
  }

  void add_stated(const std::string& name, const Fields& cost) {
    claim(name, cost.node().at, "stated." + name);
    spec_.stated[name] = {cost.number("value"),
                          {provenance_of(cost.text("provenance")), cost.text("source")}};
  }

  void add_derived(const Fields& item) {
    const std::string name = item.text("cost");
    claim(name, item.node().at, "derived");
    spec_.derived.push_back({name, names_of(item, "sum_of"), item.text("source")});
    for (const std::string& part : spec_.derived.back().sum_of)
      if (part == name)
        problems_.add(item.node().at, "derived", fmt::format("'{}' is a sum of itself", name));
  }

  void add_relation(const Fields& item) {
    const CostRelation relation{item.text("cost"), item.text("to"), item.number("prior")};
    for (const std::string& name : {relation.cost, relation.to})
      if (std::none_of(spec_.costs.begin(), spec_.costs.end(), [&](const FreeCosts& free) {
            return std::find(free.names.begin(), free.names.end(), name) != free.names.end();
          }))
        problems_.add(item.node().at, "relations",
                      fmt::format("'{}' is not fitted, so that there is no ratio to hold", name));
    spec_.relations.push_back(relation);
  }

  void check_whole() {
    if (spec_.costs.empty() and not spec_.cpu_speed)
      problems_.add(fields_.node().at, "parameters",
                    "nothing is fitted; name costs under `parameters` or `together`, or give `cpu_speed`");
    if (not spec_.extends.empty())
      return;
    std::vector<std::string_view> missing;
    for (const CostParameter& parameter : cost_parameters())
      if (not claimed_.contains(std::string(parameter.name)))
        missing.push_back(parameter.name);
    if (not missing.empty())
      problems_.add(fields_.node().at, "stated",
                    fmt::format("no value for {}; fit them, state them, or extend a profile that knows them",
                                fmt::join(missing, ", ")));
  }

  Fields fields_;
  CalibrationSpec& spec_;
  Problems& problems_;
  std::set<std::string> claimed_;
};

} // namespace

CalibrationSpec read_calibration_spec(const std::filesystem::path& file, const Library& library) {
  if (not std::filesystem::exists(file))
    throw UsageError(fmt::format("there is no file '{}'", file.string()));
  Problems problems;
  Node named_by;
  named_by.kind = Node::Kind::Scalar;
  named_by.text = file.string();
  const auto root = read_library_file(file, named_by, "", "replisim_calibration",
                                      object_of("calibration_file"), library, problems);
  problems.throw_if_any();
  CalibrationSpec spec;
  spec.file = file.string();
  Builder(*root, spec, problems).build();
  problems.throw_if_any();
  return spec;
}

std::filesystem::path spec_file(const std::string& profile, const Library& library) {
  return library.root / "calibration" / "specs" / (profile + ".yaml");
}

} // namespace replisim
