// More than one publisher, subscriber and host: publications, several subscriptions, links, and the
// settings that choose another path.
#include "tests/models/sample_tables.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::vector<Streaming> modes = {Streaming::Off, Streaming::On, Streaming::Parallel};

Scenario typical(Streaming streaming, const std::string& work_mem = "64kB", Rows rows = 50'000) {
  Scenario scenario = cluster(typical_costs(), streaming, work_mem);
  with_batch(scenario, {insert("t", rows)});
  return with_batches_of(scenario, 500);
}

void add_subscription(Scenario& scenario, const std::string& name, Streaming streaming,
                      const std::string& publication = "p") {
  scenario.servers["sub_" + name] = scenario.servers.at("sub");
  scenario.servers["sub_" + name].name = "sub_" + name;
  scenario.subscriptions[name] = {name, "sub_" + name, publication, streaming, false};
}

double total_s(const RunResult& result) { return result.metrics.at("total_s"); }

} // namespace

TEST_CASE("changes of unpublished tables are decoded and spilled but not sent") {
  Scenario both = cluster(typical_costs(), Streaming::Off);
  both.tables["u"] = uuid_table("u");
  Scenario alone = both;
  with_batch(both, {insert("t", 10'000), insert("u", 20'000)});
  with_batch(alone, {insert("t", 10'000)});
  const auto found = run_all({both, alone});
  CHECK(found[0].metrics.at("spill_bytes") == 30'000 * 144);
  CHECK(found[1].metrics.at("spill_bytes") == 10'000 * 144);
  CHECK(found[0].metrics.at("total_bytes") == 30'000 * 144);
  CHECK(found[0].metrics.at("sent_bytes") == found[1].metrics.at("sent_bytes"));
  CHECK(found[0].transactions.front().rows == 30'000);
  CHECK(found[0].transactions.front().rows_applied == 10'000);
  CHECK(found[0].metrics.at("cpu_sub.apply_worker_s") ==
        Approx(found[1].metrics.at("cpu_sub.apply_worker_s")));
  CHECK(found[0].metrics.at("cpu_pub.walsender_s") > 1.5 * found[1].metrics.at("cpu_pub.walsender_s"));
}

TEST_CASE("changes of unpublished tables are streamed by none, whatever they fill") {
  for (const Streaming streaming : {Streaming::On, Streaming::Parallel}) {
    Scenario scenario = cluster(typical_costs(), streaming);
    scenario.tables["u"] = uuid_table("u");
    with_batch(scenario, {insert("u", 5'000), insert("t", 5'000), insert("u", 5'000)});
    const auto result = run(scenario);
    CHECK(result.metrics.at("stream_bytes") == 15'000 * 144);
    CHECK(result.transactions.front().rows_applied == 5'000);
  }
}

TEST_CASE("two subscriptions on one publisher are two pipelines over one WAL") {
  Scenario scenario = typical(Streaming::Off);
  add_subscription(scenario, "s2", Streaming::Parallel);
  const auto both = run(scenario);
  const auto off = run(typical(Streaming::Off)), parallel = run(typical(Streaming::Parallel));
  REQUIRE(both.subscriptions.size() == 2);
  CHECK(both.subscriptions.at("s").at("total_s") == Approx(total_s(off)).epsilon(1e-9));
  CHECK(both.subscriptions.at("s2").at("total_s") == Approx(total_s(parallel)).epsilon(1e-9));
  CHECK(total_s(both) == Approx(std::max(total_s(off), total_s(parallel))).epsilon(1e-9));
  CHECK(both.metrics.at("wal_bytes") == off.metrics.at("wal_bytes"));
  for (const char* metric : {"spill_count", "spill_bytes", "stream_count", "stream_bytes", "total_txns"}) {
    INFO(metric);
    CHECK(both.metrics.at(metric) == off.metrics.at(metric) + parallel.metrics.at(metric));
    CHECK(both.subscriptions.at("s").at(metric) == off.metrics.at(metric));
    CHECK(both.subscriptions.at("s2").at(metric) == parallel.metrics.at(metric));
  }
  CHECK(both.metrics.at("cpu_pub.walsender_s") ==
        Approx(off.metrics.at("cpu_pub.walsender_s") + parallel.metrics.at("cpu_pub.walsender_s")));
  CHECK(both.metrics.contains("cpu_sub_s2.parallel_apply_worker_s"));
}

TEST_CASE("two publications of one server: each subscription gets its tables") {
  for (const Streaming streaming : modes) {
    INFO(to_string(streaming));
    Scenario scenario = cluster(typical_costs(), streaming);
    scenario.tables["u"] = uuid_table("u");
    scenario.publications["q"] = publication_of("q", {"u"});
    add_subscription(scenario, "s2", streaming, "q");
    with_batch(scenario, {insert("t", 3'000)}, "a");
    with_batch(scenario, {insert("u", 4'000)}, "b", 0.5);
    const auto result = run(scenario);
    REQUIRE(result.transactions.size() == 2);
    CHECK(result.transactions[0].rows_applied == 3'000);
    CHECK(result.transactions[1].rows_applied == 4'000);
  }
}

TEST_CASE("a cluster without subscriptions runs its transactions and ends") {
  Scenario scenario = typical(Streaming::Off);
  const auto with = run(scenario);
  scenario.subscriptions.clear();
  const auto without = run(scenario);
  CHECK(without.metrics.at("commit_s") == Approx(with.metrics.at("commit_s")));
  CHECK_FALSE(without.metrics.contains("total_s"));
}

TEST_CASE("two publishers do not share xids, rows or WAL") {
  Scenario scenario = typical(Streaming::Off);
  const auto alone = run(scenario);
  scenario.servers["pub2"] = scenario.servers.at("pub");
  scenario.servers["pub2"].name = "pub2";
  scenario.publications["p2"] = publication_of("p2", {"t"});
  scenario.publications["p2"].server = "pub2";
  add_subscription(scenario, "s2", Streaming::Off, "p2");
  with_batch(scenario, {insert("t", 50'000)}, "second");
  scenario.batches.back().server = "pub2";
  const auto both = run(scenario);
  REQUIRE(both.transactions.size() == 2);
  for (const auto& transaction : both.transactions) {
    CHECK(transaction.xid == 1);
    CHECK(transaction.rows_applied == 50'000);
    CHECK(transaction.applied_s == Approx(total_s(alone)).epsilon(1e-9));
  }
  CHECK(both.metrics.at("wal_bytes") == 2 * alone.metrics.at("wal_bytes"));
}

TEST_CASE("several publishers feed one subscriber, each with transactions of its own numbers") {
  Scenario scenario = cluster(typical_costs(), Streaming::Off);
  for (const int i : {2, 3}) {
    const std::string server = fmt::format("pub{}", i), publication = fmt::format("p{}", i);
    scenario.servers[server] = scenario.servers.at("pub");
    scenario.servers[server].name = server;
    scenario.publications[publication] = publication_of(publication, {"t"});
    scenario.publications[publication].server = server;
    scenario.subscriptions[fmt::format("s{}", i)] = {fmt::format("s{}", i), "sub", publication, Streaming::On,
                                                     false};
    with_batch(scenario, {insert("t", 1000 * i)}, server);
    scenario.batches.back().server = server;
  }
  with_batch(scenario, {insert("t", 500), SavepointStep{"x"}, insert("t", 300), RollbackToStep{"x"}}, "pub");
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 3);
  for (const auto& transaction : result.transactions) {
    CHECK(transaction.xid == 1);
    CHECK(transaction.rows_applied == (transaction.name == "pub"    ? 500
                                       : transaction.name == "pub2" ? 2000
                                                                    : 3000));
    CHECK(transaction.lag_anatomy.size() == 1);
  }
}

TEST_CASE("two servers that replicate to each other apply each other's changes once and read their WAL") {
  Scenario scenario = cluster(typical_costs(), Streaming::Off, "64MB");
  set(scenario.servers.at("sub"), "fsync", "off");
  with_batch(scenario, {insert("t", 20'000)}, "here");
  const auto alone = run(scenario);
  scenario.publications["q"] = publication_of("q", {"t"});
  scenario.publications["q"].server = "sub";
  scenario.subscriptions["back"] = {"back", "pub", "q", Streaming::Off, false};
  for (const char* name : {"s", "back"})
    scenario.subscriptions.at(name).own_changes_only = true;
  with_batch(scenario, {insert("t", 10'000)}, "there");
  scenario.batches.back().server = "sub";
  const auto both = run(scenario);
  REQUIRE(both.transactions.size() == 2);
  for (const auto& transaction : both.transactions)
    CHECK(transaction.rows_applied == (transaction.name == "here" ? 20'000 : 10'000));
  CHECK(both.subscriptions.at("s").at("total_bytes") == alone.subscriptions.at("s").at("total_bytes"));
  CHECK(both.subscriptions.at("back").at("total_txns") == 1);
  // What it applies is WAL that its own walsender reads and drops.
  CHECK(both.metrics.at("cpu_sub.walsender_s") > 10'000 * 4.2 * us);
}

TEST_CASE("latency adds a constant") {
  for (const Streaming streaming : modes)
    for (const char* work_mem : {"64kB", "64MB"}) {
      INFO(to_string(streaming) << ", " << work_mem);
      std::vector<Scenario> scenarios;
      for (const double latency_s : {0.0, 0.001, 0.02, 0.5}) {
        scenarios.push_back(typical(streaming, work_mem));
        with_link(scenarios.back(), latency_s);
      }
      const auto found = run_all(scenarios);
      CHECK(total_s(found[1]) - total_s(found[0]) == Approx(0.001).epsilon(1e-4));
      CHECK(total_s(found[2]) - total_s(found[0]) == Approx(0.02).epsilon(1e-4));
      CHECK(total_s(found[3]) - total_s(found[0]) == Approx(0.5).epsilon(1e-4));
    }
}

TEST_CASE("bandwidth binds only when it is the bottleneck") {
  // Bytes on the wire take 8 ns each at 1 Gbps: a row of 1.9 kB costs 16 us and more, one of 49 bytes far
  // less than any process spends on it.
  constexpr double gbps = 125e6;
  for (const Streaming streaming : modes) {
    INFO(to_string(streaming));
    std::vector<Scenario> scenarios;
    for (const int width_bytes : {0, 1900}) // in line
      for (const double bandwidth : {1e15, 10 * gbps, gbps}) {
        Scenario scenario = cluster(typical_costs(), streaming);
        if (width_bytes > 0)
          scenario.tables["t"].columns.push_back({"b", ColumnType::Text, width_bytes, {}});
        with_batch(scenario, {insert("t", 50'000)});
        scenarios.push_back(with_batches_of(with_link(scenario, 0, bandwidth), 500));
      }
    const auto found = run_all(scenarios);
    CHECK(total_s(found[1]) == Approx(total_s(found[0])).epsilon(0.001));
    CHECK(total_s(found[2]) == Approx(total_s(found[0])).epsilon(0.001));
    CHECK(total_s(found[4]) == Approx(total_s(found[3])).epsilon(0.001));
    const double wire_s = found[5].metrics.at("sent_bytes") / gbps;
    CHECK(wire_s > 0.76);
    CHECK(total_s(found[5]) > wire_s);
    CHECK(total_s(found[5]) > 1.02 * total_s(found[3])); // off: the subscriber's WAL goes to its disk as well
  }
}

TEST_CASE("a saturated link takes bytes over bandwidth, beside what cannot overlap") {
  // With parallel everything overlaps with the wire but the first chunk and the last.
  constexpr double bandwidth = 10e6;
  Scenario scenario = typical(Streaming::Parallel);
  with_link(scenario, 0, bandwidth);
  const auto result = run(scenario);
  const double wire_s = result.metrics.at("sent_bytes") / bandwidth;
  CHECK(total_s(result) == Approx(wire_s).epsilon(0.05));
  CHECK(total_s(result) > wire_s);
  CHECK(result.bottleneck == "s.network");
}

TEST_CASE("no parallel apply workers: parallel takes the path of on") {
  for (const char* guc : {"max_parallel_apply_workers_per_subscription", "max_logical_replication_workers"}) {
    INFO(guc);
    Scenario scenario = typical(Streaming::Parallel);
    set(scenario.servers.at("sub"), guc, guc == std::string("max_logical_replication_workers") ? "1" : "0");
    const auto found = run(scenario), on = run(typical(Streaming::On));
    CHECK(found.metrics.at("total_s") == on.metrics.at("total_s"));
    CHECK(found.metrics.at("lock_hold_s") == on.metrics.at("lock_hold_s"));
    CHECK(found.metrics.at("peak_sub_tmp_file_bytes") == on.metrics.at("peak_sub_tmp_file_bytes"));
    CHECK(found.metrics.at("peak_sub_tmp_file_bytes") > 0);
  }
}

TEST_CASE("a commit waits for the disk unless synchronous_commit or fsync say otherwise") {
  const auto commit_after_s = [](const char* fsync, const char* synchronous_commit) {
    Scenario scenario = typical(Streaming::Off);
    set(scenario.servers.at("pub"), "fsync", fsync);
    set(scenario.servers.at("pub"), "synchronous_commit", synchronous_commit);
    const auto result = run(scenario);
    return result.metrics.at("commit_s") - result.metrics.at("statement_s");
  };
  CHECK(commit_after_s("on", "on") >= 1 * ms);
  CHECK(commit_after_s("off", "on") == Approx(0).margin(1e-9));
  CHECK(commit_after_s("on", "off") == Approx(0).margin(1e-9));
}

TEST_CASE("a transaction that is rolled back to its first savepoint applies nothing") {
  for (const Streaming streaming : modes) {
    INFO(to_string(streaming));
    Scenario scenario = cluster(typical_costs(), streaming);
    with_batch(scenario, {SavepointStep{"a"}, insert("t", 10'000), RollbackToStep{"a"}});
    const auto result = run(scenario);
    CHECK(result.transactions.front().rows == 10'000);
    CHECK(result.transactions.front().rows_applied == 0);
    CHECK(result.transactions.front().applied_s > result.transactions.front().commit_s);
  }
}

TEST_CASE("the simulation ends when the last commit is applied") {
  Scenario scenario = typical(Streaming::Parallel);
  scenario.observe.interval_s = 0.05;
  const auto result = run(scenario);
  CHECK(result.simulated_s == total_s(result));
  for (const auto& [name, share] : result.stages) {
    INFO(name);
    CHECK(share.busy + share.starved + share.blocked == Approx(1));
  }
}
