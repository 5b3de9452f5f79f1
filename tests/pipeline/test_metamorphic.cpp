// What must not matter, and what must matter by a known amount, whatever the scenario: relations between
// runs.
//
// - a faster disk, and more parallel apply workers, never make anything later;
// - twice the speed, with all waits halved, is half the time of everything;
// - starting a whole number of WAL writer delays later moves every date by just that;
// - names, and the order in which things are named, do not matter;
// - the same quantity in other units is the same;
// - what nobody uses changes nothing; nor does a savepoint under which nothing is written, or who looks how
// often;
// - a statement in two parts fills the same memory; more memory is never full more often;
// - without subscriptions the publisher's transactions are the same.
// More cores, bandwidth and window: test_monotonic.cpp. Other names for transactions: test_random_worlds.cpp.
// A second pipeline beside the first: test_topologies.cpp.
#include "sim/scenario/loader.hpp"
#include "tests/support/results.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::vector<Streaming> modes = {Streaming::Off, Streaming::On, Streaming::Parallel};

/// Two transactions that overlap, one with a savepoint that is rolled back, in each mode with little and with
/// enough memory.
std::vector<Scenario> kinds() {
  std::vector<Scenario> out;
  for (const Streaming streaming : modes)
    for (const char* work_mem : {"64kB", "64MB"}) {
      Scenario scenario = cluster(typical_costs(), streaming, work_mem);
      scenario.name = fmt::format("{} {}", work_mem, to_string(streaming));
      scenario.tables["u"] = uuid_table("u", 5'000);
      scenario.publications.at("p").tables = {"t", "u"};
      with_batch(scenario, {insert("t", 8'000), SavepointStep{"a"}, insert("t", 2'000), RollbackToStep{"a"},
                            insert("t", 1'000)});
      with_batch(scenario, {StatementStep{Operation::Update, "u", 5'000, {}}}, "second", 0.0123);
      out.push_back(std::move(scenario));
    }
  return out;
}

/// The same change to all of them; results come in pairs, before and after.
template <class Change>
std::vector<std::pair<RunResult, RunResult>> before_and_after(std::vector<Scenario> scenarios,
                                                              Change change) {
  const std::size_t count = scenarios.size();
  for (std::size_t i = 0; i < count; ++i) {
    scenarios.push_back(scenarios[i]);
    change(scenarios.back());
  }
  auto results = run_all(scenarios);
  std::vector<std::pair<RunResult, RunResult>> pairs;
  for (std::size_t i = 0; i < count; ++i)
    pairs.emplace_back(std::move(results[i]), std::move(results[count + i]));
  return pairs;
}

/// Every date and every figure of the slot.
void check_same(const RunResult& a, const RunResult& b, double later_s = 0, double factor = 1) {
  INFO(a.scenario);
  REQUIRE(a.transactions.size() == b.transactions.size());
  for (const TransactionResult& before : a.transactions) {
    const TransactionResult& after = transaction_of(b, before.name);
    INFO(before.name);
    CHECK(after.rows == before.rows);
    CHECK(after.rows_applied == before.rows_applied);
    CHECK(after.begin_s == Approx(before.begin_s * factor + later_s).margin(1e-9));
    CHECK(after.commit_s == Approx(before.commit_s * factor + later_s).margin(1e-9));
    CHECK(after.applied_s == Approx(before.applied_s * factor + later_s).margin(1e-9));
    CHECK(after.lock_hold_s == Approx(before.lock_hold_s * factor).margin(1e-9));
  }
  for (const char* metric : {"spill_txns", "spill_count", "spill_bytes", "stream_txns", "stream_count",
                             "stream_bytes", "total_txns", "total_bytes", "sent_bytes", "wal_bytes"}) {
    INFO(metric);
    CHECK(a.metrics.at(metric) == b.metrics.at(metric));
  }
}

void check_nothing_later(const RunResult& before, const RunResult& after) {
  INFO(before.scenario);
  for (const TransactionResult& transaction : before.transactions) {
    INFO(transaction.name);
    const TransactionResult& now = transaction_of(after, transaction.name);
    CHECK(now.commit_s <= transaction.commit_s * 1.001);
    CHECK(now.applied_s <= transaction.applied_s * 1.001);
  }
}

/// Gives everything in a map another name, its entries in the opposite order.
template <class Value>
void rename(std::map<std::string, Value>& map, const std::map<std::string, std::string>& names) {
  std::map<std::string, Value> renamed;
  for (auto& [name, value] : map) {
    const auto found = names.find(name);
    const std::string to = found == names.end() ? name : found->second;
    if constexpr (requires { value.name; })
      value.name = to;
    renamed.emplace(to, std::move(value));
  }
  map = std::move(renamed);
}

} // namespace

TEST_CASE("a faster disk makes nothing later") {
  std::vector<Scenario> slow = kinds();
  for (Scenario& scenario : slow) {
    set(scenario.servers.at("pub"), "fsync", "on");
    scenario.hosts.at("db").disks.front().fsync_latency_s = 8 * ms;
    scenario.hosts.at("db").disks.front().write_bandwidth_bytes_per_s = 20e6;
  }
  for (const auto& [latency, bandwidth] : {std::pair{4.0, 1.0}, {1.0, 4.0}, {100.0, 100.0}})
    for (const auto& [before, after] :
         before_and_after(slow, [&, by = latency, wider = bandwidth](Scenario& scenario) {
           Disk& disk = scenario.hosts.at("db").disks.front();
           disk.fsync_latency_s /= by;
           disk.write_bandwidth_bytes_per_s *= wider;
         })) {
      INFO("latency / " << latency << ", bandwidth * " << bandwidth);
      check_nothing_later(before, after);
    }
}

TEST_CASE("twice the speed and half of every wait is half the time") {
  std::vector<Scenario> scenarios = kinds();
  for (Scenario& scenario : scenarios) {
    scenario.time_resolution_s = 0.4 * ms;
    scenario.profile.costs.worker_start_s = 8 * ms;
    set(scenario.servers.at("pub"), "wal_writer_delay", "8ms");
    scenario.batches.back().at_s = 12 * ms;
  }
  for (const auto& [before, after] : before_and_after(scenarios, [](Scenario& scenario) {
         scenario.hosts.at("db").speed = 2;
         scenario.profile.costs.worker_start_s /= 2;
         scenario.profile.costs.wakeup_latency_s /= 2;
         set(scenario.servers.at("pub"), "wal_writer_delay", "4ms");
         scenario.batches.back().at_s /= 2;
       })) {
    check_same(before, after, 0, 0.5);
    for (const char* metric : {"cpu_pub.backend_s", "cpu_pub.walsender_s", "cpu_sub.apply_worker_s"})
      CHECK(after.metrics.at(metric) == Approx(before.metrics.at(metric) / 2).epsilon(1e-9));
  }
}

TEST_CASE("names, and the order they stand in, change nothing") {
  std::vector<Scenario> scenarios = kinds();
  for (Scenario& scenario : scenarios) {
    scenario.servers["other"] = server_of("other");
    scenario.subscriptions["v"] = {"v", "other", "p", Streaming::Off, false};
  }
  const std::map<std::string, std::string> tables = {{"t", "y"}, {"u", "b"}}; // as long: names are sent
  const std::map<std::string, std::string> servers = {{"pub", "zz"}, {"sub", "mm"}, {"other", "aa"}};
  const std::map<std::string, std::string> subscriptions = {{"s", "z"}, {"v", "a"}};
  for (const auto& [before, after] : before_and_after(scenarios, [&](Scenario& scenario) {
         rename(scenario.tables, tables);
         rename(scenario.servers, servers);
         rename(scenario.subscriptions, subscriptions);
         rename(scenario.hosts, {{"db", "h"}});
         rename(scenario.publications, {{"p", "q"}});
         for (auto& [name, server] : scenario.servers)
           server.host = "h";
         scenario.publications.at("q").server = "zz";
         scenario.publications.at("q").tables = {"b", "y"};
         for (auto& [name, subscription] : scenario.subscriptions) {
           subscription.server = servers.at(subscription.server);
           subscription.publication = "q";
         }
         for (BatchLoad& load : scenario.batches) {
           load.server = "zz";
           for (auto& step : load.transaction)
             if (auto* statement = std::get_if<StatementStep>(&step))
               statement->table = tables.at(statement->table);
         }
         std::reverse(scenario.batches.begin(), scenario.batches.end());
       })) {
    check_same(before, after);
    for (const auto& [old_name, new_name] : subscriptions)
      CHECK(after.subscriptions.at(new_name).at("total_s") ==
            Approx(before.subscriptions.at(old_name).at("total_s")).epsilon(1e-9));
  }
}

TEST_CASE("the same quantity in other units is the same run") {
  const std::string text = R"(
replisim: 1
name: units
profile: {name: lab-2core, parameters: {apply: {insert_row: %1}}}
hosts:
  a:
    machine: lab-2core
    cores_per_socket: 16
    memory: %2
    disks: [{fsync_latency: %3, write_bandwidth: %4, read_bandwidth: %4}]
  b:
    machine: lab-2core
    cores_per_socket: 16
    memory: %2
    disks: [{fsync_latency: %3, write_bandwidth: %4, read_bandwidth: %4}]
links: [{between: [a, b], bandwidth: %5, latency: %6, window: %7}]
servers:
  pub: {host: a, version: 17, settings: {logical_decoding_work_mem: %8, wal_writer_delay: %9}}
  sub: {host: b, version: 17}
tables: {t: {columns: {k: uuid}, primary_key: [k]}}
publications: {p: {server: pub, tables: [t]}}
subscriptions: {s: {server: sub, publication: p, streaming: parallel}}
workload: {b: {server: pub, at: %3, transaction: [{insert: t, rows: 5000}]}}
observe: {interval: %6}
)";
  const std::vector<std::vector<std::string>> units = {
      {"8us", "2GB", "1ms", "64MB/s", "1Gbps", "2ms", "512kB", "256kB", "100ms"},
      {"8000ns", "2048MB", "1000us", "65536kB/s", "1000Mbps", "2000us", "524288B", "262144B", "0.1s"},
      {"0.008ms", "2097152kB", "0.001s", "0.0625GB/s", "1000000kbps", "0.002s", "0.5MB", "256", "100"}};
  std::vector<Scenario> scenarios;
  for (const auto& values : units) {
    std::string filled = text;
    for (std::size_t i = values.size(); i > 0; --i)
      for (std::size_t at = 0; (at = filled.find(fmt::format("%{}", i))) != std::string::npos;)
        filled.replace(at, 2, values[i - 1]);
    const auto path = std::filesystem::temp_directory_path() / "replisim_units.yaml";
    std::ofstream(path) << filled;
    scenarios.push_back(load_scenario(path, {}, find_library()));
    std::filesystem::remove(path);
    scenarios.back().hash.clear();
    scenarios.back().file.clear();
  }
  const auto results = run_all(scenarios);
  for (std::size_t i = 1; i < results.size(); ++i)
    CHECK(json_text(result_json(results[i])) == json_text(result_json(results[0])));
}

TEST_CASE("what nobody uses changes nothing") {
  for (const auto& [before, after] : before_and_after(kinds(), [](Scenario& scenario) {
         scenario.hosts["idle"] = scenario.hosts.at("db");
         scenario.servers["idle"] = server_of("idle");
         scenario.servers.at("idle").host = "idle";
         scenario.tables["a_table"] = uuid_table("a_table", 1'000'000);
         scenario.publications["nobody"] = publication_of("nobody", {"a_table", "t"});
       })) {
    check_same(before, after);
    CHECK(before.fingerprint == after.fingerprint);
  }
}

TEST_CASE("savepoints under which nothing is written change nothing") {
  for (const auto& [before, after] : before_and_after(kinds(), [](Scenario& scenario) {
         auto& steps = scenario.batches.front().transaction;
         steps.insert(steps.begin(), SavepointStep{"empty"});
         steps.insert(steps.begin() + 1, RollbackToStep{"empty"});
         steps.insert(steps.begin() + 2, ReleaseStep{"empty"});
         steps.emplace_back(SavepointStep{"at the end"});
       }))
    check_same(before, after);
}

TEST_CASE("how often somebody looks, and whether the run goes on, change nothing") {
  for (const double interval_s : {0.0007, 3.0})
    for (const auto& [before, after] :
         before_and_after(kinds(), [&](Scenario& scenario) { scenario.observe.interval_s = interval_s; })) {
      check_same(before, after); // looking is itself an event: fingerprints differ
    }
  for (const auto& [before, after] :
       before_and_after(kinds(), [&](Scenario& scenario) { scenario.observe.until_s = 2; }))
    check_same(before, after);
}

TEST_CASE("without subscriptions the publisher's transactions are the same") {
  for (const auto& [before, after] :
       before_and_after(kinds(), [](Scenario& scenario) { scenario.subscriptions.clear(); }))
    for (const TransactionResult& transaction : before.transactions) {
      CHECK(transaction_of(after, transaction.name).commit_s == Approx(transaction.commit_s).margin(1e-9));
      CHECK(transaction_of(after, transaction.name).statement_end_s ==
            Approx(transaction.statement_end_s).margin(1e-9));
    }
}

TEST_CASE("more parallel apply workers make nothing later") {
  Scenario scenario = cluster(typical_costs(), Streaming::Parallel);
  for (int i = 0; i < 6; ++i)
    with_batch(scenario, {insert("t", 3'000), PauseStep{0.002 * (6 - i)}, insert("t", 500)},
               fmt::format("b{}", i), 0.0031 * i);
  set(scenario.servers.at("sub"), "max_logical_replication_workers", "10");
  double before_s = 0;
  for (const int workers : {0, 1, 2, 4, 6}) {
    Scenario with = scenario;
    set(with.servers.at("sub"), "max_parallel_apply_workers_per_subscription", std::to_string(workers));
    const double total_s = run(with).metrics.at("total_s");
    INFO(workers << " workers");
    if (workers > 0)
      CHECK(total_s <= before_s * 1.001);
    before_s = total_s;
  }
}

TEST_CASE("more memory is full less often, a statement in two parts fills it like one") {
  for (const Streaming streaming : modes) {
    double before_count = 1e9, before_bytes = 1e12;
    for (const char* work_mem : {"64kB", "65kB", "100kB", "256kB", "1MB", "4MB", "64MB"}) {
      Scenario one = cluster(typical_costs(), streaming, work_mem);
      Scenario two = one;
      with_batch(one, {insert("t", 20'000)});
      with_batch(two, {insert("t", 7'001), insert("t", 12'999)});
      const auto results = run_all({one, two});
      INFO(to_string(streaming) << " " << work_mem);
      for (const char* metric : {"spill_count", "spill_bytes", "stream_count", "stream_bytes"})
        CHECK(results[0].metrics.at(metric) == results[1].metrics.at(metric));
      const double count = results[0].metrics.at("spill_count") + results[0].metrics.at("stream_count");
      const double bytes = results[0].metrics.at("spill_bytes") + results[0].metrics.at("stream_bytes");
      CHECK(count <= before_count);
      CHECK(bytes <= before_bytes);
      before_count = count;
      before_bytes = bytes;
    }
    CHECK(before_count == 0);
  }
}
