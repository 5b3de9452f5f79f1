// Lists of transactions, as `replay` reads them: what is accepted reads back from its own text.
#include "sim/scenario/replay_file.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cmath>

using namespace replisim;

namespace {

std::map<std::string, Table> two_tables() {
  std::map<std::string, Table> tables;
  for (const char* name : {"t", "accounts"}) {
    Table& table = tables[name];
    table.name = name;
    table.columns = {{"k", ColumnType::Uuid, 0, {}}, {"body", ColumnType::Text, 100, {}}};
    table.primary_key = {0};
  }
  return tables;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto tables = two_tables();
  const auto file = fuzz::scratch_file("replay.csv", fuzz::view_of(data, size));
  fuzz::accepted([&] {
    ReplayLoad load;
    read_replay(file, tables, 1, load);
    for (const auto& transaction : load.transactions)
      if (not std::isfinite(transaction.at_s) or transaction.at_s < 0)
        fuzz::broken("an accepted transaction without a time");
    replay_text(load);
  });
  return 0;
}
