// What `replisim results` shows of a results file.
#pragma once

#include "sim/run/results_query.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

using TextSink = std::function<void(std::string_view)>;

/// What the file holds: scenario, axes, how many runs are done, failed, missing. Some lines, each ended.
std::string results_heading(ResultsFile& file);

/// A table of the rows: columns of the sweep, the metrics `metrics` (or key ones), failures with seed and
/// reason.
std::string results_table(ResultsFile& file, const ResultsQuery& query, std::vector<std::string> metrics);

/// One point in full: its settings, each metric with its 95 % interval over the replications, and the options
/// that run it alone. Throws UsageError when the point has no rows.
std::string results_point(ResultsFile& file, std::uint64_t point);

std::string results_summary_table(const std::vector<MetricSummary>& summary, const std::string& by);
nlohmann::json results_summary_json(const std::vector<MetricSummary>& summary, const std::string& by);

/// One line a run: point, replication, seed, columns, every metric, bottleneck, status, reason.
void export_csv(ResultsFile& file, const ResultsQuery& query, const TextSink& out);

/// {sweep: {...}, runs: [...]}, one run a line; written as it is read. Equal contents give equal bytes,
/// however the runs came into the file.
void export_json(ResultsFile& file, const ResultsQuery& query, const TextSink& out);

} // namespace replisim
