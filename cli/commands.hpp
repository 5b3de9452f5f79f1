// The subcommands of the program, one file each. Every add_x() declares a subcommand with its options
// and registers a callback that stores the outcome in session.exit_code.
//
// Callbacks print results with write_stdout() (cli/output.hpp) and throw the errors of
// models/base/errors.hpp, or Interrupted (sim/run/fork_pool.hpp); main() turns those into a sentence
// on standard error and an exit code.
#pragma once

#include "models/base/errors.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace replisim::cli {

/// What one invocation of the program shares with its subcommand.
struct Session {
  std::vector<std::string> command_line; ///< argv, for manifests
  ExitCode exit_code = ExitCode::Ok;
};

/// Options several subcommands have, declared in one place.
void add_set_option(CLI::App& command, std::vector<std::string>& overrides, const std::string& help);
void add_seed_option(CLI::App& command, std::uint64_t& seed);
void add_jobs_option(CLI::App& command, int& jobs);

/// Scripts with which shells complete commands and options; manual pages.
void add_completion(CLI::App& app, Session& session);
void add_man(CLI::App& app, Session& session);
/// Runs that are recorded: again, and side by side.
void add_replay(CLI::App& app, Session& session);
void add_diff(CLI::App& app, Session& session);
void add_observe(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_import(CLI::App& app, Session& session);
void add_calibrate(CLI::App& app, Session& session);
void add_explore(CLI::App& app, Session& session);
/// Generated tables of docs/.
void add_reference(CLI::App& app, Session& session);
void add_report(CLI::App& app, Session& session);
void add_collect(CLI::App& app, Session& session);
void add_init(CLI::App& app, Session& session);
void add_lab(CLI::App& app, Session& session);
void add_plan(CLI::App& app, Session& session);
void add_results(CLI::App& app, Session& session);
void add_run(CLI::App& app, Session& session);
/// check, explain-key, schema.
void add_scenario_help(CLI::App& app, Session& session);
/// scenario --from.
void add_scenario(CLI::App& app, Session& session);
void add_storm(CLI::App& app, Session& session);
void add_sweep(CLI::App& app, Session& session);
void add_validate(CLI::App& app, Session& session);

} // namespace replisim::cli
