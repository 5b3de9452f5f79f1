// Sleeping, signals and timers.
#include "models/base/errors.hpp"
#include "tests/support/in_child.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;
using engine::Activity;

TEST_CASE("sleep lets exactly that time pass, under the activity it is given") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    world.spawn("sleeper", host, [&](engine::Process& process) {
      process.sleep(0.25);
      process.sleep(0.5, Activity::Starved);
      process.sleep(1, Activity::Blocked);
      process.sleep(0);
      world.finish();
    });
    world.run();
    const auto usage = world.processes().front()->usage();
    return Numbers{world.now(), usage.busy_s, usage.starved_s, usage.blocked_s, usage.cpu_s};
  });
  CHECK(found == Numbers{1.75, 0.25, 0.5, 1, 0});
}

TEST_CASE("a notified process goes on at that date; what it waited counts, also while it waits") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Signal signal(world, "data");
    bool ready = false;
    Numbers out;
    auto& reader = world.spawn("reader", host, [&](engine::Process& process) {
      while (not ready)
        process.wait(signal, Activity::Starved);
      out.push_back(process.now());
      world.finish();
    });
    world.spawn("writer", host, [&](engine::Process& process) {
      process.sleep(1);
      out.push_back(reader.usage().starved_s);
      signal.notify(); // nothing is there yet: the reader looks and waits on
      process.sleep(2);
      ready = true;
      signal.notify();
      process.sleep(1);
    });
    world.run();
    out.push_back(reader.usage().starved_s);
    return out;
  });
  CHECK(found == Numbers{1, 3, 3});
}

TEST_CASE("a notification without a waiter is not kept") {
  const auto run = [] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Signal signal(world, "data");
    signal.notify();
    world.spawn("reader", host, [&](engine::Process& process) {
      signal.notify();
      process.wait(signal, Activity::Starved);
      world.finish();
    });
    world.run();
    return Numbers{};
  };
  CHECK_THROWS_AS(in_child(run), DeadlockError);
}

TEST_CASE("two processes must not wait for one signal") {
  const auto run = [] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Signal signal(world, "data");
    for (int i = 0; i < 2; ++i)
      world.spawn("reader", host, [&](engine::Process& process) { process.wait(signal, Activity::Starved); });
    world.run();
    return Numbers{};
  };
  CHECK_THROWS_AS(in_child(run), InvariantViolation);
  CHECK_THROWS_WITH(in_child(run), Catch::Contains("two processes wait for data"));
}

TEST_CASE("a timer fires at its date and may wake a process") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Signal signal(world, "alarm");
    Numbers out;
    world.at(2, [&] {
      out.push_back(world.now());
      signal.notify();
    });
    world.at(0.5, [&] { out.push_back(world.now()); });
    world.spawn("waiter", host, [&](engine::Process& process) {
      process.wait(signal, Activity::Starved);
      out.push_back(process.now());
      world.finish();
    });
    world.run();
    return out;
  });
  CHECK(found == Numbers{0.5, 2, 2});
}

TEST_CASE("a periodic timer ticks from 0 on at computed dates and ends with the run") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    Numbers out;
    world.every(0.1, [&](double now_s) { out.push_back(now_s); });
    world.spawn("worker", host, [&](engine::Process& process) {
      process.sleep(100.05);
      world.finish();
    });
    world.run();
    return out;
  });
  REQUIRE(found.size() == 1001);
  CHECK(found.front() == 0);
  CHECK(found[7] == Approx(0.7).epsilon(1e-12));
  CHECK(found.back() == Approx(100).epsilon(1e-12)); // no drift
}

TEST_CASE("the world's date after the run is the one at which it was finished, whatever timers are left") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    bool fired_late = false;
    world.every(1, [](double) {});
    world.at(100, [&] { fired_late = true; });
    world.spawn("worker", host, [&](engine::Process& process) {
      process.sleep(2.5);
      world.finish();
    });
    world.spawn("sleeper", host, [&](engine::Process& process) { process.sleep(1000); });
    world.run();
    return Numbers{world.now(), fired_late ? 1.0 : 0.0};
  });
  CHECK(found[0] == 2.5);
  CHECK(found[1] == 0);
}

TEST_CASE("times of processes are measured up to the date at which the world was finished") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Signal never(world, "never");
    world.every(1, [](double) {});
    world.spawn("worker", host, [&](engine::Process& process) {
      process.sleep(2.5);
      world.finish();
    });
    auto& waiter = world.spawn("waiter", host,
                               [&](engine::Process& process) { process.wait(never, Activity::Blocked); });
    world.run();
    return Numbers{waiter.usage().blocked_s};
  });
  CHECK(found[0] == 2.5);
}
