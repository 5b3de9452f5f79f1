// Sharing of a host's CPUs, against numbers worked out by hand.
#include "models/base/errors.hpp"
#include "models/queueing.hpp"
#include "tests/support/in_child.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim;
using namespace replisim::test;

namespace {

struct CpuJob {
  double start_s = 0;
  double seconds = 1;
};

/// The dates at which jobs on one machine are done, in order of `jobs`.
Numbers completion(const Machine& machine, const std::vector<CpuJob>& jobs) {
  return in_child([&] {
    engine::World world;
    const auto host = world.add_host("h", machine);
    Numbers done_s(jobs.size());
    Countdown countdown(world, jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i)
      world.spawn(fmt::format("job {}", i), host, [&, i](engine::Process& process) {
        process.sleep(jobs[i].start_s);
        process.cpu(jobs[i].seconds);
        done_s[i] = process.now();
        countdown.done();
      });
    world.run();
    return done_s;
  });
}

void check_dates(const Numbers& found, const Numbers& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO("job " << i);
    CHECK(found[i] == Approx(expected[i]).epsilon(1e-9));
  }
}

Machine smt_machine(int cores, int threads_per_core, double smt_gain) {
  Machine machine = machine_of(cores);
  machine.threads_per_core = threads_per_core;
  machine.smt_gain = smt_gain;
  return machine;
}

} // namespace

TEST_CASE("equal jobs share the cores, and none is faster than one core") {
  check_dates(completion(machine_of(4), std::vector<CpuJob>(6)), Numbers(6, 1.5));
  check_dates(completion(machine_of(4), std::vector<CpuJob>(4)), Numbers(4, 1.0));
  check_dates(completion(machine_of(4), std::vector<CpuJob>(1)), Numbers(1, 1.0));
  check_dates(completion(machine_of(1), std::vector<CpuJob>(5)), Numbers(5, 5.0));
}

TEST_CASE("a finished job leaves its share to the others") {
  // Three jobs on two cores run at 2/3; the first is done at 1.5 s, then each has a core.
  check_dates(completion(machine_of(2), {{0, 1}, {0, 2}, {0, 3}}), {1.5, 2.5, 3.5});
}

TEST_CASE("a later job takes its share from its arrival on") {
  // One core: alone until 1 s (1 s left of 2), then half each: the later one (1 s) and the first are done at
  // 3 s.
  check_dates(completion(machine_of(1), {{0, 2}, {1, 1}}), {3, 3});
  // Done before the other arrives: no interference.
  check_dates(completion(machine_of(1), {{0, 1}, {1.5, 1}}), {1, 2.5});
}

TEST_CASE("many unequal jobs end as processor sharing says") {
  const Numbers demands = {0.5, 2, 1, 3, 0.25, 2, 0.125};
  std::vector<CpuJob> jobs;
  for (const double demand : demands)
    jobs.push_back({0, demand});
  for (const int cores : {1, 2, 3, 8}) {
    INFO(cores << " cores");
    check_dates(completion(machine_of(cores), jobs), queueing::ps_completion_s(demands, cores));
  }
}

TEST_CASE("second threads add what smt_gain says") {
  const Machine one_core = smt_machine(1, 2, 1.25);
  check_dates(completion(one_core, {{0, 1}}), {1});
  // Two threads do 1.25 together: 0.625 each.
  check_dates(completion(one_core, {{0, 1}, {0, 1}}), {1.6, 1.6});
  check_dates(completion(one_core, {{0, 1}, {0, 1}, {0, 1}}), {2.4, 2.4, 2.4});
  // The longer one has 1 s left when the other is done at 1.6 s, and the core for itself.
  check_dates(completion(one_core, {{0, 1}, {0, 2}}), {1.6, 2.6});
  // Two cores, three threads: 2 + 0.25; four threads: 2.5.
  check_dates(completion(smt_machine(2, 2, 1.25), std::vector<CpuJob>(3)), Numbers(3, 3 / 2.25));
  check_dates(completion(smt_machine(2, 2, 1.25), std::vector<CpuJob>(4)), Numbers(4, 1.6));
  // A gain of 1 is no gain, a gain of 2 another core.
  check_dates(completion(smt_machine(1, 2, 1), std::vector<CpuJob>(2)), Numbers(2, 2.0));
  check_dates(completion(smt_machine(1, 2, 2), std::vector<CpuJob>(2)), Numbers(2, 1.0));
}

TEST_CASE("a faster machine takes less time, second threads included") {
  check_dates(completion(machine_of(1, 2), {{0, 1}}), {0.5});
  check_dates(completion(machine_of(2, 0.5), std::vector<CpuJob>(3)), Numbers(3, 3.0));
  Machine fast = smt_machine(1, 2, 1.25);
  fast.speed = 2;
  check_dates(completion(fast, {{0, 1}, {0, 1}}), {0.8, 0.8});
}

TEST_CASE("hosts do not share their cores") {
  const auto done_s = in_child([] {
    engine::World world;
    const auto a = world.add_host("a", machine_of(1)), b = world.add_host("b", machine_of(1));
    Numbers dates(3);
    Countdown countdown(world, 3);
    for (std::size_t i = 0; i < 3; ++i)
      world.spawn("job", i == 0 ? a : b, [&, i](engine::Process& process) {
        process.cpu(1);
        dates[i] = process.now();
        countdown.done();
      });
    world.run();
    return dates;
  });
  check_dates(done_s, {1, 2, 2});
}

TEST_CASE("CPU seconds are those of the machine; waiting for a core counts as busy") {
  const auto usage = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1, 2));
    Countdown countdown(world, 2);
    for (int i = 0; i < 2; ++i)
      world.spawn("job", host, [&](engine::Process& process) {
        process.cpu(3);
        countdown.done();
      });
    world.run();
    const auto used = world.processes().front()->usage();
    return Numbers{used.cpu_s, used.busy_s, used.starved_s, used.blocked_s};
  });
  check_dates(usage, {1.5, 3, 0, 0});
}

TEST_CASE("no CPU takes no time; less than none is an error that names the process") {
  check_dates(completion(machine_of(1), {{0, 0}}), {0});
  CHECK_THROWS_AS(completion(machine_of(1), {{0, -1}}), InvariantViolation);
  CHECK_THROWS_WITH(completion(machine_of(1), {{0, -1}}), Catch::Contains("job 0 asks for -1 s of CPU"));
}

TEST_CASE("the order of creation changes nothing") {
  const std::vector<CpuJob> jobs = {{0, 1}, {0.25, 2}, {0.5, 0.5}, {0.5, 3}};
  std::vector<CpuJob> reversed(jobs.rbegin(), jobs.rend());
  auto backwards = completion(machine_of(2), reversed);
  std::reverse(backwards.begin(), backwards.end());
  check_dates(completion(machine_of(2), jobs), backwards);
}

TEST_CASE("work of several threads shares as so many processes would") {
  // Two cores, three threads of one process beside one of another: each runs at half a core.
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(2));
    Numbers done_s(2);
    Countdown countdown(world, 2);
    world.spawn("threads", host, [&](engine::Process& process) {
      process.cpu_on(3, 3);
      done_s[0] = process.now();
      countdown.done();
    });
    world.spawn("one", host, [&](engine::Process& process) {
      process.cpu(1);
      done_s[1] = process.now();
      countdown.done();
    });
    world.run();
    return Numbers{done_s[0], done_s[1], world.thread_seconds(host)};
  });
  check_dates(found, {2, 2, 8});
}

TEST_CASE("second threads count the threads of one process") {
  // Four cores with two threads each, eight threads of one process: capacity 5.
  Machine machine = machine_of(4);
  machine.threads_per_core = 2;
  const auto found = in_child([&] {
    engine::World world;
    const auto host = world.add_host("h", machine);
    double done_s = 0;
    world.spawn("threads", host, [&](engine::Process& process) {
      process.cpu_on(8, 8);
      done_s = process.now();
      world.finish();
    });
    world.run();
    return Numbers{done_s};
  });
  check_dates(found, {8 / 5.0});
}

TEST_CASE("a burstable host is fast until its credits are used up, then all its CPUs do its baseline") {
  Machine machine = machine_of(2);
  machine.baseline = 0.2;
  machine.cpu_credits_s = 6;
  // One thread spends 1 and earns 0.4 a second: 10 s. Then it gets the 0.4 that both CPUs earn.
  check_dates(completion(machine, {{0, 9}}), {9});
  check_dates(completion(machine, {{0, 14}}), {10 + 4 / 0.4});
  // Two threads spend 1.6 a second net, 3.75 s, and share 0.4 cores afterwards.
  check_dates(completion(machine, {{0, 5}, {0, 5}}), Numbers(2, 3.75 + 2.5 / 0.4));
  machine.baseline = 1;
  check_dates(completion(machine, {{0, 14}}), {14});
}

TEST_CASE("a burstable host earns while it idles") {
  Machine machine = machine_of(2);
  machine.baseline = 0.2;
  // In 10 s it gathers 4 s: a thread runs 4 / 0.6 s at full speed.
  check_dates(completion(machine, {{10, 8}}), {10 + 4 / 0.6 + (8 - 4 / 0.6) / 0.4});
}
