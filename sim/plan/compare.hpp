// Two or more settings side by side: paired differences, and which of them are real.
#pragma once

#include "models/paired.hpp"
#include "sim/plan/arms.hpp"

#include <string>
#include <vector>

namespace replisim {

/// How far a difference is to be believed.
enum class Belief {
  Same,    ///< exactly equal in every replication
  Unseen,  ///< the interval holds 0
  Perhaps, ///< it does not, but among so many metrics one such is no surprise
  Real     ///< not by chance, all metrics taken together (Holm, 5 %)
};

std::string to_string(Belief belief);

struct MetricDifference {
  std::string metric;
  PairedDifference paired; ///< the other arm less the first one
  Belief belief = Belief::Unseen;
};

/// One arm against the first one.
struct ArmDifference {
  std::size_t arm = 0;
  std::vector<MetricDifference> metrics;           ///< in order of name
  std::vector<std::string> only_first, only_other; ///< metrics that one of them alone reports
  /// Median over the metrics that differ at random of PairedDifference::variance_factor.
  double variance_factor = 1;
  const MetricDifference* find(std::string_view metric) const;
};

struct Comparison {
  std::vector<Arm> arms;
  std::uint64_t seed = 1;
  int replications = 0;       ///< of each arm
  bool deterministic = false; ///< nothing is random in any of them: differences are exact
  std::vector<ArmDifference> differences;
  std::vector<std::string> recommendation; ///< sentences
};

/// Simulates `arms` (at least two) with the same seeds and compares each with the first. Where two
/// replications of every arm are equal, no more are run. Throws UsageError with the arm's name where one
/// cannot be simulated.
Comparison compare_arms(std::vector<Arm> arms, int replications, const ArmsOptions& options);

/// What the differences mean for whoever has to choose.
std::vector<std::string> recommendation_of(const Comparison& comparison);

} // namespace replisim
