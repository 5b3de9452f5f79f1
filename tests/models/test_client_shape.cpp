// Transactions of clients in sizes and costs, worked out by hand.
#include "models/client_shape.hpp"
#include "models/flow_shape.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

constexpr double us = 1e-6;

/// pgbench's tables at a scale.
std::map<std::string, Table> pgbench_tables(Rows scale) {
  std::map<std::string, Table> tables;
  const auto add = [&](const std::string& name, std::vector<Column> columns, Rows rows) {
    tables[name].name = name;
    tables[name].columns = std::move(columns);
    tables[name].initial_rows = rows;
    if (rows > 0)
      tables[name].primary_key = {0};
  };
  const auto number = [](const std::string& name) { return Column{name, ColumnType::Int4, 0, {}}; };
  add("accounts", {number("aid"), number("bid"), number("abalance"), {"filler", ColumnType::Text, 84, {}}},
      100000 * scale);
  add("tellers", {number("tid"), number("bid"), number("tbalance")}, 10 * scale);
  add("branches", {number("bid"), number("bbalance")}, scale);
  add("history",
      {number("tid"), number("bid"), number("aid"), number("delta"), {"mtime", ColumnType::Timestamp, 0, {}}},
      0);
  return tables;
}

ClientStatement change(Operation operation, const std::string& table) {
  return {table, StatementStep{operation, table, 1, {}}, 0};
}

ClientLoad tpcb() {
  ClientLoad load;
  ClientScript script;
  script.statements = {change(Operation::Update, "accounts"),
                       {"accounts", {}, 0},
                       change(Operation::Update, "tellers"),
                       change(Operation::Update, "branches"),
                       change(Operation::Insert, "history")};
  for (const auto& statement : script.statements)
    if (statement.change)
      script.flow.transaction.push_back(*statement.change);
  load.scripts = {script};
  return load;
}

CostParameters round_costs() {
  CostParameters costs;
  costs.backend_statement_s = 10 * us;
  costs.backend_update_row_s = 2 * us;
  costs.backend_insert_row_s = 1 * us;
  costs.backend_transaction_s = 20 * us;
  costs.client_statement_s = 5 * us;
  costs.wakeup_latency_s = 1 * us;
  return costs;
}

} // namespace

TEST_CASE("demands of pgbench's transaction") {
  const auto tables = pgbench_tables(20);
  const ClientDemand demand = client_demand(tpcb(), tables, round_costs(), {50 * us, 300 * us});
  CHECK(demand.round_trips == 7); // BEGIN, five statements, COMMIT
  CHECK(demand.server_cpu_s == Approx((20 + 5 * 10 + 3 * 2 + 1) * us));
  CHECK(demand.client_cpu_s == Approx(7 * 5 * us));
  CHECK(demand.latency_s == Approx(7 * 2 * 51 * us));
  CHECK(demand.flush_s == 300 * us);
  CHECK(demand.flush_share == 1);
  // Locks in the order taken. The branch: half of its UPDATE, the INSERT and half of the transaction's own
  // cost are still to come, and the INSERT and the COMMIT have to be sent.
  REQUIRE(demand.locks.size() == 3);
  CHECK(demand.locks[0].rows == 2000000);
  CHECK(demand.locks[1].rows == 200);
  CHECK(demand.locks[2].rows == 20);
  CHECK(demand.locks[2].server_cpu_s == Approx((6 + 11 + 10) * us));
  CHECK(demand.locks[2].client_cpu_s == Approx(2 * 5 * us));
  CHECK(demand.locks[2].latency_s == Approx(2 * 2 * 51 * us));
  CHECK(demand.locks[1].server_cpu_s == Approx((6 + 12 + 11 + 10) * us));
}

TEST_CASE("a single statement needs no BEGIN and no COMMIT") {
  ClientLoad load;
  load.scripts.resize(1);
  load.scripts[0].statements = {{"accounts", {}, 3 * us}};
  const ClientDemand demand = client_demand(load, pgbench_tables(1), round_costs(), {0, 300 * us});
  CHECK(demand.round_trips == 1);
  CHECK(demand.server_cpu_s == Approx((20 + 10 + 3) * us));
  CHECK(demand.flush_share == 0); // nothing to flush
  CHECK(demand.locks.empty());
}

TEST_CASE("scripts count by their weights") {
  ClientLoad load = tpcb();
  ClientScript select;
  select.weight = 3;
  select.statements = {{"accounts", {}, 0}};
  load.scripts.push_back(select);
  const ClientDemand demand = client_demand(load, pgbench_tables(1), round_costs(), {0, 300 * us});
  CHECK(script_share(load, 0) == 0.25);
  CHECK(demand.round_trips == Approx(0.25 * 7 + 0.75));
  CHECK(demand.flush_share == Approx(0.25));
  CHECK(demand.server_cpu_s == Approx(0.25 * 77 * us + 0.75 * 30 * us));
  CHECK(demand.locks[2].share == Approx(0.25));
}

TEST_CASE("an update of a full page moves the row, the next one stays") {
  const Table accounts = pgbench_tables(1).at("accounts");
  // t_len 121: lock 56, update to another page 176, index entry 64; on the page 168.
  const ClientWal first = random_update_wal(accounts, {}, 1, false);
  CHECK(first.bytes == Approx(56 + 176 + 64));
  CHECK(first.records == Approx(3));
  const ClientWal later = random_update_wal(accounts, {1e9, 1e9}, 100, true);
  CHECK(later.bytes == Approx(100 * 168));
  CHECK(later.records == Approx(100));
  // Twenty branches share a page with room: t_len 32, and the first touch logs the page.
  const Table branches = pgbench_tables(20).at("branches");
  CHECK(random_update_wal(branches, {}, 10, false).bytes == Approx(10 * 80));
  CHECK(random_update_wal(branches, {}, 10, true).bytes == Approx(10 * 80 + 24 + 20 * (4 + 32)));
}

TEST_CASE("WAL of pgbench as the lab's server wrote it") {
  // calibration/data/lab/pgbench_pg18.csv: 18,252 transactions wrote 163,760,320 bytes, 56,066 wrote
  // 291,559,264.
  const auto tables = pgbench_tables(20);
  const auto total = [&](double transactions) {
    double bytes = 48 * transactions;
    for (const std::string table : {"accounts", "tellers", "branches"})
      bytes += random_update_wal(tables.at(table), {}, transactions, true).bytes;
    return bytes + transactions * row_wal(tables.at("history"), Operation::Insert).bytes;
  };
  CHECK(total(18252) == Approx(163760320).epsilon(0.04));
  CHECK(total(56066) == Approx(291559264).epsilon(0.04));
}
