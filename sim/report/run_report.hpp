// What `replisim run` shows and writes: a table for people, JSON, CSV, and the files of --out.
#pragma once

#include "sim/run/replications.hpp"
#include "sim/scenario/loader.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace replisim {

/// The human table, lines of at most report_columns. One replication prints plain values, more of them
/// means with half widths of the 95 % interval; stages and sentences are those of the first.
std::string run_table(const Scenario& scenario, const Replications& replications);

/// The public object (result_json()) of the first replication. With more than one, `metrics` are the
/// means and `replications` {count, seeds, deterministic, half_width_95 {metric: number}} is added. Of a
/// steady study `metrics` are the estimates of `statistics`, the warm-up removed.
nlohmann::json run_json(const Replications& replications);

/// `metric,value` lines; with intervals `metric,value,half_width_95`. Metrics of a
/// subscription are named `subscriptions.NAME.METRIC`, stages `stages.NAME.busy` and so on.
std::string run_csv(const Replications& replications);

/// The answer of `--analytic-only`: stations, bounds and stability as a table, as JSON, as `metric,value`
/// lines.
std::string analytic_table(const Scenario& scenario, const AnalyticAnswer& answer);
nlohmann::json analytic_only_json(const Scenario& scenario, const AnalyticAnswer& answer);
std::string analytic_csv(const AnalyticAnswer& answer);

/// Header and one line per sample.
std::string timeline_csv(const Timeline& timeline);

/// What a manifest says beside the results.
struct RunProvenance {
  std::vector<std::string> command_line;
  std::vector<Override> overrides;
  int replications = 1; ///< asked for
  bool exact = false;   ///< --exact
};

/// How the run came about: versions, compiler, seeds, scenario file and hash, fingerprints, overrides,
/// command line, and the only wall-clock figures of all outputs.
nlohmann::json run_manifest(const Scenario& scenario, const Replications& replications,
                            const RunProvenance& provenance);

/// A hash over all costs of a profile.
std::string profile_hash(const CostProfile& profile);

/// Writes result.json, timeline.csv and manifest.json into `folder` (made where missing), the manifest
/// last. Throws UsageError where that fails.
void write_run_folder(const std::filesystem::path& folder, const Scenario& scenario,
                      const Replications& replications, const RunProvenance& provenance);

} // namespace replisim
