// DDL while transactions are open: snapshots and messages in their queues, Relation messages sent again,
// memory, and decoding through SQL.
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

DdlLoad ddl_of(const std::string& name, DdlKind kind, double at_s, const std::string& table = "") {
  DdlLoad load;
  load.name = name;
  load.server = "pub";
  load.kind = kind;
  load.at_s = at_s;
  load.table = table;
  load.publication = "p";
  return load;
}

/// `open` transactions with a row each, DDL between 1 s and 2 s, another row each, then one SQL call.
Scenario crowd(Version version, int open, std::vector<DdlLoad> ddl, const CostParameters& costs = {}) {
  Scenario scenario = cluster(costs, Streaming::Off, "1GB", 16, version);
  scenario.subscriptions.clear();
  BatchLoad batch = batch_of("open", {insert("t", 1), PauseStep{2}, insert("t", 1)});
  batch.sessions = open;
  scenario.batches = {batch};
  scenario.ddl = std::move(ddl);
  scenario.decode["peek"] = {"peek", "p", true, -1, 0, 1};
  return scenario;
}

std::vector<DdlLoad> rounds(int count, const std::string& table) {
  std::vector<DdlLoad> out;
  for (int i = 0; i < count; ++i)
    out.push_back(ddl_of("d" + std::to_string(i), DdlKind::AddTable, 1 + 0.005 * i, table));
  return out;
}

double metric(const RunResult& result, const char* name) { return result.metrics.at(name); }

} // namespace

TEST_CASE("messages of one call, as the lab's servers returned them") {
  const std::vector<DdlLoad> none, unrelated = {ddl_of("b", DdlKind::AddColumn, 1)}, other = rounds(1, ""),
                                   own = rounds(2, "t");
  const auto found =
      run_all({crowd({17, 4}, 100, none), crowd({17, 4}, 100, own), crowd({17, 10}, 100, unrelated),
               crowd({17, 10}, 100, other), crowd({17, 10}, 100, own), crowd({18, 4}, 100, other),
               crowd({18, 4}, 100, own)});
  const std::vector<double> expected = {401, 401, 401, 600, 600, 401, 600};
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO(i);
    CHECK(metric(found[i], "decode_messages") == expected[i]);
  }
}

TEST_CASE("trap 14: DDL cost follows open transactions and alternations, not messages") {
  CostParameters costs;
  costs.invalidation_rebuild_entry_s = 20 * us;
  const auto found =
      run_all({crowd({17, 10}, 400, rounds(1, "t"), costs), crowd({17, 10}, 400, rounds(10, "t"), costs),
               crowd({17, 10}, 400, rounds(100, "t"), costs), crowd({17, 10}, 200, rounds(100, "t"), costs)});
  // Two Relation messages a transaction whatever the number of statements, as 400 real ones had.
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(metric(found[i], "decode_messages") == 6 * 400);
    CHECK(metric(found[i], "rebuilt_entries") == 2 * 400);
    CHECK(metric(found[i], "decode_s") == Approx(2 * 400 * 20 * us));
  }
  CHECK(metric(found[3], "decode_s") == Approx(2 * 200 * 20 * us));
  CHECK(metric(found[2], "distributed_messages") == 100 * 400 * 4);

  // And the memory of what is queued: 400 * 100 * (204 to 600 + 144 bytes) spills transactions of one row.
  Scenario small = crowd({17, 10}, 400, rounds(100, "t"));
  set(small.servers.at("pub"), "logical_decoding_work_mem", "64kB");
  const auto spilled = run(small);
  CHECK(metric(spilled, "spill_bytes") > 100 * 400 * (200 + 144));
  CHECK(metric(spilled, "catalog_spill_bytes") > 0.95 * metric(spilled, "spill_bytes"));

  // Those that touch no publication count too.
  for (const DdlKind kind : {DdlKind::Analyze, DdlKind::Grant, DdlKind::TemporaryTable}) {
    const auto result = run(crowd({17, 10}, 50, {ddl_of("x", kind, 1)}));
    CHECK(metric(result, "distributed_snapshots") == 50);
    CHECK(metric(result, "distributed_messages") == 50 * facts_of(kind).messages);
  }
}

TEST_CASE("trap 15: overflow caps the array, not the queue, and resets all caches") {
  CostParameters costs;
  costs.invalidation_rebuild_relation_s = 1 * ms;
  // 200,000 messages at a time: the third one is too much for one transaction.
  std::vector<DdlLoad> two = {ddl_of("g0", DdlKind::Grant, 1), ddl_of("g1", DdlKind::Grant, 1.1)};
  for (auto& load : two)
    load.relations = 66'666; // 199,998 messages
  std::vector<DdlLoad> three = two;
  three.push_back(ddl_of("g2", DdlKind::Grant, 1.2));
  three.back().relations = 66'666;
  const auto found = run_all({crowd({18, 4}, 2, two, costs), crowd({18, 4}, 2, three, costs)});
  CHECK(metric(found[0], "overflowed_txns") == 0);
  CHECK(metric(found[1], "overflowed_txns") == 2);
  // All that was queued stays queued, and is executed in line.
  CHECK(metric(found[1], "distributed_messages") == 2 * 3 * 199'998);
  CHECK(metric(found[1], "total_bytes") - metric(found[0], "total_bytes") > 2 * 199'998 * 16);
  // No message is about t; the reset makes the second transaction read its relation anew.
  CHECK(metric(found[0], "rebuilt_relations") == 1);
  CHECK(metric(found[1], "rebuilt_relations") == 2);
}

TEST_CASE("a walsender sends Relation messages again, and small transactions find invalid entries too") {
  const auto with_ddl = [](std::vector<DdlLoad> ddl) {
    Scenario scenario = cluster({}, Streaming::Off, "1GB", 16, {17, 10});
    BatchLoad batch = batch_of("open", {insert("t", 1), PauseStep{2}, insert("t", 1)});
    batch.sessions = 10;
    scenario.batches = {batch};
    scenario.ddl = std::move(ddl);
    return scenario;
  };
  const auto found = run_all({with_ddl({}), with_ddl(rounds(1, "t"))});
  const double relation =
      static_cast<double>(relation_message_bytes(uuid_table("t")) + protocol::frame_bytes);
  // 2 a transaction in place of the session's one.
  CHECK(metric(found[1], "sent_bytes") - metric(found[0], "sent_bytes") == (20 - 1) * relation);

  Scenario flows = cluster({}, Streaming::Off, "1GB", 16, {17, 10});
  flows.observe.until_s = 3;
  FlowLoad flow;
  flow.name = "oltp";
  flow.server = "pub";
  flow.rate_per_s = 100;
  flow.transaction = {insert("t", 1)};
  flows.flows = {flow};
  DdlLoad analyze = ddl_of("analyze", DdlKind::Analyze, 0, "t");
  analyze.rate_per_s = 10;
  analyze.until_s = 2.001;
  flows.ddl = {analyze};
  CHECK(metric(run(flows), "rebuilt_entries") == 20 + 1);
}

TEST_CASE("DDL of another database is handed out and forgets nothing") {
  DdlLoad other = ddl_of("other", DdlKind::AddColumn, 1);
  other.publication.clear();
  other.other_database = true;
  const auto result = run(crowd({17, 10}, 50, {other}));
  CHECK(metric(result, "distributed_snapshots") == 50);
  CHECK(metric(result, "distributed_messages") == 50 * 5);
  CHECK(metric(result, "executed_messages") == 0);
  CHECK(metric(result, "decode_messages") == 4 * 50 + 1);
}

TEST_CASE("17.5 multiplies messages of overlapping DDL until decoding fails") {
  DdlLoad overlapping = ddl_of("index", DdlKind::CreateIndex, 0);
  overlapping.every_s = 0.02;
  overlapping.times = 40;
  overlapping.open_s = 0.9; // all 40 are open when the first one commits
  const auto found = run_all({crowd({17, 5}, 1, {overlapping}), crowd({17, 6}, 1, {overlapping})});
  REQUIRE(found[0].outcomes.size() == 1);
  CHECK(found[0].outcomes[0].kind == "decoding_failed");
  CHECK(found[0].outcomes[0].text.find("invalid memory alloc request size") != std::string::npos);
  CHECK(found[1].outcomes.empty());
  CHECK(metric(found[1], "distributed_messages") ==
        12 * (40 + 40 * 39 / 2)); // the row's transaction, and the later ones
}

TEST_CASE("before 14 each command executes all messages of its transaction") {
  CostParameters costs;
  costs.invalidation_message_s = 1 * us;
  DdlLoad grant = ddl_of("grant", DdlKind::Grant, 1);
  grant.relations = 100;
  const auto found = run_all({crowd({13, 18}, 1, {grant}, costs), crowd({17, 4}, 1, {grant}, costs)});
  CHECK(metric(found[0], "executed_messages") == 100 * 300 + 300); // at each command, and at the end
  CHECK(metric(found[1], "executed_messages") == 2 * 300);         // in line, and at the end
  CHECK(metric(found[0], "decode_s") == Approx(30'300 * us));
}

TEST_CASE("a peek leaves the slot where it is, get moves it on") {
  Scenario peeking = crowd({17, 10}, 3, {});
  peeking.decode.at("peek").times = 2;
  Scenario getting = peeking;
  getting.decode.at("peek").peeks = false;
  const auto found = run_all({peeking, getting});
  CHECK(found[0].subscriptions.at("peek").at("decode_messages") == 13);
  CHECK(found[0].subscriptions.at("peek").at("confirmed_flush_lsn") == 0);
  CHECK(found[1].subscriptions.at("peek").at("decode_messages") == 0); // the second call
  CHECK(found[1].subscriptions.at("peek").at("confirmed_flush_lsn") > 0);
  CHECK(metric(found[0], "decode_calls") == 2);
}

TEST_CASE("a call costs its start, its records, its changes and its messages") {
  CostParameters costs;
  costs.decoding_start_s = 5 * ms;
  costs.wal_read_record_s = 100 * us;
  costs.decode_change_s = 10 * us;
  costs.send_transaction_s = 1 * ms;
  costs.send_change_s = 2 * us;
  costs.send_column_s = 0.5 * us;
  const auto result = run(crowd({17, 10}, 2, {}, costs));
  // Two transactions of two inserts, each of a heap and an index record, and a commit; 9 messages.
  CHECK(metric(result, "decode_s") ==
        Approx(5 * ms + 10 * 100 * us + 4 * 10 * us + 2 * 1 * ms + 9 * 2 * us + 4 * 0.5 * us));
}

TEST_CASE("sessions that run side by side are transactions of their own") {
  Scenario scenario = cluster(typical_costs(), Streaming::Parallel, "64kB");
  BatchLoad batch = batch_of("crowd", {insert("t", 300), PauseStep{1}, insert("t", 300)});
  batch.sessions = 7;
  scenario.batches = {batch};
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 7);
  for (const auto& transaction : result.transactions) {
    CHECK(transaction.rows == 600);
    CHECK(transaction.rows_applied == 600);
    CHECK(transaction.commit_s > 1);
  }
  CHECK(metric(result, "total_txns") == 7);
  batch.rolls_back = true;
  scenario.batches = {batch};
  CHECK(metric(run(scenario), "total_txns") <= 7);
}
