// One sender and one reader over a stream, in rounds of known cost; the dates of what they do.
#pragma once

#include "sim/engine/stream.hpp"
#include "tests/support/in_child.hpp"

namespace replisim::test {

/// A sender that per round works `restore_s`, then sends one piece in `send_s`; a reader that works
/// `apply_s` per piece, in proportion to its share where a piece arrives in parts.
struct Rounds {
  double restore_s = 0;
  double send_s = 0;
  double apply_s = 0;
  int rounds = 1;
  engine::Flow piece;
  engine::StreamOptions options;
};

struct RoundDates {
  double sender_s = 0; ///< the sender's last close() returned
  double reader_s = 0; ///< the reader found the stream finished
  double parts = 0;
  double sender_blocked_s = 0;
  double reader_starved_s = 0;
};

inline void send_rounds(engine::Process& process, engine::Stream<int>& stream, const Rounds& plan) {
  for (int i = 0; i < plan.rounds; ++i) {
    process.cpu(plan.restore_s);
    const auto ticket = stream.open(i, plan.piece);
    process.cpu(plan.send_s);
    stream.close(process, ticket);
  }
  stream.finish();
}

/// Returns the number of parts.
inline int read_rounds(engine::Process& process, engine::Stream<int>& stream, double apply_s) {
  int parts = 0;
  while (const auto part = stream.receive(process)) {
    ++parts;
    process.cpu(apply_s * part->share);
    stream.await_sent(process, *part);
    stream.release(*part);
  }
  return parts;
}

/// On one host with cores for both, or on two hosts over a link of `bandwidth_bytes_per_s` if that is
/// above 0.
inline RoundDates play(const Rounds& plan, double bandwidth_bytes_per_s = 0) {
  const auto found = in_child([&] {
    engine::World world;
    const auto here = world.add_host("a", machine_of(4)), there = world.add_host("b", machine_of(4));
    engine::Stream<int> stream(world, plan.options);
    if (bandwidth_bytes_per_s > 0) {
      world.add_link(here, there, bandwidth_bytes_per_s);
      stream.cross_link(here, there);
    }
    RoundDates dates;
    Countdown countdown(world, 2);
    auto& sender = world.spawn("sender", here, [&](engine::Process& process) {
      send_rounds(process, stream, plan);
      dates.sender_s = process.now();
      countdown.done();
    });
    auto& reader = world.spawn("reader", there, [&](engine::Process& process) {
      dates.parts = read_rounds(process, stream, plan.apply_s);
      dates.reader_s = process.now();
      countdown.done();
    });
    world.run();
    return Numbers{dates.sender_s, dates.reader_s, dates.parts, sender.usage().blocked_s,
                   reader.usage().starved_s};
  });
  return {found[0], found[1], found[2], found[3], found[4]};
}

} // namespace replisim::test
