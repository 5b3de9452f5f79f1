// How a run ends: finished, stuck, or with a process's error; and that equal runs are equal.
#include "models/base/check.hpp"
#include "tests/support/in_child.hpp"

#include "tests/support/random.hpp"
#include <fmt/format.h>

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;
using engine::Activity;

namespace {

/// A reader that nobody writes to, after one second; optionally beside a periodic timer.
Numbers stuck_world(bool with_timer) {
  return in_child([=] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Signal data(world, "connection of s (input)");
    if (with_timer)
      world.every(0.05, [](double) {});
    world.spawn("sub apply worker", host, [&](engine::Process& process) {
      process.cpu(1);
      process.wait(data, Activity::Starved);
    });
    world.spawn("pub backend", host, [](engine::Process& process) { process.sleep(0.5); });
    world.run();
    return Numbers{};
  });
}

/// A process that throws `error` after 1.5 s, in a world that would otherwise go on.
template <class Error>
Numbers failing_world(const Error& error) {
  return in_child([&] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(2));
    engine::Signal never(world, "never");
    world.every(0.05, [](double) {});
    world.spawn("pub walsender s", host, [&](engine::Process& process) {
      process.sleep(1.5);
      throw error;
    });
    world.spawn("other", host, [&](engine::Process& process) { process.wait(never, Activity::Starved); });
    world.spawn("busy", host, [](engine::Process& process) {
      while (true)
        process.cpu(0.25);
    });
    world.run();
    return Numbers{};
  });
}

/// Three processes that compute, sleep and pass a baton at random: its fingerprint's two halves.
Numbers random_world(std::uint64_t seed) {
  return in_child([=] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(2));
    engine::Signal baton(world, "baton");
    int passed = 0;
    Countdown countdown(world, 3);
    for (std::uint64_t i = 0; i < 3; ++i)
      world.spawn(fmt::format("p{}", i), host, [&, i](engine::Process& process) {
        Random random(seed, i);
        for (int step = 0; step < 200; ++step) {
          process.cpu(random.exponential(0.01));
          process.sleep(random.exponential(0.01), Activity::Starved);
          ++passed;
          baton.notify();
        }
        countdown.done();
      });
    world.spawn("listener", host, [&](engine::Process& process) {
      while (true) {
        process.wait(baton, Activity::Starved);
        process.cpu(0.001);
      }
    });
    world.run();
    const auto hash = world.fingerprint().value();
    return Numbers{static_cast<double>(hash >> 32), static_cast<double>(hash & 0xffffffffU),
                   static_cast<double>(world.fingerprint().count()), world.now(),
                   static_cast<double>(passed)};
  });
}

} // namespace

TEST_CASE("a stuck world is an error that says who waits for what, and since when") {
  for (const bool with_timer : {false, true}) {
    INFO("periodic timer " << with_timer);
    CHECK_THROWS_AS(stuck_world(with_timer), DeadlockError);
    CHECK_THROWS_WITH(stuck_world(with_timer),
                      Catch::Contains("sub apply worker waits for connection of s (input)") and
                          not Catch::Contains("backend"));
  }
  CHECK_THROWS_WITH(stuck_world(false), Catch::Contains("at 1.000000 s"));
}

TEST_CASE("a world whose processes all end without finishing it is stuck as well") {
  for (const bool with_timer : {false, true}) {
    const auto run = [=] {
      engine::World world;
      const auto host = world.add_host("h", machine_of(1));
      if (with_timer)
        world.every(0.05, [](double) {});
      world.spawn("short", host, [](engine::Process& process) { process.sleep(1); });
      world.run();
      return Numbers{};
    };
    CHECK_THROWS_AS(in_child(run), DeadlockError);
  }
}

TEST_CASE("a pending timer is something that can still happen") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Signal rescue(world, "rescue");
    world.every(0.05, [](double) {});
    world.at(10, [&] { rescue.notify(); });
    world.spawn("waiter", host, [&](engine::Process& process) {
      process.wait(rescue, Activity::Starved);
      world.finish();
    });
    world.run();
    return Numbers{world.processes().front()->usage().starved_s};
  });
  CHECK(found == Numbers{10});
}

TEST_CASE("a process that still computes keeps the periodic timer going") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    double ticks = 0;
    world.every(1, [&](double) { ++ticks; });
    world.spawn("worker", host, [&](engine::Process& process) {
      process.cpu(5.5);
      world.finish();
    });
    world.run();
    return Numbers{ticks};
  });
  CHECK(found == Numbers{6});
}

TEST_CASE("a process's exception ends the run with its name and the date") {
  CHECK_THROWS_AS(failing_world(std::runtime_error("no such file")), InvariantViolation);
  CHECK_THROWS_WITH(failing_world(std::runtime_error("no such file")),
                    Catch::Contains("pub walsender s at 1.500000 s") and Catch::Contains("no such file"));
  CHECK_THROWS_AS(failing_world(InvariantViolation("lost a row")), InvariantViolation);
  CHECK_THROWS_WITH(failing_world(InvariantViolation("lost a row")),
                    Catch::Contains("pub walsender s at 1.500000 s") and Catch::Contains("lost a row"));
  CHECK_THROWS_AS(failing_world(UsageError("disk full")), UsageError);
}

TEST_CASE("an exception in a timer ends the run with its text") {
  const auto run = [] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    world.at(1, [] { throw InvariantViolation("a timer's complaint"); });
    world.spawn("worker", host, [&](engine::Process& process) {
      process.sleep(2);
      world.finish();
    });
    world.run();
    return Numbers{};
  };
  CHECK_THROWS_AS(in_child(run), InvariantViolation);
  CHECK_THROWS_WITH(in_child(run), Catch::Contains("a timer's complaint"));
}

TEST_CASE("what is impossible is refused") {
  CHECK_THROWS_AS(in_child([] {
                    engine::World world;
                    world.run();
                    return Numbers{};
                  }),
                  InvariantViolation);
  CHECK_THROWS_AS(in_child([] {
                    engine::World world;
                    world.add_host("h", machine_of(0));
                    return Numbers{};
                  }),
                  InvariantViolation);
  CHECK_THROWS_AS(in_child([] {
                    engine::World world;
                    world.add_host("h", machine_of(1));
                    world.every(0, [](double) {});
                    return Numbers{};
                  }),
                  InvariantViolation);
}

TEST_CASE("the same world twice has the same events, another seed has others") {
  const auto first = random_world(7);
  CHECK(first == random_world(7));
  const auto other = random_world(8);
  CHECK(first[0] * 0x1p32 + first[1] != other[0] * 0x1p32 + other[1]);
  CHECK(first[4] == 600);
}

TEST_CASE("a fingerprint depends on each of its parts and on their order") {
  const auto of = [](double time_s, std::string_view source, std::string_view kind, std::int64_t a,
                     std::int64_t b) {
    engine::Fingerprint fingerprint;
    fingerprint.add(time_s, source, kind, a, b);
    return fingerprint.value();
  };
  const auto reference = of(1, "s", "k", 2, 3);
  CHECK(reference == of(1, "s", "k", 2, 3));
  CHECK(reference != of(1.0000001, "s", "k", 2, 3));
  CHECK(reference != of(1, "t", "k", 2, 3));
  CHECK(reference != of(1, "s", "l", 2, 3));
  CHECK(reference != of(1, "s", "k", 3, 3));
  CHECK(reference != of(1, "s", "k", 2, 4));
  engine::Fingerprint ab, ba;
  ab.add(1, "a", "", 0, 0);
  ab.add(1, "b", "", 0, 0);
  ba.add(1, "b", "", 0, 0);
  ba.add(1, "a", "", 0, 0);
  CHECK(ab.value() != ba.value());
  CHECK(ab.count() == 2);
}

TEST_CASE("the pinned options are listed for the manifest") {
  const auto options = engine::World::engine_options();
  CHECK(options.at("network/model") == "CM02");
  CHECK(options.at("network/crosstraffic") == "0");
  CHECK(options.at("contexts/nthreads") == "1");
  CHECK(options.contains("simgrid"));
}
