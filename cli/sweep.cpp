// replisim sweep: a matrix of settings, one row per point.
#include "sim/run/sweep.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/files.hpp"
#include "sim/report/sweep_report.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/loader.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct SweepOptions {
  std::string scenario;
  std::vector<std::string> vary;
  std::vector<std::string> set;
  std::uint64_t seed = 1;
  int jobs = 0;
  std::string out;
  std::string format;
};

/// --format; else what the ending of --out's file says; else the table.
std::string chosen_format(const SweepOptions& options) {
  if (not options.format.empty())
    return options.format;
  const auto ending = std::filesystem::path(options.out).extension();
  return ending == ".json" ? "json" : ending == ".csv" ? "csv" : "table";
}

std::string rendered(const std::string& format, const Sweep& sweep) {
  if (format == "json")
    return json_text(sweep_json(sweep));
  if (format == "csv")
    return sweep_csv(sweep);
  return sweep_table(sweep);
}

ExitCode sweep(const SweepOptions& options) {
  const InterruptScope scope;
  require_readable_file(options.scenario);
  std::vector<Override> overrides;
  for (const auto& text : options.set)
    overrides.push_back(parse_override(text));
  std::vector<SweepAxis> vary;
  for (const auto& text : options.vary)
    vary.push_back(parse_vary(text));
  const ScenarioSource source(options.scenario, find_library());
  const SweepEngine engine{[&](const std::vector<Override>& all) { return source.load_point(all); }, simulate};
  const Scenario base = source.load(overrides);
  const auto progress = terminal_progress("points");
  const Sweep result = run_sweep(base, overrides, vary, options.seed, engine, {options.jobs, progress});
  if (result.interrupted and progress)
    progress(1, 1); // wipes the line that the interruption left
  const std::string text = rendered(chosen_format(options), result);
  if (options.out.empty())
    write_stdout(text);
  else
    write_file(options.out, text);
  return sweep_exit_code(result);
}

} // namespace

void add_sweep(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("sweep", "Simulate a matrix of settings, one row per point");
  const auto options = std::make_shared<SweepOptions>();
  command
      ->add_option("SCENARIO", options->scenario, "Scenario file (YAML); its `sweep:` block gives the axes")
      ->required();
  command
      ->add_option("--vary", options->vary,
                   "path=v1,v2,...: an axis, instead of the scenario's one of that path; repeatable")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUES");
  add_set_option(*command, options->set, "path=value: change a field in all points; repeatable");
  add_seed_option(*command, options->seed);
  add_jobs_option(*command, options->jobs);
  command
      ->add_option("--out", options->out,
                   "File to write instead of standard output; .json and .csv choose the format")
      ->type_name("FILE");
  command->add_option("--format", options->format, "What to print (default: table)")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  command->footer(R"(Example:
  replisim sweep scenarios/published/streaming_insert.yaml --vary subscriptions.s.streaming=off,parallel
)");
  command->callback([options, &session] { session.exit_code = sweep(*options); });
}

} // namespace replisim::cli
