// Suite seed-streaming: the posted table of streaming = parallel against off (calibration/data/seeds).
#include "calibration/suites/streaming_cells.hpp"

namespace replisim {

namespace {

/// What was left out must come out right, too. That delete and update are known without their rows is too
/// much to ask: their costs then come from another machine's ratio, and the interval must say so.
void set_fold_limits(Suite& suite) {
  using Kind = FoldLimit::Kind;
  const std::vector<std::string> rollbacks = {"scenario rollback_05pct", "scenario rollback_10pct",
                                              "scenario rollback_20pct", "scenario rollback_50pct"};
  suite.folds = {{"all rollbacks", {"rollback_"}}};
  suite.fold_limits = {
      {Kind::InSampleMapePct, 1.5},
      {Kind::InSampleMaxPct, 6},
      {Kind::EachMapePct, 3.5, rollbacks},
      {Kind::MeanMapePct, 2.5, rollbacks},
      {Kind::EachMapePct, 5, {"all rollbacks"}},
      {Kind::EachMapePct, 3, {"scenario insert", "setting 64", "setting 256", "setting 65536"}},
      {Kind::MeasuredInside, 0, {"scenario delete", "scenario update"}},
      {Kind::CoveragePct, 9}};
}

} // namespace

Suite make_seed_streaming(const Library& library) {
  const CsvTable table = read_measured(library.root, "seeds/streaming_parallel_vs_off.csv",
                                       {"scenario", "work_mem_kb", "parallel_s", "off_s", "improvement_pct"});
  Suite suite;
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    const std::string& scenario = table.text(row, "scenario");
    const std::string& work_mem_kb = table.text(row, "work_mem_kb");
    const std::string key = scenario + "/" + work_mem_kb + "/";
    for (const std::string streaming : {"parallel", "off"}) {
      const double measured = table.number(row, streaming + "_s");
      suite.cells.push_back({.id = key + streaming,
                             .measured = measured,
                             .measured_low = measured,
                             .measured_high = measured,
                             .unit = "s",
                             .metric = "total_s",
                             .scenario = "scenarios/published/streaming_" + scenario + ".yaml",
                             .overrides = streaming_overrides(work_mem_kb, streaming)});
    }
    suite.derived.push_back({.id = key + "improvement",
                             .measured = table.number(row, "improvement_pct"),
                             .before = suite.cells.size() - 1,
                             .after = suite.cells.size() - 2});
  }
  suite.limits = {{LimitKind::MapePct, 2.5},
                  {LimitKind::MaxErrorPct, 8},
                  {LimitKind::ImprovementPoints, 4},
                  {LimitKind::FittedParameters, 10}};
  set_fold_limits(suite);
  return suite;
}

} // namespace replisim
