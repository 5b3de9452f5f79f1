// Suite lab-streaming: times and CPU seconds of the lab's pair, predicted from a profile that was fitted to
// four of its runs, inserts and deletes at 64 kB with streaming off and parallel. Nothing else of the table
// enters the fit, and those four do not count.
#include "calibration/repeats.hpp"
#include "calibration/suites/streaming_cells.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace replisim {

namespace {

constexpr const char* profile = "profile=lab-2core-64kb";

bool is_fitted(const RepeatedRun& run) {
  return (run.scenario == "insert" || run.scenario == "delete") && run.work_mem_kb == "64" &&
         run.streaming != "on";
}

const std::vector<std::string>& compared_metrics() {
  static const std::vector<std::string> metrics = {"total_s", "cpu_pub.backend_s", "cpu_pub.walsender_s",
                                                   "cpu_sub.apply_worker_s",
                                                   "cpu_sub.parallel_apply_worker_s"};
  return metrics;
}

/// How far parallel lies below off, from the medians of both.
void add_improvements(Suite& suite) {
  std::map<std::string, std::size_t> cell_of;
  for (std::size_t i = 0; i < suite.cells.size(); ++i)
    cell_of.emplace(suite.cells[i].id, i);
  const std::string off_suffix = "off/total_s";
  for (std::size_t i = 0; i < suite.cells.size(); ++i) {
    const std::string& id = suite.cells[i].id;
    if (!id.ends_with("/" + off_suffix))
      continue;
    const std::string key = id.substr(0, id.size() - off_suffix.size());
    const auto parallel = cell_of.find(key + "parallel/total_s");
    if (parallel != cell_of.end())
      suite.derived.push_back(
          {.id = key + "improvement",
           .measured = improvement_pct(suite.cells[i].measured, suite.cells[parallel->second].measured),
           .before = i,
           .after = parallel->second});
  }
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Variance of the repeats' mean.
double squared_standard_error(const std::vector<double>& repeats) {
  double sum = 0;
  for (const double value : repeats)
    sum += (value - mean(repeats)) * (value - mean(repeats));
  const double count = static_cast<double>(repeats.size());
  return sum / (count - 1) / count;
}

/// Whether the slots of two runs counted the same: below the limit no mode streams or spills, and all do the
/// same work.
bool did_the_same(const CsvTable& table, const RepeatedRun& a, const RepeatedRun& b) {
  for (const char* counter : {"spill_bytes", "stream_bytes"})
    if (median(repeats_of(table, a, counter)) != median(repeats_of(table, b, counter)))
      return false;
  return true;
}

/// Pairs of modes whose totals differ by more than twice the standard error of the difference.
void add_orders(Suite& suite, const CsvTable& table, const std::vector<RepeatedRun>& runs) {
  const auto total_of = [&](const RepeatedRun& run) {
    const auto cell = std::find_if(suite.cells.begin(), suite.cells.end(),
                                   [&](const Cell& one) { return one.id == run.key() + "/total_s"; });
    return static_cast<std::size_t>(cell - suite.cells.begin());
  };
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::size_t j = i + 1; j < runs.size(); ++j) {
      if (runs[i].scenario != runs[j].scenario || runs[i].work_mem_kb != runs[j].work_mem_kb ||
          did_the_same(table, runs[i], runs[j]))
        continue;
      const std::size_t a = total_of(runs[i]);
      const std::size_t b = total_of(runs[j]);
      const double difference = suite.cells[a].measured - suite.cells[b].measured;
      const double error = std::sqrt(squared_standard_error(suite.cells[a].repeats) +
                                     squared_standard_error(suite.cells[b].repeats));
      if (std::abs(difference) > 2 * error)
        suite.orders.push_back(difference > 0 ? Order{a, b} : Order{b, a});
    }
}

/// The shares of one run's processes in its CPU seconds, measured run by run.
void add_shares(Suite& suite, const CsvTable& table, const RepeatedRun& run,
                std::map<std::string, std::vector<double>>& noise) {
  const std::string key = run.key() + "/cpu_";
  std::vector<std::size_t> whole;
  std::vector<double> sums(run.rows.size(), 0.0);
  for (std::size_t i = 0; i < suite.cells.size(); ++i)
    if (suite.cells[i].id.starts_with(key)) {
      whole.push_back(i);
      for (std::size_t k = 0; k < sums.size(); ++k)
        sums[k] += suite.cells[i].repeats[k];
    }
  for (const std::size_t part : whole) {
    std::vector<double> shares = repeats_of(table, run, suite.cells[part].metric);
    for (std::size_t k = 0; k < shares.size(); ++k)
      shares[k] /= sums[k];
    const std::string metric = "share of " + suite.cells[part].metric;
    suite.shares.push_back({metric, median(shares), part, whole});
    for (const double error : leave_one_out_errors_pct(shares))
      noise[metric].push_back(error);
  }
}

double bar_pct(const std::string& metric) {
  if (metric == "total_s")
    return 20;
  return metric.starts_with("share of ") ? 10 : 15;
}

} // namespace

Suite make_lab_streaming(const Library& library) {
  const CsvTable table = read_lab_streaming(library, "lab/streaming_pg18_500k.csv");
  Suite suite;
  std::map<std::string, std::vector<double>> noise;
  const std::vector<RepeatedRun> runs = group_repeats(table);
  for (const RepeatedRun& run : runs)
    for (const std::string& metric : compared_metrics()) {
      Cell cell = lab_cell(table, run, metric, "s");
      cell.overrides.emplace_back(profile);
      cell.counted = !is_fitted(run);
      if (cell.measured_high == 0)
        continue; // the process took no part in this run
      suite.cells.push_back(std::move(cell));
      for (const double error : leave_one_out_errors_pct(repeats_of(table, run, metric)))
        noise[metric].push_back(error);
    }
  for (const RepeatedRun& run : runs)
    add_shares(suite, table, run, noise);
  add_improvements(suite);
  add_orders(suite, table, runs);
  for (const auto& [metric, errors] : noise)
    suite.noise.push_back({metric, mean(errors), bar_pct(metric)});
  return suite;
}

} // namespace replisim
