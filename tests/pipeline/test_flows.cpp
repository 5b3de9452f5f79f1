// Flows of small transactions, repeated and rolled back batches: rates, delays and backlogs by hand.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::vector<Streaming> modes = {Streaming::Off, Streaming::On, Streaming::Parallel};

/// A flow into `t` for `flow_s`, observed for `until_s`.
Scenario flowing(const CostParameters& costs, double rate_per_s, double flow_s, double until_s,
                 Streaming streaming = Streaming::Off) {
  Scenario scenario = cluster(costs, streaming, "64MB");
  scenario.flows = {flow_of(rate_per_s, flow_s)};
  return until(scenario, until_s);
}

/// Leader: `apply_s` a transaction; everything else is free.
CostParameters applying(double apply_s) {
  CostParameters costs;
  costs.apply_transaction_s = apply_s;
  return costs;
}

double lag_bytes(const RunResult& result, double t_s) {
  return value_at(result, "wal_lsn", t_s) - value_at(result, "replay_lsn", t_s);
}

const Metrics& slot_of(const RunResult& result, const std::string& name = "s") {
  return result.subscriptions.at(name);
}

double part_s(const TransactionResult& transaction, LagStage stage, const std::string& slot = "s") {
  return static_cast<double>(transaction.lag_anatomy.at(slot).of(stage)) * 1e-9;
}

double mean_s(const RunResult& result, LagStage stage, const std::string& slot = "s") {
  return result.lag_anatomies.at(slot).stages[static_cast<std::size_t>(stage)].mean_s;
}

} // namespace

TEST_CASE("a flow runs at its rate and all of it arrives") {
  const auto result = run(flowing({}, 100, 9, 10));
  CHECK(result.metrics.at("tps") == Approx(90)); // 900 transactions in 10 s
  CHECK(slot_of(result).at("apply_tps") == Approx(90));
  // Begin 51, a row 79, Commit 56.
  CHECK(slot_of(result).at("sent_bytes") == 900 * (51 + 79 + 56));
  CHECK(slot_of(result).at("lag_bytes") == 0);
}

TEST_CASE("a flow's rate need not be whole, and it may begin later") {
  Scenario scenario = flowing({}, 33.3, 9, 10);
  CHECK(run(scenario).metrics.at("tps") == Approx(29.9)); // 299 of 299.7
  scenario.flows[0].from_s = 4;
  CHECK(run(scenario).metrics.at("tps") == Approx(16.6)); // 166 of 166.5
}

TEST_CASE("a flow follows its load curve") {
  Scenario scenario = flowing({}, 10, 9, 10);
  scenario.flows[0].curve = {{3, 5}};
  CHECK(run(scenario).metrics.at("tps") == Approx(33)); // 3 s at 10, 6 s at 50
  scenario.flows[0].curve = {{3, 5}, {4, 0}};
  scenario.flows[0].curve_period_s = 4.5; // twice 30 + 50
  CHECK(run(scenario).metrics.at("tps") == Approx(16));
}

TEST_CASE("at random: near the rate, another seed another number, the same seed the same bytes") {
  Scenario scenario = flowing({}, 1000, 9, 10);
  scenario.flows[0].poisson = true;
  const auto first = run_simulation(scenario, 1), again = run_simulation(scenario, 1),
             other = run_simulation(scenario, 2);
  CHECK(first.metrics.at("tps") == Approx(900).margin(4 * std::sqrt(9000.0) / 10));
  CHECK(first.metrics.at("tps") != other.metrics.at("tps"));
  CHECK(first.fingerprint == again.fingerprint);
  CHECK(slot_of(first).at("apply_tps") == first.metrics.at("tps"));
}

TEST_CASE("the delay of a lonely small transaction is the sum of what is done to it") {
  CostParameters costs;
  costs.backend_transaction_s = 1 * ms;
  costs.decode_change_s = 0.1 * ms;
  costs.send_transaction_s = 0.2 * ms;
  costs.apply_insert_row_s = 0.5 * ms;
  costs.apply_transaction_s = 0.3 * ms;
  // A hundred a second. The leader works on it while it is being sent: 0.1 + max(0.2, 0.8) ms from its commit
  // on.
  const auto result = run(flowing(costs, 100, 9, 10));
  CHECK(slot_of(result).at("lag_s_mean") == Approx(0.9 * ms).epsilon(1e-6));
  CHECK(slot_of(result).at("lag_s_max") == Approx(0.9 * ms).epsilon(1e-6));
  CHECK(slot_of(result).at("lag_s_p50") == Approx(0.9 * ms).epsilon(0.0101));
  CHECK(result.lag_anatomies.at("s").transactions == 900);
  CHECK(mean_s(result, LagStage::Executing) == Approx(1 * ms).epsilon(1e-6));
  CHECK(mean_s(result, LagStage::Decode) == Approx(0.1 * ms).epsilon(1e-6));
  CHECK(mean_s(result, LagStage::Apply) == Approx(0.5 * ms).epsilon(1e-6));
  CHECK(mean_s(result, LagStage::Commit) == Approx(0.3 * ms).epsilon(1e-6));
  // Applied at all times, flushed every 200 ms.
  CHECK(mean_s(result, LagStage::Feedback) == Approx(100 * ms).epsilon(0.06));
  costs.send_transaction_s = 1 * ms; // now the sender is slower: 0.2 ms more of its work are awaited
  const auto slower = run(flowing(costs, 100, 9, 10));
  CHECK(slot_of(slower).at("lag_s_mean") == Approx(1.1 * ms).epsilon(1e-6));
  CHECK(mean_s(slower, LagStage::Decode) == Approx(0.3 * ms).epsilon(1e-6));
}

TEST_CASE("a link's latency adds to the delay once") {
  Scenario scenario = flowing(applying(1 * ms), 100, 9, 10);
  with_link(scenario, 20 * ms);
  CHECK(slot_of(run(scenario)).at("lag_s_mean") == Approx(21 * ms).epsilon(1e-3));
}

TEST_CASE("overload: the lag grows by rate minus capacity, and the backlog is worked off afterwards") {
  // 200 a second come for 20 s, 100 are applied.
  const auto result = run_with_timeline(flowing(applying(10 * ms), 200, 20, 30));
  const double transaction_bytes = result.metrics.at("wal_bytes") / 4000;
  const double slope = (lag_bytes(result, 20) - lag_bytes(result, 10)) / 10;
  CHECK(slope == Approx(100 * transaction_bytes).epsilon(0.02));
  const double after = (lag_bytes(result, 29) - lag_bytes(result, 22)) / 7;
  CHECK(after == Approx(-100 * transaction_bytes).epsilon(0.02));
  CHECK(slot_of(result).at("apply_tps") == Approx(100).epsilon(0.01));
  CHECK(result.bottleneck == "sub.apply_worker");
  // The last of 2,000 in the first 10 s waits for 1,000 of 10 ms; at 20 s it is 2,000.
  CHECK(slot_of(result).at("lag_s_max") == Approx(15).epsilon(0.02)); // applied at 30 s: the one of 15 s
}

TEST_CASE("the verdict says whether a slot keeps up, and which stage is to blame") {
  const auto verdict = [](double apply_s, double until_s) {
    return run_with_timeline(flowing(applying(apply_s), 200, 20, until_s)).verdicts.at("s").text;
  };
  CHECK(verdict(1 * ms, 20) ==
        "keeping up; sub.apply_worker would be the first to give way, busy 20 % of the run");
  CHECK_THAT(verdict(10 * ms, 20), Catch::StartsWith("falling behind; sub.apply_worker is to blame"));
  CHECK_THAT(verdict(10 * ms, 30), Catch::StartsWith("behind but catching up; sub.apply_worker"));
  CHECK_THAT(verdict(10 * ms, 50), Catch::StartsWith("caught up in the end; sub.apply_worker"));
}

TEST_CASE("a run without an end date ends when the last small transaction is applied") {
  Scenario scenario = flowing(applying(10 * ms), 200, 2, 0);
  const auto result = run(scenario);
  CHECK(result.simulated_s == Approx(4).epsilon(0.01)); // 400 of 10 ms
  CHECK(slot_of(result).at("apply_tps") * result.simulated_s == Approx(400));
}

TEST_CASE("small transactions of an unpublished table are decoded; before version 15 they are also sent") {
  for (const int major : {14, 15}) {
    INFO("version " << major);
    CostParameters costs;
    costs.decode_change_s = 1 * ms;
    Scenario scenario = cluster(costs, Streaming::Off, "64MB", 16, {major, 0});
    scenario.tables["u"] = uuid_table("u");
    scenario.flows = {flow_of(100, 9, "u")};
    until(scenario, 10);
    const auto result = run(scenario);
    CHECK(result.metrics.at("cpu_pub.walsender_s") == Approx(0.9));
    CHECK(slot_of(result).at("sent_bytes") == (major == 14 ? 900 * (51 + 56) : 0));
  }
}

TEST_CASE("a batch runs again and again: each run is a transaction of its own") {
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  with_batch(scenario, {insert("t", 1000)}, "batch", 1);
  scenario.batches[0].every_s = 2;
  scenario.batches[0].times = 5;
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(result.transactions[i].begin_s == Approx(1 + 2 * static_cast<double>(i)));
    CHECK(result.transactions[i].rows_applied == 1000);
    CHECK(result.transactions[i].xid == i + 1);
  }
  CHECK(slot_of(result).at("total_txns") == 5);
}

TEST_CASE("a batch that takes longer than its interval begins again when it is over") {
  CostParameters costs;
  costs.backend_insert_row_s = 3 * ms;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  with_batch(scenario, {insert("t", 1000)});
  scenario.batches[0].every_s = 2;
  scenario.batches[0].times = 3;
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 3);
  CHECK(result.transactions[1].begin_s == Approx(3));
  CHECK(result.transactions[2].begin_s == Approx(6));
}

TEST_CASE("a pause passes with the transaction open") {
  CostParameters costs;
  costs.backend_insert_row_s = 1 * ms;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  with_batch(scenario, {insert("t", 100), PauseStep{5}, insert("t", 100)});
  const auto result = run(scenario);
  CHECK(result.metrics.at("statement_s") == Approx(5.2));
  CHECK(result.metrics.at("cpu_pub.backend_s") == Approx(0.2));
  CHECK(result.transactions.front().rows_applied == 200);
}

TEST_CASE("a transaction rolled back whole: nothing of it is applied, and nothing is left behind") {
  for (const Streaming streaming : modes) {
    INFO(to_string(streaming));
    Scenario scenario = cluster(typical_costs(), streaming);
    with_batch(scenario, {insert("t", 5000), SavepointStep{"a"}, insert("t", 3000)}, "undone");
    scenario.batches[0].rolls_back = true;
    with_batch(scenario, {insert("t", 2000)}, "kept", 2);
    until(scenario, 4, 0.5);
    const auto result = run_with_timeline(scenario);
    REQUIRE(result.transactions.size() == 2);
    CHECK(result.transactions[0].rows == 8000);
    CHECK(result.transactions[0].rows_applied == 0);
    CHECK(result.transactions[0].lock_hold_s == 0);
    CHECK(result.transactions[1].rows_applied == 2000);
    for (const char* name :
         {"reorder_buffer_bytes", "spill_file_bytes", "sub_tmp_file_bytes", "sub_row_excl_locks"}) {
      INFO(name);
      CHECK(value_at(result, name, 1.5) == 0);
      CHECK(value_at(result, name, 4) == 0);
    }
    // A streamed transaction counts with its first chunk.
    CHECK(slot_of(result).at("total_txns") == (streaming == Streaming::Off ? 1 : 2));
    CHECK(slot_of(result).at("lag_bytes") == 0);
    if (streaming == Streaming::Off) {
      CHECK(slot_of(result).at("spill_count") > 10);
      CHECK(slot_of(result).at("stream_count") == 0);
    } else {
      CHECK(slot_of(result).at("stream_txns") == 2);
    }
  }
}

TEST_CASE("off: a transaction rolled back whole sends not a byte") {
  Scenario kept = cluster(typical_costs(), Streaming::Off);
  with_batch(kept, {insert("t", 2000)}, "kept", 2);
  Scenario both = kept;
  with_batch(both, {insert("t", 5000)}, "undone");
  both.batches.back().rolls_back = true;
  const auto results = run_all({kept, both});
  CHECK(results[0].metrics.at("sent_bytes") == results[1].metrics.at("sent_bytes"));
}

TEST_CASE("the anatomy of a lag leaves no gap: its parts add up from commit record to applied") {
  std::vector<Scenario> scenarios;
  for (const Streaming streaming : modes)
    for (const char* fsync : {"on", "off"}) {
      Scenario scenario = cluster(typical_costs(), streaming);
      set(scenario.servers.at("pub"), "fsync", fsync);
      with_link(scenario, 3 * ms, 1e8, 1'000'000);
      with_batch(scenario, {insert("t", 20'000)}, "large");
      with_batch(scenario, {insert("t", 10)}, "small", 0.05);
      scenarios.push_back(scenario);
    }
  for (const auto& result : run_all(scenarios)) {
    INFO(result.engine_options.at("rows_per_batch"));
    REQUIRE(result.transactions.size() == 2);
    CHECK(result.lag_anatomies.at("s").transactions == 2);
    for (const auto& transaction : result.transactions) {
      const LagParts& parts = transaction.lag_anatomy.at("s");
      // The commit record follows the last statement at once; commit_s waits for the flush.
      CHECK(parts.lag() ==
            to_nanoseconds(transaction.applied_s) - to_nanoseconds(transaction.statement_end_s));
      CHECK(parts.of(LagStage::Executing) ==
            to_nanoseconds(transaction.statement_end_s) - to_nanoseconds(transaction.begin_s));
      for (const Nanoseconds part : parts.ns)
        CHECK(part >= 0);
    }
  }
}

TEST_CASE("the anatomy of a lag, by hand") {
  CostParameters costs;
  costs.decode_change_s = 2 * ms;
  costs.send_change_s = 1 * ms;
  costs.apply_insert_row_s = 4 * ms;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  with_link(scenario, 10 * ms);
  with_batch(scenario, {insert("t", 100)});
  with_batches_of(scenario, 100);
  const auto transaction = run(scenario).transactions.front();
  const auto part = [&](LagStage stage) { return part_s(transaction, stage); };
  CHECK(part(LagStage::Executing) == 0);
  CHECK(part(LagStage::CommitFlush) == 0);
  CHECK(part(LagStage::WaitingToBeRead) == Approx(0.2)); // behind its own rows
  CHECK(part(LagStage::Decode) == Approx(0.102));        // Begin, 100 rows, Commit
  CHECK(part(LagStage::SpillAndRestore) == 0);
  CHECK(part(LagStage::SendQueue) == 0);
  CHECK(part(LagStage::Transfer) == Approx(0.01));
  // The leader takes the rows 10 ms after their first, at 0.211 s, and needs 0.4 s; the commit comes at 0.312
  // s.
  CHECK(part(LagStage::ReceiveQueue) == 0);
  CHECK(part(LagStage::Apply) == Approx(0.299));
  CHECK(part(LagStage::Commit) == 0);
  // Flushed at 0.7 s; the leader, which drained its input at 0.611 s, looks again 0.2 s later.
  CHECK(part(LagStage::Feedback) == Approx(0.21));
}

TEST_CASE("the anatomy of a lag: a small transaction behind a large one waits in the receive queue") {
  CostParameters costs;
  costs.apply_insert_row_s = 10 * ms;
  Scenario scenario = cluster(costs, Streaming::Off, "64MB");
  with_link(scenario); // room for all of it on the way
  with_batch(scenario, {insert("t", 100)}, "large");
  with_batch(scenario, {insert("t", 1)}, "small", 0.25);
  scenario.flows = {flow_of(10, 0.9)};
  scenario.flows[0].from_s = 0.5;
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 2);
  CHECK(part_s(result.transactions[0], LagStage::Apply) == Approx(1));
  CHECK(part_s(result.transactions[1], LagStage::ReceiveQueue) == Approx(0.75)); // until 1 s
  CHECK(part_s(result.transactions[1], LagStage::Apply) == Approx(0.01));
  // Those at 0.6, 0.7, 0.8 and 0.9 s wait for 1.01, 1.02, 1.03 and 1.04 s.
  CHECK(mean_s(result, LagStage::ReceiveQueue) ==
        Approx((0.75 + 0.41 + 0.32 + 0.23 + 0.14) / 6).epsilon(0.02));
}

TEST_CASE("the anatomy of a lag: on and parallel, rows sent before the commit are waited for as applying") {
  CostParameters costs;
  costs.backend_insert_row_s = 0.1 * ms;
  costs.apply_insert_row_s = 1 * ms;
  for (const Streaming streaming : {Streaming::On, Streaming::Parallel}) {
    INFO(to_string(streaming));
    Scenario scenario = cluster(costs, streaming);
    with_batch(scenario, {insert("t", 4560)});
    with_batches_of(scenario, 456);
    const auto transaction = run(scenario).transactions.front();
    const double lag_s = static_cast<double>(transaction.lag_anatomy.at("s").lag()) * 1e-9;
    CHECK(part_s(transaction, LagStage::Executing) == Approx(0.456));
    CHECK(part_s(transaction, LagStage::Apply) == Approx(lag_s).epsilon(0.01));
    // On: all of it after the commit. Parallel: from the first chunk on.
    CHECK(lag_s == Approx(streaming == Streaming::On ? 4.56 : 4.56 - 0.456 + 0.05).epsilon(0.02));
  }
}

TEST_CASE("times of small transactions do not depend on how many are gathered") {
  CostParameters costs;
  costs.backend_transaction_s = 50 * us;
  costs.decode_change_s = 40 * us;
  costs.send_transaction_s = 60 * us;
  costs.apply_transaction_s = 100 * us;
  const auto lags = [&](double gathered_s, int flows, double rate_per_s) {
    Scenario scenario = flowing(costs, rate_per_s / flows, 9, 10);
    scenario.time_resolution_s = gathered_s;
    for (int i = 1; i < flows; ++i) {
      scenario.flows.push_back(scenario.flows.front());
      scenario.flows.back().name = fmt::format("flow{}", i);
    }
    return run(scenario);
  };
  for (const int flows : {1, 10}) {
    INFO(flows << " flows");
    for (const double gathered_s : {10 * ms, 50 * ms, 200 * ms}) {
      INFO("gathered every " << gathered_s);
      const auto result = lags(gathered_s, flows, 5000);
      CHECK(slot_of(result).at("lag_s_p50") == Approx(140 * us).epsilon(0.03));
      CHECK(slot_of(result).at("lag_s_p99") == Approx(140 * us).epsilon(0.03));
      CHECK(mean_s(result, LagStage::Executing) == Approx(50 * us).epsilon(0.03));
    }
  }
  // Overload: what is applied in 10 s waits as long, however gathered. The batch in hand at the end, twice
  // the gathered time's work, does not count yet.
  for (const int flows : {1, 10})
    for (const double gathered_s : {10 * ms, 200 * ms}) {
      INFO(flows << " flows, gathered every " << gathered_s);
      CHECK(slot_of(lags(gathered_s, flows, 20'000)).at("lag_s_max") ==
            Approx(5).margin(0.01 + 2 * gathered_s));
    }
}

TEST_CASE("trap 1: decoding and sending share one thread, their times add up") {
  CostParameters costs;
  costs.decode_change_s = 6 * ms;
  costs.send_transaction_s = 6 * ms; // either would keep up with 100 a second
  const auto result = run(flowing(costs, 100, 30, 30));
  CHECK(slot_of(result).at("apply_tps") == Approx(1000 / 12.0).epsilon(0.01));
  CHECK(result.bottleneck == "pub.walsender");
  costs.decode_change_s = costs.send_transaction_s = 4 * ms;
  CHECK(slot_of(run(flowing(costs, 100, 30, 30))).at("apply_tps") == Approx(100).epsilon(0.01));
}

TEST_CASE("trap 2: the memory of all transactions counts, and the largest goes, not the one that grows") {
  // 400 rows wait open; the 56th of the other transaction fills the memory of 455.1 rows.
  Scenario scenario = cluster({}, Streaming::On);
  with_batch(scenario, {insert("t", 400), PauseStep{5}}, "large");
  with_batch(scenario, {insert("t", 300), PauseStep{1}}, "growing", 1);
  const auto result = run(scenario);
  CHECK(slot_of(result).at("stream_txns") == 1);
  CHECK(slot_of(result).at("stream_bytes") == 400 * 144);
  CHECK(slot_of(result).at("spill_count") == 0);
}

TEST_CASE("trap 2: with many transactions open, a small memory streams medium ones") {
  Scenario scenario = cluster({}, Streaming::On);
  for (int i = 0; i < 10; ++i)
    with_batch(scenario, {insert("t", 100), PauseStep{20}}, fmt::format("b{}", i), i);
  // Each is a fifth of the memory of 455.1 rows: the fifth one and each later one drives one out.
  CHECK(slot_of(run(scenario)).at("stream_txns") == 6);
  scenario.batches.resize(4);
  CHECK(slot_of(run(scenario)).at("stream_txns") == 0);
}

TEST_CASE("trap 3: what others have in memory makes evictions smaller and more") {
  for (const Streaming streaming : {Streaming::Off, Streaming::On}) {
    const std::string counter = streaming == Streaming::Off ? "spill_count" : "stream_count";
    INFO(counter);
    Scenario scenario = cluster({}, streaming);
    with_batch(scenario, {insert("t", 4560)}, "busy", 1);
    CHECK(slot_of(run(scenario)).at(counter) == 10); // of 456 rows
    with_batch(scenario, {insert("t", 200), PauseStep{10}}, "idle");
    CHECK(slot_of(run(scenario)).at(counter) == 18); // 17 of 256 rows, and 208
  }
}

TEST_CASE("trap 8: unpublished tables fill memory and files, other databases cost reading") {
  CostParameters costs = typical_costs();
  Scenario scenario = cluster(costs, Streaming::Off);
  scenario.tables["u"] = uuid_table("u");
  with_batch(scenario, {insert("u", 10'000)});
  const auto unpublished = run(until(scenario, 5));
  CHECK(slot_of(unpublished).at("spill_bytes") == 10'000 * 144);
  CHECK(unpublished.transactions.front().rows_applied == 0);
  CHECK(unpublished.metrics.at("cpu_pub.walsender_s") >
        10'000 * (costs.decode_change_s + costs.spill_change_s + costs.restore_change_s));

  CostParameters reading;
  reading.wal_read_byte_s = 0.1 * us;
  Scenario others = cluster(reading, Streaming::Off);
  others.other_wal = {other_wal_of(1e6, 9)};
  const auto result = run(until(others, 10));
  CHECK(result.metrics.at("cpu_pub.walsender_s") == Approx(0.9)); // 9 MB
  CHECK(slot_of(result).at("total_txns") == 0);
  CHECK(slot_of(result).at("sent_bytes") == 0);
}

TEST_CASE("trap 9: the lag columns hide a decode backlog") {
  CostParameters costs;
  costs.decode_change_s = 20 * ms; // 50 a second, of 100
  const auto result = run(flowing(costs, 100, 60, 60));
  CHECK(slot_of(result).at("lag_s_max") == Approx(30).epsilon(0.02));
  CHECK(slot_of(result).at("lag_bytes") > 0.45 * result.metrics.at("wal_bytes"));
  CHECK(slot_of(result).at("replay_lag_s") < 0.1);
}

TEST_CASE("lag columns of a slow subscriber show what lies between sending and applying") {
  // One a second, sent at once, applied in 0.25 s.
  const auto result = run(flowing(applying(0.25), 1, 30, 31));
  CHECK(slot_of(result).at("replay_lag_s") == Approx(0.25).epsilon(0.01));
}

TEST_CASE("lag columns of an idle pipeline are not a second, whoever is the faster one") {
  CostParameters costs = applying(1 * ms);
  costs.send_transaction_s = 5 * ms;
  CHECK(slot_of(run(flowing(costs, 1, 30, 31))).at("replay_lag_s") < 0.01);
}

TEST_CASE("trap 13: aborts are not free: version 17 spills them, version 18 what it does not know yet") {
  const auto spilled = [](int major, double backend_s, double decode_s) {
    CostParameters costs;
    costs.backend_insert_row_s = backend_s;
    costs.decode_change_s = decode_s;
    Scenario scenario = cluster(costs, Streaming::Off, "64kB", 16, {major, 0});
    with_batch(scenario, {insert("t", 5000)});
    scenario.batches[0].rolls_back = true;
    with_batches_of(scenario, 100);
    return slot_of(run(until(scenario, 5))).at("spill_count");
  };
  // Aborted long before it is decoded:
  CHECK(spilled(17, 0, 10 * us) == 10);
  CHECK(spilled(18, 0, 10 * us) == 0);
  // Decoded while it runs, the last rows at 500 ms:
  CHECK(spilled(17, 100 * us, 0) == 10);
  CHECK(spilled(18, 100 * us, 0) >= 9);
}

TEST_CASE("trap 16: savepoints are not cheap: one eviction per tiny subtransaction") {
  std::vector<TransactionStep> steps;
  for (int i = 0; i < 1000; ++i) {
    steps.push_back(SavepointStep{fmt::format("s{}", i)});
    steps.push_back(insert("t", 1));
  }
  Scenario scenario = cluster({}, Streaming::Off);
  with_batch(scenario, steps);
  const auto tiny = run(scenario);
  // 455 rows fit; each further one drives one out.
  CHECK(slot_of(tiny).at("spill_count") == 545);
  CHECK(slot_of(tiny).at("spill_txns") == 545);
  CHECK(tiny.transactions.front().rows_applied == 1000);
  Scenario plain = cluster({}, Streaming::Off);
  with_batch(plain, {insert("t", 1000)});
  CHECK(slot_of(run(plain)).at("spill_count") == 3);
}
