// A collected cluster as a scenario: hosts, settings, subscriptions, tables, workload.
#pragma once

#include "sim/run/result.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replisim::live {

struct ClusterOptions {
  std::filesystem::path folder;      ///< what `replisim collect` wrote
  std::string profile = "lab-2core"; ///< a name, or a path seen from the scenario's folder
  std::string machine = {};      ///< the same; empty: lab-2core's with what was found: cores, memory, flushes
  double speed = 1;              ///< of the cores, relative to the profile's; only without a machine
  std::optional<Disk> disk = {}; ///< the machine's own, to which flushes that were measured are laid over
};

struct ClusterScenario {
  std::string yaml;
  std::vector<std::string> notes; ///< what was found and what had to be guessed, one sentence each
  /// CPU seconds a transaction with changes took in processes that do nothing but replicate, by the metric
  /// of a run that says the same ("cpu_pub.walsender_s"); empty where they could not be sampled.
  std::map<std::string, double> cpu_a_transaction_s;
};

/// Throws UsageError with a sentence when the folder holds no facts of both servers, or nothing that could be
/// simulated.
ClusterScenario scenario_of_cluster(const ClusterOptions& options);

/// By how much faster the cores are than those of `run`, a run of `cluster`: CPU seconds a transaction there
/// over the measured ones, of all processes together. Nothing where either is unknown.
std::optional<double> speed_beyond(const ClusterScenario& cluster, const RunResult& run);

} // namespace replisim::live
