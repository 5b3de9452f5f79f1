// replisim run: one scenario, one answer.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/running_clock.hpp"
#include "cli/terminal.hpp"
#include "sim/report/files.hpp"
#include "sim/report/openmetrics.hpp"
#include "sim/report/run_report.hpp"
#include "sim/report/run_summary.hpp"
#include "sim/report/trace.hpp"
#include "sim/run/analytic_companion.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"

#include "models/base/check.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct RunOptions {
  std::string scenario;
  std::vector<std::string> set;
  std::uint64_t seed = 1;
  int replications = 1;
  int jobs = 0;
  std::string precision, study;
  bool exact = false;
  bool analytic_only = false;
  std::string out;
  std::string format; ///< empty: a summary on a terminal, else the table
  std::string trace, trace_size = "50MB";
  std::string metrics_start;
};

std::string rendered(const RunOptions& options, const Scenario& scenario, const Replications& replications) {
  if (options.format == "json")
    return json_text(run_json(replications));
  if (options.format == "csv")
    return run_csv(replications);
  if (options.format == "summary" or (options.format.empty() and on_terminal()))
    return run_summary(scenario, replications, terminal_glyphs()) +
           (options.format.empty() ? "  everything: --format table\n" : "");
  if (options.format == "openmetrics") {
    std::optional<double> start_s;
    if (not options.metrics_start.empty())
      start_s = parse_epoch(options.metrics_start);
    return run_openmetrics(replications, start_s);
  }
  return run_table(scenario, replications);
}

/// What does not go together is said before anything is simulated.
void check_combination(const RunOptions& options) {
  if (not options.metrics_start.empty() and options.format != "openmetrics")
    throw UsageError("--metrics-start dates the samples of --format openmetrics; add it");
  if (not options.metrics_start.empty())
    parse_epoch(options.metrics_start);
  if (options.analytic_only and not options.trace.empty())
    throw UsageError("--analytic-only simulates nothing that --trace could write");
  if (options.analytic_only and options.format == "openmetrics")
    throw UsageError("--analytic-only has no figures for --format openmetrics; allowed: table, json, csv");
}

Bytes trace_bytes(const std::string& text) {
  const auto parsed = parse_quantity(text, Dimension::Size);
  if (not parsed.ok)
    throw UsageError(fmt::format("--trace-size {}: {}", text, parsed.problem));
  if (parsed.value < static_cast<double>(smallest_trace_bytes))
    throw UsageError(fmt::format("--trace-size {} is too small; allowed: 1MB or more", text));
  return static_cast<Bytes>(std::min(parsed.value, 1e12));
}

/// The first replication once more, written down: it is the same to the last bit.
void write_trace(const RunOptions& options, const Scenario& scenario, const RunResult& first, Bytes bytes) {
  const Trace trace = traced_simulation(scenario, first.seed, bytes);
  REPLISIM_REQUIRE(trace.fingerprint == first.fingerprint, "the traced run went another way");
  write_file(options.trace, trace.text);
}

/// Answers without simulating.
ExitCode run_analytic(const RunOptions& options, const Scenario& scenario) {
  if (not options.out.empty())
    throw UsageError("--analytic-only simulates nothing that --out could write");
  const AnalyticAnswer answer = analytic_answer(scenario);
  write_stdout(options.format == "json"  ? json_text(analytic_only_json(scenario, answer))
               : options.format == "csv" ? analytic_csv(answer)
                                         : analytic_table(scenario, answer));
  return ExitCode::Ok;
}

ExitCode run(const RunOptions& options, const Session& session) {
  const InterruptScope scope;
  check_combination(options);
  const Bytes most_trace_bytes = trace_bytes(options.trace_size);
  require_readable_file(options.scenario);
  RunProvenance provenance{session.command_line, {}, options.replications, options.exact};
  for (const auto& text : options.set)
    provenance.overrides.push_back(parse_override(text));
  if (not options.precision.empty())
    provenance.overrides.push_back(parse_override("statistics.precision=" + options.precision));
  if (not options.study.empty())
    provenance.overrides.push_back(parse_override("statistics.study=" + options.study));
  Scenario scenario = load_scenario(options.scenario, provenance.overrides, find_library());
  scenario.statistics.exact = options.exact;
  scenario.statistics.estimates_long = true;
  if (options.analytic_only)
    return run_analytic(options, scenario);
  PoolOptions pool{options.jobs, {}};
  if (options.replications > 1)
    pool.progress = terminal_progress("replications");
  const Replications replications = [&] {
    const RunningClock clock(options.replications > 1 ? "" : scenario.name, scenario.observe.until_s);
    return run_replications(scenario, options.seed, options.replications, pool);
  }();
  if (replications.interrupted and pool.progress)
    pool.progress(1, 1); // wipes the line that the interruption left
  if (not options.out.empty())
    write_run_folder(options.out, scenario, replications, provenance);
  const std::string text = rendered(options, scenario, replications);
  if (not options.trace.empty())
    write_trace(options, scenario, replications.runs.front(), most_trace_bytes);
  if (options.format == "json" or options.format == "csv" or options.format == "openmetrics")
    write_stdout(text);
  else
    show_report(text);
  return replications.interrupted ? ExitCode::Interrupted : ExitCode::Ok;
}

} // namespace

void add_run(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("run", "Simulate a scenario and show what happened");
  const auto options = std::make_shared<RunOptions>();
  command->add_option("SCENARIO", options->scenario, "Scenario file (YAML)")->required();
  add_set_option(*command, options->set, "path=value: change a field of the scenario; repeatable");
  add_seed_option(*command, options->seed);
  command
      ->add_option("--replications", options->replications,
                   "Runs with seeds SEED, SEED+1, ...; reports means and 95 % intervals")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command
      ->add_option(
          "--precision", options->precision,
          "Replications until half the 95 % interval of tps and lag_s_mean is at most this part of the "
          "value, as 0.5%, or the budget of `statistics` is spent; steady runs end when they are so precise")
      ->type_name("PERCENT");
  command
      ->add_option("--study", options->study,
                   "Estimate the steady state of a load, or follow a run to its end (default: detected)")
      ->type_name("auto|steady|terminating");
  command->add_flag("--exact", options->exact, "Simulate everything to the end, every transaction by itself");
  command->add_flag("--analytic-only", options->analytic_only,
                    "Answer by the laws of queueing theory alone, at once");
  add_jobs_option(*command, options->jobs);
  command->add_option("--out", options->out, "Folder for result.json, timeline.csv and manifest.json")
      ->type_name("DIR");
  command
      ->add_option("--format", options->format, "What to print (default: summary on a terminal, else table)")
      ->check(CLI::IsMember({"table", "summary", "json", "csv", "openmetrics"}));
  command
      ->add_option(
          "--metrics-start", options->metrics_start,
          "With --format openmetrics: when the run began, as 2026-05-01T12:00:00Z; dates every sample "
          "and adds the timeline")
      ->type_name("DATE");
  command
      ->add_option("--trace", options->trace,
                   "Write the run event by event to this file, for ui.perfetto.dev or chrome://tracing")
      ->type_name("FILE");
  command->add_option("--trace-size", options->trace_size, "Largest size of that file; long runs are sampled")
      ->type_name("SIZE")
      ->capture_default_str();
  command->footer(R"(Example:
  replisim run scenarios/published/streaming_insert.yaml \
      --set servers.pub.settings.logical_decoding_work_mem=64MB --format json
)");
  command->callback([options, &session] { session.exit_code = run(*options, session); });
}

} // namespace replisim::cli
