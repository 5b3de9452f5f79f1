// replisim import: a server's WAL or a pgbench log becomes a scenario.
#include "calibration/import/import_files.hpp"
#include "calibration/import/pgbench_workload.hpp"
#include "calibration/import/scenario_writer.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/files.hpp"
#include "sim/report/unfinished_files.hpp"
#include "sim/scenario/loader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <unistd.h>

namespace replisim::cli {

namespace {

constexpr const char* examples = R"(Examples:
  pg_waldump -p /var/lib/postgresql/17/main/pg_wal --start 0/52C5490 --end 0/B15A928 > wal.txt
  psql -AtX -f calibration/tables.sql mydb > tables.txt
  replisim import wal.txt --tables tables.txt --out mine.yaml
  replisim run mine.yaml --set subscriptions.s.streaming=parallel
  replisim run mine.yaml --set servers.pub.settings.logical_decoding_work_mem=32MB

  pg_waldump ... | zstd > wal.zst;  replisim import wal.zst --as mix --out mix.yaml
  pgbench -l --log-prefix=tx ... ;  replisim import tx.* --script tpcb-like --scale 50 --out pgbench.yaml

The dump should begin right after a checkpoint or at a quiet moment, and come from a server with
wal_level = logical. MINE.csv, beside the scenario, holds the transactions one by one.
)";

struct ImportCommand {
  std::vector<std::string> files;
  std::string out, tables, as = "replay", format = "table";
  std::string database;
  std::vector<std::string> scripts;
  std::int64_t scale = 1;
  ImportOptions options;
  bool force = false;
};

void refuse_to_overwrite(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error))
    throw UsageError(
        fmt::format("{} is there already; choose another name, or --force to replace it", file.string()));
}

std::string json_text(const ImportReport& report, const readers::Problems& problems,
                      const ImportCommand& command, bool has_list) {
  nlohmann::ordered_json out;
  out["scenario"] = command.options.file.string();
  if (has_list)
    out["list"] = std::filesystem::path(command.options.file).replace_extension(".csv").string();
  for (const auto& [name, value] : report.figures)
    out["figures"][name] = value;
  out["notes"] = report.lines;
  out["problems"] = nlohmann::ordered_json::array();
  for (const auto& group : problems.groups())
    out["problems"].push_back({{"kind", group.kind}, {"count", group.count}, {"message", group.to_string()}});
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::function<void(std::uint64_t, std::uint64_t)> progress_in_megabytes() {
  auto show = terminal_progress("MB");
  if (not show)
    return {};
  return [show](std::uint64_t done, std::uint64_t total) {
    constexpr std::uint64_t megabyte = 1024 * 1024;
    show(done / megabyte, std::max<std::uint64_t>(1, total / megabyte));
  };
}

std::uint32_t database_oid(const std::string& text) {
  if (text.empty())
    return 0;
  const auto value = parse_number(text);
  if (not value or *value < 1 or *value > 4294967295.0 or
      *value != static_cast<double>(static_cast<std::uint32_t>(*value)))
    throw UsageError(
        fmt::format("--database: found '{}'; allowed is the oid of a database, as `select oid, datname from "
                    "pg_database` shows it",
                    text));
  return static_cast<std::uint32_t>(*value);
}

/// A folder beside the scenario in which it is written and tried first: what is refused takes no name.
class TrialFolder {
public:
  explicit TrialFolder(const std::filesystem::path& file)
      : path_(file.parent_path() / fmt::format(".{}.{}.tmp", file.filename().string(), ::getpid())),
        unfinished_{UnfinishedFile(path_), UnfinishedFile(trial_of(file)),
                    UnfinishedFile(trial_of(std::filesystem::path(file).replace_extension(".csv")))} {
    const std::filesystem::path above = file.has_parent_path() ? file.parent_path() : ".";
    std::error_code error;
    if (not std::filesystem::is_directory(above, error))
      throw UsageError(
          fmt::format("the file {} cannot be written: there is no folder {}", file.string(), above.string()));
    require_folder(path_);
  }
  ~TrialFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TrialFolder(const TrialFolder&) = delete;
  TrialFolder& operator=(const TrialFolder&) = delete;

  std::filesystem::path trial_of(const std::filesystem::path& file) const { return path_ / file.filename(); }
  /// Gives the tried file its name.
  void publish(const std::filesystem::path& file) const {
    std::error_code error;
    std::filesystem::rename(trial_of(file), file, error);
    if (error)
      throw UsageError(fmt::format("cannot write '{}': {}", file.string(), error.message()));
  }

private:
  std::filesystem::path path_;
  std::array<UnfinishedFile, 3> unfinished_;
};

ExitCode import(ImportCommand& command) {
  ImportOptions& options = command.options;
  options.file = command.out;
  options.as_mix = command.as == "mix";
  if (options.file.extension() != ".yaml" and options.file.extension() != ".yml")
    throw UsageError(fmt::format("--out: found '{}'; a scenario's file ends in .yaml", command.out));
  const std::filesystem::path list = std::filesystem::path(options.file).replace_extension(".csv");
  if (not command.force) {
    refuse_to_overwrite(options.file);
    refuse_to_overwrite(list);
  }
  ImportSources sources;
  sources.files.assign(command.files.begin(), command.files.end());
  sources.tables = command.tables;
  sources.database = database_oid(command.database);
  if (not command.scripts.empty())
    sources.scripts = command.scripts;
  sources.scale = command.scale;
  for (const std::string& script : sources.scripts)
    require_pgbench_script(script);

  readers::Problems problems;
  const RecordedWorkload workload = import_files(sources, problems, progress_in_megabytes());
  const WrittenScenario written = write_scenario(workload, options);
  const TrialFolder folder(options.file);
  if (not written.list.empty())
    write_file(folder.trial_of(list), written.list);
  write_file(folder.trial_of(options.file), written.yaml);
  for (const auto& group : problems.groups())
    std::fprintf(stderr, "warning: %s\n", group.to_string().c_str());
  load_scenario(folder.trial_of(options.file), {}, find_library()); // what cannot be run is said now
  if (not written.list.empty())
    folder.publish(list);
  folder.publish(options.file);

  if (command.format == "json") {
    write_stdout(json_text(written.report, problems, command, not written.list.empty()));
    return ExitCode::Ok;
  }
  std::string text;
  for (const std::string& line : written.report.lines)
    text += line + "\n";
  text += fmt::format("\nwritten: {}{}\nnext:    replisim run {}\n", options.file.string(),
                      written.list.empty() ? "" : fmt::format(", {}", list.string()), options.file.string());
  write_stdout(text);
  return ExitCode::Ok;
}

} // namespace

void add_import(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("import", "Make a scenario of a server's WAL (pg_waldump) or a pgbench log");
  const auto options = std::make_shared<ImportCommand>();
  command
      ->add_option("FILE", options->files,
                   "Output of pg_waldump, in order of the WAL, or logs of pgbench --log; "
                   "plain, gzip or zstd, - is standard input")
      ->required();
  command
      ->add_option("--out", options->out,
                   "The scenario to write (.yaml); the transactions go to a .csv beside it")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--as", options->as, "Replay all transactions as recorded, or fit a compact mix of flows")
      ->check(CLI::IsMember({"replay", "mix"}))
      ->capture_default_str();
  command
      ->add_option("--tables", options->tables,
                   "Names and columns of the tables, from calibration/tables.sql")
      ->type_name("FILE");
  command
      ->add_option("--database", options->database,
                   "Oid of the database (default: the one with most changes)")
      ->type_name("OID");
  command
      ->add_option("--script", options->scripts,
                   "Builtin of pgbench that a log's script 0, 1, ... is; repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->add_option("--scale", options->scale, "Scale of the pgbench tables")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}))
      ->capture_default_str();
  command->add_option("--name", options->options.name, "Name of the scenario");
  command->add_option("--server-version", options->options.version, "PostgreSQL version to simulate")
      ->capture_default_str();
  command->add_option("--machine", options->options.machine, "Machine to simulate")->capture_default_str();
  command->add_option("--profile", options->options.profile, "Cost profile")->capture_default_str();
  command->add_option("--streaming", options->options.streaming, "Streaming mode of the subscription")
      ->check(CLI::IsMember({"off", "on", "parallel"}));
  command->add_flag("--force", options->force, "Replace files that are there");
  command->add_option("--format", options->format, "What to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(examples);
  command->callback([options, &session] { session.exit_code = import(*options); });
}

} // namespace replisim::cli
