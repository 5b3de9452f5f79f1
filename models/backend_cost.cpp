#include "models/backend_cost.hpp"

namespace replisim {

double backend_row_seconds(const CostParameters& costs, const Table& table, Operation operation) {
  const double index_entries = table.secondary_indexes * costs.backend_index_entry_s;
  switch (operation) {
  case Operation::Insert:
    return costs.backend_insert_row_s + index_entries;
  case Operation::Update:
    return costs.backend_update_row_s + index_entries;
  case Operation::Delete:
    return costs.backend_delete_row_s;
  }
  return 0;
}

} // namespace replisim
