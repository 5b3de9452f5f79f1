// Suite seed-streaming: the posted table of streaming = parallel against off (calibration/data/seeds).
#include "calibration/suites/streaming_cells.hpp"

namespace replisim {

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
  return suite;
}

} // namespace replisim
