// replisim explain: which inputs decide a metric, what limits, and what each remedy would give.
#include "sim/plan/explain.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/explain_report.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"
#include "sim/scenario/loader.hpp"

#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct ExplainCommand {
  std::string scenario;
  std::vector<std::string> set;
  std::string metric;
  std::string method = "morris";
  int samples = 0;
  int together = 6;
  int replications = 3;
  std::size_t inputs = 20;
  std::uint64_t seed = 1;
  int jobs = 0;
  std::string format = "table";
};

ExitCode explain_scenario(const ExplainCommand& command) {
  const InterruptScope scope;
  require_readable_file(command.scenario);
  ExplainOptions options;
  for (const auto& text : command.set)
    options.overrides.push_back(parse_override(text));
  options.metric = command.metric;
  options.method = command.method == "sobol"     ? ExplainMethod::Sobol
                   : command.method == "tornado" ? ExplainMethod::Tornado
                                                 : ExplainMethod::Morris;
  options.samples = command.samples;
  options.most_inputs = command.together;
  options.replications = command.replications;
  options.arms = {command.seed, {command.jobs, terminal_progress("runs"), {}}};
  const ScenarioSource source(command.scenario, find_library());
  const Scenario base = source.load(options.overrides);
  const SweepEngine engine{
      [&](const std::vector<Override>& overrides) { return source.load_point(overrides); }, simulate};
  const Explanation explanation = explain(base, engine, options);
  write_stdout(command.format == "json" ? json_text(explain_json(explanation))
                                        : explain_table(explanation, command.inputs));
  return ExitCode::Ok;
}

} // namespace

void add_explain(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand(
      "explain", "Say which inputs decide a metric, what limits it now, and what would be next");
  const auto options = std::make_shared<ExplainCommand>();
  command->add_option("SCENARIO", options->scenario, "Scenario file (YAML)")->required();
  command->add_option("--metric", options->metric, "The metric (default: total_s, else lag_s_p99, else tps)")
      ->type_name("NAME");
  command
      ->add_option("--method", options->method,
                   "tornado: one input at a time; morris, sobol: those that matter most also together")
      ->check(CLI::IsMember({"tornado", "morris", "sobol"}))
      ->capture_default_str();
  command
      ->add_option("--samples", options->samples,
                   "Walks of morris (default 4), samples of sobol (default 32)")
      ->check(CLI::Range(2, 100'000));
  command->add_option("--together", options->together, "Inputs that morris or sobol move together")
      ->check(CLI::Range(2, 10))
      ->capture_default_str();
  command->add_option("--inputs", options->inputs, "Rows of inputs to print")->capture_default_str();
  command
      ->add_option("--replications", options->replications,
                   "Runs of the inputs that matter most, where something is random")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_set_option(*command, options->set, "path=value: change a field of the scenario; repeatable");
  add_seed_option(*command, options->seed);
  add_jobs_option(*command, options->jobs);
  command->add_option("--format", options->format, "What to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(R"(Example:
  replisim explain scenarios/planning/largest_oltp_load.yaml --metric lag_s_p99
)");
  command->callback([options, &session] { session.exit_code = explain_scenario(*options); });
}

} // namespace replisim::cli
