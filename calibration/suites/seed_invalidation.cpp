// Suite seed-invalidation: the posted table of REL_17 before (head) and after (patch) the distribution of
// invalidations, and what the model says of the workload nobody ran.
#include "calibration/csv.hpp"
#include "calibration/repeats.hpp"
#include "calibration/suites/invalidation_cells.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace replisim {

namespace {

constexpr const char* head = "17.4";
constexpr const char* patch = "17.6";
constexpr const char* newest = "18.4";
constexpr const char* folder = "scenarios/published";
/// From so many open transactions on the extra time stands out of the noise.
constexpr int many = 500;
constexpr double unmeasured = std::numeric_limits<double>::quiet_NaN();

constexpr const char* extra_rule = "extra_per_transaction";
constexpr const char* degradation_rule = "degradation_of_d";
constexpr const char* e_mean_rule = "e_mean_error";
constexpr const char* e_max_rule = "e_max_error";
constexpr const char* c_17_rule = "c_on_17";
constexpr const char* c_18_rule = "c_on_18";

std::vector<Rule> rules() {
  return {{extra_rule,
           "(patch - head) / N from 500 open transactions on: A -0.5 to 0.5 us, B 1.2 to 3.5, D 36 to 44"},
          {degradation_rule, "D: degradation within 8 points or 8 % of the posted one"},
          {e_mean_rule, "E: mean error at most 8 %"},
          {e_max_rule, "E: no cell off by more than 15 %"},
          {c_17_rule, "C, which nobody ran: between a quarter and a half of D's extra time on 17"},
          {c_18_rule, "C on 18: nothing beyond B"}};
}

Accepted extra_bar(const std::string& workload) {
  if (workload == "A")
    return {-0.5, 0.5};
  return workload == "B" ? Accepted{1.2, 3.5} : Accepted{36, 44};
}

void add_cells(Suite& suite, InvalidationCells& cells, const CsvTable& table) {
  for (std::size_t row = 0; row < table.row_count(); ++row)
    for (const auto& [column, version] : {std::pair{"head", head}, std::pair{"patch", patch}}) {
      const InvalidationRun run{table.text(row, "workload"), version,
                                static_cast<int>(table.number(row, "concurrent_txns"))};
      Cell cell =
          invalidation_cell(run, folder, fmt::format("{}/{}/{}", run.workload, run.transactions, column));
      cell.measured = cell.measured_low = cell.measured_high = table.number(row, std::string(column) + "_s");
      if (run.workload == "E") { // its degradation is noise, so it has bars of its own
        cell.counted = false;
        cell.rule = e_max_rule;
        cell.accepted = {{0.85 * cell.measured, 1.15 * cell.measured}};
      }
      cells[run] = suite.cells.size();
      suite.cells.push_back(std::move(cell));
    }
}

/// Runs that nobody measured, for the comparisons that the model makes by itself.
void add_unmeasured(Suite& suite, InvalidationCells& cells) {
  for (const InvalidationRun& run :
       {InvalidationRun{"C", patch, 2000}, {"A", newest, 2000}, {"B", newest, 2000}, {"C", newest, 2000}}) {
    Cell cell = invalidation_cell(
        run, folder,
        fmt::format("{}/{}/{}", run.workload, run.transactions, run.version == patch ? "patch" : "18"));
    cell.measured = cell.measured_low = cell.measured_high = unmeasured;
    cell.counted = false;
    cells[run] = suite.cells.size();
    suite.cells.push_back(std::move(cell));
  }
}

void add_figures(Suite& suite, const InvalidationCells& cells) {
  const std::vector<Cell> measured = suite.cells;
  std::vector<double> seconds;
  for (const Cell& cell : measured)
    seconds.push_back(cell.measured);
  for (const auto& [run, index] : cells) {
    const InvalidationRun before{run.workload, head, run.transactions};
    if (run.version != patch or run.workload == "C" or run.workload == "E")
      continue;
    if (run.transactions >= many)
      suite.combined.push_back({fmt::format("{}/{}/extra a transaction", run.workload, run.transactions),
                                extra_us(seconds, cells, run, before),
                                "us",
                                [cells, run = run, before](const auto& predicted) {
                                  return extra_us(predicted, cells, run, before);
                                },
                                extra_rule,
                                {extra_bar(run.workload)}});
    if (run.workload != "D")
      continue;
    const std::size_t after_cell = index, before_cell = cells.at(before);
    const auto degradation = [after_cell, before_cell](const std::vector<double>& s) {
      return -improvement_pct(s[before_cell], s[after_cell]);
    };
    const double posted = degradation(seconds);
    const double distance = std::max(8.0, 0.08 * posted);
    suite.combined.push_back({fmt::format("D/{}/degradation", run.transactions),
                              posted,
                              "%",
                              degradation,
                              degradation_rule,
                              {{posted - distance, posted + distance}}});
  }
  suite.combined.push_back({"E/mean error",
                            unmeasured,
                            "%",
                            [measured](const std::vector<double>& predicted) {
                              double sum = 0;
                              int count = 0;
                              for (std::size_t i = 0; i < measured.size(); ++i)
                                if (measured[i].id.starts_with("E/")) {
                                  sum += std::abs(error_pct(measured[i].measured, predicted[i]));
                                  ++count;
                                }
                              return sum / count;
                            },
                            e_mean_rule,
                            {{0, 8}}});
  const auto extra = [cells](const char* workload, const char* version, const char* base) {
    return [cells, run = InvalidationRun{workload, version, 2000}, before = InvalidationRun{"A", base, 2000}](
               const std::vector<double>& s) { return extra_us(s, cells, run, before); };
  };
  suite.combined.push_back(
      {"C over D, extra on 17",
       unmeasured,
       "ratio",
       [c = extra("C", patch, patch), d = extra("D", patch, patch)](const auto& s) { return c(s) / d(s); },
       c_17_rule,
       {{0.25, 0.5}}});
  suite.combined.push_back({"C less B, extra on 18",
                            unmeasured,
                            "us",
                            [c = extra("C", newest, newest), b = extra("B", newest, newest)](const auto& s) {
                              return c(s) - b(s);
                            },
                            c_18_rule,
                            {{-0.5, 0.5}}});
}

} // namespace

Suite make_seed_invalidation(const Library& library) {
  const CsvTable table =
      read_measured(library.root, "seeds/inval_workloads_rel17.csv",
                    {"workload", "concurrent_txns", "head_s", "patch_s", "degradation_pct"});
  Suite suite;
  InvalidationCells cells;
  add_cells(suite, cells, table);
  add_unmeasured(suite, cells);
  add_figures(suite, cells);
  suite.rules = rules();
  suite.limits = {{LimitKind::MapePct, 3}, {LimitKind::MaxErrorPct, 9}, {LimitKind::FittedParameters, 6}};
  return suite;
}

} // namespace replisim
