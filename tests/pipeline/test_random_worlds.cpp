// Random clusters and workloads: nothing is lost, sums agree with an interpreter of our own, and equal
// runs give equal bytes. simulate() checks conservation by itself and throws.
#include "tests/support/random.hpp"
#include "tests/support/results.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr std::uint64_t worlds = sanitized ? 15 : 150;

Table random_table(Random& random, const std::string& name) {
  Table table = uuid_table(name, 20'000);
  for (std::int64_t i = random.between(0, 3); i > 0; --i)
    table.columns.push_back({fmt::format("c{}", i),
                             random.chance(0.5) ? ColumnType::Text : ColumnType::Int8,
                             static_cast<int>(random.between(1, 300)),
                             {}});
  table.secondary_indexes = static_cast<int>(random.between(0, 2));
  if (random.chance(0.3))
    table.replica_identity = ReplicaIdentity::Full;
  return table;
}

/// Statements, savepoints and rollbacks, never to a savepoint that is gone.
std::vector<TransactionStep> random_transaction(Random& random, const std::vector<std::string>& tables) {
  std::vector<TransactionStep> steps;
  std::vector<std::string> open;
  const auto length = random.between(1, 10);
  for (std::int64_t i = 0; i < length; ++i) {
    if (i > 0 and random.chance(0.25)) {
      open.push_back(fmt::format("s{}", random.between(1, 4)));
      steps.push_back(SavepointStep{open.back()});
    } else if (not open.empty() and random.chance(0.3)) {
      const auto target = open[static_cast<std::size_t>(random.between(0, std::ssize(open) - 1))];
      while (open.back() != target)
        open.pop_back();
      steps.push_back(RollbackToStep{target});
    } else {
      const auto operation = static_cast<Operation>(random.between(0, 2));
      const Rows most = random.chance(0.2) ? 20'000 : 800;
      steps.push_back(StatementStep{operation, random.pick(tables), random.between(1, most), {}});
    }
  }
  // The server numbers a transaction with its first row; one without rows is not replicated.
  steps.push_back(StatementStep{Operation::Insert, random.pick(tables), random.between(1, 50), {}});
  return steps;
}

void add_random_subscription(Random& random, Scenario& scenario, const std::string& name,
                             std::vector<std::string> tables) {
  const int major =
      std::min(scenario.servers.at("pub").version.major, scenario.servers.at("sub").version.major);
  std::vector<Streaming> possible = {Streaming::Off, Streaming::On};
  if (major >= 16)
    possible.push_back(Streaming::Parallel);
  scenario.publications["p" + name] = publication_of("p" + name, std::move(tables));
  scenario.subscriptions[name] = {name, "sub", "p" + name, random.pick(possible), false};
}

Scenario random_world(std::uint64_t seed) {
  Random random(seed, 1);
  CostParameters costs = typical_costs();
  for (const auto& parameter : cost_parameters())
    costs.*parameter.field *= random.chance(0.05) ? 0 : random.exponential(1);
  const int major = static_cast<int>(random.between(14, 18));
  const std::vector<const char*> memories = {"64kB", "65kB", "128kB", "1MB", "64MB"};
  Scenario scenario = cluster(costs, Streaming::Off, random.pick(memories),
                              static_cast<int>(random.between(1, 6)), {major, 0});
  scenario.name = fmt::format("random world {}", seed);
  scenario.hosts.at("db").threads_per_core = random.chance(0.3) ? 2 : 1;
  scenario.hosts.at("db").speed = random.chance(0.3) ? 0.7 : 1;
  if (random.chance(0.5))
    set(scenario.servers.at("pub"), "fsync", "on");
  if (random.chance(0.2))
    set(scenario.servers.at("pub"), "synchronous_commit", "off");
  if (random.chance(0.3))
    set(scenario.servers.at("pub"), "wal_buffers", "64kB");
  if (random.chance(0.3))
    set(scenario.servers.at("sub"), "max_parallel_apply_workers_per_subscription", "1");
  scenario.servers.at("pub").checkpoint_before_workload = random.chance(0.3);
  if (random.chance(0.4))
    with_link(scenario, random.chance(0.5) ? 0 : random.exponential(0.01), random.exponential(1e8) + 1e5,
              random.between(10'000, 4'000'000));
  if (random.chance(0.3))
    scenario.background.push_back({"sampler", "db", random.uniform()});

  std::vector<std::string> tables;
  scenario.tables.clear();
  for (std::int64_t i = random.between(1, 3); i > 0; --i) {
    tables.push_back(fmt::format("t{}", i));
    scenario.tables[tables.back()] = random_table(random, tables.back());
  }
  scenario.publications.clear();
  scenario.subscriptions.clear();
  add_random_subscription(random, scenario, "s1", tables);
  if (random.chance(0.4))
    add_random_subscription(random, scenario, "s2", {random.pick(tables)});
  if (random.chance(0.3))
    scenario.publications.at("ps1").tables.resize(1);

  for (std::int64_t i = random.between(1, 4); i > 0; --i)
    with_batch(scenario, random_transaction(random, tables), fmt::format("b{}", 5 - i),
               random.chance(0.5) ? 0 : random.exponential(0.02));
  if (random.chance(0.5))
    scenario.time_resolution_s = 1e-6 + random.exponential(0.003);
  return scenario;
}

/// What a transaction writes and what of it survives in `tables`, by unwinding a stack of savepoints.
struct Written {
  Rows all = 0;
  Rows survives = 0;
};

Written interpret(const BatchLoad& load, const std::set<std::string>& tables) {
  struct Level {
    std::string name;
    Rows rows = 0;
  };
  std::vector<Level> levels = {{"", 0}};
  Written written;
  for (const auto& step : load.transaction) {
    if (const auto* statement = std::get_if<StatementStep>(&step)) {
      written.all += statement->rows;
      levels.back().rows += tables.contains(statement->table) ? statement->rows : 0;
    } else if (const auto* savepoint = std::get_if<SavepointStep>(&step)) {
      levels.push_back({savepoint->name, 0});
    } else {
      const auto& name = std::get<RollbackToStep>(step).savepoint;
      while (levels.back().name != name)
        levels.pop_back();
      levels.back().rows = 0;
    }
  }
  for (const auto& level : levels)
    written.survives += level.rows;
  return written;
}

/// The parts of the lag leave no gap between the commit record, written when the last statement ends, and the
/// commit applied. Results know the last one only. From 15 on a subscription may get nothing of a
/// transaction, and then has no lag to take apart.
void check_anatomy(const TransactionResult& transaction, std::size_t subscriptions,
                   const std::set<std::string>& concerned) {
  for (const std::string& name : concerned)
    CHECK(transaction.lag_anatomy.contains(name));
  Nanoseconds longest = 0;
  for (const auto& [slot, parts] : transaction.lag_anatomy) {
    INFO(slot);
    for (const Nanoseconds part : parts.ns)
      CHECK(part >= 0);
    longest = std::max(longest, parts.lag());
  }
  const Nanoseconds lag = to_nanoseconds(transaction.applied_s) - to_nanoseconds(transaction.statement_end_s);
  CHECK(longest <= lag);
  if (transaction.lag_anatomy.size() == subscriptions)
    CHECK(longest == lag);
}

void check_transactions(const Scenario& scenario, const RunResult& result) {
  REQUIRE(result.transactions.size() == scenario.batches.size());
  std::set<std::uint32_t> xids;
  for (std::size_t i = 0; i < scenario.batches.size(); ++i) {
    const auto& load = scenario.batches[i];
    const auto& transaction = transaction_of(result, load.name);
    INFO(load.name);
    Rows most_applied = 0;
    std::set<std::string> concerned;
    for (const auto& [name, subscription] : scenario.subscriptions) {
      const auto& tables = scenario.publications.at(subscription.publication).tables;
      const Rows survives = interpret(load, {tables.begin(), tables.end()}).survives;
      most_applied = std::max(most_applied, survives);
      if (survives > 0)
        concerned.insert(name);
    }
    CHECK(transaction.name == load.name);
    CHECK(transaction.rows == interpret(load, {}).all);
    CHECK(transaction.rows_applied == most_applied);
    CHECK(transaction.begin_s == Approx(load.at_s));
    CHECK(transaction.begin_s <= transaction.statement_end_s);
    CHECK(transaction.statement_end_s <= transaction.commit_s);
    CHECK(transaction.applied_s > transaction.statement_end_s);
    check_anatomy(transaction, scenario.subscriptions.size(), concerned);
    CHECK(transaction.lock_hold_s >= 0);
    CHECK(transaction.lock_hold_s <= transaction.applied_s - transaction.begin_s);
    xids.insert(transaction.xid);
  }
  CHECK(xids.size() == scenario.batches.size());
}

void check_sums(const Scenario& scenario, const RunResult& result) {
  Rows rows = 0;
  for (const auto& load : scenario.batches)
    rows += interpret(load, {}).all;
  const auto transactions = static_cast<double>(scenario.batches.size());
  for (const auto& [name, subscription] : scenario.subscriptions) {
    INFO("subscription " << name << " " << to_string(subscription.streaming));
    const auto& metrics = result.subscriptions.at(name);
    CHECK(metrics.at("total_txns") == transactions);
    if (subscription.streaming == Streaming::Off) {
      CHECK(metrics.at("stream_count") == 0);
      CHECK(metrics.at("stream_bytes") == 0);
      CHECK(metrics.at("peak_sub_tmp_file_bytes") == 0);
    } else {
      CHECK(metrics.at("spill_count") == 0);
      CHECK(metrics.at("stream_bytes") <= metrics.at("total_bytes"));
    }
    CHECK(metrics.at("spill_txns") <= metrics.at("spill_count"));
    CHECK(metrics.at("stream_txns") <= metrics.at("stream_count"));
    CHECK(metrics.at("stream_txns") <= transactions);
    // An insert of one uuid is the smallest change, a row of three texts with its old one the largest.
    CHECK(metrics.at("total_bytes") <= static_cast<double>(rows) * 2500);
  }
  CHECK(result.metrics.at("wal_bytes") > 0);
  for (const auto& [stage, share] : result.stages) {
    INFO(stage);
    CHECK(share.busy >= 0);
    CHECK(share.blocked >= 0);
    CHECK(share.busy + share.starved + share.blocked == Approx(1).epsilon(1e-6));
  }
}

} // namespace

TEST_CASE("random worlds: nothing is lost, the sums agree, and a second run gives the same bytes") {
  std::vector<Scenario> scenarios;
  std::vector<Job> jobs;
  for (std::uint64_t seed = 1; seed <= worlds; ++seed)
    scenarios.push_back(random_world(seed));
  for (const auto& scenario : scenarios)
    for (int repeat = 0; repeat < 2; ++repeat)
      jobs.push_back(simulation_job(scenario.name, scenario, 1));
  const auto outcomes = run_forked(jobs);
  std::size_t spilled = 0, streamed = 0, with_files = 0, with_workers = 0, rolled_back = 0;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    INFO("seed " << i + 1);
    RunResult first, second;
    CHECK_NOTHROW(first = decode_result(outcomes[2 * i].get()));
    CHECK_NOTHROW(second = decode_result(outcomes[2 * i + 1].get()));
    if (first.transactions.empty())
      continue; // it threw, as reported above
    CHECK(json_text(result_json(first)) == json_text(result_json(second)));
    CHECK(first.fingerprint == second.fingerprint);
    CHECK(first.events == second.events);
    check_transactions(scenarios[i], first);
    check_sums(scenarios[i], first);
    spilled += first.metrics.at("spill_count") > 0 ? 1 : 0;
    streamed += first.metrics.at("stream_count") > 0 ? 1 : 0;
    with_files += first.metrics.at("peak_sub_tmp_file_bytes") > 0 ? 1 : 0;
    with_workers += first.stages.contains("sub.parallel_apply_worker") ? 1 : 0;
    for (const auto& transaction : first.transactions)
      rolled_back += transaction.rows_applied < transaction.rows ? 1 : 0;
  }
  // The worlds visit every path.
  CHECK(spilled > worlds / 10);
  CHECK(streamed > worlds / 10);
  CHECK(with_files > worlds / 10);
  CHECK(with_workers > worlds / 20);
  CHECK(rolled_back > worlds / 5);
}

TEST_CASE("another name for a transaction changes nothing but the name") {
  for (std::uint64_t seed = 1001; seed <= 1020; ++seed) {
    INFO("seed " << seed);
    Scenario scenario = random_world(seed);
    for (std::size_t i = 0; i < scenario.batches.size(); ++i)
      scenario.batches[i].at_s = 0.0017 * static_cast<double>(i); // no two begin together
    Scenario renamed = scenario;
    std::reverse(renamed.batches.begin(), renamed.batches.end());
    for (std::size_t i = 0; i < renamed.batches.size(); ++i)
      renamed.batches[i].name = fmt::format("r{}", i);
    const auto results = run_all({scenario, renamed});
    const auto count = scenario.batches.size();
    for (std::size_t i = 0; i < count; ++i) {
      const auto& a = transaction_of(results[0], scenario.batches[i].name);
      const auto& b = transaction_of(results[1], renamed.batches[count - 1 - i].name);
      CHECK(a.rows_applied == b.rows_applied);
      CHECK(a.commit_s == Approx(b.commit_s).epsilon(1e-3));
      CHECK(a.applied_s == Approx(b.applied_s).epsilon(1e-3));
    }
    CHECK(results[0].metrics.at("wal_bytes") == results[1].metrics.at("wal_bytes"));
  }
}
