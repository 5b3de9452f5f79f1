// A storage device serves its queue in order; who finds his work done pays nothing.
#include "tests/support/in_child.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

Disk disk(double fsync_latency_s, double write_bandwidth_bytes_per_s) {
  Disk out;
  out.fsync_latency_s = fsync_latency_s;
  out.write_bandwidth_bytes_per_s = write_bandwidth_bytes_per_s;
  return out;
}

struct Request {
  double at_s;
  Bytes bytes;
};

/// The dates at which requests of as many processes are done.
Numbers serve(const Disk& on, const std::vector<Request>& requests) {
  return in_child([&] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Device device(world, on);
    Numbers done_s(requests.size());
    Countdown countdown(world, requests.size());
    for (std::size_t i = 0; i < requests.size(); ++i)
      world.spawn(fmt::format("writer {}", i), host, [&, i](engine::Process& process) {
        process.sleep(requests[i].at_s);
        device.write_and_flush(process, [&, i] { return requests[i].bytes; });
        done_s[i] = process.now();
        countdown.done();
      });
    world.run();
    return done_s;
  });
}

} // namespace

TEST_CASE("an fsync costs latency and bytes over bandwidth") {
  CHECK(serve(disk(0.125, 1000), {{0, 500}}).front() == Approx(0.625));
  CHECK(serve(disk(0.125, 1000), {{0, 0}}).front() == Approx(0.125));
  CHECK(serve(disk(0, 1000), {{1, 250}}).front() == Approx(1.25));
}

TEST_CASE("requests are served in order of arrival, one at a time") {
  const auto done_s = serve(disk(0.5, 1000), {{0.2, 1000}, {0, 500}, {0.1, 0}, {5, 0}});
  CHECK(done_s[1] == Approx(1));   // alone
  CHECK(done_s[2] == Approx(1.5)); // came second
  CHECK(done_s[0] == Approx(3));
  CHECK(done_s[3] == Approx(5.5)); // the device was idle again
}

TEST_CASE("how much there is to write is asked when the turn comes; a negative answer costs nothing") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Device device(world, disk(1, 1000));
    Bytes inserted = 0, flushed = 0;
    Numbers done_s(3);
    Countdown countdown(world, 3);
    for (std::size_t i = 0; i < 3; ++i)
      world.spawn("backend", host, [&, i](engine::Process& process) {
        process.sleep(0.25 * static_cast<double>(i));
        inserted += 1000;
        const Bytes mine = inserted;
        device.write_and_flush(process, [&] {
          if (flushed >= mine)
            return Bytes{-1};
          const Bytes amount = inserted - flushed;
          flushed = inserted;
          return amount;
        });
        done_s[i] = process.now();
        countdown.done();
      });
    world.run();
    return done_s;
  });
  CHECK(found[0] == Approx(2)); // 1 + 1000 bytes
  CHECK(found[1] == Approx(5)); // its turn at 2: 1 + the 2000 bytes of both
  CHECK(found[2] == Approx(5)); // finds its bytes flushed
}

TEST_CASE("waiting for the device is time busy, not CPU") {
  const auto usage = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(1));
    engine::Device device(world, disk(1, 1000));
    Countdown countdown(world, 2);
    for (int i = 0; i < 2; ++i)
      world.spawn("writer", host, [&](engine::Process& process) {
        device.write_and_flush(process, [] { return Bytes{0}; });
        countdown.done();
      });
    world.run();
    double busy_s = 0, cpu_s = 0;
    for (const auto& process : world.processes()) {
      busy_s += process->usage().busy_s;
      cpu_s += process->usage().cpu_s;
    }
    return Numbers{busy_s, cpu_s};
  });
  CHECK(usage[0] == Approx(3)); // 1, and 1 in the queue plus 1
  CHECK(usage[1] == 0);
}
