// A sweep into a results file: of any size, resumable, in parts.
#pragma once

#include "sim/run/results_file.hpp"
#include "sim/run/sweep.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace replisim {

/// Where the results go and which part of the sweep is run.
struct SweepTarget {
  std::string file;
  Shard shard = {};
  bool retry_failed = false; ///< run points again that failed before
};

/// What a call did; counts are of runs (points times replications) of the shard.
struct SweepProgress {
  std::uint64_t total = 0;
  std::uint64_t found = 0;  ///< of them in the file before
  std::uint64_t done = 0;   ///< in the file now, failed ones included
  std::uint64_t failed = 0; ///< of those
  bool interrupted = false;
  std::vector<std::string> notes;
};

/// Runs what is missing of the sweep of `base` and records each run as it ends. Memory does not grow with the
/// number of points. options.progress counts runs that were missing. Throws UsageError when the axes are no
/// sweep, or when the file is of another one, cannot be written, or the disk is full: what was recorded
/// before stays.
SweepProgress run_sweep_to_file(const Scenario& base, const SweepRequest& request, const SweepTarget& target,
                                const SweepEngine& engine, const PoolOptions& options);

} // namespace replisim
