// Rows that conflict on the subscriber: retries, redo from the start of the transaction, disable_on_error.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// 1,000 rows of 1 ms each on the subscriber; row 501 is there already.
Scenario conflicting(Streaming streaming, double resolved_s, const std::string& work_mem = "64MB") {
  CostParameters costs;
  costs.apply_insert_row_s = 1 * ms;
  Scenario scenario = cluster(costs, streaming, work_mem);
  scenario.subscriptions.at("s").conflicts = {{"t", 501, resolved_s}};
  with_batch(scenario, {insert("t", 1000)});
  return with_batches_of(scenario, 100);
}

double metric(const RunResult& result, const std::string& name) {
  return result.subscriptions.at("s").at(name);
}

std::vector<std::string> kinds(const RunResult& result) {
  std::vector<std::string> out;
  for (const auto& outcome : result.outcomes)
    out.push_back(outcome.kind);
  return out;
}

} // namespace

TEST_CASE("a conflict repeats every wal_retrieve_retry_interval and redoes the transaction from its start") {
  for (const Streaming streaming : {Streaming::Off, Streaming::Parallel}) {
    const auto result = run(conflicting(streaming, 12, streaming == Streaming::Off ? "64MB" : "64kB"));
    // Starts at 0, 5, 10 s, each failing after half the rows; at 15 s the row is gone and all is redone.
    CHECK(metric(result, "apply_error_count") == 3);
    CHECK(metric(result, "connections") == 4);
    CHECK(result.transactions.at(0).applied_s == Approx(16).epsilon(0.01));
    CHECK(result.transactions.at(0).rows_applied == 1000);
    CHECK(kinds(result) == std::vector<std::string>{"apply_error"});
  }
}

TEST_CASE("a conflict at the commit of a file repeats, too") {
  const auto result = run(conflicting(Streaming::On, 7, "64kB"));
  CHECK(metric(result, "apply_error_count") == 2);
  CHECK(result.transactions.at(0).applied_s == Approx(11).epsilon(0.01));
}

TEST_CASE("a longer retry interval, fewer errors") {
  Scenario scenario = conflicting(Streaming::Off, 12);
  set(scenario.servers.at("sub"), "wal_retrieve_retry_interval", "30s");
  const auto result = run(scenario);
  CHECK(metric(result, "apply_error_count") == 1);
  CHECK(result.transactions.at(0).applied_s == Approx(31).epsilon(0.01));
}

TEST_CASE("nothing after a conflict is applied, and nothing is confirmed, until it is resolved") {
  Scenario scenario = conflicting(Streaming::Off, 0);
  with_batch(scenario, {insert("t", 10)}, "later", 1);
  const auto result = run_with_timeline(until(scenario, 23, 0.5));
  CHECK(metric(result, "apply_error_count") == 5); // at 0, 5, 10, 15, 20 s
  CHECK(result.transactions.at(0).applied_s == 0);
  CHECK(result.transactions.at(1).applied_s == 0);
  CHECK(value_at(result, "confirmed_flush_lsn", 22) == value_at(result, "confirmed_flush_lsn", 2));
}

TEST_CASE("disable_on_error stops at the first error and ends the wait for this subscription") {
  Scenario scenario = conflicting(Streaming::Off, 0);
  scenario.subscriptions.at("s").disable_on_error = true;
  const auto result = run(scenario);
  CHECK(metric(result, "apply_error_count") == 1);
  CHECK(kinds(result) == std::vector<std::string>{"subscription_disabled"});
  CHECK(result.transactions.at(0).applied_s == 0);
  CHECK(metric(result, "lag_bytes") > 0);
}

TEST_CASE("deletes do not conflict, and rows of other tables neither") {
  CostParameters costs;
  Scenario scenario = cluster(costs, Streaming::Off);
  scenario.tables.at("t").initial_rows = 1000;
  scenario.subscriptions.at("s").conflicts = {{"t", 10, 0}, {"u", 1, 0}};
  StatementStep step = insert("t", 100);
  step.operation = Operation::Delete;
  with_batch(scenario, {step});
  CHECK(metric(run(scenario), "apply_error_count") == 0);
}
