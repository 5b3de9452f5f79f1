// Suite lab-invalidation: the same workloads on servers of our own. Their times vary by tens of percent, so
// what is judged is the extra time that each open transaction costs, and the order of workloads and versions.
#include "calibration/csv.hpp"
#include "calibration/repeats.hpp"
#include "calibration/suites/invalidation_cells.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <set>

namespace replisim {

namespace {

constexpr const char* extra_rule = "extra_within_30_pct";
constexpr const char* order_rule = "order";
/// Less than this for each open transaction is not to be told from nothing.
constexpr double nothing_us = 3;

/// Least squares of extra time over open transactions, through the origin.
double slope_us(const std::vector<double>& seconds, const InvalidationCells& cells,
                const std::string& workload, const std::string& version) {
  double above = 0, below = 0;
  for (const auto& [run, index] : cells) {
    if (run.workload != workload or run.version != version)
      continue;
    const double n = run.transactions;
    above += n * (seconds[index] - seconds[cells.at({"A", version, run.transactions})]);
    below += n * n;
  }
  return above / below * 1e6;
}

void add_table(Suite& suite, InvalidationCells& cells, const CsvTable& table, std::vector<double>& noise) {
  std::map<InvalidationRun, std::vector<double>> repeats;
  for (std::size_t row = 0; row < table.row_count(); ++row)
    repeats[{table.text(row, "workload"), table.text(row, "server_version"),
             static_cast<int>(table.number(row, "concurrent_txns"))}]
        .push_back(table.number(row, "decode_median_s"));
  for (const auto& [run, seconds] : repeats) {
    for (const double error : leave_one_out_errors_pct(seconds))
      noise.push_back(error);
    Cell cell = invalidation_cell(run, "scenarios/lab",
                                  fmt::format("{}/{}/{}", run.version, run.workload, run.transactions));
    cell.measured = median(seconds);
    cell.measured_low = *std::min_element(seconds.begin(), seconds.end());
    cell.measured_high = *std::max_element(seconds.begin(), seconds.end());
    cell.counted = run.workload != "E";
    cell.repeats = seconds;
    cells[run] = suite.cells.size();
    suite.cells.push_back(std::move(cell));
  }
}

void add_order(Suite& suite, const InvalidationCells& cells) {
  using Pair = std::pair<std::string, std::string>; // workload, version
  const double more = std::numeric_limits<double>::infinity();
  for (const auto& [small, large] : {std::pair<Pair, Pair>{{"B", "17.10"}, {"C", "17.10"}},
                                     {{"C", "17.10"}, {"D", "17.10"}},
                                     {{"C", "18.4"}, {"D", "18.4"}},
                                     {{"C", "18.4"}, {"C", "17.10"}},
                                     {{"C", "17.4"}, {"C", "17.10"}},
                                     {{"D", "17.4"}, {"D", "17.10"}}}) {
    const auto difference = [cells, s = small, l = large](const std::vector<double>& seconds) {
      return slope_us(seconds, cells, l.first, l.second) - slope_us(seconds, cells, s.first, s.second);
    };
    std::vector<double> measured;
    for (const Cell& cell : suite.cells)
      measured.push_back(cell.measured);
    suite.combined.push_back(
        {fmt::format("{} on {} less {} on {}", large.first, large.second, small.first, small.second),
         difference(measured),
         "us",
         difference,
         order_rule,
         {{nothing_us, more}}});
  }
}

} // namespace

Suite make_lab_invalidation(const Library& library) {
  Suite suite;
  InvalidationCells cells;
  std::vector<double> noise;
  for (const char* table : {"lab/inval_pg17_4.csv", "lab/inval_pg17_10.csv", "lab/inval_pg18.csv"})
    add_table(suite, cells,
              read_measured(library.root, table,
                            {"server_version", "workload", "concurrent_txns", "rep", "work_mem_mb",
                             "messages", "peeks", "decode_min_s", "decode_median_s"}),
              noise);
  suite.noise = {
      {"decode_s", std::accumulate(noise.begin(), noise.end(), 0.0) / static_cast<double>(noise.size())}};
  std::vector<double> measured;
  for (const Cell& cell : suite.cells)
    measured.push_back(cell.measured);
  for (const std::string version : {"17.4", "17.10", "18.4"})
    for (const std::string workload : {"C", "D"}) {
      const double extra = slope_us(measured, cells, workload, version);
      suite.combined.push_back(
          {fmt::format("{}/{}/extra a transaction", version, workload),
           extra,
           "us",
           [cells, workload, version](const auto& seconds) {
             return slope_us(seconds, cells, workload, version);
           },
           extra_rule,
           {extra < nothing_us ? Accepted{-nothing_us, nothing_us} : Accepted{0.7 * extra, 1.3 * extra}}});
    }
  add_order(suite, cells);
  suite.rules = {{extra_rule,
                  "extra time of C and D over A for each open transaction: within 30 %, or below 3 us "
                  "where it was"},
                 {order_rule, "workloads and versions that differ by more than 3 us in the right order"}};
  return suite;
}

} // namespace replisim
