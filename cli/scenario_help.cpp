// replisim check, explain-key, schema: help with writing scenario files.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "sim/report/json_schema.hpp"
#include "sim/scenario/field_help.hpp"
#include "sim/scenario/loader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct CheckOptions {
  std::vector<std::string> scenarios;
  std::vector<std::string> set;
  bool list_guesses = false;
};

struct Tally {
  std::size_t errors = 0, warnings = 0;
};

/// All that is wrong with one file and all that is suspicious about it, one line each.
Tally check_file(const std::string& file, const CheckOptions& options, const std::vector<Override>& overrides,
                 const Library& library, std::string& out) {
  require_readable_file(file);
  try {
    const Scenario scenario = load_scenario(file, overrides, library);
    for (const std::string& warning : scenario.warnings)
      out += fmt::format("{}: warning: {}\n", file, warning);
    if (options.list_guesses)
      for (const Guess& guess : scenario.guesses)
        out += fmt::format("{}: guess: {} = {}: {}\n", file, guess.path, guess.value, guess.reason);
    return {0, scenario.warnings.size()};
  } catch (const ScenarioError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics())
      out += fmt::format("{}\n", diagnostic.to_string());
    return {error.diagnostics().size(), 0};
  }
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count == 0 ? "no" : std::to_string(count), noun, count == 1 ? "" : "s");
}

ExitCode check(const CheckOptions& options) {
  std::vector<Override> overrides;
  for (const std::string& text : options.set)
    overrides.push_back(parse_override(text));
  const Library library = cached(find_library());
  std::string out;
  Tally all;
  for (const std::string& file : options.scenarios) {
    const Tally one = check_file(file, options, overrides, library, out);
    all.errors += one.errors;
    all.warnings += one.warnings;
  }
  out += fmt::format("{}: {}, {}\n", counted(options.scenarios.size(), "file"), counted(all.errors, "error"),
                     counted(all.warnings, "warning"));
  show_report(out);
  return all.errors > 0 ? ExitCode::Usage : ExitCode::Ok;
}

void add_check(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("check", "Say what is wrong with scenario files, and what is suspicious");
  const auto options = std::make_shared<CheckOptions>();
  command->add_option("SCENARIO", options->scenarios, "Scenario files (YAML)")->required();
  add_set_option(*command, options->set, "path=value: change a field of each scenario; repeatable");
  command->add_flag("--guesses", options->list_guesses, "Also list the inputs nobody measured or stated");
  command->footer("\nExit code 2 when there is an error; warnings alone are 0.\n\n"
                  "Example:\n  replisim check scenarios/published/*.yaml\n");
  command->callback([options, &session] { session.exit_code = check(*options); });
}

void add_explain_key(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("explain-key",
                                     "Say what a field of a scenario file means, its unit, range, default");
  const auto paths = std::make_shared<std::vector<std::string>>();
  command->add_option("PATH", *paths, "Field path, as in subscriptions.s.streaming; `*` stands for any name")
      ->required();
  command->footer("\nExamples:\n  replisim explain-key subscriptions.s.streaming\n"
                  "  replisim explain-key servers.pub.settings.logical_decoding_work_mem\n"
                  "  replisim explain-key profile.parameters.apply.insert_row\n");
  command->callback([paths, &session] {
    for (const std::string& path : *paths)
      write_stdout(field_help(path));
    session.exit_code = ExitCode::Ok;
  });
}

void add_schema(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("schema", "Print the JSON Schema of scenario files, for editors");
  command->footer(
      "\nEditors with yaml-language-server complete and explain fields when a scenario begins with\n"
      "  # yaml-language-server: $schema=PATH/scenario.schema.json\n\n"
      "Example:\n  replisim schema > scenario.schema.json\n");
  command->callback([&session] {
    constexpr int indent = 1;
    write_stdout(scenario_schema().dump(indent) + "\n");
    session.exit_code = ExitCode::Ok;
  });
}

} // namespace

void add_scenario_help(CLI::App& app, Session& session) {
  add_check(app, session);
  add_explain_key(app, session);
  add_schema(app, session);
}

} // namespace replisim::cli
