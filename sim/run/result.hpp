// What a run says: the metrics of the vocabulary, stages, transactions, timeline, manifest.
#pragma once

#include "sim/actors/outcome.hpp"
#include "sim/scenario/scenario.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Share of the run a stage was working, waiting for input, waiting for output; they add up to 1.
struct StageShares {
  double busy = 0;
  double starved = 0;
  double blocked = 0;
};

struct TransactionResult {
  std::string name; ///< workload entry
  std::uint32_t xid = 0;
  Rows rows = 0; ///< changed rows, rolled back ones included
  Rows rows_applied = 0;
  double begin_s = 0; ///< all times since the start of the run
  double statement_end_s = 0;
  double commit_s = 0;
  double applied_s = 0;
  double lock_hold_s = 0;
  /// The delay from the commit record to the commit applied, split without a gap: stage and seconds. Of
  /// the slot on which it took longest.
  std::map<std::string, double> lag_anatomy;
};

/// Columns of equal length; the first is t_s.
struct Timeline {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
};

using Metrics = std::map<std::string, double>;

/// The outcome of one simulation: plain data, equal inputs give equal contents.
struct RunResult {
  std::string scenario;
  std::string scenario_hash;
  std::string version; ///< of replisim
  std::uint64_t seed = 1;
  Metrics metrics;
  std::map<std::string, Metrics> subscriptions;
  std::map<std::string, StageShares> stages;
  std::string bottleneck;                      ///< key of `stages`
  std::string bottleneck_reason;               ///< one sentence
  std::vector<TransactionResult> transactions; ///< the first 1,000
  std::vector<std::string> warnings;
  std::vector<Guess> guesses;
  std::map<std::string, std::string> verdicts; ///< by slot: keeping up, falling behind, ...
  std::vector<Outcome> outcomes; ///< slots lost, disks full, connections timed out, in order of time
  Timeline timeline;
  std::uint64_t fingerprint = 0; ///< hash over all simulated events, in order
  std::uint64_t events = 0;      ///< number of hashed events
  // Manifest only (never in result.json):
  double simulated_s = 0;
  double wall_s = 0;
  std::map<std::string, std::string> engine_options;
};

} // namespace replisim
