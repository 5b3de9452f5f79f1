// pg_waldump's output and logs of pgbench --log to a scenario: where import accepts them, the scenario it
// writes is one. A part `#### tables` names the tables. Odd sizes ask for a mix, even ones for a replay.
#include "calibration/import/import_files.hpp"
#include "calibration/import/scenario_writer.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace replisim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ImportSources sources;
  for (const auto& part : fuzz::parts_of(fuzz::view_of(data, size))) {
    if (part.name.empty())
      sources.files = {fuzz::scratch_file("imported", part.text)};
    else if (part.name == "tables")
      sources.tables = fuzz::scratch_file("tables.txt", part.text);
  }
  ImportOptions options;
  options.file = fuzz::scratch_folder() / "mine.yaml";
  options.as_mix = size % 2 == 1;
  WrittenScenario written;
  if (not fuzz::accepted([&] {
        readers::Problems problems;
        written = write_scenario(import_files(sources, problems), options);
      }))
    return 0;
  if (not written.list.empty())
    fuzz::scratch_file("mine.csv", written.list);
  fuzz::scratch_file("mine.yaml", written.yaml);
  fuzz::accepted([&] { load_scenario(options.file, {}, fuzz::library()); });
  fuzz::forget_scratch_files();
  return 0;
}
