// The program: reads the command line, runs one subcommand, turns errors into sentences and exit codes.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"
#include "models/base/suggest.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace replisim;

constexpr const char* examples = R"(Examples:
  replisim run scenarios/published/streaming_insert.yaml
  replisim run scenarios/published/streaming_insert.yaml \
      --set servers.pub.settings.logical_decoding_work_mem=64MB --out results
  replisim sweep scenarios/published/streaming_insert.yaml --vary subscriptions.s.streaming=off,parallel
  replisim compare scenarios/planning/nightly_batch.yaml
  replisim plan scenarios/planning/largest_oltp_load.yaml
  replisim validate seed-streaming
  replisim observe /var/log/postgresql
  replisim calibrate calibration/specs/seed1-host.yaml --out seed1-host.yaml

Exit codes:
  0    done; warnings alone are 0
  1    the answer is no: a suite short of its bar, a sweep with points that failed, an infeasible plan
  2    something outside the program must be put right: command line, file, disk
  3    an error of the program itself
  130  interrupted; what was finished is complete
)";

int complain(const std::string& text, ExitCode code) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return static_cast<int>(code);
}

/// Names that could have been meant where an unknown word stands: options and subcommands.
std::vector<std::string> known_names(const CLI::App& app) {
  const CLI::App* command = &app;
  while (not command->get_subcommands().empty())
    command = command->get_subcommands().back();
  std::vector<std::string> known;
  for (const auto* option : command->get_options())
    known.push_back(option->get_name());
  for (const auto* sub : command->get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(sub->get_name());
  return known;
}

/// What CLI11 says; for an unknown word the nearest name instead.
int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = app.exit(error, out, err);
  cli::write_stdout(out.str());
  if (code == 0)
    return 0;
  std::string text = error.what();
  const auto unknown = app.remaining(true);
  if (not unknown.empty())
    text = fmt::format("replisim does not know '{}'{}", unknown.front(),
                       suggestion(unknown.front(), known_names(app)));
  return complain(text + "\nRun with --help for more information.", ExitCode::Usage);
}

int run_program(int argc, char** argv) {
  cli::Session session{{argv, argv + argc}, ExitCode::Ok};
  CLI::App app(
      "replisim predicts what PostgreSQL logical replication will do, before anyone touches a cluster",
      "replisim");
  app.set_version_flag("--version",
                       fmt::format("replisim {} (commit {})", program_version(), build_commit()));
  app.require_subcommand(1);
  cli::add_run(app, session);
  cli::add_sweep(app, session);
  cli::add_compare(app, session);
  cli::add_plan(app, session);
  cli::add_explain(app, session);
  cli::add_storm(app, session);
  cli::add_init(app, session);
  cli::add_scenario_help(app, session);
  cli::add_import(app, session);
  cli::add_results(app, session);
  cli::add_report(app, session);
  cli::add_explore(app, session);
  cli::add_validate(app, session);
  cli::add_observe(app, session);
  cli::add_calibrate(app, session);
  cli::add_replay(app, session);
  cli::add_diff(app, session);
  cli::add_reference(app, session);
  cli::add_completion(app, session);
  cli::add_man(app, session);
  cli::add_lab(app, session);
  cli::add_collect(app, session);
  cli::add_scenario(app, session);
  app.footer(examples); // last: subcommands would inherit it
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error);
  }
  return static_cast<int>(session.exit_code);
}

} // namespace

int main(int argc, char** argv) {
  cli::reserve_standard_descriptors();
  cli::fit_reports_to_window();
  // A reader that goes away shows as an error of write(), not as the end of the program.
  std::signal(SIGPIPE, SIG_IGN);
  // So does a file that reaches the limit of `ulimit -f`.
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const UsageError& e) {
    return complain(fmt::format("{}", e.what()), ExitCode::Usage);
  } catch (const Interrupted& e) {
    return complain(fmt::format("replisim: {}", e.what()), ExitCode::Interrupted);
  } catch (const std::exception& e) {
    return complain(fmt::format("replisim: an error of replisim itself, please report it: {}", e.what()),
                    ExitCode::Internal);
  }
}
