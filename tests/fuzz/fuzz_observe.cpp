// Every reader of what real clusters leave behind: server logs (stderr, CSV, JSON), pgbench, pg_waldump,
// views, timelines, tables; plain, gzip or zstd. Then the report over it, in all formats. A first line
// `%% PREFIX` gives a log_line_prefix.
#include "calibration/observe/observe.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <nlohmann/json.hpp>

using namespace replisim;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::view_of(data, size);
  readers::ReadOptions options;
  if (text.starts_with("%% ")) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    options.log_line_prefix = text.substr(3, end - 3);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto file = fuzz::scratch_file("observed", text);
  fuzz::accepted([&] {
    const auto report = readers::make_report(readers::read_paths({file}, options));
    readers::observe_table(report);
    readers::observe_csv(report);
    if (not nlohmann::json::accept(readers::observe_json(report)))
      fuzz::broken("observe --format json prints no JSON");
  });
  return 0;
}
