// replisim lab: measures a machine with throwaway servers, fits a profile, says how well it predicts.
#include "calibration/live/lab.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <unistd.h>

namespace replisim::cli {

namespace {

struct LabCommand {
  live::LabOptions options;
  std::string binaries, work, out = "lab", plan;
  bool quick = false;
  bool no_fit = false;
  int jobs = 0;
};

std::filesystem::path default_work() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr and *folder != '\0' ? folder : "/tmp";
}

ExitCode lab(LabCommand& command) {
  const InterruptScope scope;
  const Library library = find_library();
  live::LabOptions& options = command.options;
  options.binaries = command.binaries;
  options.work = command.work.empty() ? default_work() : std::filesystem::path(command.work);
  options.out = command.out;
  if (command.quick and not command.plan.empty())
    throw UsageError("--quick is a plan of its own; leave --plan out, or --quick");
  options.plan = command.plan.empty() ? live::shipped_plan(command.quick ? "quick" : "full", library)
                                      : std::filesystem::path(command.plan);
  options.fits = not command.no_fit;
  options.say = [](const std::string& sentence) {
    std::fputs(fmt::format("{}\n", sentence).c_str(), stderr);
  };
  const Simulator simulator = forked_simulator({.jobs = command.jobs, .progress = terminal_progress("runs")});
  const live::LabResult result = live::run_lab(options, library, simulator);
  write_stdout(live::lab_table(result));
  std::string files = fmt::format("\nwritten: {}\n", (options.out / "report.txt").string());
  if (result.fit)
    files += fmt::format("         {0}/profiles/{1}.yaml, {0}/hardware/{1}.yaml\nnext:    replisim run "
                         "{0}/scenarios/{2}.yaml\n",
                         options.out.string(), options.name, result.measured.front().experiment.name);
  write_stdout(files);
  return ExitCode::Ok;
}

constexpr const char* notes =
    R"(Starts two PostgreSQL servers of its own in a temporary folder, runs the plan's
experiments in turn, again and again, and ends them. As root it runs them as another user (--as). What stays is the
folder --out: the servers' logs and sampled timelines, the scenario that mirrors each experiment, a profile, a machine
file, and a table of predicted against measured for the experiments that were not fitted to (docs/live.md).

Examples:
  replisim lab --quick
  replisim lab --quick --bin /usr/lib/postgresql/15/bin --out lab15
  replisim lab --plan mine.yaml --repeats 5
)";

} // namespace

void add_lab(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("lab", "Measure this machine with throwaway PostgreSQL servers");
  const auto lab_command = std::make_shared<LabCommand>();
  command->add_flag("--quick", lab_command->quick, "A plan of at most five minutes in place of the full one");
  command->add_option("--plan", lab_command->plan, "A plan of one's own (YAML)")->type_name("FILE");
  command
      ->add_option("--bin", lab_command->binaries,
                   "Folder of PostgreSQL's programs, 14 to 19 (default: Debian's newest)")
      ->type_name("DIR");
  command->add_option("--out", lab_command->out, "Where results go")->type_name("DIR")->capture_default_str();
  command
      ->add_option("--work", lab_command->work,
                   "Where the servers' folder is made (default: $TMPDIR or /tmp)")
      ->type_name("DIR");
  lab_command->options.name = "this-machine";
  command->add_option("--name", lab_command->options.name, "Name of the profile and the machine file")
      ->capture_default_str();
  command
      ->add_option("--as", lab_command->options.user,
                   "As root: run servers as this user (default: postgres or nobody)")
      ->type_name("USER");
  command
      ->add_option(
          "--port", lab_command->options.port,
          "Listen on 127.0.0.1 at this port and the next (default: on sockets in the servers' folder alone)")
      ->check(CLI::Range(1024, 65534))
      ->type_name("N");
  command
      ->add_option("--repeats", lab_command->options.repeats,
                   "Rounds over all experiments (default: the plan's)")
      ->check(CLI::Range(1, 100))
      ->type_name("N");
  command->add_flag("--no-fit", lab_command->no_fit, "Measure alone");
  add_jobs_option(*command, lab_command->jobs);
  command->footer(notes);
  command->callback([lab_command, &session] { session.exit_code = lab(*lab_command); });
}

} // namespace replisim::cli
