// Storms: random faults conserve every change, and a planted weakness is found and made small.
#include "models/base/errors.hpp"
#include "sim/run/storm.hpp"
#include "tests/support/publisher_loads.hpp"
#include "tests/support/random.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// A small pair over a link, with flows and larger transactions, some of whose tables are synchronised.
Scenario random_pair(std::uint64_t seed) {
  Random random(seed, 7);
  Scenario scenario =
      cluster(typical_costs(), Streaming::Off, random.chance(0.5) ? "64kB" : "1MB",
              static_cast<int>(random.between(1, 4)), {static_cast<int>(random.between(16, 18)), 0});
  scenario.name = fmt::format("random pair {}", seed);
  with_link(scenario, random.exponential(0.005), 1e5 + random.exponential(1e7),
            random.between(50'000, 4'000'000));
  scenario.tables["u"] = uuid_table("u", 5000);
  scenario.tables["x"] = uuid_table("x");
  scenario.publications.at("p").tables = {"t", "u"};
  auto& subscription = scenario.subscriptions.at("s");
  subscription.streaming = random.pick(std::vector{Streaming::Off, Streaming::On, Streaming::Parallel});
  if (random.chance(0.4))
    subscription.initial_sync = InitialSyncPlan{random.uniform(), true, 20'000 + random.exponential(500'000)};
  for (const char* server : {"pub", "sub"}) {
    set(scenario.servers.at(server), "wal_sender_timeout", "2s");
    set(scenario.servers.at(server), "wal_receiver_timeout", "3s");
    set(scenario.servers.at(server), "wal_retrieve_retry_interval", "300ms");
  }
  scenario.flows = {flow_of(static_cast<double>(random.between(20, 400)), 12)};
  scenario.flows.front().transaction = {insert("t", 1), insert(random.chance(0.5) ? "u" : "x", 2)};
  for (std::int64_t i = random.between(0, 3); i > 0; --i) {
    std::vector<TransactionStep> steps = {insert("t", random.between(1, 3000))};
    if (random.chance(0.3))
      steps.insert(steps.end(),
                   {SavepointStep{"x"}, insert("u", random.between(1, 2000)), RollbackToStep{"x"}});
    if (random.chance(0.4))
      steps.push_back(PauseStep{random.uniform()});
    steps.push_back(insert("u", random.between(1, 500)));
    with_batch(scenario, steps, fmt::format("b{}", i), 12 * random.uniform());
  }
  return scenario;
}

StormBounds bounds() {
  StormBounds out;
  out.until_s = 13;
  out.shortest_s = 0.1;
  out.longest_s = 6;
  return out;
}

/// simulate() checks that what is applied is applied once; here everything must be there in the end.
void check_conserved(std::uint64_t first, std::uint64_t last) {
  std::vector<Scenario> scenarios;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    scenarios.push_back(random_pair(seed));
    scenarios.back().events = random_faults(scenarios.back(), bounds(), seed, 0);
  }
  std::vector<Job> jobs;
  for (const auto& scenario : scenarios)
    jobs.push_back(simulation_job(scenario.name, scenario, 1, false));
  const auto outcomes = run_forked(jobs);
  std::size_t reconnected = 0, synchronised = 0;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    INFO(scenarios[i].name << ": " << storm_yaml("x", scenarios[i], {}));
    RunResult result;
    CHECK_NOTHROW(result = decode_result(outcomes[i].get()));
    if (result.subscriptions.empty())
      continue;
    const auto& slot = result.subscriptions.at("s");
    CHECK(slot.at("lag_bytes") <= 4096);                // running-xacts records behind the last commit
    for (const auto& transaction : result.transactions) // a copy holds what was committed before it
      CHECK((transaction.applied_s > 0 or not result.upheaval.tables.empty()));
    for (const Outcome& outcome : result.outcomes)
      CHECK(outcome.kind != "not_caught_up");
    reconnected += slot.at("connections") > 1 ? 1 : 0;
    synchronised += result.upheaval.tables.empty() ? 0 : 1;
  }
  CHECK(reconnected > scenarios.size() / 4);
  CHECK(synchronised > scenarios.size() / 8);
}

/// The slot of `s` survives 20 s without its subscriber, and only then is lost.
Scenario weak_pair() {
  Scenario scenario = cluster({}, Streaming::Off, "64MB");
  scenario.name = std::string("weak");
  with_link(scenario);
  scenario.flows = {flow_of(100, 60)};
  scenario.other_wal = {other_wal_of(4.0 * 1024 * 1024, 60)};
  set(scenario.servers.at("pub"), "max_slot_wal_keep_size", "128MB");
  set(scenario.servers.at("pub"), "max_wal_size", "64MB");
  return until(scenario, 60);
}

} // namespace

TEST_CASE("random faults lose nothing and apply nothing twice") { check_conserved(1, sanitized ? 6 : 40); }

TEST_CASE("500 random fault scenarios lose nothing and apply nothing twice", "[.storms]") {
  check_conserved(1001, 1500);
}

TEST_CASE("a storm finds a planted weakness and shrinks it to at most three faults") {
  const Scenario scenario = weak_pair();
  StormRequest request;
  request.promises = {parse_promise("no slot_lost")};
  request.bounds.until_s = 50;
  request.bounds.longest_s = 45;
  request.bounds.most_faults = 6;
  request.tries = 40;
  const Storm storm = run_storm(scenario, request, {});
  CHECK(storm.tried == 40);
  CHECK(storm.broke > 0);
  CHECK(storm.broke < 40);
  CHECK(storm.worst.broken == "no slot_lost");
  REQUIRE(not storm.smallest.faults.empty());
  CHECK(storm.smallest.faults.size() <= 3);
  CHECK(storm.smallest.faults.size() <= storm.worst.faults.size());
  CHECK(storm.smallest.broken == "no slot_lost");
  for (const Event& fault : storm.smallest.faults)
    CHECK(fault.for_s >= 20);
  // No smaller one breaks it.
  request.bounds.longest_s = 15;
  const Storm short_ones = run_storm(scenario, request, {});
  CHECK(short_ones.broke == 0);
  CHECK(short_ones.worst.broken.empty());
}

TEST_CASE("a storm is the same whatever the number of jobs, and another with another seed") {
  const Scenario scenario = weak_pair();
  StormRequest request;
  request.promises = {parse_promise("lag_s_max<=1s")};
  request.bounds.until_s = 50;
  request.bounds.most_faults = 2;
  request.tries = 10;
  const Storm one = run_storm(scenario, request, {.jobs = 1, .progress = {}, .limits = {}});
  const Storm two = run_storm(scenario, request, {.jobs = 2, .progress = {}, .limits = {}});
  CHECK(storm_yaml("x", scenario, one.smallest) == storm_yaml("x", scenario, two.smallest));
  CHECK(storm_yaml("x", scenario, one.smallest) !=
        storm_yaml("x", scenario, {random_faults(scenario, request.bounds, 2, 0), 0, ""}));
}

TEST_CASE("promises are read as they are written") {
  const StormPromise lag = parse_promise(" lag_s_max <= 10s ");
  CHECK(lag.kind == StormPromise::Kind::AtMost);
  CHECK(lag.name == "lag_s_max");
  CHECK(lag.limit == 10);
  CHECK(parse_promise("retained_wal_bytes<4GB").limit == 4.0 * 1024 * 1024 * 1024);
  CHECK(parse_promise("tps >= 900").kind == StormPromise::Kind::AtLeast);
  CHECK(parse_promise("no slot_lost").name == "slot_lost");
  CHECK_THROWS_AS(parse_promise("lag"), UsageError);
  CHECK_THROWS_AS(parse_promise("lag<=soon"), UsageError);
  RunResult result;
  result.metrics = {{"lag_s_max", 20}};
  CHECK(strain(lag, result).value() == Approx(2));
  CHECK_FALSE(strain(parse_promise("tps>1"), result).has_value());
  result.metrics = {{"lag_s_max", 10}};
  CHECK(strain(lag, result).value() == 1);
  CHECK(strain(parse_promise("lag_s_max<10s"), result).value() > 1);
}
