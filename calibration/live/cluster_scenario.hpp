// A collected cluster as a scenario: hosts, settings, subscriptions, tables, workload.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace replisim::live {

struct ClusterOptions {
  std::filesystem::path folder;      ///< what `replisim collect` wrote
  std::string profile = "lab-2core"; ///< a name, or a path seen from the scenario's folder
  std::string machine = {};          ///< the same; empty: lab-2core's disk with the cores that were found
};

struct ClusterScenario {
  std::string yaml;
  std::vector<std::string> notes; ///< what was found and what had to be guessed, one sentence each
};

/// Throws UsageError with a sentence when the folder holds no facts of both servers, or nothing that could be
/// simulated.
ClusterScenario scenario_of_cluster(const ClusterOptions& options);

} // namespace replisim::live
