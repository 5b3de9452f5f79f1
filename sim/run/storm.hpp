// Storms: random combinations of faults within bounds, and the smallest one that still breaks a promise.
#pragma once

#include "models/base/random.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/result.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace replisim {

/// What is to hold whatever happens: a metric within a limit, or an outcome that does not come.
struct StormPromise {
  enum class Kind { Below, AtMost, Above, AtLeast, Never };
  std::string text; ///< as given
  Kind kind = Kind::AtMost;
  std::string name; ///< metric, or kind of outcome
  double limit = 0;
};

/// "lag_s_max<=10s", "retained_wal_bytes < 4GB", "tps >= 900", "no slot_lost". Throws UsageError.
StormPromise parse_promise(const std::string& text);

/// How far from being broken: above 1 it is, exactly 1 is the limit. Infinite where it is broken without
/// measure, nothing when the run knows no such metric.
std::optional<double> strain(const StormPromise& promise, const RunResult& result);

/// The faults a storm draws from.
struct StormBounds {
  double from_s = 0, until_s = 0;        ///< faults begin and end within
  double shortest_s = 1, longest_s = 60; ///< those that last
  int most_faults = 4;
  double most_slower = 20;          ///< factor of a slow disk
  double most_cpus = 0.9;           ///< share of a host's CPUs that other programs take
  std::set<Event::Kind> kinds = {}; ///< all that the scenario allows when empty
};

/// The kinds that can happen in the scenario: no partition without a link, and so on.
std::set<Event::Kind> possible_faults(const Scenario& scenario);
/// The kind of a word, as in `events`; throws UsageError with those that storms know.
Event::Kind fault_kind(const std::string& word);

/// The `number`-th combination of a seed: one fault at least, in order of time.
std::vector<Event> random_faults(const Scenario& scenario, const StormBounds& bounds, std::uint64_t seed,
                                 std::uint64_t number);

/// Smaller variants of a combination: without one of its faults, with one shorter, or milder.
std::vector<std::vector<Event>> smaller_faults(const std::vector<Event>& faults, const StormBounds& bounds);

struct StormRequest {
  std::vector<StormPromise> promises;
  StormBounds bounds;
  std::uint64_t seed = 1;
  int tries = 200;
};

/// How one combination went.
struct StormTry {
  std::vector<Event> faults;
  double strain = 0;
  std::string broken; ///< the promise, or the error of the run; empty: all kept
};

struct Storm {
  int tried = 0;
  int broke = 0;
  StormTry worst;    ///< of the random ones
  StormTry smallest; ///< what shrinking made of it, where it breaks a promise
  int shrinking_runs = 0;
  std::vector<std::string> unknown; ///< promises whose metric no run had
};

/// Deterministic in scenario and request, whatever the number of jobs.
Storm run_storm(const Scenario& scenario, const StormRequest& request, const PoolOptions& options);

/// A scenario file that lays these faults over `base` (a path as it is to stand there).
std::string storm_yaml(const std::string& base, const Scenario& scenario, const StormTry& found);

} // namespace replisim
