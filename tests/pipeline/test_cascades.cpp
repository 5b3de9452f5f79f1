// Servers that hand on what they receive: every hop's lag by hand, origins, and that nothing is lost or
// doubled.
#include "tests/support/publisher_loads.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::vector<Streaming> modes = {Streaming::Off, Streaming::On, Streaming::Parallel};

/// pub -> sub -> last, over subscriptions `s` and `onward`; both subscribers write WAL without a flush, and
/// their WAL writers look every 10 ms.
Scenario chain(const CostParameters& costs, Streaming streaming, const std::string& work_mem = "64kB") {
  Scenario scenario = cluster(costs, streaming, work_mem);
  Server& middle = scenario.servers.at("sub");
  set(middle, "fsync", "off");
  set(middle, "wal_writer_delay", "10ms");
  set(middle, "logical_decoding_work_mem", work_mem);
  scenario.servers["last"] = middle;
  scenario.servers.at("last").name = std::string("last");
  scenario.publications["q"] = publication_of("q", {"t"});
  scenario.publications.at("q").server = std::string("sub");
  scenario.subscriptions["onward"] = {"onward", "last", "q", streaming, false};
  return scenario;
}

/// The same on three hosts, `one_way_s` apart.
Scenario far_chain(const CostParameters& costs, double one_way_s) {
  Scenario scenario = chain(costs, Streaming::Off, "64MB");
  with_link(scenario, one_way_s);
  scenario.hosts["third"] = scenario.hosts.at("db");
  scenario.servers.at("last").host = std::string("third");
  scenario.links.push_back({"other", "third", 1e15, one_way_s, 1'000'000'000});
  return scenario;
}

double metric(const RunResult& result, const std::string& slot, const std::string& name) {
  return result.subscriptions.at(slot).at(name);
}

Rows flow_rows(const RunResult& result, const std::string& slot) {
  return static_cast<Rows>(std::llround(metric(result, slot, "apply_tps") * result.simulated_s));
}

} // namespace

TEST_CASE("a transaction comes over two hops after the sum of its ways and of being applied") {
  CostParameters costs;
  costs.apply_insert_row_s = 1 * ms;
  Scenario scenario = far_chain(costs, 0.5);
  with_batch(scenario, {insert("t", 100)});
  const auto result = run(scenario);
  const auto& transaction = result.transactions.at(0);
  // To `sub`: 0.5 s; 100 rows of 1 ms; its WAL writer, at most 10 ms later; to `last`: the same again.
  CHECK(transaction.deliveries.at("s").applied_s == Approx(0.6).margin(0.005));
  CHECK(transaction.deliveries.at("onward").applied_s == Approx(1.205).margin(0.01));
  CHECK(transaction.applied_s == transaction.deliveries.at("onward").applied_s);
  CHECK(metric(result, "onward", "end_to_end_lag_s_max") ==
        Approx(transaction.applied_s - transaction.commit_s).margin(1e-6));
  CHECK(result.metrics.at("end_to_end_lag_s_max") == metric(result, "onward", "end_to_end_lag_s_max"));
  CHECK(result.metrics.at("total_s") == Approx(transaction.applied_s - transaction.begin_s));
  CHECK_FALSE(result.subscriptions.at("s").contains("end_to_end_lag_s_max"));
}

TEST_CASE("small transactions come over two hops after both ways and both waits for a WAL writer") {
  Scenario scenario = far_chain({}, 0.2);
  scenario.flows = {flow_of(100, 20)};
  const auto result = run(scenario);
  CHECK(flow_rows(result, "s") == 2000);
  CHECK(flow_rows(result, "onward") == 2000);
  const double first_hop = metric(result, "s", "lag_s_mean"),
               second_hop = metric(result, "onward", "lag_s_mean");
  CHECK(first_hop == Approx(0.2).margin(0.01));
  CHECK(second_hop == Approx(0.2).margin(0.02));
  CHECK(metric(result, "onward", "end_to_end_lag_s_mean") == Approx(first_hop + second_hop).margin(0.012));
}

TEST_CASE("two hops apply what was committed, whatever is rolled back, in every mode") {
  for (const Streaming streaming : modes) {
    INFO(to_string(streaming));
    Scenario scenario = chain(typical_costs(), streaming);
    with_batch(scenario, {insert("t", 5'000), SavepointStep{"a"}, insert("t", 3'000), RollbackToStep{"a"},
                          insert("t", 2'000)});
    with_batch(scenario, {insert("t", 4'000)}, "undone", 0.01);
    scenario.batches.back().rolls_back = true;
    scenario.flows = {flow_of(500, 2)};
    const auto result = run(scenario);
    CHECK(result.transactions.size() == 2);
    CHECK(result.transactions.at(0).rows_applied == 7'000);
    CHECK(result.transactions.at(0).deliveries.contains("onward"));
    CHECK(result.transactions.at(1).rows_applied == 0);
    CHECK(flow_rows(result, "s") == 1000);
    CHECK(flow_rows(result, "onward") == 1000);
    CHECK(result.metrics.at("committed_changes") == 7'000 + 1000);
    // What it applies is decoded by its own walsender, and sent.
    CHECK(metric(result, "onward", "sent_bytes") >
          0.9 * metric(result, "s", "sent_bytes") * (streaming == Streaming::Parallel ? 0.7 : 0.5));
  }
}

TEST_CASE("with origin = none a server hands on its own changes and nothing that it received") {
  Scenario scenario = chain(typical_costs(), Streaming::Off);
  scenario.subscriptions.at("onward").own_changes_only = true;
  with_batch(scenario, {insert("t", 5'000)}, "received");
  with_batch(scenario, {insert("t", 700)}, "own");
  scenario.batches.back().server = std::string("sub");
  // A third server asks for everything of the middle one.
  scenario.servers["all"] = scenario.servers.at("last");
  scenario.servers.at("all").name = std::string("all");
  scenario.subscriptions["any"] = {"any", "all", "q", Streaming::Off, false};
  const auto result = run(scenario);
  REQUIRE(result.transactions.size() == 2);
  const auto& received =
      result.transactions.at(0).name == "received" ? result.transactions[0] : result.transactions[1];
  const auto& own = result.transactions.at(0).name == "own" ? result.transactions[0] : result.transactions[1];
  CHECK_FALSE(received.deliveries.contains("onward"));
  CHECK(received.deliveries.contains("any"));
  CHECK(own.deliveries.contains("onward"));
  CHECK(own.deliveries.contains("any"));
  CHECK(metric(result, "onward", "total_txns") == 1);
  CHECK(metric(result, "any", "total_txns") == 2);
  CHECK(metric(result, "onward", "sent_bytes") < 0.2 * metric(result, "any", "sent_bytes"));
}

TEST_CASE("nothing is lost or applied twice over two hops when servers and processes go down") {
  for (const Streaming streaming : modes) {
    INFO(to_string(streaming));
    Scenario scenario = chain(typical_costs(), streaming);
    for (const char* server : {"sub", "last"})
      set(scenario.servers.at(server), "wal_retrieve_retry_interval", "500ms");
    scenario.flows = {flow_of(1000, 12)};
    with_batch(scenario, {insert("t", 30'000)}, "b", 2);
    const auto event = [&](Event::Kind kind, double at_s, double for_s) -> Event& {
      scenario.events.emplace_back();
      scenario.events.back().kind = kind;
      scenario.events.back().at_s = at_s;
      scenario.events.back().for_s = for_s;
      return scenario.events.back();
    };
    Event& middle = event(Event::Kind::Crash, 2.3, 0);
    middle.process = Event::Process::ApplyWorker;
    middle.subscription = std::string("s");
    Event& sender = event(Event::Kind::Crash, 2.6, 0);
    sender.process = Event::Process::Walsender;
    sender.subscription = std::string("onward");
    event(Event::Kind::SubscriberDown, 5, 1).server = std::string("sub");
    event(Event::Kind::SubscriberDown, 7, 1).server = std::string("last");
    const auto result = run(scenario);
    CHECK(result.transactions.at(0).rows_applied == 30'000);
    CHECK(flow_rows(result, "s") == 12'000);
    CHECK(flow_rows(result, "onward") == 12'000);
    CHECK(result.metrics.at("lag_bytes") == 0);
    CHECK(metric(result, "onward", "connections") >= 3);
  }
}
