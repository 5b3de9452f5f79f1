// replisim sweep: a matrix of settings, one row per point.
#include "sim/run/sweep.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/slurm.hpp"
#include "cli/sweep_options.hpp"
#include "cli/terminal.hpp"
#include "sim/report/files.hpp"
#include "sim/report/results_report.hpp"
#include "sim/report/sweep_report.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"
#include "sim/run/sweep_to_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

constexpr std::uint64_t failures_shown = 20;
constexpr Bytes smallest_memory_limit_bytes = Bytes{32} * 1024 * 1024;

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

double quantity_option(const std::string& name, const std::string& text, Dimension dimension,
                       double minimum) {
  if (text.empty())
    return 0;
  const auto parsed = parse_quantity(text, dimension);
  if (not parsed.ok)
    throw UsageError(fmt::format("{} {}: {}", name, text, parsed.problem));
  if (parsed.value < minimum)
    throw UsageError(
        fmt::format("{} {} is too small; allowed: {} or more", name, text,
                    dimension == Dimension::Size ? format_bytes(minimum) : format_duration(minimum)));
  return parsed.value;
}

RunLimits limits_of(const SweepOptions& options) {
  RunLimits limits;
  limits.time_s = quantity_option("--time-limit", options.time_limit, Dimension::Duration, 0.01);
  limits.memory_bytes =
      static_cast<Bytes>(quantity_option("--memory-limit", options.memory_limit, Dimension::Size,
                                         static_cast<double>(smallest_memory_limit_bytes)));
  return limits;
}

/// --out and --format are of a sweep that prints; the others need a file.
void check_combination(const SweepOptions& options) {
  if (options.db.empty()) {
    for (const auto& [given, name] :
         {std::pair(not options.shard.empty(), "--shard"), std::pair(options.retry_failed, "--retry-failed"),
          std::pair(options.slurm, "--slurm")})
      if (given)
        throw UsageError(fmt::format("{} needs a results database: add --db FILE", name));
  } else if (not options.out.empty() or not options.format.empty()) {
    throw UsageError(
        fmt::format("--db collects the results in a database, and --out and --format print them; "
                    "leave them out and export later: replisim results {} export --format csv",
                    options.db));
  }
  if (options.slurm and not options.shard.empty())
    throw UsageError("--slurm makes the shards itself; leave --shard out and say how many with --shards");
}

SweepRequest request_of(const SweepOptions& options, const ScenarioSource& source) {
  SweepRequest request;
  for (const auto& text : options.set)
    request.overrides.push_back(parse_override(text));
  for (const auto& text : options.vary)
    request.vary.push_back(parse_vary(text));
  if (not options.sample.empty()) {
    request.sample = parse_sample(options.sample);
    request.sample->seed = options.sample_seed;
  }
  request.seed = options.seed;
  request.replications = options.replications;
  for (const auto& axis : request.vary)
    for (const auto& path : axis_paths(axis))
      source.require_field(path, "--vary", request.overrides);
  return request;
}

std::string progress_text(const SweepOptions& options, const SweepProgress& progress) {
  std::string out;
  for (const auto& note : progress.notes)
    out += fmt::format("note: {}\n", note);
  ResultsFile file = ResultsFile::open(options.db);
  out += results_heading(file);
  if (progress.found > 0)
    out += fmt::format("  {} of them were there before\n",
                       format_count(static_cast<std::int64_t>(progress.found)));
  if (progress.failed > 0) {
    ResultsQuery failures;
    failures.failed_only = true;
    failures.limit = failures_shown;
    out += "\n" + results_table(file, failures, {});
  }
  if (progress.interrupted)
    out += "interrupted: the same command goes on from here\n";
  return out;
}

ExitCode sweep_into_database(const SweepOptions& options, const SweepRequest& request, const Scenario& base,
                             const SweepEngine& engine, const PoolOptions& pool) {
  SweepTarget target{options.db, {}, options.retry_failed};
  if (not options.shard.empty())
    target.shard = parse_shard(options.shard);
  const SweepProgress progress = run_sweep_to_file(base, request, target, engine, pool);
  if (progress.interrupted and pool.progress)
    pool.progress(1, 1); // wipes the line that the interruption left
  write_stdout(progress_text(options, progress));
  if (progress.interrupted)
    return ExitCode::Interrupted;
  return progress.failed > 0 ? ExitCode::No : ExitCode::Ok;
}

ExitCode sweep(const SweepOptions& options) {
  const InterruptScope scope;
  check_combination(options);
  require_readable_file(options.scenario);
  const ScenarioSource source(options.scenario, find_library());
  const SweepRequest request = request_of(options, source);
  const SweepEngine engine{[&](const std::vector<Override>& all) { return source.load_point(all); },
                           simulate};
  const Scenario base = source.load(request.overrides);
  if (options.slurm)
    return submit_to_slurm(options);
  const PoolOptions pool{options.jobs, terminal_progress("runs"), limits_of(options)};
  if (not options.db.empty())
    return sweep_into_database(options, request, base, engine, pool);
  const Sweep result = run_sweep(base, request, engine, pool);
  if (result.interrupted and pool.progress)
    pool.progress(1, 1);
  const std::string text = rendered(chosen_format(options), result);
  if (not options.out.empty())
    write_file(options.out, text);
  else if (chosen_format(options) == "table")
    show_report(text);
  else
    write_stdout(text);
  return sweep_exit_code(result);
}

void add_axis_options(CLI::App& command, SweepOptions& options) {
  command
      .add_option(
          "--vary", options.vary,
          "path=v1,v2,... or path=LOW..HIGH/COUNT[/log]: an axis, instead of the scenario's one of that "
          "path; path,path=[v,w],[v,w],... vary together; repeatable")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUES");
  command
      .add_option("--sample", options.sample,
                  "METHOD:POINTS, latin-hypercube or sobol: samples the axes that are ranges without a count")
      ->type_name("METHOD:POINTS");
  command.add_option("--sample-seed", options.sample_seed, "Seed of the samples' positions")
      ->capture_default_str();
  command
      .add_option("--replications", options.replications,
                  "Runs of each point, with seeds SEED, SEED+1, ...: the same ones at every point")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
}

void add_database_options(CLI::App& command, SweepOptions& options) {
  command
      .add_option("--db", options.db,
                  "Collect the results in this SQLite file; if it exists, go on where it ends")
      ->type_name("FILE");
  command.add_flag("--retry-failed", options.retry_failed, "Run the points again that failed before");
  command.add_option("--shard", options.shard, "Run only part K of N, into a database of its own")
      ->type_name("K/N");
  command.add_flag("--slurm", options.slurm,
                   "Submit the sweep as a Slurm job array, one task a shard, and say how to follow it");
  command.add_option("--shards", options.shards, "Tasks of the job array")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command.add_option("--slurm-options", options.slurm_options, "Options for sbatch, as one text")
      ->type_name("TEXT");
  command.add_flag("--wait", options.wait, "With --slurm: wait for the jobs and merge their results");
  command.add_option("--time-limit", options.time_limit, "End a run that takes longer, e.g. 30s")
      ->type_name("TIME");
  command.add_option("--memory-limit", options.memory_limit, "End a run that needs more memory, e.g. 500MB")
      ->type_name("SIZE");
}

} // namespace

void add_sweep(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("sweep", "Simulate a matrix of settings, one row per point");
  const auto options = std::make_shared<SweepOptions>();
  command
      ->add_option("SCENARIO", options->scenario, "Scenario file (YAML); its `sweep:` block gives the axes")
      ->required();
  add_axis_options(*command, *options);
  add_set_option(*command, options->set, "path=value: change a field in all points; repeatable");
  add_seed_option(*command, options->seed);
  add_jobs_option(*command, options->jobs);
  add_database_options(*command, *options);
  command
      ->add_option("--out", options->out,
                   "File to write instead of standard output; .json and .csv choose the format")
      ->type_name("FILE");
  command->add_option("--format", options->format, "What to print (default: table)")
      ->check(CLI::IsMember({"table", "json", "csv"}));
  command->footer(R"(Examples:
  replisim sweep scenarios/published/streaming_insert.yaml --vary subscriptions.s.streaming=off,parallel
  replisim sweep scenarios/published/streaming_insert.yaml --db results.db \
      --vary servers.pub.settings.logical_decoding_work_mem=64kB..1GB/50/log

Exit codes: 0 all points done; 1 some points failed; 2 something must be put right; 130 interrupted.
)");
  command->callback([options, &session] { session.exit_code = sweep(*options); });
}

} // namespace replisim::cli
