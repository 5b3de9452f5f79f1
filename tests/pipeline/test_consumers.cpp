// Clients at the other end of a slot that are no PostgreSQL servers: pace, confirmation, time-outs,
// reconnections.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// One consumer `c`, one transaction of `rows` rows at the start, travelling row by row.
Scenario consuming(const Consumer& consumer, Rows rows, double until_s,
                   Streaming streaming = Streaming::Off) {
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  Consumer reader = consumer;
  reader.streaming = streaming;
  with_consumer(scenario, reader);
  with_batch(scenario, {insert("t", rows)});
  with_batches_of(scenario, 1);
  return until(scenario, until_s);
}

Consumer at_pace(double cost_per_change_s) {
  Consumer consumer = consumer_of("c");
  consumer.cost_per_change_s = cost_per_change_s;
  consumer.reconnect_delay_s = 3;
  return consumer;
}

const Metrics& slot_of(const RunResult& result, const std::string& name = "c") {
  return result.subscriptions.at(name);
}

} // namespace

TEST_CASE("a consumer works at its own pace, on its own host") {
  const auto result = run(consuming(at_pace(0.1), 100, 20));
  CHECK(result.transactions.front().rows_applied == 100);
  CHECK(result.transactions.front().applied_s == Approx(10));
  CHECK(slot_of(result).at("connections") == 1);
  CHECK(slot_of(result).at("sender_timeouts") == 0);
}

TEST_CASE("trap 17: a client that answers nothing while it works loses the connection, again and again") {
  // 70 s for the transaction; cut off at 60, back at 63, cut off at 123, back at 126, ...
  const Consumer slow = at_pace(0.7);
  const auto result = run(consuming(slow, 100, 200));
  CHECK(slot_of(result).at("sender_timeouts") == 3);
  CHECK(slot_of(result).at("last_timeout_s") == Approx(60 + 2 * 63).epsilon(1e-9));
  CHECK(slot_of(result).at("connections") == 4); // the fourth from 189 s on
  CHECK(slot_of(result).at("confirmed_flush_lsn") == 0);
  CHECK(slot_of(result).at("restart_lsn") == 0);
  CHECK(result.transactions.front().applied_s == 0);
  const auto longer = run(consuming(slow, 100, 63 * 20 + 61));
  CHECK(slot_of(longer).at("sender_timeouts") == 21);
  CHECK(slot_of(longer).at("last_timeout_s") == Approx(63 * 20 + 60).epsilon(1e-9));
  CHECK(slot_of(longer).at("confirmed_flush_lsn") == 0);
}

TEST_CASE("trap 17: with answers while it works, or without a time-out, the same client gets through") {
  Consumer answering = at_pace(0.7);
  answering.feedback_in_transaction = true;
  Scenario patient = consuming(at_pace(0.7), 100, 200);
  set(patient.servers.at("pub"), "wal_sender_timeout", "0");
  Scenario longer = consuming(at_pace(0.7), 100, 200);
  set(longer.servers.at("pub"), "wal_sender_timeout", "75s");
  for (const auto& result : run_all({consuming(answering, 100, 200), patient, longer})) {
    CHECK(slot_of(result).at("sender_timeouts") == 0);
    CHECK(slot_of(result).at("connections") == 1);
    CHECK(result.transactions.front().applied_s == Approx(70));
    CHECK(slot_of(result).at("confirmed_flush_lsn") > 0);
  }
}

TEST_CASE("trap 17: what is read again up to the confirmed position is not streamed but spilled") {
  // A transaction of 2,000 rows is open from 0 to 20.5 s; a small one commits meanwhile and is confirmed.
  Consumer visitor = consumer_of("c");
  visitor.connected_from_s = 0.6;
  visitor.connects_every_s = 10;
  visitor.streaming = Streaming::On;
  Scenario scenario = cluster({}, Streaming::Off);
  with_consumer(scenario, visitor);
  with_batch(scenario, {insert("t", 2000), PauseStep{20.5}}, "open");
  with_batch(scenario, {insert("t", 10)}, "small", 0.5);
  const auto before = run(until(scenario, 9));
  CHECK(slot_of(before).at("stream_count") == 4); // of 456 rows
  CHECK(slot_of(before).at("spill_count") == 0);
  const auto after = run(until(scenario, 19));
  CHECK(slot_of(after).at("connections") == 2);
  CHECK(slot_of(after).at("stream_count") == 4);
  CHECK(slot_of(after).at("spill_count") == 4);
  const auto end = run(until(scenario, 29));
  for (const auto& transaction : end.transactions)
    CHECK(transaction.rows_applied == transaction.rows);
}

TEST_CASE("an idle client that answers keepalives stays connected") {
  Scenario scenario = consuming(at_pace(0), 1, 1000);
  const auto result = run(scenario);
  CHECK(slot_of(result).at("sender_timeouts") == 0);
  CHECK(slot_of(result).at("connections") == 1);
}

TEST_CASE("a client that does not confirm keepalives answers them all the same") {
  Consumer consumer = at_pace(0);
  consumer.confirms_keepalives = false;
  const auto result = run(consuming(consumer, 1, 1000));
  CHECK(slot_of(result).at("sender_timeouts") == 0);
  CHECK(slot_of(result).at("connections") == 1);
}

TEST_CASE("a reconnected walsender reads again from restart_lsn, and sends nothing that is confirmed") {
  Consumer visitor = consumer_of("c");
  visitor.connected_from_s = 0.6;
  visitor.connects_every_s = 10;
  Scenario scenario = consuming(visitor, 100, 9);
  scenario.batches[0].at_s = 0.5;
  const auto once = run(scenario);
  CHECK(slot_of(once).at("connections") == 1);
  CHECK(slot_of(once).at("reread_bytes") == 0);
  const double confirmed = slot_of(once).at("confirmed_flush_lsn");
  CHECK(confirmed == once.metrics.at("wal_bytes"));
  const auto twice = run(until(scenario, 14));
  CHECK(slot_of(twice).at("connections") == 2);
  CHECK(slot_of(twice).at("reread_bytes") == confirmed); // restart_lsn is still at the start
  CHECK(slot_of(twice).at("sent_bytes") == slot_of(once).at("sent_bytes"));
  CHECK(slot_of(twice).at("confirmed_flush_lsn") >= confirmed);
}

TEST_CASE("a client by a timetable takes at each visit what has gathered, and leaves") {
  Consumer visitor = consumer_of("c");
  visitor.connects_every_s = 10;
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  with_consumer(scenario, visitor);
  scenario.flows = {flow_of(100)};
  const auto result = run_with_timeline(until(scenario, 38));
  // The visit at 10 s finds all of it, the look at 11 s or later that nothing is left.
  CHECK(slot_of(result).at("connections") == 4);
  const double second_bytes = value_at(result, "wal_lsn", 30) / 30;
  CHECK(value_at(result, "wal_lsn", 29) - value_at(result, "replay_lsn", 29) > 7 * second_bytes);
}

TEST_CASE("a client connected for a while only: WAL gathers before and after") {
  Consumer consumer = consumer_of("c");
  consumer.connected_from_s = 10;
  consumer.connected_until_s = 20;
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  with_consumer(scenario, consumer);
  scenario.flows = {flow_of(100)};
  const auto result = run_with_timeline(until(scenario, 40));
  CHECK(value_at(result, "replay_lsn", 9) == 0);
  CHECK(value_at(result, "replay_lsn", 19) == Approx(value_at(result, "wal_lsn", 19)).epsilon(0.02));
  CHECK(value_at(result, "replay_lsn", 40) == Approx(value_at(result, "wal_lsn", 20)).epsilon(0.02));
  CHECK(slot_of(result).at("connections") == 1);
}

TEST_CASE("who confirms each commit, at intervals, or never") {
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  scenario.flows = {flow_of(100)};
  until(scenario, 59.5);
  Consumer consumer = consumer_of("c");
  consumer.confirms_keepalives = false;
  set(scenario.servers.at("pub"), "wal_sender_timeout", "0");
  const auto confirmed = [&](Consumer::Confirms confirms) {
    consumer.confirms = confirms;
    consumer.confirm_interval_s = 10;
    return slot_of(run(with_consumer(scenario, consumer))).at("confirmed_flush_lsn");
  };
  const double all = confirmed(Consumer::Confirms::EachCommit);
  CHECK(confirmed(Consumer::Confirms::Interval) == Approx(all * 50 / 59.5).epsilon(0.01));
  CHECK(confirmed(Consumer::Confirms::Never) == 0);
}

TEST_CASE("a client's buffer lets the walsender run ahead of it") {
  const auto sent_at_5_s = [](Bytes buffer_bytes) {
    Consumer consumer = at_pace(0.01);
    consumer.buffer_bytes = buffer_bytes;
    return run(consuming(consumer, 2000, 5)).metrics.at("sent_bytes");
  };
  // A row occupies 79 + 640 bytes of the socket's 212,992: 296 rows, and 500 are taken.
  CHECK(sent_at_5_s(0) == Approx(796 * 79).epsilon(0.02));
  CHECK(sent_at_5_s(719'000) == Approx(1796 * 79).epsilon(0.02));
}

TEST_CASE("streamed to a consumer: a rolled back subtransaction and one rolled back whole are undone") {
  Consumer consumer = consumer_of("c");
  consumer.streaming = Streaming::On;
  Scenario scenario = cluster({}, Streaming::Off);
  with_consumer(scenario, consumer);
  with_batch(
      scenario,
      {insert("t", 1000), SavepointStep{"a"}, insert("t", 1000), RollbackToStep{"a"}, insert("t", 500)},
      "part");
  with_batch(scenario, {insert("t", 1000)}, "whole", 1);
  scenario.batches[1].rolls_back = true;
  with_batch(scenario, {insert("t", 7)}, "last", 2);
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 3);
  CHECK(result.transactions[0].rows_applied == 1500);
  CHECK(result.transactions[1].rows_applied == 0);
  CHECK(result.transactions[2].rows_applied == 7);
  CHECK(slot_of(result).at("sender_timeouts") == 0);
}
