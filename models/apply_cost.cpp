#include "models/apply_cost.hpp"

#include "models/wal_volume.hpp"

#include <algorithm>

namespace replisim {

ApplyTime& ApplyTime::operator+=(const ApplyTime& other) {
  cpu_s += other.cpu_s;
  read_s += other.read_s;
  wal_bytes += other.wal_bytes;
  return *this;
}

ApplyTime operator*(double times, const ApplyTime& time) {
  return {times * time.cpu_s, times * time.read_s, times * time.wal_bytes};
}

double shared_row_seconds(const CostParameters& costs) {
  return std::min({costs.apply_row_overhead_s, costs.apply_insert_row_s, costs.apply_delete_row_s});
}

double apply_update_seconds(const CostParameters& costs, double hot) {
  return costs.apply_delete_row_s + costs.apply_insert_row_s - shared_row_seconds(costs) +
         (1 - hot) * costs.apply_update_extra_s;
}

bool ApplyCost::scans(const Table& table) const {
  const bool index_serves = options_.full_identity_uses_index and table.secondary_indexes > 0;
  return table.replica_identity == ReplicaIdentity::Full and table.primary_key.empty() and not index_serves;
}

double ApplyCost::cpu_seconds(const Table& table, Operation operation) const {
  const double index_entries = table.secondary_indexes * costs_->apply_index_entry_s;
  // Workers run with session_replication_role = replica: foreign keys are triggers, too.
  double seconds = fires_on_replica(table.triggers_enabled) ? table.triggers * table.trigger_cost_s : 0;
  switch (operation) {
  case Operation::Insert:
    seconds += costs_->apply_insert_row_s + index_entries;
    if (fires_on_replica(table.foreign_keys_enabled))
      seconds += table.foreign_keys * costs_->foreign_key_check_s;
    break;
  case Operation::Update:
    seconds += apply_update_seconds(*costs_, table.hot_updates) + (1 - table.hot_updates) * index_entries;
    break;
  case Operation::Delete: // index entries stay until vacuum
    seconds += costs_->apply_delete_row_s;
    break;
  }
  if (options_.dead != nullptr)
    seconds += options_.dead->apply_seconds(table, operation);
  const auto known = options_.residence.find(table.name);
  if (operation != Operation::Insert and scans(table) and known != options_.residence.end())
    seconds += known->second.rows / 2 * costs_->apply_scan_row_s; // the row is found half way, on average
  return seconds;
}

/// Pages that must come from the device: picked ones at its latency, neighbouring ones at its bandwidth, as
/// the operating system reads ahead.
double ApplyCost::read_seconds(const Table& table, Operation operation, RowOrder order) const {
  const auto known = options_.residence.find(table.name);
  if (known == options_.residence.end())
    return 0;
  const TableResidence& at = known->second;
  const bool inserts = operation == Operation::Insert;
  const bool in_order = order == RowOrder::Table;
  double picked = 0, neighbouring = 0;
  if (operation != Operation::Delete)
    picked += (inserts ? 1 : 1 - table.hot_updates) * table.secondary_indexes * at.secondary_miss;
  const bool key_in_order = key_is_ascending(table) and (inserts or in_order);
  if (not key_in_order and not table.primary_key.empty())
    picked += at.key_miss;
  else if (not inserts and at.rows > 0)
    neighbouring += at.key_miss * key_index_pages(table, at.rows) / at.rows;
  if (not inserts and scans(table))
    neighbouring += at.heap_miss * heap_pages(table, at.rows) / 2;
  else if (not inserts)
    (in_order ? neighbouring : picked) += at.heap_miss * (in_order ? 1.0 / rows_per_heap_page(table) : 1.0);
  const double bandwidth = options_.read_bandwidth_bytes_per_s;
  const double page_s = bandwidth > 0 ? static_cast<double>(heap_page_bytes) / bandwidth : 0;
  return picked * (options_.read_latency_s + page_s) + neighbouring * page_s;
}

/// Of a mean row: what the same statement writes on the publisher.
double ApplyCost::wal_bytes(const Table& table, Operation operation) const {
  constexpr Rows sample = 10000;
  const auto known = wal_bytes_.find({&table, operation});
  if (known != wal_bytes_.end())
    return known->second;
  const Bytes bytes = statement_wal(table, operation, sample, false).bytes;
  return wal_bytes_[{&table, operation}] = static_cast<double>(bytes) / static_cast<double>(sample);
}

ApplyTime ApplyCost::row(const Table& table, Operation operation, RowOrder order) const {
  return {cpu_seconds(table, operation), read_seconds(table, operation, order), wal_bytes(table, operation)};
}

void ApplyCost::applied(const Table& table, Operation operation, double rows, double now_s) const {
  if (options_.dead != nullptr and operation != Operation::Insert)
    options_.dead->died(table.name, rows, operation == Operation::Update, now_s);
}

void ApplyCost::applied(const std::vector<ChangeRun>& runs, double now_s) const {
  for (const auto& run : runs)
    applied(*run.table, run.statement->operation, static_cast<double>(run.rows.count), now_s);
}

ApplyTime ApplyCost::rows(const std::vector<ChangeRun>& runs) const {
  ApplyTime time;
  for (const auto& run : runs) {
    time += static_cast<double>(run.rows.count) * row(*run.table, run.statement->operation, RowOrder::Table);
    // A chunk is a row of the TOAST table, without what only rows of messages take.
    const ToastWork toast = toast_work(*run.table, *run.statement);
    const double shared_s = shared_row_seconds(*costs_);
    time.cpu_s += static_cast<double>(run.rows.count) *
                  (static_cast<double>(toast.inserted) * (costs_->apply_insert_row_s - shared_s) +
                   static_cast<double>(toast.deleted) * (costs_->apply_delete_row_s - shared_s));
  }
  return time;
}

} // namespace replisim
