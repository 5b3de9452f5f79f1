// Streams over a link: latency, bandwidth, fairness, order, and a window that must travel back.
#include "tests/support/stream_pair.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr Bytes megabyte = 1'000'000;
constexpr Bytes wide = 1000 * megabyte;
constexpr double fast = 1e15; ///< bytes per second: a link that takes no time

Rounds rounds(double send_s, double apply_s, int count, double latency_s) {
  return {0, send_s, apply_s, count, {1000, megabyte, 1}, {"s", wide, 0, latency_s}};
}

/// Two streams of `count` pieces of one megabyte over a link of one megabyte per second, the second
/// in the other direction or in the same one: when each reader is done.
Numbers two_streams(int count, bool opposite) {
  return in_child([=] {
    engine::World world;
    const auto a = world.add_host("a", machine_of(4)), b = world.add_host("b", machine_of(4));
    world.add_link(a, b, megabyte);
    engine::Stream<int> first(world, {"first", wide, 0, 0}), second(world, {"second", wide, 0, 0});
    first.cross_link(a, b);
    second.cross_link(opposite ? b : a, opposite ? a : b);
    Numbers done_s(2);
    Countdown countdown(world, 2);
    for (std::size_t i = 0; i < 2; ++i) {
      auto& stream = i == 0 ? first : second;
      world.spawn("sender", a, [&, count](engine::Process& process) {
        send_rounds(process, stream, {0, 0, 0, count, {1000, megabyte, 1}, {}});
      });
      world.spawn("reader", b, [&, i](engine::Process& process) {
        read_rounds(process, stream, 0);
        done_s[i] = process.now();
        countdown.done();
      });
    }
    world.run();
    return done_s;
  });
}

} // namespace

TEST_CASE("latency adds a constant, whoever is the slower") {
  for (const double latency_s : {0.001, 0.1, 2.0}) {
    INFO("latency " << latency_s);
    CHECK(play(rounds(1, 0.5, 10, latency_s), fast).reader_s == Approx(10 + latency_s));
    CHECK(play(rounds(0.5, 1, 10, latency_s), fast).reader_s == Approx(10 + latency_s));
    CHECK(play(rounds(0.5, 1, 20, latency_s), fast).reader_s == Approx(20 + latency_s));
    CHECK(play(rounds(0.5, 1, 10, latency_s), fast).sender_s == Approx(5)); // it need not wait
  }
  CHECK(play(rounds(1, 0.5, 10, 0), fast).reader_s == Approx(10));
}

TEST_CASE("bandwidth binds only when it is the bottleneck") {
  // A piece crosses 1 MB/s in 1 s, 10 MB/s in 0.1 s.
  CHECK(play(rounds(0.5, 0.25, 10, 0), 1e6).reader_s == Approx(10));
  CHECK(play(rounds(0.5, 0.25, 10, 0), 10e6).reader_s == Approx(5));
  CHECK(play(rounds(0.25, 0.5, 10, 0), 10e6).reader_s == Approx(5));
  CHECK(play(rounds(0.25, 0.5, 10, 0), 2.5e6).reader_s == Approx(5)); // 0.4 s: still the reader
  CHECK(play(rounds(0.25, 0.5, 10, 3), 1e6).reader_s == Approx(13));  // and latency once
}

TEST_CASE("two streams in one direction share the link, in opposite ones each has it for itself") {
  const auto same = two_streams(10, false);
  CHECK(same[0] == Approx(20));
  CHECK(same[1] == Approx(20));
  const auto opposite = two_streams(10, true);
  CHECK(opposite[0] == Approx(10));
  CHECK(opposite[1] == Approx(10));
}

TEST_CASE("a small piece does not overtake a large one") {
  const auto found = in_child([] {
    engine::World world;
    const auto a = world.add_host("a", machine_of(1)), b = world.add_host("b", machine_of(1));
    world.add_link(a, b, megabyte);
    engine::Stream<int> stream(world, {"s", wide, 0, 0.25});
    stream.cross_link(a, b);
    world.spawn("sender", a, [&](engine::Process& process) {
      stream.send(process, 1, {1, 10 * megabyte, 1});
      stream.send(process, 2, {1, 1000, 1});
      stream.finish();
    });
    Numbers out;
    world.spawn("reader", b, [&](engine::Process& process) {
      while (const auto part = stream.receive(process)) {
        stream.await_sent(process, *part);
        out.push_back(*part->payload);
        out.push_back(process.now());
        stream.release(*part);
      }
      world.finish();
    });
    world.run();
    return out;
  });
  REQUIRE(found.size() == 4);
  CHECK(found[0] == 1);
  CHECK(found[1] == Approx(10.25));
  CHECK(found[2] == 2);
  CHECK(found[3] == Approx(10.251));
}

TEST_CASE("window space comes back one round trip later") {
  // Each piece fills the window. A piece may be begun while the one before is on its way, so two
  // cross per round trip: begun at 0, 0, 1, 1, ... 4, 4 s; the end is told when the last has room.
  Rounds plan = rounds(0, 0, 10, 0.5);
  plan.piece = {1, 1000, 1};
  plan.options.window_bytes = 1000;
  const auto dates = play(plan, fast);
  CHECK(dates.reader_s == Approx(5));
  CHECK(dates.sender_blocked_s == Approx(5));
  // A window for all ten: one latency.
  plan.options.window_bytes = 10'000;
  CHECK(play(plan, fast).reader_s == Approx(0.5));
}

TEST_CASE("pieces without bytes cross at once") {
  Rounds plan = rounds(0, 0, 3, 0);
  plan.piece = {1, 0, 1};
  CHECK(play(plan, 1).reader_s == Approx(0).margin(1e-12));
}
