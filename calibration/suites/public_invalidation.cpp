// Suite public-invalidation: decoding of one ALTER TABLE on each of many tables, whose cost grows with the
// square of their number, since each looks through all relations a session has cached.
#include "calibration/csv.hpp"
#include "calibration/suites/suite.hpp"

#include <fmt/format.h>

namespace replisim {

namespace {
constexpr const char* row_rule = "row_within_35_pct";
constexpr const char* growth_rule = "growth";
} // namespace

Suite make_public_invalidation(const Library& library) {
  const CsvTable table = read_measured(library.root, "public/relfilenumbermap_invalidation_2026.csv",
                                       {"txn_shape", "tables", "before_ddl_ms", "after_ddl_ms", "speedup_x"});
  Suite suite;
  std::size_t ten = 0, fifty = 0;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const std::string& shape = table.text(row, "txn_shape");
    const std::string& tables = table.text(row, "tables");
    Cell cell;
    cell.id = shape + "/" + tables;
    cell.measured = cell.measured_low = cell.measured_high = table.number(row, "before_ddl_ms") / 1000;
    cell.unit = "s";
    cell.metric = "decode_s";
    cell.scenario = "scenarios/reports/u09_ddl_on_many_tables.yaml";
    cell.overrides = {"tables.t.copies=" + tables, "workload.fill.transaction[0].rows=" + tables};
    cell.overrides.push_back(
        shape == "single_txn"
            ? fmt::format("workload.alter={{server: pub, ddl: add_column, table: t, at: 1s, relations: {}}}",
                          tables)
            : "workload.alter.times=" + tables);
    cell.rule = row_rule;
    cell.accepted = {{0.65 * cell.measured, 1.35 * cell.measured}};
    if (cell.id == "separate_txns/10000")
      ten = row;
    if (cell.id == "separate_txns/50000")
      fifty = row;
    suite.cells.push_back(std::move(cell));
  }
  suite.combined.push_back({"50,000 tables over 10,000",
                            suite.cells[fifty].measured / suite.cells[ten].measured,
                            "ratio",
                            [ten, fifty](const auto& s) { return s[fifty] / s[ten]; },
                            growth_rule,
                            {{25, 40}}});
  suite.rules = {{row_rule, "each row within 35 %"},
                 {growth_rule, "five times as many tables cost 25 to 40 times as much"}};
  return suite;
}

} // namespace replisim
