// Sessions of a subscriber and what is applied there, for locks: who waits for whom, and how long.
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// Applying an update takes 1 ms, a tenth of that as it arrives nothing; all else is free.
CostParameters one_ms_a_row() {
  CostParameters costs;
  costs.apply_update_extra_s = 1 * ms;
  return costs;
}

StatementStep update(Rows rows) { return {Operation::Update, "t", rows, {}}; }

SessionStep session_update(Rows first_row, Rows rows = 1) {
  SessionStep step;
  step.kind = SessionStep::Kind::Update;
  step.table = "t";
  step.mode = LockMode::RowExclusive;
  step.row_lock = RowLock::NoKeyUpdate;
  step.first_row = first_row;
  step.rows = rows;
  return step;
}

SessionStep session_pause(double seconds) {
  SessionStep step;
  step.kind = SessionStep::Kind::Pause;
  step.takes_s = seconds;
  return step;
}

SessionStep session_lock(LockMode mode, SessionStep::Kind kind = SessionStep::Kind::Lock) {
  SessionStep step;
  step.kind = kind;
  step.table = "t";
  step.mode = mode;
  return step;
}

SessionLoad session(const std::string& name, std::vector<SessionStep> steps, double from_s = 0,
                    double every_s = 0, std::int64_t times = 1) {
  SessionLoad load;
  load.name = name;
  load.server = "sub";
  load.from_s = from_s;
  load.every_s = every_s;
  load.times = times;
  load.transaction = std::move(steps);
  return load;
}

/// 1,000 rows updated by one transaction of the publisher, which stays open for `open_s` before its commit.
Scenario updated(Streaming streaming, double open_s = 0, const std::string& work_mem = "64kB") {
  Scenario scenario = cluster(one_ms_a_row(), streaming, work_mem);
  scenario.tables["t"].initial_rows = 10000;
  std::vector<TransactionStep> steps = {update(1000)};
  if (open_s > 0)
    steps.emplace_back(PauseStep{open_s});
  with_batch(scenario, std::move(steps));
  scenario.observe.until_s = 20;
  return scenario;
}

double metric(const RunResult& result, const std::string& session_name, const std::string& name) {
  return result.sessions.at(session_name).at(name);
}

} // namespace

TEST_CASE("trap 7: with parallel locks are held for the publisher's transaction and not only at its commit") {
  std::vector<Scenario> scenarios;
  for (const Streaming streaming : {Streaming::Off, Streaming::On, Streaming::Parallel}) {
    scenarios.push_back(updated(streaming, 5));
    scenarios.back().sessions = {
        session("writer", {session_update(1)}, 0, 10 * ms, 0),
        session("vacuum", {session_lock(LockMode::ShareUpdateExclusive, SessionStep::Kind::Vacuum)}, 4.5)};
  }
  const auto results = run_all(scenarios);
  const RunResult& off = results[0];
  const RunResult& on = results[1];
  const RunResult& parallel = results[2];
  // Off and on apply 1,000 rows of 1 ms after the commit at 5 s.
  for (const RunResult* result : {&off, &on}) {
    CHECK(result->metrics.at("lock_hold_s") == Approx(1).margin(0.02));
    CHECK(result->metrics.at("snapshot_horizon_s") == Approx(1).margin(0.02));
    CHECK(result->metrics.at("blocked_s_count") == 1);
    CHECK(result->metrics.at("blocked_s_max") == Approx(1).margin(0.02)); // a try every 10 ms
    CHECK(metric(*result, "vacuum", "vacuum_horizon_s_max") == 0);
  }
  // Parallel locks row 1 with the first chunk, when WAL is visible, and ends after the last chunk: 1,000 rows
  // are two chunks of 456 and one of 88, which comes with the commit.
  CHECK(parallel.metrics.at("lock_hold_s") == Approx(5.088).margin(0.02));
  CHECK(parallel.metrics.at("snapshot_horizon_s") == Approx(5.088).margin(0.02));
  CHECK(parallel.metrics.at("blocked_s_count") == 1);
  CHECK(parallel.metrics.at("blocked_s_max") == Approx(5.08).margin(0.03));
  CHECK(metric(parallel, "vacuum", "vacuum_horizon_s_max") == Approx(4.495).margin(0.02));
  CHECK(metric(parallel, "vacuum", "lock_wait_s_total") == 0); // vacuum goes along with writers
}

TEST_CASE("a session's open transaction stops the apply worker at its row") {
  Scenario scenario = updated(Streaming::Off, 0, "64MB");
  scenario.sessions = {session("open", {session_update(500), session_pause(3)})};
  const RunResult result = run(scenario);
  // 499 rows, the wait until 3 s, 501 rows.
  CHECK(result.metrics.at("total_s") == Approx(3.501).margin(0.002));
  CHECK(result.metrics.at("apply_lock_wait_s_total") == Approx(2.5).margin(0.01));
  CHECK(result.metrics.at("blocked_s_count") == 0); // nobody waited for the apply worker
  CHECK(result.transactions.at(0).rows_applied == 1000);
}

TEST_CASE("readers wait for an ALTER TABLE that waits for the apply worker") {
  Scenario scenario = updated(Streaming::Off, 0, "64MB");
  scenario.sessions = {session("alter", {session_lock(LockMode::AccessExclusive)}, 0.2),
                       session("early reader", {session_lock(LockMode::AccessShare)}, 0.1),
                       session("late reader", {session_lock(LockMode::AccessShare)}, 0.3)};
  const RunResult result = run(scenario);
  const double applied_s = result.transactions.at(0).applied_s;
  CHECK(applied_s == Approx(1.0).margin(0.02));
  CHECK(metric(result, "early reader", "lock_wait_s_total") == 0);
  CHECK(metric(result, "alter", "blocked_s_total") == Approx(applied_s - 0.2).margin(1e-6));
  CHECK(metric(result, "late reader", "blocked_s_total") == Approx(applied_s - 0.3).margin(1e-6));
  CHECK(result.metrics.at("blocked_s_total") == Approx(2 * applied_s - 0.5).margin(1e-6));
}

TEST_CASE("a table lock of a session stops the apply worker before its first row") {
  Scenario scenario = updated(Streaming::Off, 0, "64MB");
  scenario.batches[0].at_s = 0.5;
  scenario.sessions = {session("index", {session_lock(LockMode::Share), session_pause(2)})};
  const RunResult result = run(scenario);
  CHECK(result.metrics.at("total_s") == Approx(2.5).margin(0.002));
  CHECK(result.metrics.at("apply_lock_wait_s_total") == Approx(1.5).margin(0.02));
}

TEST_CASE("sessions queue for a row in order of arrival") {
  Scenario scenario = updated(Streaming::Off, 0, "64MB");
  for (int i = 1; i <= 3; ++i)
    scenario.sessions.push_back(
        session("writer " + std::to_string(i), {session_update(1), session_pause(1)}, 0.1 * i));
  const RunResult result = run(scenario);
  const double applied_s = result.transactions.at(0).applied_s;
  // Each holds the row for a second and the flush of its commit, 1 ms; all waits began while the apply worker
  // held it.
  for (int i = 1; i <= 3; ++i) {
    INFO(i);
    CHECK(metric(result, "writer " + std::to_string(i), "blocked_s_total") ==
          Approx(applied_s + 1.001 * (i - 1) - 0.1 * i).margin(1e-6));
  }
}

TEST_CASE("a session gives up after lock_timeout and fails after its last try") {
  Scenario scenario = updated(Streaming::Off, 0, "64MB");
  SessionLoad load = session("writer", {session_update(1)}, 0.2);
  load.lock_timeout_s = 0.1;
  load.max_tries = 3;
  scenario.sessions = {load};
  const RunResult result = run(scenario);
  CHECK(metric(result, "writer", "lock_timeouts") == 3);
  CHECK(metric(result, "writer", "retries") == 2);
  CHECK(metric(result, "writer", "failures") == 1);
  CHECK(metric(result, "writer", "transactions") == 0);
  CHECK(metric(result, "writer", "blocked_s_total") == Approx(0.3));
}

TEST_CASE("a deadlock of a session with the apply worker is found after deadlock_timeout") {
  Scenario crossed = updated(Streaming::Off, 0, "64MB");
  SessionLoad load = session("crosser", {session_update(900), session_pause(0.5), session_update(1)}, 0.1);
  load.max_tries = 5;
  crossed.sessions = {load};
  Scenario disjoint = crossed;
  disjoint.sessions[0].transaction = {session_update(5000), session_pause(0.5), session_update(6000)};
  const auto results = run_all({crossed, disjoint});
  // The session wants row 1 at 0.6 s, the apply worker row 900 at 0.9 s; the session looks at 1.6 s and is
  // the victim. The apply worker goes on; the session's second try waits for it, then takes its 0.5 s.
  const RunResult& found = results[0];
  REQUIRE(found.outcomes.size() == 1);
  CHECK(found.outcomes[0].kind == "deadlock");
  CHECK(found.outcomes[0].t_s == Approx(1.6));
  CHECK(found.outcomes[0].subject == "sub session crosser 1");
  CHECK(found.transactions.at(0).rows_applied == 1000);
  CHECK(found.metrics.at("total_s") == Approx(1.6 + 0.101).margin(0.002));
  CHECK(metric(found, "crosser", "deadlocks") == 1);
  CHECK(metric(found, "crosser", "transactions") == 1);
  CHECK(metric(found, "crosser", "latency_s_max") == Approx(1.701 + 0.5 - 0.1).margin(0.002));
  CHECK(results[1].outcomes.empty());
  CHECK(metric(results[1], "crosser", "transactions") == 1);
  CHECK(results[1].metrics.at("total_s") == Approx(1.0).margin(0.02));
}

namespace {

/// A long transaction changes 1,000 rows of t, streamed, and commits at 3 s; meanwhile a short one changes a
/// row of u and commits at 1 s. A session changes row 1 of u first, then, after `pause_s`, row 1 of t.
Scenario leader_between(double pause_s) {
  Scenario scenario = updated(Streaming::Parallel, 3);
  scenario.tables["u"] = uuid_table("u", 10);
  scenario.publications["p"] = publication_of("p", {"t", "u"});
  with_batch(scenario, {StatementStep{Operation::Update, "u", 1, {}}}, "short", 1);
  SessionStep first = session_update(1);
  first.table = "u";
  SessionLoad load = session("crosser", {first, session_pause(pause_s), session_update(1)}, 0.2);
  load.max_tries = 5;
  scenario.sessions = {load};
  return scenario;
}

} // namespace

TEST_CASE(
    "a deadlock through the leader of a streamed transaction is found and both are applied in the end") {
  Scenario disjoint = leader_between(1);
  disjoint.sessions[0].transaction[0].first_row = 5;
  const auto results = run_all({leader_between(0.5), leader_between(1), disjoint});
  // The session waits for row 1 of t, which the worker holds, from 0.7 s on; the leader for row 1 of u from 1
  // s on; the worker for the leader's next chunk since its last row. The session looks first, 1 s after it
  // began to wait.
  REQUIRE(results[0].outcomes.size() == 1);
  CHECK(results[0].outcomes[0].kind == "deadlock");
  CHECK(results[0].outcomes[0].subject == "sub session crosser 1");
  CHECK(results[0].outcomes[0].t_s == Approx(1.7).margin(0.01));
  // Here the session begins to wait at 1.2 s, and the worker, which has waited since 0.92 s, looks first. It
  // goes down with its leader; five seconds after their start they get both transactions once more.
  REQUIRE(results[1].outcomes.size() == 2);
  CHECK(results[1].outcomes[0].kind == "apply_error");
  CHECK(results[1].outcomes[1].kind == "deadlock");
  CHECK(results[1].outcomes[1].subject == "sub parallel apply worker s 1");
  CHECK(results[1].outcomes[1].t_s == Approx(1.917).margin(0.02));
  CHECK(metric(results[1], "crosser", "deadlocks") == 0);
  CHECK(results[2].outcomes.empty());
  for (const RunResult& result : results) {
    CHECK(metric(result, "crosser", "transactions") == 1);
    REQUIRE(result.transactions.size() == 2);
    CHECK(result.transactions[0].rows_applied == 1000);
    CHECK(result.transactions[1].rows_applied == 1);
    for (const auto& transaction : result.transactions)
      CHECK(transaction.applied_s > 0);
  }
  CHECK(results[1].transactions[1].applied_s > 5);
  CHECK(results[1].transactions[1].applied_s < 7.5);
}

TEST_CASE("an open loop counts from the arrival, and those without a free connection queue") {
  Scenario scenario = updated(Streaming::Off, 0, "64MB");
  SessionLoad load = session("clients", {session_update(1)}, 0, 0, 0);
  load.rate_per_s = 10;
  load.clients = 2;
  load.until_s = 1.05; // arrivals at 0.1, 0.2, ..., 1.0 s
  scenario.sessions = {load};
  const RunResult result = run(scenario);
  CHECK(metric(result, "clients", "transactions") == 10);
  CHECK(metric(result, "clients", "blocked_s_count") == 2); // the others wait for a connection
  const double applied_s = result.transactions.at(0).applied_s;
  CHECK(metric(result, "clients", "latency_s_max") == Approx(applied_s - 0.1 + 0.001).margin(1e-6));
}

TEST_CASE("rows of a rolled back savepoint are free before the commit") {
  Scenario scenario = cluster(one_ms_a_row(), Streaming::Parallel);
  scenario.tables["t"].initial_rows = 10000;
  with_batch(scenario, {SavepointStep{"a"}, update(1000), PauseStep{2}, RollbackToStep{"a"},
                        StatementStep{Operation::Delete, "t", 10, {}}, PauseStep{3}});
  scenario.observe.until_s = 20;
  scenario.sessions = {session("low", {session_update(5)}, 0.5), session("high", {session_update(500)}, 1)};
  const RunResult result = run(scenario);
  // Row 500 is locked until the rollback at 2 s. Row 5 is locked until then, too, and its deletion, which is
  // part of the last chunk, finds the session gone.
  CHECK(metric(result, "high", "blocked_s_total") == Approx(1).margin(0.05));
  CHECK(metric(result, "low", "blocked_s_total") == Approx(1.5).margin(0.05));
}
