#include "sim/scenario/loader.hpp"

#include "sim/scenario/format_check.hpp"
#include "sim/scenario/scenario_parts.hpp"
#include "sim/scenario/scenario_tree.hpp"

#include <fmt/format.h>

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

Scenario load_scenario(const std::filesystem::path& file, const std::vector<Override>& overrides,
                       const Library& library) {
  Problems problems;
  const Node tree = load_tree(file, overrides, problems);
  Node checked = tree;
  FormatCheck(library, problems).check(checked, object_of("scenario"));

  Scenario scenario;
  scenario.file = file.string();
  Building building{checked, library, problems, scenario, {}};
  build_run_options(building);
  build_profile(building);
  build_hosts(building);
  build_servers(building);
  build_links(building);
  build_tables(building);
  build_replication(building);
  build_workload(building);
  check_contradictions(building);
  build_sweep(building, tree);
  collect_guesses(building);
  problems.throw_if_any();
  scenario.hash = scenario_hash(building);
  return scenario;
}

} // namespace replisim
