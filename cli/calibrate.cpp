// replisim calibrate: fits a profile's costs to measurements.
#include "calibration/fit/calibration_report.hpp"
#include "calibration/fit/profile_check.hpp"
#include "calibration/fit/profile_writer.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/files.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <unistd.h>

namespace replisim::cli {

namespace {

struct CalibrateOptions {
  std::string spec;
  std::string out;
  std::string check;
  std::string format = "full";
  int jobs = 0;
};

std::string print(const CalibrationResult& result, const std::string& format) {
  if (format == "json")
    return report_json(result).dump(2) + "\n";
  return format == "brief" ? brief_report(result) : full_report(result);
}

FitOptions fit_options(const Calibration& calibration) {
  FitOptions options = calibration.options();
  if (::isatty(STDERR_FILENO) != 0)
    options.progress = [](int iteration, double cost) {
      std::fputs(fmt::format("\riteration {}, cost {:.4f}\033[K\n", iteration, cost).c_str(), stderr);
    };
  return options;
}

ExitCode check(const CalibrateOptions& options, const Calibration& calibration, const Library& library) {
  const ProfileCheck outcome = check_profile(calibration, options.check, library, fit_options(calibration));
  write_stdout(outcome.text);
  return outcome.ok ? ExitCode::Ok : ExitCode::No;
}

ExitCode calibrate(const CalibrateOptions& options) {
  require_readable_file(options.spec);
  const InterruptScope scope;
  const Library library = find_library();
  const Calibration calibration(
      read_calibration_spec(options.spec, library), library,
      forked_simulator({.jobs = options.jobs, .progress = terminal_progress("runs")}));
  if (not options.check.empty())
    return check(options, calibration, library);
  const CalibrationResult result = calibration.fit(fit_options(calibration));
  write_stdout(print(result, options.format));
  if (not options.out.empty())
    write_file(options.out, profile_text(result));
  return result.summary.end == FitEnd::MostIterations ? ExitCode::No : ExitCode::Ok;
}

constexpr const char* notes =
    R"(A spec says what a profile is fitted to (figures of suites, or logs and timelines of servers),
what is free and what is known beforehand (docs/calibration.md); those of the shipped profiles are in
calibration/specs. Exit code 1 when the fit did not come to rest, or with --check when the profile is not what the
fit gives.

Examples:
  replisim calibrate calibration/specs/seed1-host.yaml --out seed1-host.yaml
  replisim calibrate calibration/specs/seed1-host.yaml --check seed1-host
  replisim calibrate calibration/specs/lab-2core-artefacts.yaml --format brief
)";

} // namespace

void add_calibrate(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("calibrate", "Fit a cost profile to measurements");
  const auto options = std::make_shared<CalibrateOptions>();
  command->add_option("SPEC", options->spec, "The spec, a YAML file")->required();
  auto* out = command->add_option("--out", options->out, "Write the profile to this file")->type_name("FILE");
  command
      ->add_option("--check", options->check,
                   "Fit from this profile's values on and compare: is it what the spec gives?")
      ->type_name("PROFILE")
      ->excludes(out);
  add_jobs_option(*command, options->jobs);
  command->add_option("--format", options->format, "What to print: brief and full are for people")
      ->check(CLI::IsMember({"brief", "full", "json"}))
      ->capture_default_str();
  command->footer(notes);
  command->callback([options, &session] { session.exit_code = calibrate(*options); });
}

} // namespace replisim::cli
