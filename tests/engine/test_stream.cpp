// Streams on one host: overlap, order, end, and what they refuse.
#include "tests/support/stream_pair.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr Bytes wide = 1'000'000'000;

Rounds one_piece(double send_s, double apply_s, Bytes window_bytes = wide) {
  return {0, send_s, apply_s, 1, {1000, 1000, 1}, {"s", window_bytes, 0, 0}};
}

} // namespace

TEST_CASE("sender and reader of a piece overlap: the longer of the two times, not the sum") {
  CHECK(play(one_piece(2, 3)).reader_s == Approx(3));
  CHECK(play(one_piece(2, 3)).sender_s == Approx(2));
  CHECK(play(one_piece(3, 3)).reader_s == Approx(3));
}

TEST_CASE("the reader cannot end a piece before its sender") {
  const auto dates = play(one_piece(3, 2));
  CHECK(dates.reader_s == Approx(3));
  CHECK(dates.reader_starved_s == Approx(1));
}

TEST_CASE("with a narrow window the sender waits for the reader, with a wide one it does not") {
  // 1,000 bytes, 250 of them may lie between: the sender is let go when 750 are taken, at 3 of 4 s.
  const auto narrow = play(one_piece(1, 4, 250));
  CHECK(narrow.sender_s == Approx(3));
  CHECK(narrow.sender_blocked_s == Approx(2));
  CHECK(narrow.reader_s == Approx(4));
  CHECK(narrow.parts == 2);
  const auto exact = play(one_piece(1, 4, 1000));
  CHECK(exact.sender_s == Approx(1));
  CHECK(exact.sender_blocked_s == 0);
  CHECK(exact.parts == 1);
}

TEST_CASE("what a message occupies includes its overhead") {
  Rounds plan = one_piece(1, 4, 2000);
  plan.options.message_overhead_bytes = 3; // 4,000 bytes in a window of 2,000
  CHECK(play(plan).sender_s == Approx(2));
  plan.options.message_overhead_bytes = 1; // 2,000 bytes
  CHECK(play(plan).sender_s == Approx(1));
}

TEST_CASE("one message is never split, however narrow the window") {
  Rounds plan = one_piece(1, 4, 250);
  plan.piece = {1, 1000, 1};
  const auto dates = play(plan);
  CHECK(dates.parts == 1);
  CHECK(dates.sender_s == Approx(4)); // only an empty stream has room for it
}

TEST_CASE("the parts of a piece add up to it") {
  for (const Bytes window : {1, 3, 333, 999, 1000, 5000}) {
    INFO("window " << window);
    const auto found = in_child([window] {
      engine::World world;
      const auto host = world.add_host("h", machine_of(2));
      engine::Stream<int> stream(world, {"s", window, 0, 0});
      world.spawn("sender", host, [&](engine::Process& process) {
        stream.send(process, 7, {10, 1000, 1});
        stream.finish();
      });
      Numbers sums(5);
      world.spawn("reader", host, [&](engine::Process& process) {
        while (const auto part = stream.receive(process)) {
          CHECK(part->first == (part->first_message == 0));
          CHECK(part->first_message == static_cast<Rows>(sums[0]));
          sums[0] += static_cast<double>(part->messages);
          sums[1] += part->share;
          sums[2] += static_cast<double>(part->occupied);
          sums[3] += part->last ? 1 : 0;
          sums[4] += *part->payload;
          stream.await_sent(process, *part);
          stream.release(*part);
        }
        sums.push_back(static_cast<double>(stream.outstanding_bytes()));
        world.finish();
      });
      world.run();
      return sums;
    });
    CHECK(found[0] == 10);
    CHECK(found[1] == Approx(1));
    CHECK(found[2] == 1000);
    CHECK(found[3] == 1);
    CHECK(found[4] == (window < 1000 ? 14 : 7)); // the payload is there for each part
    CHECK(found[5] == 0);
  }
}

TEST_CASE("pieces arrive in the order in which they were sent, and all of them before the end") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(2));
    engine::Stream<int> stream(world, {"s", 100, 0, 0});
    Numbers order;
    world.spawn("sender", host, [&](engine::Process& process) {
      for (int i = 0; i < 50; ++i) {
        const auto ticket = stream.open(i, {1, i % 7 == 0 ? 90 : 1, 1});
        process.cpu(i % 3 == 0 ? 0.5 : 0.001);
        stream.close(process, ticket);
      }
      stream.finish();
    });
    world.spawn("reader", host, [&](engine::Process& process) {
      while (const auto part = stream.receive(process)) {
        order.push_back(*part->payload);
        process.cpu(order.size() % 5 == 0 ? 1 : 0.01);
        stream.await_sent(process, *part);
        stream.release(*part);
      }
      world.finish();
    });
    world.run();
    return order;
  });
  REQUIRE(found.size() == 50);
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(found[i] == static_cast<double>(i));
}

TEST_CASE("a finished stream says so at once, also to a reader that already waits") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("h", machine_of(2));
    engine::Stream<int> early(world, {"early", 100, 0, 0}), late(world, {"late", 100, 0, 0});
    early.finish();
    Numbers out;
    world.spawn("finisher", host, [&](engine::Process& process) {
      process.sleep(2);
      late.finish();
      process.sleep(1);
    });
    world.spawn("reader", host, [&](engine::Process& process) {
      out.push_back(early.receive(process) ? 1 : 0);
      out.push_back(process.now());
      out.push_back(late.receive(process) ? 1 : 0);
      out.push_back(process.now());
      world.finish();
    });
    world.run();
    return out;
  });
  CHECK(found == Numbers{0, 0, 0, 2});
}

TEST_CASE("a stream refuses what cannot be") {
  const auto open = [](engine::Flow flow, Bytes window) {
    return in_child([=] {
      engine::World world;
      engine::Stream<int> stream(world, {"connection of s", window, 0, 0});
      stream.open(0, flow);
      return Numbers{};
    });
  };
  CHECK_THROWS_WITH(open({1, 1, 1}, 0), Catch::Contains("connection of s has a window of 0 bytes"));
  CHECK_THROWS_WITH(open({0, 1, 1}, 1), Catch::Contains("a piece of 0 messages"));
  CHECK_THROWS_WITH(open({1, -1, 1}, 1), Catch::Contains("-1 bytes"));
  CHECK_THROWS_WITH(open({1, 1, 0}, 1), Catch::Contains("0 bursts"));
  CHECK_NOTHROW(open({1, 0, 1}, 1));
}
