// Suite lab-counters: what pg_stat_replication_slots, file sizes and WAL positions said on a real pair
// follows from table definition, settings and version alone; no cost enters but through the moment at
// which an abort becomes visible.
#include "calibration/suites/abort_bounds.hpp"
#include "calibration/suites/streaming_cells.hpp"

#include <algorithm>

namespace replisim {

namespace {

constexpr const char* stream_rule = "stream_counters_exact";
constexpr const char* spill_count_rule = "spill_count_within_1";
constexpr const char* spill_bytes_rule = "spill_bytes_exact";
constexpr const char* rolled_back_rule = "rolled_back_spill_within_bounds";
constexpr const char* unused_rule = "unused_counters_zero";
constexpr const char* file_rule = "peak_file_sizes_exact";
constexpr const char* wal_rule = "wal_bytes_within_1_pct";
constexpr const char* update_wal_rule = "update_wal_bytes_within_20_pct";

std::vector<Rule> rules() {
  return {
      {stream_rule, "on, parallel: stream_count and stream_bytes exact"},
      {spill_count_rule, "off, nothing rolled back: spill_count within 1"},
      {spill_bytes_rule, "off, nothing rolled back: spill_bytes exact"},
      {rolled_back_rule, "off, rolled back: spill between \"abort seen in time\" and \"not seen\""},
      {unused_rule, "nothing spilled with on and parallel, nothing streamed with off"},
      {file_rule, "nothing rolled back: largest spill and subscriber files exact"},
      {wal_rule, "insert, delete, rolled back: WAL bytes within 1 %"},
      {update_wal_rule, "update: WAL bytes within 20 %"},
  };
}

/// Every value the repeats showed: a file's size may depend on the text of the run's timestamp.
std::vector<Accepted> one_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::vector<Accepted> accepted;
  for (const double value : values)
    accepted.push_back({value, value});
  return accepted;
}

Accepted within(double measured, double distance) { return {measured - distance, measured + distance}; }

void judge_spill(Cell& cell, const RepeatedRun& run, const AbortBounds& bounds) {
  const bool counts = cell.metric == "spill_count";
  if (run.streaming != "off") {
    cell.rule = unused_rule;
    cell.accepted = {{0, 0}};
  } else if (run.rolls_back()) {
    const SlotCounters& seen = bounds.seen;
    const SlotCounters& unseen = bounds.unseen;
    cell.rule = rolled_back_rule;
    cell.accepted = {{static_cast<double>(counts ? seen.spill_count : seen.spill_bytes),
                      static_cast<double>(counts ? unseen.spill_count : unseen.spill_bytes)}};
  } else {
    cell.rule = counts ? spill_count_rule : spill_bytes_rule;
    cell.accepted = {within(cell.measured, counts ? 1 : 0)};
  }
}

void judge_stream(Cell& cell, const RepeatedRun& run) {
  cell.rule = run.streaming == "off" ? unused_rule : stream_rule;
  cell.accepted = {within(cell.measured, 0)};
}

void judge_wal(Cell& cell, const RepeatedRun& run) {
  const bool updates = run.scenario == "update";
  cell.rule = updates ? update_wal_rule : wal_rule;
  cell.accepted = {within(cell.measured, cell.measured * (updates ? 0.20 : 0.01))};
}

/// Which rule judges the cell; total_bytes and the files of rolled back inserts are shown only.
void judge(Cell& cell, const CsvTable& table, const RepeatedRun& run, const AbortBounds& bounds) {
  if (cell.metric.starts_with("spill_")) {
    judge_spill(cell, run, bounds);
  } else if (cell.metric.starts_with("stream_")) {
    judge_stream(cell, run);
  } else if (cell.metric == "wal_bytes") {
    judge_wal(cell, run);
  } else if (cell.metric.starts_with("peak_") && !run.rolls_back()) {
    cell.rule = file_rule;
    cell.accepted = one_of(repeats_of(table, run, cell.metric));
  }
  cell.counted = !cell.rule.empty();
}

} // namespace

Suite make_lab_counters(const Library& library) {
  const CsvTable table = read_lab_streaming(library, "lab/streaming_pg18_500k.csv");
  Suite suite;
  suite.rules = rules();
  suite.depends_on_costs = false;
  for (const RepeatedRun& run : group_repeats(table)) {
    AbortBounds bounds;
    if (run.rolls_back() && run.streaming == "off")
      bounds = abort_bounds(load_cell(lab_cell(table, run, "spill_count", "count"), library));
    for (const std::string metric :
         {"wal_bytes", "peak_spill_file_bytes", "peak_sub_tmp_file_bytes", "spill_count", "spill_bytes",
          "stream_count", "stream_bytes", "total_bytes"}) {
      Cell cell = lab_cell(table, run, metric, metric.ends_with("_count") ? "count" : "bytes");
      judge(cell, table, run, bounds);
      suite.cells.push_back(std::move(cell));
    }
  }
  return suite;
}

} // namespace replisim
