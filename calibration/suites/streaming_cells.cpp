// Rows of the streaming tables and their runs.
#include "calibration/suites/streaming_cells.hpp"

#include "calibration/repeats.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace replisim {

std::string work_mem_setting(const std::string& work_mem_kb) {
  const long kilobytes = std::stol(work_mem_kb);
  return kilobytes % 1024 == 0 ? fmt::format("{}MB", kilobytes / 1024) : fmt::format("{}kB", kilobytes);
}

std::vector<std::string> streaming_overrides(const std::string& work_mem_kb, const std::string& streaming) {
  return {"servers.pub.settings.logical_decoding_work_mem=" + work_mem_setting(work_mem_kb),
          "subscriptions.s.streaming=" + streaming};
}

CsvTable read_lab_streaming(const Library& library, const std::string& table) {
  return read_measured(library.root, table,
                       {"scenario",
                        "work_mem_kb",
                        "streaming",
                        "rep",
                        "server_version",
                        "rows",
                        "statement_s",
                        "commit_s",
                        "total_s",
                        "lock_hold_s",
                        "wal_bytes",
                        "peak_spill_file_bytes",
                        "peak_sub_tmp_file_bytes",
                        "rows_match",
                        "spill_txns",
                        "spill_count",
                        "spill_bytes",
                        "stream_txns",
                        "stream_count",
                        "stream_bytes",
                        "total_txns",
                        "total_bytes",
                        "cpu_pub.backend_s",
                        "cpu_pub.walsender_s",
                        "cpu_pub.walwriter_s",
                        "cpu_sub.apply_worker_s",
                        "cpu_sub.parallel_apply_worker_s",
                        "cpu_sub.walwriter_s"});
}

std::vector<RepeatedRun> group_repeats(const CsvTable& table) {
  std::vector<RepeatedRun> runs;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const RepeatedRun candidate{
        table.text(row, "scenario"), table.text(row, "work_mem_kb"), table.text(row, "streaming"), {}};
    auto run = std::find_if(runs.begin(), runs.end(),
                            [&](const RepeatedRun& other) { return other.key() == candidate.key(); });
    if (run == runs.end())
      run = runs.insert(runs.end(), candidate);
    run->rows.push_back(row);
  }
  return runs;
}

std::vector<double> repeats_of(const CsvTable& table, const RepeatedRun& run, const std::string& column) {
  std::vector<double> values;
  for (const std::size_t row : run.rows)
    values.push_back(table.number(row, column));
  return values;
}

Cell lab_cell(const CsvTable& table, const RepeatedRun& run, const std::string& metric,
              const std::string& unit) {
  const std::vector<double> values = repeats_of(table, run, metric);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {.id = run.key() + "/" + metric,
          .measured = median(values),
          .measured_low = *low,
          .measured_high = *high,
          .unit = unit,
          .metric = metric,
          .scenario = "scenarios/lab/streaming_" + run.scenario + ".yaml",
          .overrides = streaming_overrides(run.work_mem_kb, run.streaming),
          .repeats = values};
}

} // namespace replisim
