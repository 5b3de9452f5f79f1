// Suite lab-streaming: times and CPU seconds of the lab's pair. It judges nothing: it shows how far the
// profile is from the medians, and how far the repeats are from each other.
#include "calibration/repeats.hpp"
#include "calibration/suites/streaming_cells.hpp"

#include <map>
#include <numeric>

namespace replisim {

namespace {

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

} // namespace

Suite make_lab_streaming(const Library& library) {
  const CsvTable table = read_lab_streaming(library, "lab/streaming_pg18_500k.csv");
  Suite suite;
  std::map<std::string, std::vector<double>> noise;
  for (const RepeatedRun& run : group_repeats(table))
    for (const std::string& metric : compared_metrics()) {
      const Cell cell = lab_cell(table, run, metric, "s");
      if (cell.measured_high == 0)
        continue; // the process took no part in this run
      suite.cells.push_back(cell);
      for (const double error : leave_one_out_errors_pct(repeats_of(table, run, metric)))
        noise[metric].push_back(error);
    }
  add_improvements(suite);
  for (const std::string& metric : compared_metrics()) {
    const std::vector<double>& errors = noise[metric];
    const double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
    suite.noise.push_back({metric, sum / static_cast<double>(errors.size())});
  }
  return suite;
}

} // namespace replisim
