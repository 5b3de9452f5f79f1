// replisim storm: the worst combination of faults within bounds, shrunk to the smallest that still breaks a
// promise.
#include "sim/run/storm.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/files.hpp"
#include "sim/report/storm_report.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

namespace replisim::cli {

namespace {

/// Of the undisturbed run: where faults begin and end, and how long one may last, unless the user says.
constexpr double latest_share = 0.7;
constexpr double longest_share = 0.25;
constexpr double shortest_share = 0.1; ///< of the longest

struct StormOptions {
  std::string scenario, out, format = "table";
  std::vector<std::string> set, promises, faults;
  std::string from, until, longest, shortest;
  int tries = 200, most_faults = 4, jobs = 0;
  std::uint64_t seed = 1;
};

double duration_option(const std::string& name, const std::string& text, double otherwise) {
  if (text.empty())
    return otherwise;
  const auto parsed = parse_quantity(text, Dimension::Duration);
  if (not parsed.ok)
    throw UsageError(fmt::format("{} {}: {}", name, text, parsed.problem));
  return parsed.value;
}

StormBounds bounds_of(const StormOptions& options, double undisturbed_s) {
  StormBounds bounds;
  bounds.from_s = duration_option("--from", options.from, 0);
  bounds.until_s = duration_option("--until", options.until, latest_share * undisturbed_s);
  if (bounds.until_s <= bounds.from_s)
    throw UsageError(fmt::format("faults are to begin and end between {} and {}: that is no time at all",
                                 format_duration(bounds.from_s), format_duration(bounds.until_s)));
  bounds.longest_s = duration_option("--longest", options.longest,
                                     std::min(longest_share * undisturbed_s, bounds.until_s - bounds.from_s));
  bounds.shortest_s =
      duration_option("--shortest", options.shortest, std::max(1e-3, shortest_share * bounds.longest_s));
  if (bounds.longest_s < bounds.shortest_s)
    throw UsageError(fmt::format("the longest fault ({}) is shorter than the shortest ({})",
                                 format_duration(bounds.longest_s), format_duration(bounds.shortest_s)));
  bounds.most_faults = options.most_faults;
  for (const std::string& word : options.faults)
    bounds.kinds.insert(fault_kind(word));
  return bounds;
}

/// The base as the saved file has to name it: seen from its own folder.
std::string base_path(const std::string& scenario, const std::string& out) {
  const auto folder = std::filesystem::absolute(out).parent_path();
  const auto relative = std::filesystem::absolute(scenario).lexically_relative(folder.lexically_normal());
  return relative.empty() ? std::filesystem::absolute(scenario).string() : relative.string();
}

ExitCode storm(const StormOptions& options) {
  const InterruptScope scope;
  require_readable_file(options.scenario);
  if (not options.out.empty() and not options.set.empty())
    throw UsageError(
        "--out names a file that extends the scenario, which knows nothing of --set: put the values "
        "into a file of their own first");
  StormRequest request;
  for (const std::string& text : options.promises)
    request.promises.push_back(parse_promise(text));
  std::vector<Override> overrides;
  for (const std::string& text : options.set)
    overrides.push_back(parse_override(text));
  const Scenario scenario = load_scenario(options.scenario, overrides, find_library());
  const RunResult calm = run_simulation(scenario, options.seed);
  for (const StormPromise& promise : request.promises)
    if (const auto found = strain(promise, calm); found and *found > 1)
      throw UsageError(
          fmt::format("the promise {} is broken without any fault: replisim run shows how", promise.text));
  request.bounds = bounds_of(options, calm.simulated_s);
  request.seed = options.seed;
  request.tries = options.tries;
  const Storm found = run_storm(
      scenario, request, {.jobs = options.jobs, .progress = terminal_progress("combinations"), .limits = {}});
  if (not found.unknown.empty())
    throw UsageError(
        fmt::format("no run has the metric of the promise {}; replisim run --format csv lists them",
                    found.unknown.front()));
  const bool broken = not found.worst.broken.empty();
  if (broken and not options.out.empty())
    write_file(options.out, storm_yaml(base_path(options.scenario, options.out), scenario, found.smallest));
  write_stdout(options.format == "json" ? storm_json(scenario, request, found)
                                        : storm_text(scenario, request, found, broken ? options.out : ""));
  return broken ? ExitCode::No : ExitCode::Ok;
}

} // namespace

void add_storm(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "storm", "Search for the worst combination of faults, and shrink what breaks a promise");
  const auto options = std::make_shared<StormOptions>();
  command->add_option("SCENARIO", options->scenario, "Scenario file")->required();
  command
      ->add_option(
          "--promise", options->promises,
          "What is to hold: METRIC<=LIMIT (or <, >=, >), or 'no OUTCOME' such as 'no slot_lost'; repeatable")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--tries", options->tries, "Random combinations")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--most-faults", options->most_faults, "Faults of one combination at most")
      ->check(CLI::Range(1, 20))
      ->capture_default_str();
  command
      ->add_option(
          "--faults", options->faults,
          "Only these: subscriber_down, partition, crash, slow_disk, cpu_taken, credits_used_up, link")
      ->delimiter(',');
  command->add_option("--from", options->from, "No fault begins before it (default: 0s)");
  command->add_option("--until", options->until,
                      "No fault ends after it (default: 70 % of the undisturbed run)");
  command->add_option("--longest", options->longest,
                      "The longest fault (default: a quarter of the undisturbed run)");
  command->add_option("--shortest", options->shortest, "The shortest (default: a tenth of the longest)");
  command->add_option("--out", options->out, "File for the smallest scenario that breaks a promise");
  add_set_option(*command, options->set, "path=value: change a field of the scenario; repeatable");
  add_seed_option(*command, options->seed);
  add_jobs_option(*command, options->jobs);
  command->add_option("--format", options->format, "What to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->callback([options, &session] { session.exit_code = storm(*options); });
}

} // namespace replisim::cli
