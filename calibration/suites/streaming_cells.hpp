// What the suites of the streaming experiment share: how a row of a table names its run.
#pragma once

#include "calibration/csv.hpp"
#include "calibration/suites/suite.hpp"

#include <string>
#include <vector>

namespace replisim {

/// A value of the tables' column work_mem_kb as a setting: "64kB", "256kB", "64MB".
std::string work_mem_setting(const std::string& work_mem_kb);

/// The overrides that turn a streaming scenario into the run of one row.
std::vector<std::string> streaming_overrides(const std::string& work_mem_kb, const std::string& streaming);

/// The repeats of one run in a lab table.
struct RepeatedRun {
  std::string scenario;
  std::string work_mem_kb;
  std::string streaming;
  std::vector<std::size_t> rows; ///< of the table, in order of repeat

  std::string key() const { return scenario + "/" + work_mem_kb + "/" + streaming; }
  bool rolls_back() const { return scenario.starts_with("rollback_"); }
};

/// The lab's 500,000-row table ("lab/streaming_pg18_500k.csv").
CsvTable read_lab_streaming(const Library& library, const std::string& table);

/// Rows with equal scenario, work_mem_kb and streaming, in order of first appearance.
std::vector<RepeatedRun> group_repeats(const CsvTable& table);

/// The repeats' values of one column.
std::vector<double> repeats_of(const CsvTable& table, const RepeatedRun& run, const std::string& column);

/// A cell of a lab suite: median and range of the column named like the metric, and the run's scenario.
Cell lab_cell(const CsvTable& table, const RepeatedRun& run, const std::string& metric,
              const std::string& unit);

} // namespace replisim
