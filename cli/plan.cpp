// replisim plan: the most that keeps its promises, the cheapest that does, or a trade-off.
#include "sim/plan/plan.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/files.hpp"
#include "sim/report/plan_report.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/simulate.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct PlanCommand {
  std::string scenario;
  std::vector<std::string> set;
  std::uint64_t seed = 1;
  int jobs = 0;
  std::string format = "table";
  std::string sql;
};

ExitCode plan(const PlanCommand& command) {
  const InterruptScope scope;
  require_readable_file(command.scenario);
  PlanOptions options;
  for (const auto& text : command.set)
    options.overrides.push_back(parse_override(text));
  options.arms = {command.seed, {command.jobs, terminal_progress("runs"), {}}};
  const Library library = cached(find_library());
  const ScenarioSource source(command.scenario, library);
  const PlannedScenario base = load_planned(command.scenario, options.overrides, library, true);
  if (base.plan == nullptr)
    throw UsageError(
        fmt::format("{} has no `plan:` block, which says what to look for; docs/planning.md shows how "
                    "to write one",
                    command.scenario));
  const PlanEngine engine{
      {[&](const std::vector<Override>& overrides) { return source.load_point(overrides); }, simulate},
      [&](const std::vector<Override>& overrides) {
        return load_planned(command.scenario, overrides, library, false);
      }};
  const PlanAnswer answer = answer_plan(base, engine, options);
  if (not command.sql.empty())
    write_file(command.sql, statements_text(answer.statements));
  write_stdout(command.format == "json" ? json_text(plan_json(answer)) : plan_table(answer));
  return answer.feasible() ? ExitCode::Ok : ExitCode::No;
}

} // namespace

void add_plan(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("plan", "Find the largest load, the cheapest setting or a trade-off that keeps "
                                 "promises, and the statements to apply");
  const auto options = std::make_shared<PlanCommand>();
  command->add_option("SCENARIO", options->scenario, "Scenario file (YAML) with a `plan:` block")->required();
  add_set_option(*command, options->set,
                 "path=value: change a field of the scenario, also of its plan; repeatable");
  add_seed_option(*command, options->seed);
  add_jobs_option(*command, options->jobs);
  command->add_option("--sql", options->sql, "Also write the statements to this file")->type_name("FILE");
  command->add_option("--format", options->format, "What to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(R"(Examples:
  replisim plan scenarios/planning/largest_oltp_load.yaml
  replisim plan mine.yaml --set 'plan.promises=["lag_s p99 < 1s"]' --sql apply.sql

Exit codes: 0 there is an answer; 1 nothing keeps the promises; 2 something must be put right; 130 interrupted.
)");
  command->callback([options, &session] { session.exit_code = plan(*options); });
}

} // namespace replisim::cli
