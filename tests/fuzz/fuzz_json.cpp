// What `report`, `diff` and `replay` read back: results, manifests, sweeps and timelines.
#include "cli/recorded_run.hpp"
#include "sim/report/html.hpp"
#include "sim/run/result_json.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace replisim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::view_of(data, size);
  fuzz::accepted([&] { cli::read_recorded_run(fuzz::scratch_file("manifest.json", text).string()); });
  fuzz::accepted([&] { timeline_json_rows(read_timeline(fuzz::scratch_file("timeline.csv", text))); });
  const auto object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_discarded())
    return 0;
  fuzz::accepted([&] { json_text(result_json(result_from_json(object))); });
  fuzz::accepted([&] { json_text(sweep_page_data(object)); });
  return 0;
}
