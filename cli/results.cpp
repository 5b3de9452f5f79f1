// replisim results: what a results database holds; joining shards.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "sim/report/files.hpp"
#include "sim/report/results_report.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace replisim::cli {

namespace {

struct ResultsOptions {
  std::string file;
  ResultsQuery query;
  std::vector<std::string> metrics;
  std::string by;
  std::string format = "table";
  std::string out;
  std::uint64_t point = 0;
  std::vector<std::string> inputs;
};

ResultsFile opened(const ResultsOptions& options) {
  if (options.file.empty())
    throw UsageError("which results? Write the file first: replisim results FILE list");
  return ResultsFile::open(options.file);
}

ExitCode export_rows(const ResultsOptions& options) {
  ResultsFile file = opened(options);
  std::optional<StagedFile> output;
  if (not options.out.empty())
    output.emplace(options.out);
  const TextSink sink = [&](std::string_view text) { output ? output->write(text) : write_stdout(text); };
  if (options.format == "json")
    export_json(file, options.query, sink);
  else
    export_csv(file, options.query, sink);
  if (output)
    output->publish();
  return ExitCode::Ok;
}

ExitCode list(const ResultsOptions& options) {
  if (options.format != "table")
    return export_rows(options);
  ResultsFile file = opened(options);
  write_stdout(results_heading(file) + "\n" + results_table(file, options.query, options.metrics));
  return ExitCode::Ok;
}

ExitCode show(const ResultsOptions& options) {
  ResultsFile file = opened(options);
  if (options.format == "json") {
    ResultsQuery query;
    query.where = {fmt::format("point = {}", options.point)};
    export_json(file, query, [](std::string_view text) { write_stdout(text); });
  } else {
    write_stdout(results_point(file, options.point));
  }
  return ExitCode::Ok;
}

ExitCode summary(const ResultsOptions& options) {
  ResultsFile file = opened(options);
  const auto lines = summarise_runs(file, options.query, options.metrics, options.by);
  write_stdout(options.format == "json"
                   ? json_text(results_summary_json(lines, options.by))
                   : results_heading(file) + "\n" + results_summary_table(lines, options.by));
  return ExitCode::Ok;
}

ExitCode merge(const ResultsOptions& options) {
  if (not options.file.empty())
    throw UsageError("merge takes the new file first, then the shards: replisim results merge OUT IN...");
  const auto missing = merge_results(options.out, options.inputs);
  ResultsFile merged = ResultsFile::open(options.out);
  write_stdout(results_heading(merged));
  if (missing > 0)
    write_stdout("  the missing ones run with the sweep's own command and --db " + options.out + "\n");
  return ExitCode::Ok;
}

void add_filters(CLI::App& command, ResultsOptions& options) {
  command
      .add_option("--where", options.query.where,
                  "NAME OP VALUE: only such rows, e.g. 'total_s < 30'; NAME is a metric, an axis, status, "
                  "bottleneck, seed, point or replication; repeatable")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
}

void add_order(CLI::App& command, ResultsOptions& options) {
  command.add_option("--sort", options.query.sort, "Metric to sort by; -METRIC for the largest first")
      ->type_name("METRIC");
  command.add_option("--limit", options.query.limit, "Most rows shown; 0: all")->capture_default_str();
}

void add_format(CLI::App& command, ResultsOptions& options, const std::vector<std::string>& allowed) {
  command.add_option("--format", options.format, "What to print")
      ->check(CLI::IsMember(allowed))
      ->capture_default_str();
}

void add_reading(CLI::App& results, ResultsOptions& options, Session& session) {
  auto* list_command = results.add_subcommand("list", "A row per run");
  add_filters(*list_command, options);
  add_order(*list_command, options);
  list_command->add_option("--metric", options.metrics, "Metrics to show; repeatable")
      ->allow_extra_args(false);
  add_format(*list_command, options, {"table", "csv", "json"});
  list_command->callback([&options, &session, list_command] {
    if (list_command->count("--limit") == 0)
      options.query.limit = 50;
    session.exit_code = list(options);
  });
  auto* show_command = results.add_subcommand("show", "One point in full");
  show_command->add_option("POINT", options.point, "Number of the point, from 0")->required();
  add_format(*show_command, options, {"table", "json"});
  show_command->callback([&options, &session] { session.exit_code = show(options); });
  auto* summary_command = results.add_subcommand("summary", "Least, mean and greatest of each metric");
  add_filters(*summary_command, options);
  summary_command->add_option("--metric", options.metrics, "Only these; repeatable")->allow_extra_args(false);
  summary_command->add_option("--by", options.by, "Axis whose values get a line each");
  add_format(*summary_command, options, {"table", "json"});
  summary_command->callback([&options, &session] { session.exit_code = summary(options); });
}

} // namespace

void add_results(CLI::App& app, Session& session) {
  auto* command = app.add_subcommand("results", "Show, filter, summarise, export or merge results databases");
  // One object for the whole run of the program: the callbacks of subcommands refer to it.
  const auto owner = std::make_shared<ResultsOptions>();
  ResultsOptions& options = *owner;
  command->add_option("FILE", options.file, "Results database of `replisim sweep --db`");
  add_reading(*command, options, session);
  auto* export_command = command->add_subcommand("export", "All rows, as CSV or JSON");
  add_filters(*export_command, options);
  add_order(*export_command, options);
  export_command->add_option("--out", options.out, "File to write instead of standard output")
      ->type_name("FILE");
  add_format(*export_command, options, {"csv", "json"});
  export_command->callback([&options, &session, export_command] {
    if (export_command->count("--format") == 0)
      options.format = options.out.ends_with(".json") ? "json" : "csv";
    session.exit_code = export_rows(options);
  });
  auto* merge_command = command->add_subcommand("merge", "Join the shards of one sweep: merge OUT IN...");
  merge_command->add_option("OUT", options.out, "New results database")->required();
  merge_command->add_option("IN", options.inputs, "Databases of the shards")->required();
  merge_command->callback([owner, &session] { session.exit_code = merge(*owner); });
  command->require_subcommand(1);
  command->footer(R"(Examples:
  replisim results results.db list --where 'total_s < 30' --sort lock_hold_s
  replisim results results.db summary --metric total_s --by subscriptions.s.streaming
  replisim results results.db export --format csv --out results.csv
  replisim results merge all.db shard-1.db shard-2.db
)");
}

} // namespace replisim::cli
