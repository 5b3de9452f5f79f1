// Clients one by one: against what can be worked out by hand, and against the closed network's means.
#include "models/exact_clients.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim;

namespace {

ClientDemand demand_of(double server_s, double flush_s) {
  ClientDemand demand;
  demand.server_cpu_s = server_s;
  demand.flush_s = flush_s;
  demand.flush_share = flush_s > 0 ? 1 : 0;
  return demand;
}

std::vector<ExactTransaction> run(int clients, const ClientDemand& demand, double until_s,
                                  double rate_limit = 0) {
  std::vector<int> tables;
  for (std::size_t i = 0; i < demand.locks.size(); ++i)
    tables.push_back(static_cast<int>(i));
  ExactClients all(clients, rate_limit, {{1, demand, tables}}, 1, "test");
  std::vector<ExactTransaction> out;
  all.run(until_s / 2, {}, {}, out); // in two parts: the state goes on
  all.run(until_s, {}, {}, out);
  return out;
}

double mean_wait_s(const std::vector<ExactTransaction>& all) {
  double sum = 0;
  for (const auto& one : all)
    sum += one.lock_wait_s;
  return sum / static_cast<double>(all.size());
}

} // namespace

TEST_CASE("one client takes its work, its round trips and its flush, again and again") {
  ClientDemand demand = demand_of(0.002, 0.001);
  demand.latency_s = 0.003;
  const auto all = run(1, demand, 6);
  REQUIRE(static_cast<double>(all.size()) == Approx(1000).epsilon(0.02)); // one in 6 ms
  CHECK(all.front().begin_s == 0);
  CHECK(all.front().commit_s == Approx(0.006).margin(0.0018)); // the 2 ms of CPU vary
  CHECK(all[1].begin_s == all[0].commit_s);
  CHECK(all.back().lock_wait_s == 0);
}

TEST_CASE("one row for all: the clients pass it one after the other") {
  ClientDemand demand = demand_of(0.002, 0);
  demand.locks = {{1, 1, 0.001, 0, 0}}; // held for the second half of the work
  const auto all = run(4, demand, 10);
  CHECK(static_cast<double>(all.size()) == Approx(10 / 0.001).epsilon(0.02));
  // A cycle of four holds has 1 ms of free work, 1 ms of holding, and 2 ms of waiting.
  CHECK(mean_wait_s(all) == Approx(0.002).epsilon(0.05));
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.commit_s < b.commit_s; }));
}

TEST_CASE("commits that come during a flush share the next one") {
  const ClientDemand demand = demand_of(0.0001, 0.01);
  ExactClients all(50, 0, {{1, demand, {}}}, 1, "test");
  std::vector<ExactTransaction> out;
  all.run(10, {}, {}, out);
  // After the first flush everybody takes part in each flush but the one under way when he comes.
  CHECK(static_cast<double>(all.flushes()) == Approx(1000).epsilon(0.02));
  CHECK(static_cast<double>(out.size()) / static_cast<double>(all.flushes()) == Approx(25).epsilon(0.05));
}

TEST_CASE("a limited rate is kept, and transactions come at random") {
  const auto all = run(100, demand_of(0.001, 0), 20, 500);
  CHECK(all.size() == Approx(10'000).epsilon(0.04));
}

TEST_CASE("the means of many transactions are the closed network's") {
  Machine machine;
  machine.sockets = 1;
  machine.cores_per_socket = 200;
  ClientDemand demand = demand_of(0.0006, 0.0001);
  demand.latency_s = 0.0002;
  demand.locks = {{1000, 1, 0.0004, 0, 0.0001}, {100, 1, 0.0002, 0, 0.00005}};
  ClientPool pool;
  pool.clients = pool.threads = 60;
  pool.server = pool.client = &machine;
  ClosedNetwork network(pool, demand);
  const ClientCycle& cycle = network.solve({});
  const auto all = run(60, demand, 4);
  CHECK(static_cast<double>(all.size()) / 4 == Approx(cycle.tps).epsilon(0.03));
  CHECK(mean_wait_s(all) == Approx(cycle.lock_wait_s).epsilon(0.25));
}

TEST_CASE("locks taken in opposite orders come to no deadlock") {
  ClientDemand there = demand_of(0.002, 0), back = demand_of(0.002, 0);
  there.locks = back.locks = {{1, 1, 0.0015, 0, 0}, {1, 1, 0.0005, 0, 0}};
  ExactClients all(8, 0, {{0.5, there, {0, 1}}, {0.5, back, {1, 0}}}, 1, "test");
  std::vector<ExactTransaction> out;
  all.run(5, {}, {}, out);
  CHECK(out.size() > 1000);
  CHECK(out.back().commit_s > 4.9);
}
