#include "models/apply_cost.hpp"

namespace replisim {

double apply_seconds(const CostParameters& costs, const std::vector<ChangeRun>& runs) {
  double seconds = 0;
  for (const auto& run : runs) {
    const double index_entries = run.table->secondary_indexes * costs.apply_index_entry_s;
    double row = 0;
    switch (run.statement->operation) {
    case Operation::Insert:
      row = costs.apply_insert_row_s + index_entries;
      break;
    case Operation::Update:
      row = costs.apply_update_row_s + index_entries;
      break;
    case Operation::Delete: // index entries stay until vacuum
      row = costs.apply_delete_row_s;
      break;
    }
    seconds += static_cast<double>(run.rows.count) * row;
  }
  return seconds;
}

} // namespace replisim
