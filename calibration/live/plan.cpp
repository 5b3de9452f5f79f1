#include "calibration/live/plan.hpp"

#include "models/base/suggest.hpp"
#include "models/base/units.hpp"
#include "sim/scenario/problems.hpp"
#include "sim/scenario/scenario_tree.hpp"
#include "sim/scenario/yaml_document.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

namespace replisim::live {

namespace fs = std::filesystem;

namespace {

class PlanReader {
public:
  PlanReader(const Library& library, const Version& version) : library_(library), version_(version) {}

  Plan read(const fs::path& file) {
    plan_.file = file.string();
    folder_ = file.parent_path();
    const Position origin{std::make_shared<const std::string>(file.string()), 0, 1, 1};
    const auto root = parse_yaml(read_text_file(file), origin, problems_);
    problems_.throw_if_any();
    if (not root or not root->is_map() or root->find("replisim_lab_plan") == nullptr)
      problems_.add(origin, "", "this file does not begin with `replisim_lab_plan: 1`");
    problems_.throw_if_any();
    check_keys(*root, "", {"replisim_lab_plan", "name", "repeats", "time", "set", "experiments"});
    plan_.name = text(*root, "name", "name");
    plan_.repeats = static_cast<int>(count(*root, "repeats", 1, 100));
    plan_.most_s = duration(*root, "time");
    const std::vector<Override> everywhere = overrides(*root, "set");
    const Node* experiments = root->find("experiments");
    if (experiments == nullptr or not experiments->is_list() or experiments->items.empty())
      problems_.add(root->at, "experiments", "is missing; write a list of `{name: ..., scenario: ...}`");
    else
      for (std::size_t i = 0; i < experiments->items.size(); ++i)
        add(experiments->items[i], fmt::format("experiments[{}]", i), everywhere);
    problems_.throw_if_any();
    if (plan_.experiments.empty())
      throw UsageError(fmt::format("{}: no experiment is for version {}", plan_.file, to_string(version_)));
    return std::move(plan_);
  }

private:
  void check_keys(const Node& map, const std::string& path, const std::vector<std::string>& known) {
    for (const MapEntry& entry : map.entries)
      if (std::find(known.begin(), known.end(), entry.key) == known.end())
        problems_.add(entry.at, join_path(path, entry.key),
                      fmt::format("is no field of a lab plan{}", suggestion(entry.key, known)));
  }

  std::string text(const Node& map, std::string_view key, const std::string& path) {
    const Node* node = map.find(key);
    if (node != nullptr and node->is_scalar() and not node->text.empty())
      return node->text;
    problems_.add(node != nullptr ? node->at : map.at, path,
                  node == nullptr ? "is missing" : fmt::format("found {}; write a text", describe(*node)));
    return {};
  }

  double count(const Node& map, std::string_view key, double otherwise, double most) {
    const Node* node = map.find(key);
    if (node == nullptr)
      return otherwise;
    const auto value = node->is_scalar() ? parse_number(node->text) : std::nullopt;
    if (value and *value >= 1 and *value <= most and *value == static_cast<double>(static_cast<int>(*value)))
      return *value;
    problems_.add(node->at, std::string(key),
                  fmt::format("found {}; a whole number from 1 to {:.0f} is allowed", describe(*node), most));
    return otherwise;
  }

  double duration(const Node& map, std::string_view key) {
    const Node* node = map.find(key);
    if (node == nullptr)
      return 0;
    const ParsedQuantity parsed = parse_quantity(node->is_scalar() ? node->text : "", Dimension::Duration);
    if (parsed.ok and parsed.value > 0)
      return parsed.value;
    problems_.add(node->at, std::string(key),
                  fmt::format("found {}; write a duration such as 4min", describe(*node)));
    return 0;
  }

  std::vector<Override> overrides(const Node& map, const std::string& path) {
    std::vector<Override> out;
    const Node* node = map.find("set");
    if (node == nullptr)
      return out;
    if (not node->is_map()) {
      problems_.add(node->at, path,
                    fmt::format("found {}; write a map of field paths to values", describe(*node)));
      return out;
    }
    for (const MapEntry& entry : node->entries)
      out.push_back({entry.key, flow_text(entry.value)});
    return out;
  }

  fs::path scenario_file(const Node& map, const std::string& path) {
    const std::string name = text(map, "scenario", path + ".scenario");
    for (const fs::path& candidate : {library_.root / name, folder_ / name})
      if (not name.empty() and fs::is_regular_file(candidate))
        return candidate.lexically_normal();
    if (not name.empty())
      problems_.add(map.find("scenario")->at, path + ".scenario",
                    fmt::format("there is no file {} in the library or beside the plan", name));
    return {};
  }

  /// What is said of every scenario is said of the servers it has.
  std::vector<Override> fitting(const std::vector<Override>& everywhere, const fs::path& scenario) {
    std::vector<Override> out;
    if (scenario.empty())
      return out;
    Problems ignored;
    const Node root = read_tree(scenario, ignored);
    const Node* servers = root.find("servers");
    for (const Override& override : everywhere) {
      const std::string_view path = override.path;
      const std::string_view prefix = "servers.";
      const bool is_of_server = path.starts_with(prefix);
      const std::string server(
          is_of_server ? path.substr(prefix.size(), path.find('.', prefix.size()) - prefix.size()) : "");
      if (not is_of_server or (servers != nullptr and servers->find(server) != nullptr))
        out.push_back(override);
    }
    return out;
  }

  void add(const Node& map, const std::string& path, const std::vector<Override>& everywhere) {
    if (not map.is_map()) {
      problems_.add(map.at, path, fmt::format("found {}; write {{name: ..., scenario: ...}}", describe(map)));
      return;
    }
    check_keys(map, path, {"name", "scenario", "use", "set", "vary", "since"});
    Experiment experiment;
    experiment.name = text(map, "name", path + ".name");
    for (const char c : experiment.name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 and c != '-' and c != '_') {
        problems_.add(map.find("name")->at, path + ".name",
                      fmt::format("'{}': letters, digits, - and _ are allowed, as files are named after it",
                                  experiment.name));
        break;
      }
    experiment.scenario = scenario_file(map, path);
    if (const Node* use = map.find("use")) {
      experiment.is_fitted = use->text == "fit";
      if (use->text != "fit" and use->text != "predict")
        problems_.add(use->at, path + ".use",
                      fmt::format("found {}; fit and predict are allowed", describe(*use)));
    }
    experiment.overrides = fitting(everywhere, experiment.scenario);
    for (Override& own : overrides(map, path + ".set"))
      experiment.overrides.push_back(std::move(own));
    const int since = map.find("since") == nullptr ? 0 : static_cast<int>(count(map, "since", 14, 99));
    if (version_.major < since) {
      plan_.skipped.push_back(fmt::format("{}: needs version {}", experiment.name, since));
      return;
    }
    vary(map.find("vary"), 0, experiment, path + ".vary");
  }

  /// One experiment for each combination of the values from axis `axis` on.
  void vary(const Node* axes, std::size_t axis, const Experiment& experiment, const std::string& path) {
    if (axes != nullptr and not axes->is_map()) {
      problems_.add(axes->at, path,
                    fmt::format("found {}; write a map of field paths to lists", describe(*axes)));
      return;
    }
    if (axes == nullptr or axis == axes->entries.size())
      return keep(experiment);
    const MapEntry& entry = axes->entries[axis];
    if (not entry.value.is_list() or entry.value.items.empty()) {
      problems_.add(entry.at, join_path(path, entry.key), "write a list of values");
      return;
    }
    for (const Node& value : entry.value.items) {
      Experiment one = experiment;
      one.overrides.push_back({entry.key, flow_text(value)});
      one.name += "-";
      for (const char c : value.is_scalar() ? value.text : flow_text(value))
        one.name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      vary(axes, axis + 1, one, path);
    }
  }

  void keep(const Experiment& experiment) {
    constexpr int parallel_since = 16;
    for (const Override& override : experiment.overrides)
      if (override.path.ends_with(".streaming") and override.value == "parallel" and
          version_.major < parallel_since) {
        plan_.skipped.push_back(fmt::format("{}: streaming = parallel needs version 16", experiment.name));
        return;
      }
    if (not names_.insert(experiment.name).second) {
      Position at;
      at.file = std::make_shared<const std::string>(plan_.file);
      problems_.add(at, "experiments", fmt::format("two experiments are called '{}'", experiment.name));
      return;
    }
    plan_.experiments.push_back(experiment);
  }

  const Library& library_;
  const Version& version_;
  fs::path folder_;
  Problems problems_;
  Plan plan_;
  std::set<std::string> names_;
};

} // namespace

Plan read_plan(const fs::path& file, const Library& library, const Version& version) {
  if (not fs::exists(file))
    throw UsageError(fmt::format("there is no plan {}", file.string()));
  return PlanReader(library, version).read(file);
}

fs::path shipped_plan(const std::string& name, const Library& library) {
  return library.root / "calibration" / "lab" / (name + ".yaml");
}

} // namespace replisim::live
