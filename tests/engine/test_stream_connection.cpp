// Streams whose connection breaks and comes back: who is woken, what is lost, what is given back.
#include "tests/support/stream_pair.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// A world with two hosts and a stream between its processes, over a link if there is a bandwidth.
struct Wire {
  explicit Wire(Bytes window_bytes, double bandwidth_bytes_per_s = 0, double latency_s = 0)
      : here(world.add_host("a", machine_of(4))), there(world.add_host("b", machine_of(4))),
        stream(world, {"s", window_bytes, 0, latency_s}) {
    if (bandwidth_bytes_per_s > 0) {
      world.add_link(here, there, bandwidth_bytes_per_s);
      stream.cross_link(here, there);
    }
  }
  engine::World world;
  engine::HostId here, there;
  engine::Stream<int> stream;
};

double flag(bool value) { return value ? 1 : 0; }

} // namespace

TEST_CASE("a broken connection wakes a reader that waits, and gives nothing until it is back") {
  const auto found = in_child([] {
    Wire wire(100);
    Numbers out;
    wire.world.spawn("breaker", wire.here, [&](engine::Process& process) {
      process.sleep(2);
      wire.stream.disconnect();
      process.sleep(1);
      wire.stream.connect();
      wire.stream.send(process, 7, {1, 10, 1});
    });
    wire.world.spawn("reader", wire.there, [&](engine::Process& process) {
      out.push_back(flag(wire.stream.receive(process).has_value()));
      out.push_back(process.now());
      out.push_back(flag(wire.stream.receive(process).has_value())); // at once
      out.push_back(process.now());
      out.push_back(flag(wire.stream.connected()));
      process.sleep(2);
      const auto part = wire.stream.receive(process);
      out.push_back(part ? *part->payload : -1);
      wire.stream.await_sent(process, *part);
      wire.stream.release(*part);
      wire.world.finish();
    });
    wire.world.run();
    return out;
  });
  CHECK(found == Numbers{0, 2, 0, 2, 0, 7});
}

TEST_CASE("a broken connection wakes a sender that waits for the window, which is empty then") {
  const auto found = in_child([] {
    Wire wire(100);
    Numbers out;
    wire.world.spawn("sender", wire.here, [&](engine::Process& process) {
      wire.stream.send(process, 1, {1, 90, 1});
      wire.stream.send(process, 2, {1, 90, 1}); // nobody reads
      out.push_back(process.now());
      out.push_back(static_cast<double>(wire.stream.outstanding_bytes()));
      // While it is broken, nothing is taken and nothing blocks.
      const auto ticket = wire.stream.open(3, {1, 1000, 1});
      out.push_back(static_cast<double>(ticket));
      wire.stream.close(process, ticket);
      out.push_back(process.now());
      out.push_back(static_cast<double>(wire.stream.outstanding_bytes()));
      wire.world.finish();
    });
    wire.world.spawn("breaker", wire.there, [&](engine::Process& process) {
      process.sleep(5);
      wire.stream.disconnect();
    });
    wire.world.run();
    return out;
  });
  CHECK(found == Numbers{5, 0, static_cast<double>(engine::StreamCore::no_piece), 5, 0});
}

TEST_CASE("what was under way is lost; the next connection begins with what is sent on it") {
  const auto found = in_child([] {
    Wire wire(1000);
    Numbers out;
    wire.world.spawn("sender", wire.here, [&](engine::Process& process) {
      for (int i = 1; i <= 3; ++i)
        wire.stream.send(process, i, {1, 10, 1});
      wire.stream.disconnect();
      wire.stream.connect();
      for (int i = 4; i <= 5; ++i)
        wire.stream.send(process, i, {1, 10, 1});
      wire.stream.finish();
    });
    wire.world.spawn("reader", wire.there, [&](engine::Process& process) {
      process.sleep(1);
      while (const auto part = wire.stream.receive(process)) {
        out.push_back(*part->payload);
        wire.stream.await_sent(process, *part);
        wire.stream.release(*part);
      }
      out.push_back(static_cast<double>(wire.stream.outstanding_bytes()));
      wire.world.finish();
    });
    wire.world.run();
    return out;
  });
  CHECK(found == Numbers{4, 5, 0});
}

TEST_CASE("a part in hand when the connection breaks: its payload stays, its release gives nothing back") {
  const auto found = in_child([] {
    Wire wire(1000);
    Numbers out;
    wire.world.spawn("sender", wire.here, [&](engine::Process& process) {
      const auto ticket = wire.stream.open(1, {10, 600, 1});
      process.cpu(4); // the connection breaks meanwhile
      wire.stream.close(process, ticket);
      wire.stream.send(process, 2, {10, 700, 1});
    });
    wire.world.spawn("breaker", wire.here, [&](engine::Process& process) {
      process.sleep(1);
      wire.stream.disconnect();
      wire.stream.connect();
    });
    wire.world.spawn("reader", wire.there, [&](engine::Process& process) {
      const auto part = wire.stream.receive(process);
      wire.stream.await_sent(process, *part); // ends with the connection
      out.push_back(process.now());
      out.push_back(*part->payload);
      process.sleep(5 - process.now());
      wire.stream.release(*part);
      out.push_back(static_cast<double>(wire.stream.outstanding_bytes()));
      out.push_back(*wire.stream.receive(process)->payload);
      wire.world.finish();
    });
    wire.world.run();
    return out;
  });
  CHECK(found == Numbers{1, 1, 700, 2});
}

TEST_CASE("over a link: a piece half way is lost, the link is free when its bytes are through") {
  const auto found = in_child([] {
    Wire wire(10'000, 100, 0.5); // 1,000 bytes take 10 s
    Numbers out;
    wire.world.spawn("sender", wire.here, [&](engine::Process& process) {
      wire.stream.send(process, 1, {1, 1000, 1});
      process.sleep(4);
      wire.stream.disconnect();
      wire.stream.connect();
      wire.stream.send(process, 2, {1, 100, 1});
    });
    wire.world.spawn("reader", wire.there, [&](engine::Process& process) {
      std::optional<engine::Stream<int>::Part> part;
      do {
        part = wire.stream.receive(process);
        if (part)
          wire.stream.await_sent(process, *part);
        else
          process.sleep(0.01);
      } while (not part or *part->payload != 2);
      out.push_back(process.now());
      wire.stream.release(*part);
      process.sleep(1);
      out.push_back(static_cast<double>(wire.stream.outstanding_bytes()));
      wire.world.finish();
    });
    wire.world.run();
    return out;
  });
  REQUIRE(found.size() == 2);
  CHECK(found[0] == Approx(10 + 1 + 0.5)); // the first one's bytes occupied the link to the end
  CHECK(found[1] == 0);
}

TEST_CASE("space returned late from an old connection is not added to the new one") {
  const auto found = in_child([] {
    Wire wire(1000, 1e9, 2); // releases arrive after 2 s
    Numbers out;
    wire.world.spawn("sender", wire.here, [&](engine::Process& process) {
      wire.stream.send(process, 1, {1, 800, 1});
      process.sleep(3); // released at about 2 s, to arrive at 4 s
      wire.stream.disconnect();
      wire.stream.connect();
      wire.stream.send(process, 2, {1, 500, 1});
      process.sleep(1.5);
      out.push_back(static_cast<double>(wire.stream.outstanding_bytes()));
      wire.world.finish();
    });
    wire.world.spawn("reader", wire.there, [&](engine::Process& process) {
      const auto part = wire.stream.receive(process);
      wire.stream.await_sent(process, *part);
      wire.stream.release(*part);
    });
    wire.world.run();
    return out;
  });
  CHECK(found == Numbers{500});
}
