#include "models/backend_cost.hpp"

#include "models/row_shape.hpp"

namespace replisim {

double backend_row_seconds(const CostParameters& costs, const Table& table, Operation operation) {
  const double index_entries = table.secondary_indexes * costs.backend_index_entry_s;
  const double triggers = fires_on_origin(table.triggers_enabled) ? table.triggers * table.trigger_cost_s : 0;
  const int checks = fires_on_origin(table.foreign_keys_enabled) ? table.foreign_keys : 0;
  switch (operation) {
  case Operation::Insert:
    return costs.backend_insert_row_s + index_entries + triggers + checks * costs.foreign_key_check_s;
  case Operation::Update:
    return costs.backend_update_row_s + (1 - table.hot_updates) * index_entries + triggers;
  case Operation::Delete:
    return costs.backend_delete_row_s + triggers;
  }
  return 0;
}

double backend_row_seconds(const CostParameters& costs, const Table& table, const StatementStep& statement) {
  const ToastWork toast = toast_work(table, statement);
  return backend_row_seconds(costs, table, statement.operation) +
         static_cast<double>(toast.inserted) * costs.backend_insert_row_s +
         static_cast<double>(toast.deleted) * costs.backend_delete_row_s;
}

} // namespace replisim
