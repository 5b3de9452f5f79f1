#include "tests/reference/random_case.hpp"

#include "tests/support/random.hpp"
#include "tests/support/scenario_builder.hpp"

namespace replisim::test {

namespace {

constexpr double long_enough_s = 5;

CaseTable random_table(Random& random, const std::string& name) {
  CaseTable made{uuid_table(name, 3000), true};
  for (std::int64_t i = random.between(0, 2); i > 0; --i)
    made.table.columns.push_back(
        {fmt::format("c{}", i), ColumnType::Text, static_cast<int>(random.between(1, 700)), {}});
  made.table.secondary_indexes = static_cast<int>(random.between(0, 2));
  if (random.chance(0.2))
    made.table.replica_identity = ReplicaIdentity::Full;
  return made;
}

/// Statements, pauses, savepoints, rollbacks and releases, never of a savepoint that is gone.
std::vector<TransactionStep> random_steps(Random& random, const std::vector<std::string>& tables) {
  std::vector<TransactionStep> steps;
  std::vector<std::string> open;
  const auto statement = [&] {
    const Rows most = random.chance(0.1) ? 400 : 80;
    steps.push_back(StatementStep{
        static_cast<Operation>(random.between(0, 2)), random.pick(tables), random.between(1, most), {}});
  };
  for (std::int64_t i = random.between(1, 8); i > 0; --i) {
    if (random.chance(0.25)) {
      open.push_back(fmt::format("s{}", random.between(1, 4)));
      steps.push_back(SavepointStep{open.back()});
    } else if (not open.empty() and random.chance(0.3)) {
      const auto target = open[static_cast<std::size_t>(random.between(0, std::ssize(open) - 1))];
      while (open.back() != target)
        open.pop_back();
      if (random.chance(0.7)) {
        steps.push_back(RollbackToStep{target});
        continue;
      }
      open.pop_back();
      steps.push_back(ReleaseStep{target});
    } else if (random.chance(0.1)) {
      steps.push_back(PauseStep{random.exponential(2 * ms)});
    } else {
      statement();
    }
  }
  statement();
  return steps;
}

void random_servers(Random& random, Case& made) {
  made.version = static_cast<int>(random.between(14, 18));
  std::vector<Streaming> modes = {Streaming::Off, Streaming::On};
  if (made.version >= 16)
    modes.push_back(Streaming::Parallel);
  made.streaming = random.pick(modes);
  made.work_mem_kb = random.chance(0.6) ? 64 : static_cast<int>(random.between(65, 400));
  made.fsync = random.chance(0.5);
  made.commit_waits = random.chance(0.8);
  made.fsync_latency_s = random.exponential(1 * ms);
  made.wal_writer_delay_ms = static_cast<int>(random.between(1, 10));
  made.pool = static_cast<int>(random.between(0, 3));
  made.workers = static_cast<int>(random.between(1, 4));
  if (random.chance(0.4))
    made.link = Link{"db", "other", 1e6 + random.exponential(1e8),
                     random.chance(0.5) ? 0 : random.exponential(1 * ms), random.between(10'000, 300'000)};
}

CostParameters plausible(CostParameters costs) {
  for (const auto& parameter : cost_parameters())
    costs.*parameter.field = std::clamp(costs.*parameter.field, parameter.low, parameter.high);
  return costs;
}

} // namespace

Rows Case::rows() const {
  Rows rows = 0;
  for (const auto& transaction : transactions)
    for (const auto& step : transaction.transaction)
      if (const auto* statement = std::get_if<StatementStep>(&step))
        rows += statement->rows;
  return rows;
}

CostParameters usual_costs() { return plausible(typical_costs()); }

Case random_case(std::uint64_t seed) {
  Random random(seed, 7);
  Case made;
  made.seed = seed;
  random_servers(random, made);
  made.costs = usual_costs();
  for (const auto& parameter : cost_parameters())
    if (random.chance(0.3))
      made.costs.*parameter.field *= random.exponential(1);
  made.costs.send_transaction_s = random.chance(0.5) ? 20 * us : 0;
  made.costs.spill_file_s = random.chance(0.3) ? 40 * us : 0;
  made.costs.search_transaction_s = random.chance(0.3) ? 0.05 * us : 0;
  made.costs.worker_start_s *= 0.2;
  made.costs = plausible(made.costs);

  std::vector<std::string> names;
  for (std::int64_t i = random.between(1, 3); i > 0; --i) {
    names.push_back(fmt::format("t{}", i));
    made.tables.push_back(random_table(random, names.back()));
  }
  if (made.tables.size() > 1 and random.chance(0.3))
    made.tables.back().published = false;
  const std::int64_t transactions = random.between(1, 4);
  for (std::int64_t i = 1; i <= transactions; ++i) {
    made.transactions.push_back(batch_of(fmt::format("b{}", i), random_steps(random, names),
                                         i == 1 ? 0 : random.exponential(1 * ms)));
    made.transactions.back().rolls_back = i < transactions and random.chance(0.15);
  }
  if (random.chance(transactions == 1 ? 0.8 : 0.2))
    made.batch_rows = std::max<Rows>(1, random.between(1, made.rows() / 20 + 1));
  return made;
}

Scenario scenario_of(const Case& from) {
  Scenario scenario = cluster(from.costs, from.streaming, fmt::format("{}kB", from.work_mem_kb), 64,
                              {from.version, latest_minor(from.version)});
  scenario.name = fmt::format("random case {}", from.seed);
  Machine& machine = scenario.hosts.at("db");
  machine.memory_bytes = Bytes{64} << 30U;
  machine.disks.front().fsync_latency_s = from.fsync_latency_s;
  Server& pub = scenario.servers.at("pub");
  set(pub, "fsync", from.fsync ? "on" : "off");
  set(pub, "synchronous_commit", from.commit_waits ? "on" : "off");
  set(pub, "wal_writer_delay", fmt::format("{}ms", from.wal_writer_delay_ms));
  Server& sub = scenario.servers.at("sub");
  if (from.version >= 16)
    set(sub, "max_parallel_apply_workers_per_subscription", std::to_string(from.pool));
  set(sub, "max_logical_replication_workers", std::to_string(from.workers));
  if (from.link)
    with_link(scenario, from.link->latency_s, from.link->bandwidth_bytes_per_s, from.link->window_bytes);
  scenario.tables.clear();
  scenario.publications.at("p").tables.clear();
  for (const CaseTable& made : from.tables) {
    scenario.tables[made.table.name] = made.table;
    if (made.published)
      scenario.publications.at("p").tables.push_back(made.table.name);
  }
  scenario.batches = from.transactions;
  scenario.observe.until_s = long_enough_s; // what is rolled back at last is decoded, too
  scenario.observe.interval_s = 0.5;
  return with_batches_of(scenario, std::min(from.batch_rows, from.rows()));
}

} // namespace replisim::test
