// The machine-readable forms of a run: JSON, CSV, and the files of --out.
#include "sim/report/files.hpp"
#include "sim/report/run_report.hpp"
#include "sim/report/text.hpp"
#include "sim/run/result_json.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

using nlohmann::json;

namespace {

bool has_intervals(const Replications& replications) {
  return replications.runs.size() > 1 or
         std::any_of(replications.metrics.begin(), replications.metrics.end(),
                     [](const auto& metric) { return metric.second.half_width > 0; });
}

json seeds_json(const Replications& replications) {
  json out = json::array();
  for (const auto& run : replications.runs)
    out.push_back(run.seed);
  return out;
}

#if defined(__clang__)
constexpr const char* compiler = __VERSION__;
#else
constexpr const char* compiler = "GCC " __VERSION__;
#endif

} // namespace

json run_json(const Replications& replications) {
  json out = result_json(replications.runs.front());
  json half_widths = json::object();
  out["metrics"] = json::object();
  for (const auto& [name, interval] : replications.metrics) {
    out["metrics"][name] = number_json(interval.mean);
    half_widths[name] = number_json(interval.half_width);
  }
  if (const Precision& precision = replications.precision; precision.asked > 0)
    out["statistics"]["precision"] = {{"asked", precision.asked},
                                      {"met", precision.met},
                                      {"reached", precision.text},
                                      {"stopped_because", precision.stop}};
  if (replications.runs.size() < 2)
    return out;
  out["replications"] = {{"count", replications.runs.size()},
                         {"seeds", seeds_json(replications)},
                         {"deterministic", replications.deterministic},
                         {"half_width_95", std::move(half_widths)}};
  return out;
}

std::string run_csv(const Replications& replications) {
  const bool intervals = has_intervals(replications);
  std::string out = intervals ? "metric,value,half_width_95\n" : "metric,value\n";
  const auto add = [&](const std::string& name, double value) {
    out += csv_field(name) + "," + csv_number(value) + (intervals ? ",\n" : "\n");
  };
  for (const auto& [name, interval] : replications.metrics) {
    if (intervals and (replications.runs.size() > 1 or interval.half_width > 0))
      out += fmt::format("{},{},{}\n", csv_field(name), csv_number(interval.mean),
                         csv_number(interval.half_width));
    else
      add(name, interval.mean);
  }
  const RunResult& run = replications.runs.front();
  for (const auto& [subscription, metrics] : run.subscriptions)
    for (const auto& [name, value] : metrics)
      add(fmt::format("subscriptions.{}.{}", subscription, name), value);
  for (const auto& [stage, shares] : run.stages) {
    add(fmt::format("stages.{}.busy", stage), shares.busy);
    add(fmt::format("stages.{}.starved", stage), shares.starved);
    add(fmt::format("stages.{}.blocked", stage), shares.blocked);
  }
  return out;
}

std::string timeline_csv(const Timeline& timeline) {
  std::string out;
  for (std::size_t i = 0; i < timeline.columns.size(); ++i)
    out.append(i > 0 ? "," : "").append(csv_field(timeline.columns[i]));
  out += "\n";
  for (const auto& row : timeline.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out.append(i > 0 ? "," : "").append(csv_number(row[i]));
    out += "\n";
  }
  return out;
}

std::string profile_hash(const CostProfile& profile) {
  std::string text = fmt::format("{} {:.17g}", profile.name, profile.cpu_speed);
  for (const CostParameter& parameter : cost_parameters())
    text += fmt::format("\n{} {:.17g}", parameter.name, profile.costs.*parameter.field);
  std::uint64_t hash = 0xcbf29ce484222325ULL; // FNV-1a
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hex64(hash);
}

json run_manifest(const Scenario& scenario, const Replications& replications,
                  const RunProvenance& provenance) {
  json runs = json::array();
  double wall_s = 0, simulated_s = 0;
  for (const auto& run : replications.runs) {
    runs.push_back({{"seed", run.seed},
                    {"fingerprint", hex64(run.fingerprint)},
                    {"events", run.events},
                    {"simulated_s", number_json(run.simulated_s)},
                    {"wall_s", number_json(run.wall_s)}});
    wall_s += run.wall_s;
    simulated_s += run.simulated_s;
  }
  json overrides = json::array();
  for (const auto& o : provenance.overrides)
    overrides.push_back(o.path + "=" + o.value);
  const RunResult& first = replications.runs.front();
  return {{"version", program_version()},
          {"commit", build_commit()},
          {"compiler", compiler},
          {"engine_options", first.engine_options},
          {"scenario_file", scenario.file},
          {"scenario", scenario.name},
          {"scenario_hash", scenario.hash},
          {"profile", scenario.profile.name},
          {"profile_hash", profile_hash(scenario.profile)},
          {"replications_asked", provenance.replications},
          {"exact", provenance.exact},
          {"overrides", std::move(overrides)},
          {"command_line", provenance.command_line},
          {"seed", first.seed},
          {"fingerprint", hex64(first.fingerprint)},
          {"events", first.events},
          {"simulated_s", number_json(first.simulated_s)},
          {"wall_s", number_json(wall_s)},
          {"simulated_s_per_wall_s", number_json(simulated_s / wall_s)},
          {"replications", std::move(runs)}};
}

void write_run_folder(const std::filesystem::path& folder, const Scenario& scenario,
                      const Replications& replications, const RunProvenance& provenance) {
  require_folder(folder);
  const std::string result = json_text(run_json(replications));
  const std::string timeline = timeline_csv(replications.runs.front().timeline);
  const std::string manifest = json_text(run_manifest(scenario, replications, provenance));
  write_files({{folder / "result.json", result},
               {folder / "timeline.csv", timeline},
               {folder / "manifest.json", manifest}});
}

} // namespace replisim
