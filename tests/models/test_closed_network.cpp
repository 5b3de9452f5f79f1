// Clients in a closed loop against closed forms of queueing theory.
#include "models/base/random.hpp"
#include "models/closed_network.hpp"
#include "models/group_commit.hpp"
#include "models/wakeups.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace replisim;

namespace {

constexpr double us = 1e-6;

Machine cores(int count) {
  Machine machine;
  machine.cores_per_socket = count;
  return machine;
}

/// Clients whose program costs nothing, on a machine of so many cores.
ClientCycle solved(const Machine& machine, int clients, const ClientDemand& demand, OtherThreads others = {},
                   double rate_limit = 0) {
  return ClosedNetwork({clients, clients, rate_limit, &machine, &machine}, demand).solve(others);
}

ClientDemand demand_of(double server_cpu_s, double think_s) {
  ClientDemand demand;
  demand.server_cpu_s = server_cpu_s;
  demand.think_s = think_s;
  demand.flush_share = 0;
  return demand;
}

void check_little(const ClientCycle& cycle, int clients) {
  CHECK(cycle.tps * (cycle.response_s() + cycle.pause_s) == Approx(clients).epsilon(1e-9));
}

} // namespace

TEST_CASE("one client takes the sum of its parts") {
  const Machine machine = cores(2);
  ClientDemand demand;
  demand.server_cpu_s = 600 * us;
  demand.client_cpu_s = 140 * us;
  demand.latency_s = 280 * us;
  demand.flush_s = 440 * us;
  demand.round_trips = 7;
  demand.locks = {{1, 1, 300 * us, 60 * us, 100 * us}};
  const ClientCycle cycle = solved(machine, 1, demand);
  CHECK(cycle.tps == Approx(1 / (1460 * us)).epsilon(1e-9));
  CHECK(cycle.lock_wait_s == 0);
  CHECK(cycle.flushes_per_s == Approx(cycle.tps));
  CHECK(cycle.response_variance == Approx(0).margin(1e-15));
  // Nobody queues: every response takes the same time.
  const ClosedNetwork network = [&] {
    ClosedNetwork made({1, 1, 0, &machine, &machine}, demand);
    made.solve({});
    return made;
  }();
  double next = 0.05;
  for (int i = 0; i < 10; ++i)
    CHECK(network.sample_response_s([&] { return next = std::fmod(next + 0.37, 1.0); }) ==
          Approx(1460 * us).epsilon(1e-6));
}

TEST_CASE("a faster machine shortens CPU and nothing else") {
  Machine machine = cores(4);
  machine.speed = 2;
  ClientDemand demand = demand_of(800 * us, 0);
  demand.latency_s = 100 * us;
  CHECK(solved(machine, 1, demand).tps == Approx(1 / (500 * us)).epsilon(1e-9));
}

TEST_CASE("the machine repair model with one core and with two") {
  // Three clients that think 2 ms and compute 1 ms on one core: p0 = 1 / (1 + 3/2 + 6/4 + 6/8).
  const ClientCycle one = solved(cores(1), 3, demand_of(1000 * us, 2000 * us));
  CHECK(one.tps == Approx(1000 * (1 - 1 / 4.75)).epsilon(1e-6));
  check_little(one, 3);
  // Four clients, think and work 1 ms, two cores: weights 1, 4, 6, 6, 3.
  const ClientCycle two = solved(cores(2), 4, demand_of(1000 * us, 1000 * us));
  CHECK(two.tps == Approx(1000 * (4 + 2 * (6 + 6 + 3)) / 20.0).epsilon(1e-6));
  check_little(two, 4);
}

TEST_CASE("others on the same cores slow clients down") {
  // One client and one other thread on one core: everything takes twice as long.
  CHECK(solved(cores(1), 1, demand_of(1000 * us, 0), {1, 1}).tps == Approx(500).epsilon(1e-6));
  CHECK(solved(cores(2), 1, demand_of(1000 * us, 0), {1, 1}).tps == Approx(1000).epsilon(1e-6));
  // Many clients on two cores beside two others: n of n + 2 shares.
  const ClientCycle cycle = solved(cores(2), 6, demand_of(1000 * us, 0), {2, 2});
  CHECK(cycle.tps == Approx(2000 * 6 / 8.0).epsilon(1e-6));
}

TEST_CASE("threads of the client program bound what runs at once") {
  ClientDemand demand = demand_of(0, 0);
  demand.client_cpu_s = 100 * us;
  const Machine machine = cores(16);
  const ClientCycle one = ClosedNetwork({8, 1, 0, &machine, &machine}, demand).solve({});
  CHECK(one.tps == Approx(10000).epsilon(1e-6));
  const ClientCycle two = ClosedNetwork({8, 2, 0, &machine, &machine}, demand).solve({});
  CHECK(two.tps == Approx(20000).epsilon(1e-6));
}

TEST_CASE("group commit: who comes during a flush shares the next one") {
  // One commit per flush time, on average: a = 1.
  CHECK(flush_busy_probability(1000, 1e-3) == Approx(1 / (1 + std::exp(-1.0))));
  CHECK(flush_busy_probability(0, 1e-3) == 0);
  CHECK(commit_groups_per_s(1000, 1000, 1e-3) == Approx(1000 / (1 + std::exp(-1.0))));
  CHECK(commit_groups_per_s(700, 0, 1e-3) == Approx(700)); // alone: a flush each
  // However many commit, there is never more than one flush at a time.
  CHECK(commit_groups_per_s(1e6, 1e6, 1e-3) == Approx(1000).epsilon(1e-6));
  ClientDemand demand = demand_of(1 * us, 0);
  demand.flush_s = 1000 * us;
  demand.flush_share = 1;
  const ClientCycle crowd = solved(cores(64), 50, demand);
  CHECK(crowd.flush_s == Approx(1500 * us).epsilon(1e-3)); // half a flush of waiting, and a whole one
  CHECK(crowd.tps / crowd.flushes_per_s > 30);
  check_little(crowd, 50);
}

TEST_CASE("one hot row serves one transaction after the other") {
  // The row is held for 200 us of CPU and a flush of 300 us, or a little more where commits meet.
  ClientDemand demand = demand_of(1000 * us, 0);
  demand.flush_s = 300 * us;
  demand.flush_share = 1;
  demand.locks = {{1, 1, 200 * us, 0, 0}};
  const Machine machine = cores(128);
  double before = 0;
  for (const int clients : {1, 2, 4, 8, 32, 64}) {
    const ClientCycle cycle = solved(machine, clients, demand);
    INFO(clients);
    CHECK(cycle.tps > before * 0.97); // more clients, not fewer transactions
    CHECK(cycle.tps <= 1 / (500 * us) * 1.001);
    check_little(cycle, clients);
    before = cycle.tps;
  }
  CHECK(before > 0.65 / (500 * us));
  // A hundred such rows are no hindrance to four clients.
  demand.locks[0].rows = 100;
  const ClientCycle spread = solved(machine, 4, demand);
  CHECK(spread.lock_wait_s < 15 * us);
}

TEST_CASE("a rate below what the clients can do is the throughput") {
  const ClientCycle limited = solved(cores(4), 8, demand_of(1000 * us, 0), {}, 1500);
  CHECK(limited.tps == Approx(1500).epsilon(1e-6));
  check_little(limited, 8);
  // One above it changes nothing.
  CHECK(solved(cores(4), 8, demand_of(1000 * us, 0), {}, 1e6).tps == Approx(4000).epsilon(1e-6));
}

TEST_CASE("hundreds and thousands of clients that want the same rows come to an answer") {
  const Machine machine = cores(120);
  ClientDemand demand = demand_of(570 * us, 0);
  demand.client_cpu_s = 155 * us;
  demand.latency_s = 70 * us;
  demand.flush_s = 100 * us;
  demand.flush_share = 1;
  demand.locks = {{.rows = 100, .server_cpu_s = 100 * us}};
  const double most_tps = 120 / (725 * us); // what the cores can do
  for (const int clients : {256, 700, 1024, 4096, 20'000}) {
    INFO(clients << " clients");
    ClosedNetwork network({clients, clients, 0, &machine, &machine}, demand);
    const ClientCycle first = network.solve({});
    check_little(first, clients);
    CHECK(first.tps < most_tps);
    CHECK(first.tps > 0.99 * most_tps);
    // It is the answer: from there nothing moves any more.
    CHECK(network.solve({}).tps == Approx(first.tps).epsilon(1e-8));
    CHECK(network.solve({}).lock_wait_s == Approx(first.lock_wait_s).epsilon(1e-7));
  }
}

TEST_CASE("drawn response times have the mean that Little's law asks for") {
  ClientDemand demand = demand_of(500 * us, 0);
  demand.latency_s = 200 * us;
  demand.round_trips = 5;
  demand.flush_s = 400 * us;
  demand.flush_share = 1;
  demand.locks = {{20, 1, 200 * us, 0, 80 * us}};
  const Machine machine = cores(2);
  ClosedNetwork network({12, 12, 0, &machine, &machine}, demand);
  const ClientCycle cycle = network.solve({});
  double sum = 0, state = 0.5;
  constexpr int count = 20000;
  for (int i = 0; i < count; ++i)
    sum += network.sample_response_s([&] { return state = std::fmod(state * 997.0 + 0.1234567, 1.0); });
  CHECK(sum / count == Approx(cycle.response_s()).epsilon(0.02));
  CHECK(cycle.tps * sum / count == Approx(12).epsilon(0.02));
}

TEST_CASE("wake-ups are the arrivals that find the process asleep") {
  WakeUps one;
  CHECK(one.count({1, 10, 1, 0}, 0, 0) == 10);
  CHECK(one.count({1, 10, 1, 0.5}, 0, 0) == 5); // busy half of the time
  CHECK(one.count({1, 10, 1, 1.5}, 0, 0.1) == 0);
  // u = 0.2 + 0.5 (1 - u): u = 7/15, 8/15 of the arrivals wake it.
  CHECK(one.count({1, 10, 1, 0.2}, 0, 0.05) == Approx(10 * 8 / 15.0));
  CHECK(one.count({1, 0, 1, 0.2}, 0, 0.05) == 0);
}

TEST_CASE("what other streams bring keeps a process awake, as long as they last") {
  WakeUps both;
  CHECK(both.count({1, 10, 1, 0.5}, 0, 0) == 5);
  CHECK(both.count({2, 10, 1, 0.3}, 0, 0) == Approx(2)); // 0.8 busy
  CHECK(both.count({1, 10, 1, 0.7}, 1, 0) == Approx(0).margin(1e-12));
  CHECK(both.count({2, 10, 1, 0.3}, 100, 0) == Approx(7)); // the other one is long over
}

TEST_CASE("a flush takes what was inserted before it began, and who comes later waits for the next one") {
  GroupCommit wal;
  CHECK(wal.flushed_s(1, 0.5) == 1.5); // finds the device idle
  CHECK(wal.flushed_s(1, 0.5) == 1.5); // inserted in time
  CHECK(wal.flushed_s(1.1, 0.5) == 2); // too late: 1.5 to 2
  CHECK(wal.flushed_s(1.4, 0.5) == 2);
  CHECK(wal.flushed_s(1.5, 0.5) == 2);
  CHECK(wal.flushed_s(1.6, 0.5) == 2.5);
  CHECK(wal.flushed_s(4, 0.5) == 4.5); // idle again
}

TEST_CASE("at random commits find a flush going on as often as the closed form says") {
  const RandomStream random(1, "commits");
  for (const double per_flush : {0.1, 1.0, 8.0}) {
    GroupCommit wal;
    double now_s = 0, waited_s = 0, last_s = 0;
    constexpr int commits = 200'000;
    int flushes = 0;
    for (std::uint64_t i = 0; i < commits; ++i) {
      now_s -= std::log(1 - random.uniform(i)) / per_flush; // flushes take 1
      const double flushed_s = wal.flushed_s(now_s, 1);
      flushes += flushed_s > last_s ? 1 : 0;
      last_s = flushed_s;
      waited_s += flushed_s - 1 - now_s;
    }
    INFO(per_flush << " come during a flush");
    CHECK(waited_s / commits == Approx(flush_busy_probability(per_flush, 1) / 2).epsilon(0.05));
    CHECK(flushes / now_s == Approx(commit_groups_per_s(per_flush, per_flush, 1)).epsilon(0.02));
  }
}
