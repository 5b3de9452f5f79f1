// What a naive model of a subscriber gets wrong, one test each, and the drain of a backlog by one worker.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// A message of a row of `t` takes 88 bytes of the ring's 14,680,064: 166,818 rows.
constexpr double ring_rows = 166'818;

CostParameters applying(double row_s) {
  CostParameters costs;
  costs.apply_insert_row_s = row_s;
  return costs;
}

const TransactionResult& transaction(const RunResult& result, const std::string& name) {
  const auto found = std::find_if(result.transactions.begin(), result.transactions.end(),
                                  [&](const TransactionResult& t) { return t.name == name; });
  REPLISIM_REQUIRE(found != result.transactions.end(), "no transaction {}", name);
  return *found;
}

double metric(const RunResult& result, const std::string& name) {
  return result.subscriptions.at("s").at(name);
}

/// A flow of single-row transactions, each of which takes a worker `apply_s`, until all is applied.
Scenario backlog(double rate_per_s, double load_s, double apply_s, Streaming streaming) {
  CostParameters costs;
  costs.apply_transaction_s = apply_s;
  Scenario scenario = cluster(costs, streaming, "64MB");
  scenario.flows = {flow_of(rate_per_s, load_s)};
  return scenario;
}

double drained_s(const RunResult& result) {
  Numbers times = column(result, "t_s"), inserted = column(result, "wal_lsn"),
          replayed = column(result, "replay_lsn");
  for (std::size_t i = times.size(); i-- > 0;)
    if (replayed[i] < inserted.back() * 0.9999)
      return times[i];
  return 0;
}

} // namespace

TEST_CASE("a single worker drains in offered rate times apply time") {
  // 100 s of 500 a second, 9 ms each: 450 s, a drain ratio of 4.5.
  const double ratio = 500 * 0.009, load_s = 100;
  const auto run_s = [&](Streaming streaming) {
    Scenario scenario = backlog(500, load_s, 0.009, streaming);
    return drained_s(run_with_timeline(until(scenario, 500, 0.5)));
  };
  const double off_s = run_s(Streaming::Off);
  CHECK(off_s / load_s == Approx(ratio).epsilon(0.02));
  CHECK(run_s(Streaming::Parallel) == off_s);
}

TEST_CASE("two subscriptions over disjoint tables halve the drain") {
  const double load_s = 100;
  Scenario scenario = backlog(250, load_s, 0.009, Streaming::Off);
  scenario.tables["u"] = uuid_table("u");
  scenario.flows.push_back(flow_of(250, load_s, "u"));
  scenario.flows.back().name = "second";
  scenario.publications["p"].tables = {"t", "u"};
  Scenario two = scenario;
  two.publications["p"].tables = {"t"};
  two.publications["q"] = publication_of("q", {"u"});
  two.subscriptions["z"] = {"z", "sub", "q", Streaming::Off, false};
  const double one_s = drained_s(run_with_timeline(until(scenario, 500, 0.5)));
  const double two_s = drained_s(run_with_timeline(until(two, 500, 0.5)));
  CHECK(one_s / load_s == Approx(4.5).epsilon(0.02));
  CHECK(two_s / one_s == Approx(0.5).epsilon(0.1));
}

TEST_CASE(
    "trap 4: parallel apply gives small transactions no more workers, and they wait behind a large commit") {
  // 50 a second take 10 ms each: half a worker.
  const auto lag_s = [](Streaming streaming, bool with_large) {
    CostParameters costs = applying(0.1 * ms);
    costs.apply_transaction_s = 10 * ms;
    Scenario scenario = cluster(costs, streaming, "64kB");
    scenario.flows = {flow_of(50, 18)};
    if (with_large)
      with_batch(scenario, {insert("t", 50'000)}, "large", 5);
    return run(until(scenario, 20)).subscriptions.at("s").at("lag_s_max");
  };
  CHECK(lag_s(Streaming::Parallel, false) == lag_s(Streaming::Off, false));
  // The large one takes the worker 5 s, and commits at 5 s: the leader waits for it and reads nothing.
  CHECK(lag_s(Streaming::Parallel, false) < 0.05);
  CHECK(lag_s(Streaming::Parallel, true) == Approx(5).epsilon(0.03));
}

TEST_CASE("trap 5: a transaction that found no worker at its first chunk stays on the file") {
  // Two workers. The third transaction begins while both are busy; they are free long before it ends.
  Scenario scenario = cluster(applying(10 * us), Streaming::Parallel, "64kB");
  const std::vector<TransactionStep> brief = {insert("t", 10'000), PauseStep{2}};
  with_batch(scenario, brief, "first", 0);
  with_batch(scenario, brief, "second", 0);
  with_batch(scenario, {insert("t", 10'000), PauseStep{8}, insert("t", 10'000)}, "third", 1);
  with_batch(scenario, brief, "fourth", 5);
  const auto result = run(scenario);
  CHECK(metric(result, "without_worker_txns") == 1);
  // Its rows wait for the commit, the others' are applied long before.
  CHECK(transaction(result, "third").lock_hold_s == Approx(0.2).epsilon(0.01));
  CHECK(transaction(result, "first").lock_hold_s == Approx(2).epsilon(0.05));
  CHECK(transaction(result, "fourth").lock_hold_s == Approx(2).epsilon(0.05));
  CHECK(metric(result, "peak_sub_tmp_file_bytes") == Approx(20'000 * 53).epsilon(0.01));
}

TEST_CASE("trap 5: workers are places that a server's subscriptions share") {
  // Two subscriptions of the same table, a worker each at most; but two leaders and one place are all there
  // is.
  Scenario scenario = cluster(applying(10 * us), Streaming::Parallel, "64kB");
  scenario.subscriptions["z"] = {"z", "sub", "p", Streaming::Parallel, false};
  set(scenario.servers.at("sub"), "max_logical_replication_workers", "3");
  with_batch(scenario, {insert("t", 10'000)});
  const auto result = run(scenario);
  CHECK(result.subscriptions.at("s").at("without_worker_txns") +
            result.subscriptions.at("z").at("without_worker_txns") ==
        1);
}

TEST_CASE("trap 6: a ring that stays full stalls everything for ten seconds, then the rest goes to a file") {
  // The worker takes 1 ms a row: 48 s for a quarter of the ring. 300,000 rows are sent at once.
  Scenario scenario = cluster(applying(1 * ms), Streaming::Parallel, "64kB");
  with_batch(scenario, {insert("t", 300'000), PauseStep{60}}, "large", 0);
  with_batch(scenario, {insert("t", 1)}, "small", 1);
  with_batches_of(scenario, 1000);
  const auto result = run(scenario);
  CHECK(metric(result, "partially_serialized_txns") == 1);
  // The small one, sent at 1 s, is read when the leader has given up; it does not wait for the large one.
  CHECK(transaction(result, "small").applied_s == Approx(10).margin(0.5));
  // In ten seconds the worker takes 10,000 rows; what has no room is written, and read at the commit.
  CHECK(metric(result, "peak_sub_tmp_file_bytes") ==
        Approx((300'000 - ring_rows - 10'000) * 53).margin(1500 * 53));
  CHECK(transaction(result, "large").applied_s == Approx(300).epsilon(0.005)); // all by the one worker
  CHECK(transaction(result, "large").lock_hold_s == Approx(300).epsilon(0.005));
  REQUIRE(result.outcomes.size() == 1);
  CHECK(result.outcomes[0].kind == "partial_serialization");
  CHECK(result.outcomes[0].t_s == Approx(10).margin(0.5));
}

TEST_CASE("trap 6: a worker that gives a quarter of the ring back in time keeps its transaction") {
  // 0.1 ms a row: 4.8 s for a quarter. The leader waits until the last rows are in.
  Scenario scenario = cluster(applying(0.1 * ms), Streaming::Parallel, "64kB");
  with_batch(scenario, {insert("t", 300'000), PauseStep{60}}, "large", 0);
  with_batch(scenario, {insert("t", 1)}, "small", 1);
  with_batches_of(scenario, 1000);
  const auto result = run(scenario);
  CHECK(metric(result, "partially_serialized_txns") == 0);
  CHECK(metric(result, "peak_sub_tmp_file_bytes") == 0);
  CHECK(result.outcomes.empty());
  CHECK(transaction(result, "small").applied_s == Approx((300'000 - ring_rows) * 0.1 * ms).epsilon(0.02));
}

TEST_CASE("trap 6: a partially serialised transaction keeps its rollbacks") {
  Scenario scenario = cluster(applying(1 * ms), Streaming::Parallel, "64kB");
  with_batch(
      scenario,
      {insert("t", 180'000), SavepointStep{"a"}, insert("t", 5'000), RollbackToStep{"a"}, insert("t", 1'000)},
      "large", 0);
  with_batches_of(scenario, 1000);
  const auto result = run(scenario);
  CHECK(metric(result, "partially_serialized_txns") == 1);
  CHECK(transaction(result, "large").rows_applied == 181'000);
  // What was rolled back is executed and undone, as it stands in the file.
  CHECK(transaction(result, "large").applied_s == Approx(186).epsilon(0.005));
}

TEST_CASE("trap 11: in a burst without end nothing is confirmed until a keepalive asks") {
  // 200 a second of 10 ms each: the leader always finds something to read. wal_sender_timeout is 60 s.
  Scenario scenario = backlog(200, 50, 0.01, Streaming::Off);
  const auto result = run_with_timeline(until(scenario, 60, 0.5));
  const auto confirmed = [&](double t_s) { return value_at(result, "confirmed_flush_lsn", t_s); };
  const auto replayed = [&](double t_s) { return value_at(result, "replay_lsn", t_s); };
  CHECK(replayed(29) > 0.9 * 29 / 60 * replayed(60));
  CHECK(confirmed(29) < 0.02 * replayed(29));
  CHECK(confirmed(31) > 0.95 * replayed(29.5));
  CHECK(confirmed(59) < replayed(31)); // the next one comes after another 30 s
}

TEST_CASE("trap 11: drained between transactions, the leader confirms each") {
  Scenario scenario = backlog(50, 10, 0.01, Streaming::Off);
  const auto result = run_with_timeline(until(scenario, 11, 0.05));
  for (const double t_s : {2.0, 5.0, 9.0})
    CHECK(value_at(result, "confirmed_flush_lsn", t_s) > value_at(result, "replay_lsn", t_s - 0.5));
}

TEST_CASE("trap 12: replay runs ahead of flush, and the slot moves with the flush") {
  // Applied at 0.31 s. The subscriber's WAL writer flushes at 0.3, 0.5, ...; the leader looks every 0.2 s.
  const auto confirmed_s = [](bool synchronous) {
    Scenario scenario = cluster({}, Streaming::Off, "64MB");
    set(scenario.servers.at("sub"), "fsync", "off");
    scenario.subscriptions.at("s").commits_wait_for_flush = synchronous;
    with_batch(scenario, {insert("t", 1)}, "one", 0.31);
    const auto result = run_with_timeline(until(scenario, 1, 0.01));
    const double end = value_at(result, "replay_lsn", 0.99);
    CHECK(value_at(result, "replay_lsn", 0.325) == end);
    const Numbers times = column(result, "t_s"), lsns = column(result, "confirmed_flush_lsn");
    for (std::size_t i = 0; i < times.size(); ++i)
      if (lsns[i] >= end)
        return times[i];
    return -1.0;
  };
  CHECK(confirmed_s(false) == Approx(0.51).margin(0.011));
  CHECK(confirmed_s(true) == Approx(0.31).margin(0.011));
}

TEST_CASE("a commit waits for its synchronous subscription as far as synchronous_commit says") {
  // Everything is free but the subscriber's 50 ms a row and the flush that the leader sees 0.2 s after it
  // drained.
  const auto commit_s = [](const std::string& level, bool subscriber_waits) {
    Scenario scenario = cluster(applying(50 * ms), Streaming::Off, "64MB");
    set(scenario.servers.at("pub"), "synchronous_standby_names", "s");
    set(scenario.servers.at("pub"), "synchronous_commit", level);
    scenario.subscriptions.at("s").commits_wait_for_flush = subscriber_waits;
    set(scenario.servers.at("sub"), "fsync", "off");
    with_batch(scenario, {insert("t", 1)}, "one", 0.26);
    const auto result = run(until(scenario, 2));
    return transaction(result, "one").commit_s - transaction(result, "one").begin_s;
  };
  CHECK(commit_s("local", false) == Approx(0).margin(1e-9));
  CHECK(commit_s("remote_apply", false) == Approx(0.05).epsilon(1e-6));
  CHECK(commit_s("on", false) == Approx(0.25).epsilon(1e-6)); // applied at 0.31, flushed at 0.5, seen at 0.51
  CHECK(commit_s("on", true) == Approx(0.05).epsilon(1e-6));
}

TEST_CASE("a commit waits for the rest of a quorum, not for the slowest") {
  const auto commit_s = [](const std::string& names) {
    Scenario scenario = cluster(applying(50 * ms), Streaming::Off, "64MB");
    with_link(scenario, 0.5);
    scenario.servers["near"] = server_of("near");
    scenario.subscriptions["z"] = {"z", "near", "p", Streaming::Off, false};
    set(scenario.servers.at("pub"), "synchronous_standby_names", names);
    set(scenario.servers.at("pub"), "synchronous_commit", "remote_apply");
    with_batch(scenario, {insert("t", 1)});
    const auto result = run(until(scenario, 5));
    return transaction(result, "batch").commit_s;
  };
  CHECK(commit_s("ANY 1 (s, z)") == Approx(0.05).epsilon(1e-6));
  CHECK(commit_s("FIRST 1 (s, z)") == Approx(1.05).epsilon(1e-6)); // there and back
  CHECK(commit_s("ANY 2 (s, z)") == Approx(1.05).epsilon(1e-6));
}
