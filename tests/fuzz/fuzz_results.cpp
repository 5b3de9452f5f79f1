// Results databases that are none, or damaged ones: opened, listed, summed up, exported.
#include "sim/report/html.hpp"
#include "sim/report/results_report.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace replisim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fuzz::scratch_file("results.db", fuzz::view_of(data, size)).string();
  const TextSink nowhere = [](std::string_view) {};
  const std::vector<std::function<void(ResultsFile&)>> uses = {
      [](ResultsFile& results) { results_heading(results); },
      [](ResultsFile& results) { results_table(results, {}, {}); },
      [](ResultsFile& results) { results_point(results, 0); },
      [](ResultsFile& results) { summarise_runs(results, {}, {}, {}); },
      [&](ResultsFile& results) { export_csv(results, {}, nowhere); },
      [&](ResultsFile& results) { export_json(results, {}, nowhere); },
      [](ResultsFile& results) { sweep_page_data(sweep_of_database(results)); },
      [](ResultsFile& results) { results.finished_runs(); },
  };
  fuzz::accepted([&] {
    ResultsFile results = ResultsFile::open(file);
    for (const auto& use : uses)
      fuzz::accepted([&] { use(results); });
  });
  return 0;
}
