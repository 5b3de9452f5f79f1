#include "sim/scenario/subscriber_memory.hpp"

#include <algorithm>
#include <limits>

namespace replisim {

namespace {

/// Tables that lie on a server: those it publishes and those it subscribes to.
std::vector<std::string> tables_on(const Scenario& scenario, const std::string& server) {
  std::vector<std::string> names;
  const auto add = [&](const Publication& publication) {
    for (const auto& table : publication.tables)
      if (std::find(names.begin(), names.end(), table) == names.end())
        names.push_back(table);
  };
  for (const auto& [name, publication] : scenario.publications)
    if (publication.server == server)
      add(publication);
  for (const auto& [name, subscription] : scenario.subscriptions)
    if (subscription.server == server)
      add(scenario.publications.at(subscription.publication));
  return names;
}

double flow_seconds(const Scenario& scenario, const FlowLoad& flow) {
  const double until_s = flow.until_s > 0 ? flow.until_s : scenario.observe.until_s;
  return std::max(0.0, until_s - flow.from_s);
}

/// Rows of a table, half of what the run inserts included: a mean over the run.
double mean_rows(const Scenario& scenario, const std::string& table) {
  double rows = static_cast<double>(scenario.tables.at(table).initial_rows);
  for (const auto& load : scenario.batches)
    for (const auto& step : load.transaction)
      if (const auto* statement = std::get_if<StatementStep>(&step))
        if (statement->table == table and statement->operation == Operation::Insert)
          rows += static_cast<double>(statement->rows) * static_cast<double>(load.times) / 2;
  for (const auto& flow : scenario.flows)
    for (const auto& statement : flow.transaction)
      if (statement.table == table and statement.operation == Operation::Insert)
        rows += static_cast<double>(statement.rows) * flow.rate_per_s * flow_seconds(scenario, flow) / 2;
  return rows;
}

} // namespace

double data_bytes(const Scenario& scenario, const std::string& server) {
  double pages = 0;
  for (const auto& name : tables_on(scenario, server)) {
    const Table& table = scenario.tables.at(name);
    const double rows = mean_rows(scenario, name);
    pages += heap_pages(table, rows) + key_index_pages(table, rows) + secondary_index_pages(table, rows);
  }
  return pages * static_cast<double>(heap_page_bytes);
}

namespace {

void add_flows(const Scenario& scenario, const std::string& publisher, TableTouches& touches) {
  for (const auto& flow : scenario.flows)
    for (const auto& step : flow.transaction) {
      if (flow.server != publisher or step.table != touches.table->name)
        continue;
      const double rate = flow.rate_per_s * static_cast<double>(step.rows);
      if (step.operation == Operation::Insert)
        touches.inserted_per_s += rate;
      else
        (step.operation == Operation::Update ? touches.updated_per_s : touches.deleted_per_s) += rate;
    }
}

void add_batches(const Scenario& scenario, const std::string& publisher, const ApplyCost& cached,
                 TableTouches& touches) {
  for (const auto& load : scenario.batches)
    for (const auto& step : load.transaction) {
      const auto* statement = std::get_if<StatementStep>(&step);
      if (load.server != publisher or statement == nullptr or statement->table != touches.table->name)
        continue;
      const double row_s = cached.row(*touches.table, statement->operation, RowOrder::Table).cpu_s;
      const double rate = row_s > 0 ? 1 / row_s : 1;
      if (statement->operation == Operation::Insert)
        touches.inserted_per_s += rate;
      else
        (statement->operation == Operation::Update ? touches.updated_in_order_per_s
                                                   : touches.deleted_in_order_per_s) += rate;
    }
}

/// Recorded transactions, at their mean rate; their rows count as picked at random.
void add_replays(const Scenario& scenario, const std::string& publisher, TableTouches& touches) {
  for (const auto& load : scenario.replays) {
    if (load.server != publisher or load.transactions.empty())
      continue;
    const double span_s = std::max(1.0, load.transactions.back().at_s - load.transactions.front().at_s);
    for (const auto& transaction : load.transactions)
      for (const auto& step : load.distinct[transaction.steps]) {
        const auto* statement = std::get_if<StatementStep>(&step);
        if (statement == nullptr or statement->table != touches.table->name)
          continue;
        double& rate = statement->operation == Operation::Insert   ? touches.inserted_per_s
                       : statement->operation == Operation::Update ? touches.updated_per_s
                                                                   : touches.deleted_per_s;
        rate += static_cast<double>(statement->rows) / span_s;
      }
  }
}

} // namespace

double cache_bytes(const Scenario& scenario, const std::string& server) {
  const Server& own = scenario.servers.at(server);
  if (scenario.hosts.at(own.host).memory_bytes == 0) // not stated
    return std::numeric_limits<double>::infinity();
  double left = static_cast<double>(scenario.hosts.at(own.host).memory_bytes);
  double data = 0;
  for (const auto& [name, other] : scenario.servers)
    if (other.host == own.host) {
      left -= static_cast<double>(other.settings.bytes("shared_buffers"));
      data += data_bytes(scenario, name);
    }
  const double share = data > 0 ? data_bytes(scenario, server) / data : 1;
  return static_cast<double>(own.settings.bytes("shared_buffers")) + std::max(0.0, left) * share;
}

std::vector<TableTouches> touches_on(const Scenario& scenario, const std::string& server,
                                     const CostParameters& costs) {
  const ApplyCost cached(costs);
  std::vector<TableTouches> all;
  for (const auto& [name, subscription] : scenario.subscriptions) {
    if (subscription.server != server)
      continue;
    const Publication& publication = scenario.publications.at(subscription.publication);
    for (const auto& table : publication.tables) {
      TableTouches touches;
      touches.table = &scenario.tables.at(table);
      touches.rows = mean_rows(scenario, table);
      add_flows(scenario, publication.server, touches);
      add_batches(scenario, publication.server, cached, touches);
      add_replays(scenario, publication.server, touches);
      all.push_back(touches);
    }
  }
  return all;
}

ApplyCost apply_cost_of(const Scenario& scenario, const Subscription& subscription,
                        const CostParameters& costs, DeadVersions* dead) {
  const Server& server = scenario.servers.at(subscription.server);
  const auto& disks = scenario.hosts.at(server.host).disks;
  const auto named = std::find_if(disks.begin(), disks.end(),
                                  [&](const Disk& disk) { return disk.name == server.data_disk; });
  const Disk& disk = named == disks.end() ? disks.front() : *named;
  ApplyCost::Options options;
  options.dead = dead;
  options.full_identity_uses_index = traits_of(server.version).full_identity_uses_index;
  options.residence =
      table_residence(touches_on(scenario, server.name, costs), cache_bytes(scenario, server.name));
  options.read_latency_s = disk.read_latency_s;
  options.read_bandwidth_bytes_per_s = disk.read_bandwidth_bytes_per_s;
  return {costs, std::move(options)};
}

} // namespace replisim
