// replisim compare: two or more scenarios, or settings of one, by paired differences.
#include "sim/plan/compare.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/compare_report.hpp"
#include "sim/run/point_space.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/loader.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct CompareOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
  std::string vary;
  std::uint64_t seed = 1;
  int replications = 10;
  int jobs = 0;
  bool all = false;
  std::string format = "table";
};

constexpr int streaming_since = 14, parallel_since = 16;

std::vector<std::string> names_of(const std::vector<std::string>& files) {
  std::set<std::string> stems;
  for (const auto& file : files)
    stems.insert(std::filesystem::path(file).stem().string());
  std::vector<std::string> out;
  for (const auto& file : files)
    out.push_back(stems.size() == files.size() ? std::filesystem::path(file).stem().string() : file);
  return out;
}

/// What one scenario is compared over when nobody says: the streaming modes its servers know.
std::vector<std::pair<std::string, std::vector<Override>>> streaming_modes(const Scenario& scenario) {
  if (scenario.subscriptions.empty())
    throw UsageError(
        "the scenario has no subscription whose `streaming` could be compared; name another scenario, "
        "or settings with --vary path=v1,v2");
  int oldest = 99;
  for (const auto& [name, subscription] : scenario.subscriptions)
    for (const auto& server :
         {subscription.server, scenario.publications.at(subscription.publication).server})
      oldest = std::min(oldest, scenario.servers.at(server).version.major);
  std::vector<std::string> modes = {"off"};
  if (oldest >= streaming_since)
    modes.emplace_back("on");
  if (oldest >= parallel_since)
    modes.emplace_back("parallel");
  if (modes.size() < 2)
    throw UsageError(
        fmt::format("version {} knows one streaming mode only; name another scenario, or settings with "
                    "--vary path=v1,v2",
                    oldest));
  std::vector<std::pair<std::string, std::vector<Override>>> out;
  for (const auto& mode : modes) {
    std::vector<Override> overrides;
    for (const auto& [name, subscription] : scenario.subscriptions)
      overrides.push_back({fmt::format("subscriptions.{}.streaming", name), mode});
    out.emplace_back(mode, overrides);
  }
  return out;
}

SweepEngine engine_of(const std::shared_ptr<const ScenarioSource>& source) {
  return {[source](const std::vector<Override>& overrides) { return source->load_point(overrides); },
          simulate};
}

std::vector<Arm> arms_of_one(const CompareOptions& options, const std::vector<Override>& fixed) {
  const auto source = std::make_shared<const ScenarioSource>(options.scenarios.front(), find_library());
  const Scenario base = source->load(fixed);
  std::vector<std::pair<std::string, std::vector<Override>>> settings;
  if (options.vary.empty()) {
    settings = streaming_modes(base);
  } else {
    const SweepAxis axis = parse_vary(options.vary);
    for (const auto& path : axis_paths(axis))
      source->require_field(path, "--vary", fixed);
    if (axis.range)
      throw UsageError(
          fmt::format("--vary {} is a range to be sampled; name the values to compare", options.vary));
    for (const SweepPoint& point : sweep_points({axis}))
      settings.emplace_back(point.labels.front().second, point.overrides);
  }
  std::vector<Arm> arms;
  for (const auto& [label, overrides] : settings) {
    auto all = fixed;
    all.insert(all.end(), overrides.begin(), overrides.end());
    source->load(all); // mistakes end here
    arms.push_back({label, engine_of(source), all, {}, {}, ExitCode::Ok});
  }
  return arms;
}

std::vector<Arm> arms_of_several(const CompareOptions& options, const std::vector<Override>& fixed) {
  if (not options.vary.empty())
    throw UsageError("--vary compares settings of one scenario; leave it out, or name one scenario only");
  const auto labels = names_of(options.scenarios);
  std::vector<Arm> arms;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    require_readable_file(options.scenarios[i]);
    const auto source = std::make_shared<const ScenarioSource>(options.scenarios[i], find_library());
    source->load(fixed);
    arms.push_back({labels[i], engine_of(source), fixed, {}, {}, ExitCode::Ok});
  }
  return arms;
}

ExitCode compare(const CompareOptions& options) {
  const InterruptScope scope;
  require_readable_file(options.scenarios.front());
  std::vector<Override> fixed;
  for (const auto& text : options.set)
    fixed.push_back(parse_override(text));
  auto arms = options.scenarios.size() == 1 ? arms_of_one(options, fixed) : arms_of_several(options, fixed);
  if (arms.size() < 2)
    throw UsageError("one setting alone cannot be compared; name at least two values with --vary");
  const ArmsOptions how{options.seed, {options.jobs, terminal_progress("runs"), {}}};
  const Comparison comparison = compare_arms(std::move(arms), options.replications, how);
  write_stdout(options.format == "json"  ? json_text(compare_json(comparison))
               : options.format == "csv" ? compare_csv(comparison)
                                         : compare_table(comparison, options.all));
  return ExitCode::Ok;
}

} // namespace

void add_compare(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("compare", "Compare scenarios, or settings of one, and say what is real");
  const auto options = std::make_shared<CompareOptions>();
  command
      ->add_option(
          "SCENARIO", options->scenarios,
          "Scenario files (YAML); one alone is compared with itself over --vary, or over the streaming modes")
      ->required();
  command
      ->add_option("--vary", options->vary, "path=v1,v2,...: the settings of one scenario that are compared")
      ->type_name("PATH=VALUES");
  add_set_option(*command, options->set, "path=value: change a field in all of them; repeatable");
  add_seed_option(*command, options->seed);
  command
      ->add_option(
          "--replications", options->replications,
          "Runs of each, with seeds SEED, SEED+1, ...: the same ones everywhere; two where nothing is random")
      ->check(CLI::Range(2, 100'000))
      ->capture_default_str();
  add_jobs_option(*command, options->jobs);
  command->add_flag("--all", options->all, "Show every metric, equal ones too");
  command->add_option("--format", options->format, "What to print")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command->footer(R"(Examples:
  replisim compare scenarios/planning/batch_under_load.yaml          # streaming off, on, parallel
  replisim compare before.yaml after.yaml --replications 20
  replisim compare mine.yaml --vary servers.pub.settings.logical_decoding_work_mem=64MB,1GB
)");
  command->callback([options, &session] { session.exit_code = compare(*options); });
}

} // namespace replisim::cli
