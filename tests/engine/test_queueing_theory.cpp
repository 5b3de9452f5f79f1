// Queues built from the engine's parts against closed forms, and against the exact recursion on the
// same draws.
#include "models/queueing.hpp"
#include "tests/support/in_child.hpp"
#include "tests/support/random.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <deque>
#include <memory>

using namespace replisim;
using namespace replisim::test;
using engine::Activity;

namespace {

constexpr int jobs_per_run = sanitized ? 1'000 : 100'000;
/// Of the mean: 2 %, where a run is long enough for it.
constexpr double tolerance = sanitized ? 0.5 : 0.02;
constexpr double service_s = 1;

/// The higher the load, the more the mean of a run scatters.
std::uint64_t replications(double rho) { return rho > 0.6 ? 5 : 2; }

enum class Service { Exponential, Constant };

struct Draws {
  explicit Draws(std::uint64_t seed, Service kind) : arrivals(seed, 1), services(seed, 2), service(kind) {}
  Random arrivals, services;
  Service service;
  double next_gap(double rho) { return arrivals.exponential(service_s / rho); }
  double next_service() { return service == Service::Constant ? service_s : services.exponential(service_s); }
};

/// Mean time in the system by Lindley's recursion: begin = max(arrival, previous end).
double recursion_mean(double rho, Service kind, std::uint64_t seed) {
  Draws draws(seed, kind);
  double arrival_s = 0, end_s = 0, sum_s = 0;
  for (int i = 0; i < jobs_per_run; ++i) {
    arrival_s += draws.next_gap(rho);
    end_s = std::max(arrival_s, end_s) + draws.next_service();
    sum_s += end_s - arrival_s;
  }
  return sum_s / jobs_per_run;
}

/// First come first served: an arrival process, a queue with a signal, one server, which spends a
/// service asleep or (constant ones) on a device.
double fifo_mean(double rho, Service kind, std::uint64_t seed) {
  engine::World world;
  const auto host = world.add_host("h", machine_of(1));
  engine::Signal arrival(world, "arrivals");
  std::deque<double> queue;
  Draws draws(seed, kind);
  Disk disk;
  disk.fsync_latency_s = service_s / 2;
  disk.write_bandwidth_bytes_per_s = 1000;
  engine::Device device(world, disk);
  double sum_s = 0;
  world.spawn("arrivals", host, [&](engine::Process& process) {
    for (int i = 0; i < jobs_per_run; ++i) {
      process.sleep(draws.next_gap(rho), Activity::Starved);
      queue.push_back(process.now());
      arrival.notify();
    }
  });
  world.spawn("server", host, [&](engine::Process& process) {
    for (int i = 0; i < jobs_per_run; ++i) {
      while (queue.empty())
        process.wait(arrival, Activity::Starved);
      const double arrived_s = queue.front();
      queue.pop_front();
      if (kind == Service::Constant)
        device.write_and_flush(process, [] { return Bytes{500}; });
      else
        process.sleep(draws.next_service());
      sum_s += process.now() - arrived_s;
    }
    world.finish();
  });
  world.run();
  return sum_s / jobs_per_run;
}

/// Processor sharing: each job takes its service from the host's one core, beside whoever is there.
double shared_mean(double rho, Service kind, std::uint64_t seed) {
  constexpr int most_present = 100; // more at a time is less likely than 0.8^100
  engine::World world;
  const auto host = world.add_host("h", machine_of(1));
  Draws draws(seed, kind);
  std::vector<std::unique_ptr<engine::Signal>> calls;
  std::vector<int> idle;
  int left = jobs_per_run;
  double sum_s = 0;
  for (int i = 0; i < most_present; ++i) {
    calls.push_back(std::make_unique<engine::Signal>(world, "call"));
    world.spawn("server", host, [&, i](engine::Process& process) {
      while (true) {
        idle.push_back(i);
        process.wait(*calls[static_cast<std::size_t>(i)], Activity::Starved);
        const double arrived_s = process.now();
        process.cpu(draws.next_service());
        sum_s += process.now() - arrived_s;
        if (--left == 0)
          world.finish();
      }
    });
  }
  world.spawn("arrivals", host, [&](engine::Process& process) {
    for (int i = 0; i < jobs_per_run; ++i) {
      process.sleep(draws.next_gap(rho), Activity::Starved);
      const int server = idle.back();
      idle.pop_back();
      calls[static_cast<std::size_t>(server)]->notify();
    }
  });
  world.run();
  return sum_s / jobs_per_run;
}

using Mean = double (*)(double rho, Service kind, std::uint64_t seed);

/// One mean per replication.
Numbers means(Mean mean, double rho, Service kind) {
  std::vector<Work> works;
  for (std::uint64_t seed = 1; seed <= replications(rho); ++seed)
    works.push_back([=] { return Numbers{mean(rho, kind, seed)}; });
  Numbers out;
  for (const auto& result : in_children(works))
    out.push_back(result.front());
  return out;
}

double mean_of(const Numbers& values) {
  double sum = 0;
  for (const double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

} // namespace

TEST_CASE("M/M/1: engine, recursion and closed form agree") {
  for (const double rho : {0.5, 0.8}) {
    INFO("rho " << rho);
    const auto found = means(fifo_mean, rho, Service::Exponential);
    for (std::uint64_t seed = 1; seed <= replications(rho); ++seed)
      CHECK(found[seed - 1] == Approx(recursion_mean(rho, Service::Exponential, seed)).epsilon(1e-6));
    CHECK(mean_of(found) ==
          Approx(queueing::mm1_response_s(rho / service_s, 1 / service_s)).epsilon(tolerance));
  }
}

TEST_CASE("M/D/1 on a device: engine, recursion and closed form agree") {
  for (const double rho : {0.5, 0.8}) {
    INFO("rho " << rho);
    const auto found = means(fifo_mean, rho, Service::Constant);
    for (std::uint64_t seed = 1; seed <= replications(rho); ++seed)
      CHECK(found[seed - 1] == Approx(recursion_mean(rho, Service::Constant, seed)).epsilon(1e-6));
    CHECK(mean_of(found) == Approx(queueing::md1_response_s(rho / service_s, service_s)).epsilon(tolerance));
  }
}

TEST_CASE("processor sharing: the mean time in the system is demand / (1 - rho) for any demand") {
  for (const double rho : {0.5, 0.8})
    for (const Service kind : {Service::Exponential, Service::Constant}) {
      INFO("rho " << rho << (kind == Service::Constant ? ", constant" : ", exponential") << " demand");
      CHECK(mean_of(means(shared_mean, rho, kind)) ==
            Approx(queueing::ps_response_s(service_s, rho)).epsilon(tolerance));
    }
}
