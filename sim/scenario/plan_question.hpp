// What a `plan:` block asks: promises to keep, knobs to turn, and what is looked for.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

/// "lag_s p99 < 5s": a bound on one figure of a run.
struct Promise {
  std::string text;   ///< as written
  std::string metric; ///< name in a run's results: lag_s_p99, subscriptions.s.lag_s_p99; "disk" for any disk
  std::string statistic; ///< p50, p95, p99, mean, max, ...; empty where the metric has none
  bool below = true;     ///< the figure stays below the limit, else above it
  double limit = 0;      ///< s, bytes, fraction, per second
  std::string where;     ///< file, line and path, for mistakes that only a run shows
};

/// One position of a knob: the fields it sets, as YAML texts, and its price.
struct KnobValue {
  std::string label;
  std::vector<std::pair<std::string, std::string>> sets; ///< path, value
  std::optional<double> cost;                            ///< nothing: it was not stated
};

struct Knob {
  std::string name; ///< the field it turns, or what it does
  std::vector<KnobValue> values;
  std::vector<std::string> hosts; ///< whose machines it changes: their prices count
  std::string where;
};

/// One of the two figures of a trade-off.
struct PlanObjective {
  std::string text;
  std::string metric; ///< "cost", or as in a promise
  bool least = true;
};

struct PlanQuestion {
  enum class Find { Largest, Smallest, Cheapest, Front } find = Find::Largest;
  std::vector<Promise> promises;
  std::vector<Knob> knobs;
  std::string over; ///< path of the quantity searched; "load": a factor on all of the workload
  AxisRange range;
  double tolerance = 0.01;
  int grid = 9;
  int replications = 4;
  int most_replications = 16;
  std::vector<PlanObjective> objectives;
  std::string where;
};

} // namespace replisim
