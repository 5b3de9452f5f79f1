// A run as its manifest records it: what `replay` and `diff` start from.
#pragma once

#include "sim/scenario/loader.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace replisim::cli {

struct RecordedRun {
  std::filesystem::path folder;   ///< of the manifest
  std::filesystem::path manifest; ///< the file
  std::string version, commit, scenario_file, scenario_hash, profile, profile_hash, fingerprint;
  std::map<std::string, std::string> engine_options;
  std::vector<Override> overrides;
  std::uint64_t seed = 1;
  int replications = 1; ///< asked for
  bool exact = false;

  /// The text of the result beside the manifest; empty where there is none.
  std::string result_text() const;
};

/// Reads `path`: a manifest, or a folder of `run --out`. Throws UsageError with a sentence.
RecordedRun read_recorded_run(const std::string& path);

/// The file the run's scenario is in now: `instead`, or as the manifest names it, seen from the working
/// directory, the manifest's folder, then the library. Throws UsageError where it is nowhere.
std::filesystem::path scenario_of(const RecordedRun& run, const std::string& instead);

/// The scenario as the run had it, as far as its files are still the same.
Scenario load_recorded(const RecordedRun& run, const std::string& instead);

/// What differs between the program and files now and those of the run, a sentence each.
std::vector<std::string> differences(const RecordedRun& run, const Scenario& scenario);

} // namespace replisim::cli
