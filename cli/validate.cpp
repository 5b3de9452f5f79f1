// replisim validate: predicted beside measured.
#include "calibration/fit/cross_validation.hpp"
#include "calibration/suites/report.hpp"
#include "calibration/suites/reports.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/terminal.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace replisim::cli {

namespace {

struct ValidateOptions {
  std::string suite;
  std::string format = "table";
  int jobs = 0;
  bool cross_validate = false;
  std::vector<std::string> overrides;
};

/// All suites by name and description: those of measurements, then the user reports.
std::vector<std::pair<std::string, std::string>> all_suites() {
  std::vector<std::pair<std::string, std::string>> out;
  for (const SuiteEntry& entry : suite_catalogue())
    out.push_back({entry.name, entry.description});
  out.push_back({reports_suite, "troubles that users reported, and whether each gets its right answer"});
  return out;
}

std::string suite_list(const std::string& format) {
  if (format == "json") {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& [name, description] : all_suites())
      list.push_back({{"suite", name}, {"description", description}});
    return nlohmann::ordered_json{{"suites", list}}.dump(2) + "\n";
  }
  if (format == "csv") {
    std::string out = "suite,description\n";
    for (const auto& [name, description] : all_suites())
      out += fmt::format("{},\"{}\"\n", name, description);
    return out;
  }
  std::string out = "Suites (replisim validate SUITE):\n";
  for (const auto& [name, description] : all_suites())
    out += fmt::format("  {:<16} {}\n", name, description);
  return out;
}

std::string print(const SuiteReport& report, const std::string& format) {
  if (format == "json")
    return suite_json_text(report);
  return format == "csv" ? suite_csv(report) : suite_table(report);
}

std::string print(const std::vector<ReportResult>& results, const std::string& format) {
  if (format == "json")
    return reports_json(results).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return format == "csv" ? reports_csv(results) : reports_table(results);
}

ExitCode validate_reports(const ValidateOptions& options, const Library& library) {
  const auto simulator =
      forked_report_simulator({.jobs = options.jobs, .progress = terminal_progress("runs")});
  const auto results = judge_reports(report_catalogue(), library, options.overrides, simulator);
  write_stdout(print(results, options.format));
  return all_ok(results) ? ExitCode::Ok : ExitCode::No;
}

std::string print(const CrossValidation& result, const std::string& format) {
  if (format == "json")
    return cross_validation_json(result).dump(2) + "\n";
  return format == "csv" ? cross_validation_csv(result) : cross_validation_table(result);
}

ExitCode validate_crosswise(const ValidateOptions& options, const Suite& suite, const Library& library,
                            const Simulator& simulator) {
  if (not options.overrides.empty())
    throw UsageError("--cross-validate fits the suite as it is; leave --set out");
  const CalibrationSpec spec = spec_for(suite, library);
  const CostProfile start = load_profile(spec.name, library);
  const Calibration calibration(spec, library, simulator);
  const CrossValidation result = cross_validate(suite, calibration, start, calibration.options());
  write_stdout(print(result, options.format));
  return result.pass() ? ExitCode::Ok : ExitCode::No;
}

ExitCode validate(const ValidateOptions& options) {
  if (options.suite.empty() and options.cross_validate)
    throw UsageError("--cross-validate wants a suite; `replisim validate` lists them");
  if (options.suite.empty()) {
    write_stdout(suite_list(options.format));
    return ExitCode::Ok;
  }
  const InterruptScope scope;
  const Library library = find_library();
  if (options.suite == reports_suite and options.cross_validate)
    throw UsageError("suite 'reports' holds no figures that costs are fitted to; leave --cross-validate out");
  if (options.suite == reports_suite)
    return validate_reports(options, library);
  Suite suite = make_suite(options.suite, library);
  for (const std::string& text : options.overrides)
    parse_override(text); // a malformed one gets its sentence before anything is loaded
  const Simulator simulator = forked_simulator({.jobs = options.jobs, .progress = terminal_progress("runs")});
  if (options.cross_validate)
    return validate_crosswise(options, suite, library, simulator);
  SuiteReport report = run_suite(std::move(suite), library, options.overrides, simulator);
  if (report.suite.study != nullptr)
    report.suite.study(report, library, options.overrides,
                       {.jobs = options.jobs, .progress = terminal_progress("runs")});
  if (options.format == "table")
    show_report(print(report, options.format));
  else
    write_stdout(print(report, options.format));
  return report.pass.value_or(true) ? ExitCode::Ok : ExitCode::No;
}

} // namespace

void add_validate(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("validate", "Compare predictions with measurements");
  const auto options = std::make_shared<ValidateOptions>();
  command->add_option("SUITE", options->suite, "Suite of measurements; without it, all suites are listed");
  command->add_flag("--cross-validate", options->cross_validate,
                    "Leave scenarios and settings out, fit the profile again, predict what was left out");
  command->add_option("--set", options->overrides, "path=value: change a field in every cell; repeatable")
      ->allow_extra_args(false)
      ->type_name("PATH=VALUE");
  command
      ->add_option("--jobs", options->jobs, "Simulations at a time (default: the CPUs this process may use)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--format", options->format, "What to print")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command->footer(R"(Examples:
  replisim validate
  replisim validate seed-streaming
  replisim validate lab-counters --format csv
)");
  command->callback([options, &session] { session.exit_code = validate(*options); });
}

} // namespace replisim::cli
