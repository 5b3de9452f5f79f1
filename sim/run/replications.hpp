// Several runs of one scenario with different seeds, and what they say together.
#pragma once

#include "models/statistics.hpp"
#include "sim/run/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace replisim {

/// How precise an answer is, where that was asked.
struct Precision {
  double asked = 0; ///< half width over value; 0: nobody asked
  bool met = false;
  std::string text; ///< what was reached, metric by metric
  std::string stop; ///< why no more was spent; empty: it was met
};

struct Replications {
  std::vector<RunResult> runs; ///< in order of replication
  /// Over the runs that report the metric. Metrics of a steady study are its estimates, the warm-up removed;
  /// a single run of one has their intervals from batch means.
  std::map<std::string, Interval> metrics;
  Precision precision;
  bool deterministic = true; ///< all runs have the same metrics
  bool interrupted = false;  ///< Ctrl-C: `runs` are the finished ones
};

/// Seed of replication r = 1, 2, ...: base + r - 1, so that replication 1 is the plain run and more
/// replications only add to fewer.
std::uint64_t replication_seed(std::uint64_t base, int replication);

/// Puts finished runs together. Requires at least one.
Replications summarise_replications(std::vector<RunResult> runs);

/// How precise the metrics named are: by several runs, or by the batch means of one. A run that reports none
/// of them is judged by total_s.
Precision precision_of(const Replications& replications, const Statistics& asked);

} // namespace replisim
