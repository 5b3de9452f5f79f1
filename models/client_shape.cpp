#include "models/client_shape.hpp"

#include "models/backend_cost.hpp"
#include "models/btree.hpp"
#include "models/wal_record.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace replisim {

namespace {

double statement_cpu_s(const ClientStatement& statement, const std::map<std::string, Table>& tables,
                       const CostParameters& costs) {
  double seconds = costs.backend_statement_s + statement.cpu_s;
  if (statement.change)
    seconds += static_cast<double>(statement.change->rows) *
               backend_row_seconds(costs, tables.at(statement.table), statement.change->operation);
  return seconds;
}

/// Dead versions on the way to the statement's rows.
double passing_s(const ClientStatement& statement, const DeadVersions* dead) {
  if (dead == nullptr)
    return 0;
  if (not statement.change)
    return dead->look_up_seconds(statement.table);
  return static_cast<double>(statement.change->rows) *
         dead->backend_seconds(statement.table, statement.change->operation);
}

/// What is left of a script while one walks through it from its end.
struct Rest {
  double server_cpu_s = 0;
  double client_cpu_s = 0;
  double latency_s = 0;
};

/// Adds one script's demands, its locks in the order taken.
void add_script(const ClientScript& script, double share, const std::map<std::string, Table>& tables,
                const CostParameters& costs, double round_trip_s, const DeadVersions* dead,
                ClientDemand& demand) {
  const bool block = script.statements.size() > 1;
  Rest rest;
  rest.server_cpu_s = costs.backend_transaction_s * (block ? 0.5 : 1.0);
  if (block) { // the COMMIT is sent after the answer to the last statement
    rest.client_cpu_s = costs.client_statement_s;
    rest.latency_s = round_trip_s;
  }
  std::vector<HotRows> locks;
  for (auto statement = script.statements.rbegin(); statement != script.statements.rend(); ++statement) {
    const double cpu_s = statement_cpu_s(*statement, tables, costs);
    rest.server_cpu_s += cpu_s / 2;
    const Table& table = tables.at(statement->table);
    if (statement->change and statement->change->operation != Operation::Insert and table.initial_rows > 0)
      locks.push_back({static_cast<double>(table.initial_rows),
                       share * static_cast<double>(statement->change->rows), rest.server_cpu_s,
                       rest.client_cpu_s, rest.latency_s});
    rest.server_cpu_s += cpu_s / 2 + passing_s(*statement, dead);
    if (std::next(statement) != script.statements.rend()) {
      rest.client_cpu_s += costs.client_statement_s;
      rest.latency_s += round_trip_s;
    }
  }
  demand.locks.insert(demand.locks.end(), locks.rbegin(), locks.rend());
  const double trips = script.round_trips();
  demand.server_cpu_s += share * (rest.server_cpu_s + (block ? costs.backend_transaction_s / 2 : 0));
  demand.client_cpu_s += share * trips * costs.client_statement_s;
  demand.latency_s += share * trips * round_trip_s;
  demand.round_trips += share * trips;
  demand.write_share += script.flow.transaction.empty() ? 0 : share;
}

} // namespace

double script_share(const ClientLoad& load, std::size_t index) {
  double sum = 0;
  for (const ClientScript& script : load.scripts)
    sum += script.weight;
  return load.scripts.at(index).weight / sum;
}

ClientDemand client_demand(const ClientLoad& load, const std::map<std::string, Table>& tables,
                           const CostParameters& costs, const ClientRoute& route, const DeadVersions* dead) {
  ClientDemand demand;
  demand.write_share = demand.round_trips = 0;
  demand.think_s = load.think_s;
  demand.flush_s = route.flush_s;
  const double round_trip_s = 2 * (costs.wakeup_latency_s + route.one_way_s);
  for (std::size_t i = 0; i < load.scripts.size(); ++i)
    add_script(load.scripts[i], script_share(load, i), tables, costs, round_trip_s, dead, demand);
  demand.flush_share = route.flush_s > 0 ? demand.write_share : 0;
  return demand;
}

ClientWal row_wal(const Table& table, Operation operation) {
  constexpr Rows sample = 10000;
  const WalVolume volume = statement_wal(table, operation, sample, false);
  return {static_cast<double>(volume.bytes) / sample, static_cast<double>(volume.records) / sample};
}

ClientWal random_update_wal(const Table& table, TouchedRows before, double more, bool images,
                            double lost_hot) {
  constexpr Bytes tuple_header_bytes = 23, logged_header_bytes = 5, update_main_bytes = 14;
  constexpr Bytes lock_main_bytes = 8, index_main_bytes = 2, secondary_entry_bytes = 16;
  const auto logged = [](Bytes t_len) {
    return t_len > 0 ? logged_header_bytes + t_len - tuple_header_bytes : 0;
  };
  const Bytes row = logged(tuple_len(table));
  const Bytes main = update_main_bytes + logged(old_tuple_len(table, Operation::Update));
  const double per_page = rows_per_heap_page(table);
  const double rows = static_cast<double>(table.initial_rows);
  const double pages = std::max(1.0, rows / per_page);
  const auto distinct = [](double of, double times) {
    return of <= 1 ? std::min(1.0, times) : of * -std::expm1(times * std::log1p(-1 / of));
  };
  // A page with room left, such as the only one of a small table, keeps the row at once.
  const auto moved = [&](double times) { return rows > per_page ? distinct(pages, times) : 0; };
  const double for_the_first_time = moved(before.since_start + more) - moved(before.since_start);
  const double leaving = for_the_first_time + lost_hot * std::max(0.0, more - for_the_first_time);
  const double indexes = table.secondary_indexes + (table.primary_key.empty() ? 0 : 1);
  const Bytes entry = table.primary_key.empty()
                          ? secondary_entry_bytes
                          : std::max(secondary_entry_bytes, wal::max_align(8 + key_data_bytes(table)));
  const auto record = [](Bytes main_bytes, Bytes block_bytes, int further_blocks) {
    return static_cast<double>(wal::max_align(wal::record_length(main_bytes, block_bytes, further_blocks)));
  };
  ClientWal wal;
  wal.records = more + leaving * (1 + indexes);
  wal.bytes = (more - leaving) * record(main, row, 0) +
              leaving * (record(lock_main_bytes, 0, 0) + record(main, row, 1)) +
              leaving * indexes * record(index_main_bytes, entry, 0);
  if (images) {
    const double heap_image = std::min(
        8192.0, 24 + std::min(per_page, rows) * static_cast<double>(4 + wal::max_align(tuple_len(table))));
    const double leaf_entries = static_cast<double>(ascending_leaf_entries({.entry_bytes = entry}));
    const double leaves = std::max(1.0, rows / leaf_entries);
    const double leaf_image = 40 + std::min(leaf_entries, rows) * static_cast<double>(4 + entry);
    const double since = before.since_checkpoint;
    const auto leaf_hits = [&](double times) { return distinct(leaves, moved(times)); };
    wal.bytes += heap_image * (distinct(pages, since + more) - distinct(pages, since)) +
                 indexes * leaf_image * (leaf_hits(since + more) - leaf_hits(since));
  }
  return wal;
}

} // namespace replisim
