// Suite lab-locks: how long the subscriber of the lab's pair held its locks, and how long a session that
// updates single rows waited for them. Costs are those of the streaming runs: nothing is fitted here.
#include "calibration/repeats.hpp"
#include "calibration/suites/streaming_cells.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace replisim {

namespace {

constexpr const char* blocked_rule = "blocked";
constexpr double blocked_tolerance = 0.25;
constexpr double most_median_error_pct = 20;
constexpr double most_repeat_error_ratio = 1.3;

CsvTable read_lab_locks(const Library& library) {
  return read_measured(library.root, "lab/locks_pg18.csv",
                       {"server_version", "rows", "work_mem_kb", "streaming", "open_before_commit_s", "rep",
                        "statement_s", "commit_s", "total_s", "probes", "blocked_over_50ms",
                        "blocked_total_s", "p50_s", "p95_s", "max_s"});
}

struct LockRun {
  std::string streaming;
  std::string open_s;
  std::vector<std::size_t> rows;
};

std::vector<LockRun> lock_runs(const CsvTable& table) {
  std::vector<LockRun> runs;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const std::string streaming = table.text(row, "streaming"),
                      open_s = table.text(row, "open_before_commit_s");
    auto run = std::find_if(runs.begin(), runs.end(), [&](const LockRun& known) {
      return known.streaming == streaming && known.open_s == open_s;
    });
    if (run == runs.end())
      run = runs.insert(runs.end(), {streaming, open_s, {}});
    run->rows.push_back(row);
  }
  return runs;
}

/// `column` of the table against `metric` of the run.
Cell lock_cell(const CsvTable& table, const LockRun& run, const std::string& column,
               const std::string& metric, bool judged) {
  std::vector<double> values;
  for (const std::size_t row : run.rows)
    values.push_back(table.number(row, column));
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double measured = median(values);
  Cell cell{.id = fmt::format("open {} s/{}/{}", run.open_s, run.streaming, column),
            .measured = measured,
            .measured_low = *low,
            .measured_high = *high,
            .unit = "s",
            .metric = metric,
            .scenario = "scenarios/lab/locks_open_transaction.yaml",
            .overrides = {"subscriptions.s.streaming=" + run.streaming,
                          "workload.batch.transaction[1].pause=" +
                              (run.open_s == "0" ? std::string("1us") : run.open_s + "s")},
            .counted = false};
  if (judged) {
    cell.rule = blocked_rule;
    cell.accepted = {{measured * (1 - blocked_tolerance), measured * (1 + blocked_tolerance)}};
  }
  return cell;
}

} // namespace

Suite make_lab_locks(const Library& library) {
  Suite suite;
  const CsvTable streaming = read_lab_streaming(library, "lab/streaming_pg18_500k.csv");
  std::vector<double> repeat_errors;
  for (const RepeatedRun& run : group_repeats(streaming)) {
    suite.cells.push_back(lab_cell(streaming, run, "lock_hold_s", "s"));
    for (const double error : leave_one_out_errors_pct(repeats_of(streaming, run, "lock_hold_s")))
      repeat_errors.push_back(error);
  }
  suite.repeat_error_pct = median(repeat_errors);
  const CsvTable locks = read_lab_locks(library);
  for (const LockRun& run : lock_runs(locks)) {
    suite.cells.push_back(lock_cell(locks, run, "total_s", "total_s", false));
    suite.cells.push_back(lock_cell(locks, run, "blocked_total_s", "blocked_s_total", true));
    suite.cells.push_back(lock_cell(locks, run, "max_s", "blocked_s_max", true));
  }
  suite.limits = {{LimitKind::MedianErrorPct, most_median_error_pct},
                  {LimitKind::RepeatErrorRatio, most_repeat_error_ratio}};
  suite.rules = {{blocked_rule, "blocked total and longest wait of the session within 25 % of the median"}};
  return suite;
}

} // namespace replisim
