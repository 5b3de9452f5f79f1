#include "sim/scenario/loader.hpp"

#include "sim/scenario/builtin_mixes.hpp"
#include "sim/scenario/envelope.hpp"
#include "sim/scenario/field_path.hpp"
#include "sim/scenario/format_check.hpp"
#include "sim/scenario/include_conf.hpp"
#include "sim/scenario/library.hpp"
#include "sim/scenario/planned_scenario.hpp"
#include "sim/scenario/scenario_parts.hpp"
#include "sim/scenario/scenario_tree.hpp"
#include "sim/scenario/suspicions.hpp"

#include <fmt/format.h>

#include <utility>

namespace replisim {

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto trimmed = [](std::string part) {
    const std::size_t first = part.find_first_not_of(" \t");
    const std::size_t last = part.find_last_not_of(" \t");
    return first == std::string::npos ? std::string() : part.substr(first, last - first + 1);
  };
  if (equals == std::string::npos or trimmed(text.substr(0, equals)).empty())
    throw UsageError(fmt::format("'{}' is no override; write path=value, as in "
                                 "servers.pub.settings.logical_decoding_work_mem=64MB",
                                 text));
  return {trimmed(text.substr(0, equals)), trimmed(text.substr(equals + 1))};
}

struct ScenarioFile {
  std::filesystem::path file;
  Problems problems; ///< of the file itself, such as duplicate keys
  Node tree;
};

namespace {

PlannedScenario build_all(const ScenarioFile& source, const std::vector<Override>& overrides,
                          const Library& library, bool with_questions) {
  Problems problems = source.problems;
  Node tree = source.tree;
  apply_overrides(tree, overrides, problems);
  if (not with_questions) {
    tree.remove("sweep");
    tree.remove("break_even");
    tree.remove("plan");
  }
  add_builtin_tables(tree);
  const std::vector<std::string> conf_notes = include_conf_files(tree, library, problems);
  Node checked = tree;
  FormatCheck(library, problems).check(checked, object_of("scenario"));

  PlannedScenario out;
  Scenario& scenario = out.scenario;
  scenario.file = source.file.string();
  scenario.warnings = conf_notes;
  Building building{checked, library, problems, scenario, {}, {}};
  build_run_options(building);
  build_statistics(building);
  build_profile(building);
  build_hosts(building);
  build_servers(building);
  build_links(building);
  build_tables(building);
  build_replication(building);
  build_workload(building);
  build_sessions(building);
  build_events(building);
  check_contradictions(building);
  check_apply_contradictions(building);
  build_sweep(building, tree);
  build_plan(building, tree);
  collect_guesses(building);
  problems.throw_if_any();
  for (std::string& warning : envelope_warnings(scenario, building.envelope))
    scenario.warnings.push_back(std::move(warning));
  for (std::string& suspicion : suspicions(scenario))
    scenario.warnings.push_back(std::move(suspicion));
  scenario.hash = scenario_hash(building);
  out.plan = building.plan;
  out.prices = building.prices;
  return out;
}

Scenario build(const ScenarioFile& source, const std::vector<Override>& overrides, const Library& library,
               bool with_questions) {
  return build_all(source, overrides, library, with_questions).scenario;
}

ScenarioFile read_scenario_file(const std::filesystem::path& file) {
  ScenarioFile out{file, {}, {}};
  out.tree = read_tree(file, out.problems);
  return out;
}

} // namespace

Library cached(Library library) {
  library.cache = std::make_shared<LibraryCache>();
  return library;
}

ScenarioSource::ScenarioSource(const std::filesystem::path& file, Library library)
    : library_(cached(std::move(library))),
      file_(std::make_shared<const ScenarioFile>(read_scenario_file(file))) {}

Scenario ScenarioSource::load(const std::vector<Override>& overrides) const {
  return build(*file_, overrides, library_, true);
}

Scenario ScenarioSource::load_point(const std::vector<Override>& overrides) const {
  return build(*file_, overrides, library_, false);
}

void ScenarioSource::require_field(const std::string& path, const std::string& option,
                                   const std::vector<Override>& overrides) const {
  const Position at{std::make_shared<const std::string>(option + " " + path), override_layer, 0, 0};
  Problems problems;
  std::string problem;
  if (const auto parsed = parse_path(path, problem)) {
    Problems ignored; // load() reports them
    Node tree = file_->tree;
    apply_overrides(tree, overrides, ignored);
    Node changed = tree;
    Node value;
    value.kind = Node::Kind::Scalar;
    value.at = at;
    const auto& object = object_of("scenario");
    const FieldPath parent(parsed->begin(), parsed->end() - 1);
    problem = put_node(changed, *parsed, value, at);
    if (problem.empty() and not known_field(object, *parsed)) {
      // The check of the whole scenario knows the nearest name.
      Problems before;
      FormatCheck(library_, before).check(tree, object);
      Problems after;
      FormatCheck(library_, after).check(changed, object);
      problems.add_new(after, before);
      problem = problems.empty() ? "there is no such field" : "";
    } else if (problem.empty() and not parent.empty() and not has_field(object, tree, parent)) {
      problem = "the scenario has no entry of that name";
    }
  }
  if (not problem.empty())
    problems.add(at, path, problem);
  problems.throw_if_any();
}

Scenario load_scenario(const std::filesystem::path& file, const std::vector<Override>& overrides,
                       const Library& library) {
  return build(read_scenario_file(file), overrides, library, true);
}

PlannedScenario load_planned(const std::filesystem::path& file, const std::vector<Override>& overrides,
                             const Library& library, bool with_questions) {
  return build_all(read_scenario_file(file), overrides, library, with_questions);
}

} // namespace replisim
