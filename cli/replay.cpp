// replisim replay: runs again what a manifest records, and says whether the same bytes come out.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/recorded_run.hpp"
#include "cli/running_clock.hpp"
#include "cli/terminal.hpp"
#include "sim/report/run_report.hpp"
#include "sim/report/text.hpp"
#include "sim/run/json_reading.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/run_simulation.hpp"

#include <fmt/format.h>

#include <memory>

namespace replisim::cli {

namespace {

struct ReplayOptions {
  std::string manifest;
  std::string scenario;
  std::string out;
  int jobs = 0;
};

constexpr std::size_t metrics_shown = 10;

/// The metrics in which the two results differ.
std::string changed_metrics(const nlohmann::json& then, const nlohmann::json& now) {
  TextTable table({"  metric", "recorded", "now"}, 1);
  std::size_t count = 0;
  const auto old = then.value("metrics", nlohmann::json::object());
  const auto fresh = now.value("metrics", nlohmann::json::object());
  for (const auto& [name, value] : fresh.items())
    if (const auto before = old.find(name); before == old.end() or *before != value)
      if (++count <= metrics_shown)
        table.add({"  " + name, before == old.end() ? "-" : before->dump(), value.dump()});
  if (count == 0)
    return "  no metric differs\n";
  return table.render(0) +
         (count > metrics_shown ? fmt::format("  and {} more\n", count - metrics_shown) : "");
}

std::string verdict(const RecordedRun& run, const std::string& fresh, const Replications& replications,
                    bool& same) {
  const std::string recorded = run.result_text();
  const std::string fingerprint = hex64(replications.runs.front().fingerprint);
  const bool same_events = fingerprint == run.fingerprint;
  if (recorded.empty()) {
    same = same_events;
    return fmt::format(
        "no result.json lies beside the manifest; the simulated events are {} (fingerprint {}{})\n",
        same ? "the same" : "others", fingerprint, same ? "" : ", then " + run.fingerprint);
  }
  same = recorded == fresh;
  if (same)
    return fmt::format("identical: {} bytes of result.json, byte by byte; fingerprint {}\n", fresh.size(),
                       fingerprint);
  std::string out =
      fmt::format("NOT identical: result.json has {} bytes now, {} then; the simulated events are {}\n",
                  fresh.size(), recorded.size(), same_events ? "the same" : "others");
  const auto then = parse_json(recorded);
  return out + (then.is_object() and then.value("metrics", nlohmann::json::object()).is_object()
                    ? changed_metrics(then, nlohmann::json::parse(fresh))
                    : std::string("  the recorded result.json is no JSON object\n"));
}

ExitCode replay(const ReplayOptions& options, const Session& session) {
  const InterruptScope scope;
  const RecordedRun run = read_recorded_run(options.manifest);
  const Scenario scenario = load_recorded(run, options.scenario);
  PoolOptions pool{options.jobs, {}, {}};
  if (run.replications > 1)
    pool.progress = terminal_progress("replications");
  const Replications replications = [&] {
    const RunningClock clock(run.replications > 1 ? "" : scenario.name, scenario.observe.until_s);
    return run_replications(scenario, run.seed, run.replications, pool);
  }();
  if (replications.interrupted)
    throw Interrupted("interrupted before all replications were run again");
  bool same = false;
  std::string text =
      fmt::format("{}: {}, seed {}{}\n", run.manifest.string(), scenario.name, run.seed,
                  run.replications > 1 ? fmt::format(", {} replications", run.replications) : "");
  text += verdict(run, json_text(run_json(replications)), replications, same);
  const auto changes = differences(run, scenario);
  for (const std::string& change : changes)
    text += wrapped("  since then: ", change);
  if (changes.empty())
    text +=
        same ? "  program, scenario and costs are the recorded ones\n"
             : "  program, scenario and costs call themselves the recorded ones: was the program built from "
               "changed sources?\n";
  show_report(text);
  if (not options.out.empty())
    write_run_folder(options.out, scenario, replications,
                     {session.command_line, run.overrides, run.replications, run.exact});
  return same ? ExitCode::Ok : ExitCode::No;
}

} // namespace

void add_replay(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("replay", "Run again what a manifest records; say whether the result is the same");
  const auto options = std::make_shared<ReplayOptions>();
  command->add_option("MANIFEST", options->manifest, "manifest.json of `replisim run --out`, or its folder")
      ->required();
  command
      ->add_option("--scenario", options->scenario,
                   "The scenario's file, where it is no longer at the place the manifest names")
      ->type_name("FILE");
  command->add_option("--out", options->out, "Also write the new result to this folder")->type_name("DIR");
  add_jobs_option(*command, options->jobs);
  command->footer(
      R"(Exit code 0 when result.json comes out byte by byte as it was, 1 when it does not; then the version of the
program, the costs or the scenario's contents that have changed are named.

Example:
  replisim run scenarios/published/streaming_insert.yaml --out results
  replisim replay results
)");
  command->callback([options, &session] { session.exit_code = replay(*options, session); });
}

} // namespace replisim::cli
