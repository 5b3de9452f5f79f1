// replisim observe PATH...: what the logs, views and samples of a real cluster hold.
#include "calibration/observe/observe.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct ObserveOptions {
  std::vector<std::string> paths;
  readers::ReadOptions read;
  std::string format = "table";
};

ExitCode observe(const ObserveOptions& options) {
  const std::vector<std::filesystem::path> paths(options.paths.begin(), options.paths.end());
  readers::ReadProgress progress;
  if (const auto show = terminal_progress("MB"))
    progress = [show](std::uint64_t done_bytes, std::uint64_t total_bytes) {
      constexpr std::uint64_t mb = 1'000'000;
      show(static_cast<std::size_t>(done_bytes / mb), static_cast<std::size_t>(total_bytes / mb));
    };
  const readers::ObserveReport report =
      readers::make_report(readers::read_paths(paths, options.read, progress));
  write_stdout(options.format == "json"  ? readers::observe_json(report)
               : options.format == "csv" ? readers::observe_csv(report)
                                         : readers::observe_table(report));
  return ExitCode::Ok;
}

} // namespace

void add_observe(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("observe", "Read what a real cluster left behind: logs, views, samples");
  const auto options = std::make_shared<ObserveOptions>();
  command
      ->add_option(
          "PATH", options->paths,
          "Files, folders (read with all below them), or - for standard input; gzip and zstd are unpacked")
      ->required();
  command->add_option(
      "--log-line-prefix", options->read.log_line_prefix,
      "log_line_prefix of stderr logs, as set on the server (default: inferred from each file)");
  command->add_option("--time-zone", options->read.time_zone,
                      "Zone of times whose own is missing, unknown or ambiguous: UTC, +03, -05:30, CET");
  command
      ->add_option(
          "--columns", options->read.column_map,
          "Which column of a plain table is which metric: lines COLUMN = METRIC [UNIT], = label, = time "
          "[UNIT] or = - (default: by the columns' names)")
      ->type_name("FILE");
  command->add_option("--format", options->format, "What to print; json and csv hold the series")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command->footer(R"(Examples:
  replisim observe /var/log/postgresql
  replisim observe postgresql.log.gz slots.csv --format json
)");
  command->callback([options, &session] { session.exit_code = observe(*options); });
}

} // namespace replisim::cli
