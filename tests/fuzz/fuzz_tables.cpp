// Small tables that users write or export: the first byte chooses measured CSV, a column map, names of
// tables, or a cost profile.
#include "calibration/csv.hpp"
#include "calibration/import/import_files.hpp"
#include "calibration/readers/table_columns.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <cmath>

using namespace replisim;

namespace {

void measured(std::string_view text) {
  const CsvTable table("measured.csv", text, {"mode", "total_s"});
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    table.text(row, "mode");
    if (not std::isfinite(table.number(row, "total_s")))
      fuzz::broken("an accepted cell that is no number");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0)
    return 0;
  const std::string_view text = fuzz::view_of(data + 1, size - 1);
  fuzz::accepted([&] {
    switch (data[0]) {
    case 'c':
      return measured(text);
    case 'm':
      readers::read_column_map(fuzz::scratch_file("columns.map", text));
      return;
    case 't':
      read_table_names(fuzz::scratch_file("tables.txt", text));
      return;
    case 'p':
      load_profile(fuzz::scratch_file("profile.yaml", text).string(), fuzz::library());
      return;
    default:
      return;
    }
  });
  fuzz::forget_scratch_files();
  return 0;
}
