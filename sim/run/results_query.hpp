// Questions to a results file: filters, rows in order, summaries.
#pragma once

#include "sim/run/results_file.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// One run as the file has it.
struct StoredRun {
  std::uint64_t run = 0;
  std::uint64_t point = 0;
  int replication = 1;
  std::string seed;
  bool failed = false;
  std::string reason; ///< of a failure
  std::string bottleneck;
  std::string scenario_hash;
  std::string fingerprint;
  std::vector<std::string> warnings;
  std::vector<std::string> labels; ///< in the order of SweepIdentity::columns
  std::map<std::string, double> metrics;
};

/// Which rows, and in which order. Filters are `NAME OP VALUE` with < <= > >= = !=; NAME is a metric, a
/// column of the sweep, or point, replication, seed, status, reason, bottleneck. All filters must hold.
/// Metrics compare as numbers; columns as quantities ("64kB" is 65536, "20%" is 0.2) with < and >, as text
/// with = and !=.
struct ResultsQuery {
  std::vector<std::string> where;
  std::string sort; ///< a metric, `-` before it for the largest first; empty: by run
  std::uint64_t limit = 0;
  bool failed_only = false;
};

/// Names of the metrics in the file, sorted.
std::vector<std::string> metric_names(ResultsFile& file);

/// Calls `take` with each row. Throws UsageError with a sentence and the nearest name for an unknown NAME.
void for_each_run(ResultsFile& file, const ResultsQuery& query,
                  const std::function<void(const StoredRun&)>& take);

std::uint64_t count_runs(ResultsFile& file, const ResultsQuery& query);

/// The runs of one point, in order of replication.
std::vector<StoredRun> runs_of_point(ResultsFile& file, std::uint64_t point);

/// What a metric does over the rows.
struct MetricSummary {
  std::string name;
  std::string group; ///< label of the grouping column; empty without one
  std::uint64_t count = 0;
  double minimum = 0;
  double mean = 0;
  double maximum = 0;
};

/// Summaries of all metrics (or of `only`), per label of the column `by` where it is not empty.
std::vector<MetricSummary> summarise_runs(ResultsFile& file, const ResultsQuery& query,
                                          const std::vector<std::string>& only, const std::string& by);

} // namespace replisim
