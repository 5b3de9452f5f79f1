// What applying a row costs: parts of an update, indexes, triggers, foreign keys, scans, reads from disk.
#include "models/apply_cost.hpp"
#include "models/backend_cost.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;

namespace {

/// One int4 key, 1,000 characters: 7 rows a heap page.
Table wide_table(int secondary_indexes = 0) {
  Table table;
  table.name = std::string("t");
  table.columns = {{"k", ColumnType::Int4, 0, {ColumnValue::Kind::Sequence, 0}},
                   {"filler", ColumnType::Text, 1000, {}}};
  table.primary_key = {0};
  table.secondary_indexes = secondary_indexes;
  return table;
}

CostParameters prices() {
  CostParameters c;
  c.apply_insert_row_s = 7;
  c.apply_delete_row_s = 8;
  c.apply_row_overhead_s = 3;
  c.apply_update_extra_s = 6;
  c.apply_index_entry_s = 100;
  c.apply_scan_row_s = 0.5;
  c.foreign_key_check_s = 1000;
  return c;
}

ApplyCost cost_with(const CostParameters& costs, TableResidence residence, bool full_uses_index = true) {
  ApplyCost::Options options;
  options.full_identity_uses_index = full_uses_index;
  options.residence["t"] = residence;
  options.read_latency_s = 1;
  options.read_bandwidth_bytes_per_s = 8192 * 10; // 0.1 s a page
  return {costs, options};
}

double cpu(const Table& table, Operation operation) {
  const CostParameters costs = prices();
  return ApplyCost(costs).row(table, operation, RowOrder::Table).cpu_s;
}

} // namespace

TEST_CASE("an update deletes one version and inserts another, and what both share is done once") {
  CHECK(cpu(wide_table(), Operation::Insert) == Approx(7));
  CHECK(cpu(wide_table(), Operation::Delete) == Approx(8));
  CHECK(cpu(wide_table(), Operation::Update) == Approx(8 + 7 - 3 + 6));
  CostParameters cheap = prices();
  cheap.apply_insert_row_s = 2; // less than the stated overhead: then it is all overhead
  CHECK(apply_update_seconds(cheap) == Approx(8 + 6));
}

TEST_CASE("secondary indexes cost inserts and updates, not deletes") {
  CHECK(cpu(wide_table(2), Operation::Insert) == Approx(207));
  CHECK(cpu(wide_table(2), Operation::Update) == Approx(218));
  CHECK(cpu(wide_table(2), Operation::Delete) == Approx(8));
}

TEST_CASE("a heap-only update leaves the indexes alone, and needs no second page") {
  Table table = wide_table(2);
  table.hot_updates = 0.75;
  CHECK(cpu(table, Operation::Update) == Approx(8 + 7 - 3 + 0.25 * (6 + 200)));
  CHECK(cpu(table, Operation::Insert) == Approx(207));
}

TEST_CASE("triggers and foreign keys fire in an apply worker only when somebody enabled them for it") {
  Table table = wide_table();
  table.triggers = 2;
  table.trigger_cost_s = 20;
  table.foreign_keys = 3;
  CHECK(cpu(table, Operation::Insert) == Approx(7));
  table.triggers_enabled = table.foreign_keys_enabled = TriggerEnabled::Replica;
  CHECK(cpu(table, Operation::Insert) == Approx(7 + 40 + 3000));
  CHECK(cpu(table, Operation::Update) == Approx(18 + 40)); // the references are as they were
  CHECK(cpu(table, Operation::Delete) == Approx(8 + 40));
  table.triggers_enabled = table.foreign_keys_enabled = TriggerEnabled::Always;
  CHECK(cpu(table, Operation::Insert) == Approx(7 + 40 + 3000));
}

TEST_CASE("triggers and foreign keys fire for clients unless they are enabled for replicas alone") {
  CostParameters costs = prices();
  costs.backend_insert_row_s = 1;
  costs.backend_delete_row_s = 2;
  Table table = wide_table();
  table.triggers = 1;
  table.trigger_cost_s = 20;
  table.foreign_keys = 1;
  const double checked = 1 + 20 + 1000;
  CHECK(backend_row_seconds(costs, table, Operation::Insert) == Approx(checked));
  CHECK(backend_row_seconds(costs, table, Operation::Delete) == Approx(22));
  table.triggers_enabled = table.foreign_keys_enabled = TriggerEnabled::Always;
  CHECK(backend_row_seconds(costs, table, Operation::Insert) == Approx(checked));
  table.triggers_enabled = table.foreign_keys_enabled = TriggerEnabled::Replica;
  CHECK(backend_row_seconds(costs, table, Operation::Insert) == Approx(1));
}

TEST_CASE("identity full without a usable index scans half the table for each row") {
  const CostParameters costs = prices();
  Table table = wide_table();
  table.replica_identity = ReplicaIdentity::Full;
  const auto update_s = [&](const Table& t, bool full_uses_index) {
    return cost_with(costs, {1000, 0, 0, 0}, full_uses_index)
        .row(t, Operation::Update, RowOrder::Random)
        .cpu_s;
  };
  CHECK(update_s(table, true) == Approx(18)); // the primary key serves
  CHECK(update_s(table, false) == Approx(18));
  table.primary_key.clear();
  CHECK(update_s(table, true) == Approx(18 + 250));
  const auto cost = cost_with(costs, {1000, 0, 0, 0});
  CHECK(cost.row(table, Operation::Delete, RowOrder::Table).cpu_s == Approx(8 + 250));
  CHECK(cost.row(table, Operation::Insert, RowOrder::Table).cpu_s == Approx(7));
  table.secondary_indexes = 1;
  CHECK(update_s(table, true) == Approx(118));        // 16 and later use it
  CHECK(update_s(table, false) == Approx(118 + 250)); // earlier ones do not
}

TEST_CASE("pages that are not in memory are read: picked ones at the latency, neighbours at the bandwidth") {
  const CostParameters costs = prices();
  const auto cost = cost_with(costs, {1e6, 0.5, 0.25, 0.125});
  const auto reads = [&](const Table& table, Operation operation, RowOrder order) {
    return cost.row(table, operation, order).read_s;
  };
  const Table table = wide_table(2);
  const double leaf_rows = 366;
  // A key leaf and a heap page; an update's new entries also touch a leaf of each secondary index.
  CHECK(reads(table, Operation::Delete, RowOrder::Random) == Approx(1.1 * (0.25 + 0.5)));
  CHECK(reads(table, Operation::Update, RowOrder::Random) == Approx(1.1 * (0.25 + 0.5 + 2 * 0.125)));
  CHECK(reads(table, Operation::Delete, RowOrder::Table) == Approx(0.1 * (0.25 / leaf_rows + 0.5 / 7)));
  // An insert appends to the heap and to an ascending key.
  CHECK(reads(table, Operation::Insert, RowOrder::Random) == Approx(1.1 * 2 * 0.125));
  Table random_key = wide_table();
  random_key.columns[0] = {"k", ColumnType::Uuid, 0, {}};
  CHECK(reads(random_key, Operation::Insert, RowOrder::Table) == Approx(1.1 * 0.25));
}

TEST_CASE("a scan reads the pages of half the table that memory does not hold") {
  const CostParameters costs = prices();
  Table table = wide_table();
  table.replica_identity = ReplicaIdentity::Full;
  table.primary_key.clear();
  const auto cost = cost_with(costs, {7000, 0.5, 0, 0});
  CHECK(cost.row(table, Operation::Delete, RowOrder::Random).read_s == Approx(0.1 * 0.5 * 500));
}

TEST_CASE("what fits is not read; of pages touched evenly the rest is") {
  CHECK(miss_shares({{100, 5}, {200, 1}}, 300) == std::vector<double>{0, 0});
  CHECK(miss_shares({{100, 5}, {1000, 0}}, 100) == std::vector<double>{0, 0}); // nobody touches the large one
  CHECK(miss_shares({{1000, 7}}, 250)[0] == Approx(0.75));
  CHECK(miss_shares({{1000, 7}, {3000, 21}}, 1000)[1] == Approx(0.75)); // equally often per page
  CHECK(miss_shares({{1000, 7}}, 0)[0] == Approx(1));
}

TEST_CASE("pages touched more often per page stay in memory") {
  // exp(-t) of 100 pages at 1 a page, exp(-t / 100) of 10,000 at 0.01: t solves the sum held = 200.
  const auto misses = miss_shares({{100, 100}, {10'000, 100}}, 200);
  CHECK(misses[0] == Approx(std::pow(misses[1], 100)).epsilon(1e-6));
  CHECK(100 * (1 - misses[0]) + 10'000 * (1 - misses[1]) == Approx(200));
  CHECK(misses[0] < 0.35);
  CHECK(misses[1] > 0.98);
}

TEST_CASE("a table's residence: heap, key and secondary indexes compete") {
  const Table table = wide_table(1);
  TableTouches touches;
  touches.table = &table;
  touches.rows = 7e6;
  touches.updated_per_s = 100;
  CHECK(heap_pages(table, 7e6) == Approx(1e6));
  CHECK(key_index_pages(table, 366e3) == Approx(1000));
  CHECK(secondary_index_pages(table, 366e3) == Approx(1000 * 0.9 / 0.693));
  const auto all = table_residence({touches}, 8192.0 * 2e6).at("t");
  CHECK(all.heap_miss == 0);
  const auto some = table_residence({touches}, 8192.0 * 100e3).at("t");
  CHECK(some.rows == 7e6);
  CHECK(some.heap_miss > 0.9);
  CHECK(some.key_miss < 0.2); // 52 times the rows a page
  CHECK(some.secondary_miss > some.key_miss);
  CHECK(some.secondary_miss < some.heap_miss);
}
