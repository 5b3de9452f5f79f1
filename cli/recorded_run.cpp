#include "cli/recorded_run.hpp"

#include "models/base/errors.hpp"
#include "sim/report/run_report.hpp"
#include "sim/run/json_reading.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>

namespace replisim::cli {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

RecordedRun from_json(const json& manifest) {
  RecordedRun run;
  manifest.at("version").get_to(run.version);
  manifest.at("commit").get_to(run.commit);
  manifest.at("scenario_file").get_to(run.scenario_file);
  manifest.at("scenario_hash").get_to(run.scenario_hash);
  manifest.at("profile").get_to(run.profile);
  run.profile_hash = manifest.value("profile_hash", ""); // manifests of older versions have none
  manifest.at("fingerprint").get_to(run.fingerprint);
  manifest.at("engine_options").get_to(run.engine_options);
  for (const json& text : manifest.at("overrides"))
    run.overrides.push_back(parse_override(text.get<std::string>()));
  manifest.at("seed").get_to(run.seed);
  run.replications =
      manifest.value("replications_asked", static_cast<int>(manifest.at("replications").size()));
  run.exact = manifest.value("exact", false);
  return run;
}

} // namespace

std::string RecordedRun::result_text() const {
  const fs::path file = folder / "result.json";
  std::error_code ignored;
  return fs::exists(file, ignored) ? read_json_text(file) : std::string();
}

RecordedRun read_recorded_run(const std::string& path) {
  std::error_code error;
  fs::path file = path;
  if (fs::is_directory(file, error))
    file /= "manifest.json";
  if (not fs::is_regular_file(file, error))
    throw UsageError(
        fmt::format("there is no file '{}'; a manifest is written by replisim run --out DIR", file.string()));
  try {
    RecordedRun run = from_json(parse_json(read_json_text(file)));
    run.manifest = file;
    run.folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    return run;
  } catch (const json::exception& problem) {
    throw UsageError(fmt::format("'{}' is no manifest of a run: {}", file.string(), problem.what()));
  }
}

fs::path scenario_of(const RecordedRun& run, const std::string& instead) {
  if (not instead.empty())
    return instead;
  std::error_code error;
  for (const fs::path& folder : {fs::path(), run.folder, find_library().root})
    if (const fs::path file = folder / run.scenario_file; fs::is_regular_file(file, error))
      return file;
  throw UsageError(
      fmt::format("{} names the scenario '{}', which is not there; say where it is now: --scenario FILE",
                  run.manifest.string(), run.scenario_file));
}

Scenario load_recorded(const RecordedRun& run, const std::string& instead) {
  Scenario scenario = load_scenario(scenario_of(run, instead), run.overrides, find_library());
  scenario.statistics.exact = run.exact;
  scenario.statistics.estimates_long = true; // as `run` does
  return scenario;
}

std::vector<std::string> differences(const RecordedRun& run, const Scenario& scenario) {
  std::vector<std::string> out;
  const auto compare = [&](std::string_view what, const std::string& then, const std::string& now) {
    if (not then.empty() and then != now)
      out.push_back(fmt::format("{}: {} then, {} now", what, then, now));
  };
  compare("version of replisim", run.version, program_version());
  compare("commit of replisim", run.commit, build_commit());
  compare("cost profile", run.profile, scenario.profile.name);
  if (run.profile == scenario.profile.name)
    compare(fmt::format("costs of profile {}", run.profile), run.profile_hash,
            profile_hash(scenario.profile));
  compare("scenario, its machines and costs", run.scenario_hash, scenario.hash);
  return out;
}

} // namespace replisim::cli
