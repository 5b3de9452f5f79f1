// Several runs of one scenario with different seeds, and what they say together.
#pragma once

#include "sim/run/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace replisim {

/// A mean and half the width of its 95 % confidence interval.
struct Interval {
  double mean = 0;
  double half_width = 0;
  bool operator==(const Interval&) const = default;
};

/// The 0.975 quantile of Student's t distribution, degrees_of_freedom >= 1: exact values up to 4, from
/// there the expansion of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.5 (relative
/// error below 2e-4).
double student_t_975(int degrees_of_freedom);

/// Mean of independent values and the half width t * s / sqrt(n); equal values give exactly 0, and so
/// does a single one. Requires at least one value.
Interval interval_95(const std::vector<double>& values);

struct Replications {
  std::vector<RunResult> runs;             ///< in order of replication
  std::map<std::string, Interval> metrics; ///< over the runs that report the metric
  bool deterministic = true;               ///< all runs have the same metrics
  bool interrupted = false;                ///< Ctrl-C: `runs` are the finished ones
};

/// Seed of replication r = 1, 2, ...: base + r - 1, so that replication 1 is the plain run and more
/// replications only add to fewer.
std::uint64_t replication_seed(std::uint64_t base, int replication);

/// Puts finished runs together. Requires at least one.
Replications summarise_replications(std::vector<RunResult> runs);

} // namespace replisim
