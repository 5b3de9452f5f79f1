// replisim report: results as one page that opens from disk.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/report/assets.hpp"
#include "cli/report_data.hpp"
#include "sim/report/files.hpp"
#include "sim/report/html.hpp"
#include "sim/run/json_reading.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace replisim::cli {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr const char* readable = "allowed: a folder of `run --out`, the JSON that run, sweep, validate or "
                                 "calibrate print with --format json, "
                                 "or a database of `sweep --db`";

struct ReportOptions {
  std::string path;
  std::string out;
  bool compare = true;
  int jobs = 0;
};

struct Page {
  std::string title;
  std::string data;
};

template <class Object>
std::string text_of(const Object& object) {
  return object.dump(-1, ' ', false, Object::error_handler_t::replace);
}

/// What the manifest says of the scenario, if the file is still there and still the same.
void add_scenario(const nlohmann::json& manifest, const ReportOptions& options, nlohmann::json& page) {
  const auto unknown = [&](const std::string& why) {
    page["settings_reason"] = why;
    page["comparison"] = {{"modes", nlohmann::json::array()}, {"reason", why}};
  };
  const std::string file = manifest.value("scenario_file", "");
  std::error_code ignored;
  if (file.empty() or not fs::is_regular_file(file, ignored))
    return unknown(fmt::format("The scenario file '{}' of this run is not there any more.", file));
  std::vector<Override> overrides;
  for (const auto& text : manifest.value("overrides", std::vector<std::string>{}))
    overrides.push_back(parse_override(text));
  try {
    const ScenarioSource source(file, find_library());
    if (source.load(overrides).hash != manifest.value("scenario_hash", ""))
      return unknown(fmt::format("The scenario file '{}' has changed since this run.", file));
    page["settings"] = settings_json(file, overrides);
    const auto command = manifest.value("command_line", std::vector<std::string>{});
    const bool exact = std::find(command.begin(), command.end(), "--exact") != command.end();
    PoolOptions pool;
    pool.jobs = options.jobs;
    if (options.compare)
      page["comparison"] =
          modes_json(source, overrides, manifest.value("seed", std::uint64_t{1}), exact, pool);
    else
      page["comparison"] = {{"modes", nlohmann::json::array()},
                            {"reason", "Left out, as --no-compare asks."}};
  } catch (const UsageError& e) {
    unknown(fmt::format("The scenario file '{}' cannot be read any more: {}", file, e.what()));
  }
}

Page run_page(const nlohmann::json& result, const fs::path& folder, const ReportOptions& options) {
  const RunResult run = result_from_json(result); // complains where it is none
  nlohmann::json page = {{"kind", "run"}, {"result", result}, {"manifest", nullptr}};
  std::error_code ignored;
  if (not folder.empty() and fs::is_regular_file(folder / "timeline.csv", ignored))
    page["timeline"] = timeline_json_rows(read_timeline(folder / "timeline.csv"));
  if (not folder.empty() and fs::is_regular_file(folder / "manifest.json", ignored)) {
    page["manifest"] = parse_json(read_json_text(folder / "manifest.json"));
    add_scenario(page["manifest"], options, page);
  } else {
    const char* why =
        "Without a manifest nobody knows from which file this run came: `replisim run --out FOLDER` "
        "writes one.";
    page["settings_reason"] = why;
    page["comparison"] = {{"modes", nlohmann::json::array()}, {"reason", why}};
  }
  return {run.scenario, text_of(page)};
}

Page sweep_page(const nlohmann::json& sweep) {
  const nlohmann::json data = sweep_page_data(sweep);
  return {sweep.value("scenario", "a sweep"), text_of(data)};
}

Page json_page(const std::string& text, const ReportOptions& options) {
  const Json object = parse_json<Json>(text);
  if (object.is_discarded() or not object.is_object())
    throw UsageError(fmt::format("'{}' is no JSON of replisim; {}", options.path, readable));
  const auto has = [&](const char* key) { return object.contains(key); };
  if (has("points") and has("axes"))
    return sweep_page(nlohmann::json::parse(text));
  if (has("fingerprint") and has("metrics"))
    return run_page(nlohmann::json::parse(text), {}, options);
  if (has("parameters") and has("profile"))
    return {object.at("profile").get<std::string>(),
            text_of(Json{{"kind", "calibration"}, {"calibration", object}})};
  if (has("reports") or has("folds") or (has("suite") and has("cells")))
    return {object.value("suite", "reports"), text_of(Json{{"kind", "validation"}, {"validation", object}})};
  throw UsageError(fmt::format("'{}' holds none of replisim's results; {}", options.path, readable));
}

bool is_database(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string head(16, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return head.starts_with("SQLite format 3");
}

Page page_of(const ReportOptions& options) {
  const fs::path path = options.path;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    require_readable_file((path / "result.json").string());
    const auto result = parse_json(read_json_text(path / "result.json"));
    if (result.is_discarded())
      throw UsageError(fmt::format("'{}' is no JSON", (path / "result.json").string()));
    return run_page(result, path, options);
  }
  require_readable_file(options.path);
  if (is_database(path)) {
    ResultsFile file = ResultsFile::open(options.path);
    return sweep_page(sweep_of_database(file));
  }
  // result.json knows its neighbours.
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (path.filename() == "result.json" and fs::is_regular_file(folder / "manifest.json", ignored)) {
    ReportOptions of_folder = options;
    of_folder.path = folder.string();
    return page_of(of_folder);
  }
  return json_page(read_json_text(path), options);
}

/// Beside what it shows: FOLDER/report.html, or the file's name with the ending html.
std::string default_out(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored))
    return (fs::path(path) / "report.html").string();
  return fs::path(path).replace_extension(".html").string();
}

ExitCode report(const ReportOptions& options) {
  const InterruptScope scope;
  const Page page = [&] {
    try {
      return page_of(options);
    } catch (const nlohmann::json::exception& problem) {
      throw UsageError(
          fmt::format("'{}' holds none of replisim's results: {}", options.path, problem.what()));
    }
  }();
  const std::string html = html_page(report_assets(), fmt::format("{} - replisim", page.title), page.data);
  if (options.out == "-") {
    write_stdout(html);
    return ExitCode::Ok;
  }
  const std::string out = options.out.empty() ? default_out(options.path) : options.out;
  write_file(out, html);
  write_stdout(fmt::format("{}\n", out));
  return ExitCode::Ok;
}

} // namespace

void add_report(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("report", "Draw a run, sweep, validation or calibration as one HTML page");
  const auto options = std::make_shared<ReportOptions>();
  command
      ->add_option(
          "PATH", options->path,
          "A folder of `run --out`, a JSON file of run, sweep, validate or calibrate, or a database of "
          "`sweep --db`")
      ->required();
  command
      ->add_option(
          "--out", options->out,
          "The page to write, - for standard output (default: report.html in the folder, or beside the file)")
      ->type_name("FILE");
  command->add_flag(
      "--compare,!--no-compare", options->compare,
      "Simulate a run's scenario with streaming off, on and parallel, side by side (default: yes)");
  add_jobs_option(*command, options->jobs);
  command->footer(
      R"(The page is one file: it loads nothing and works from a disk, in light and dark, on paper and on a
phone (docs/pictures.md).

Examples:
  replisim run scenarios/published/streaming_insert.yaml --out results && replisim report results
  replisim sweep scenarios/published/streaming_insert.yaml --vary subscriptions.s.streaming=off,parallel \
      --out sweep.json && replisim report sweep.json
  replisim validate seed-streaming --format json > suite.json; replisim report suite.json
)");
  command->callback([options, &session] { session.exit_code = report(*options); });
}

} // namespace replisim::cli
