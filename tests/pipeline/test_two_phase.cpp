// Prepared transactions: sent at PREPARE or at COMMIT PREPARED, locks in between, restarts, refusals.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr double held_s = 10;

/// 1,000 rows of 1 ms each on the subscriber, prepared at once, committed ten seconds later.
Scenario prepared(bool two_phase, Streaming streaming = Streaming::Off,
                  const std::string& work_mem = "64MB") {
  CostParameters costs;
  costs.apply_insert_row_s = 1 * ms; // an update is a delete, an insert and an extra
  Scenario scenario = cluster(costs, streaming, work_mem);
  for (const char* server : {"pub", "sub"})
    set(scenario.servers.at(server), "max_prepared_transactions", "10");
  set(scenario.servers.at("sub"), "fsync", "off");
  scenario.tables["t"].initial_rows = 10000;
  scenario.subscriptions.at("s").two_phase = two_phase;
  with_batch(scenario, {StatementStep{Operation::Update, "t", 1000, {}}});
  scenario.batches.back().prepared_for_s = held_s;
  return with_batches_of(scenario, 100);
}

double metric(const RunResult& result, const std::string& name) {
  return result.subscriptions.at("s").at(name);
}

SessionLoad writer_of_row_1() {
  SessionStep step;
  step.kind = SessionStep::Kind::Update;
  step.table = "t";
  step.mode = LockMode::RowExclusive;
  step.row_lock = RowLock::NoKeyUpdate;
  step.first_row = 1;
  step.rows = 1;
  SessionLoad load;
  load.name = "writer";
  load.server = "sub";
  load.from_s = 5;
  load.times = 1;
  load.transaction = {step};
  return load;
}

} // namespace

TEST_CASE("two_phase = on applies at PREPARE and locks until COMMIT PREPARED; off does both at the commit") {
  for (const Streaming streaming : {Streaming::Off, Streaming::On, Streaming::Parallel}) {
    const std::string work_mem = streaming == Streaming::Off ? "64MB" : "64kB";
    const auto on = run(prepared(true, streaming, work_mem));
    const auto off = run(prepared(false, streaming, work_mem));
    INFO("streaming " << static_cast<int>(streaming));
    CHECK(on.transactions.at(0).rows_applied == 1000);
    CHECK(on.transactions.at(0).applied_s == Approx(held_s).epsilon(1e-3));
    CHECK(on.transactions.at(0).lock_hold_s == Approx(held_s).epsilon(0.05));
    CHECK(metric(on, "total_txns") == 1);
    // A parallel apply worker applies while the transaction is open, whatever ends it.
    const bool while_open = streaming == Streaming::Parallel;
    // ... but for what is left in the reorder buffer, 64 kB at most.
    CHECK(off.transactions.at(0).applied_s == Approx(while_open ? held_s + 0.09 : held_s + 1).margin(0.02));
    CHECK(off.transactions.at(0).lock_hold_s == Approx(while_open ? held_s : 1).epsilon(0.05));
    CHECK(off.metrics.at("wal_bytes") == on.metrics.at("wal_bytes"));
  }
}

TEST_CASE("a session waits for a prepared row until COMMIT PREPARED, and not at all with two_phase = off") {
  Scenario on = prepared(true), off = prepared(false);
  for (Scenario* scenario : {&on, &off}) {
    scenario->sessions = {writer_of_row_1()};
    scenario->observe.until_s = 20;
  }
  CHECK(run(on).sessions.at("writer").at("lock_wait_s_total") == Approx(held_s - 5).epsilon(1e-3));
  CHECK(run(off).sessions.at("writer").at("lock_wait_s_total") == 0);
}

TEST_CASE("a prepared transaction leaves its parallel apply worker to others") {
  Scenario scenario = prepared(true, Streaming::Parallel, "64kB");
  set(scenario.servers.at("sub"), "max_parallel_apply_workers_per_subscription", "1");
  with_batch(scenario, {insert("t", 1000)}, "second", 3);
  const auto result = run(scenario);
  CHECK(metric(result, "without_worker_txns") == 0);
  CHECK(result.transactions.at(1).applied_s == Approx(4).epsilon(0.01));
  CHECK(result.transactions.at(0).applied_s == Approx(held_s).epsilon(1e-3));
}

TEST_CASE("ROLLBACK PREPARED undoes what was applied at PREPARE; with two_phase = off nothing was") {
  for (const bool two_phase : {true, false})
    for (const Streaming streaming : {Streaming::Off, Streaming::Parallel}) {
      Scenario scenario = prepared(two_phase, streaming, streaming == Streaming::Off ? "64MB" : "64kB");
      scenario.batches.back().rolls_back = true;
      with_batch(scenario, {insert("t", 10)}, "later", 15);
      const auto result = run(scenario);
      CHECK(result.transactions.at(0).rows_applied == 0);
      CHECK(result.transactions.at(0).applied_s == 0);
      CHECK(result.transactions.at(1).rows_applied == 10);
    }
}

TEST_CASE("ROLLBACK PREPARED as the last thing ends the run with nothing left locked") {
  Scenario scenario = prepared(true);
  scenario.batches.back().rolls_back = true;
  const auto result = run(scenario);
  CHECK(result.simulated_s == Approx(held_s).epsilon(1e-2));
}

TEST_CASE("without room for prepared transactions the subscription fails again and again") {
  for (const Streaming streaming : {Streaming::Off, Streaming::Parallel}) {
    Scenario scenario = prepared(true, streaming, streaming == Streaming::Off ? "64MB" : "64kB");
    set(scenario.servers.at("sub"), "max_prepared_transactions", "0");
    const auto result = run(until(scenario, 23));
    CHECK(metric(result, "apply_error_count") == 5); // at 1, 6, 11, 16, 21 s
    CHECK(result.transactions.at(0).applied_s == 0);
    REQUIRE(result.outcomes.size() == 1);
    CHECK_THAT(result.outcomes.at(0).text, Catch::Contains("max_prepared_transactions is 0"));
  }
}

TEST_CASE("what is prepared outlives its worker and is neither sent nor applied twice") {
  for (const Streaming streaming : {Streaming::Off, Streaming::Parallel}) {
    Scenario scenario = prepared(true, streaming, streaming == Streaming::Off ? "64MB" : "64kB");
    scenario.subscriptions.at("s").conflicts = {{"t", 10001, 6}};
    with_batch(scenario, {insert("t", 10)}, "conflicts", 2);
    const auto result = run(scenario);
    CHECK(metric(result, "apply_error_count") >= 1);
    CHECK(metric(result, "connections") >= 2);
    CHECK(result.transactions.at(0).rows_applied == 1000);
    CHECK(result.transactions.at(0).applied_s == Approx(held_s).epsilon(1e-3));
    CHECK(result.transactions.at(1).rows_applied == 10);
  }
}

TEST_CASE("restart_lsn stays before a prepared transaction, confirmed_flush_lsn goes on") {
  Scenario scenario = prepared(true);
  scenario.batches.back().prepared_for_s = 60;
  with_batch(scenario, {insert("t", 1000)}, "later", 5);
  const auto result = run_with_timeline(until(scenario, 90));
  CHECK(value_at(result, "restart_lsn", 55) < value_at(result, "confirmed_flush_lsn", 55));
  CHECK(value_at(result, "confirmed_flush_lsn", 55) > value_at(result, "confirmed_flush_lsn", 3));
  CHECK(value_at(result, "restart_lsn", 89) > value_at(result, "restart_lsn", 55));
}

TEST_CASE("PREPARE TRANSACTION waits for a synchronous subscription that applies it") {
  Scenario scenario = prepared(true);
  set(scenario.servers.at("pub"), "synchronous_standby_names", "s");
  set(scenario.servers.at("pub"), "synchronous_commit", "remote_apply");
  const auto result = run(scenario);
  // One second of applying, ten prepared, and the answers to PREPARE and COMMIT PREPARED.
  CHECK(result.transactions.at(0).commit_s == Approx(1 + held_s).epsilon(2e-3));
  scenario.subscriptions.at("s").two_phase = false;
  CHECK(run(scenario).transactions.at(0).commit_s == Approx(held_s + 1).epsilon(2e-3));
}
