// Rounds of [restore R, send S] against a reader A: what the window decouples, and that rounds taken
// together behave as rounds taken one by one.
#include "tests/support/stream_pair.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace replisim;
using namespace replisim::test;

namespace {

constexpr Rows piece_messages = 10'000; ///< of one byte each

Rounds rounds(double restore_s, double send_s, double apply_s, double window_share, int count) {
  const auto window = std::max<Bytes>(1, std::llround(window_share * static_cast<double>(piece_messages)));
  return {restore_s, send_s, apply_s, count, {piece_messages, piece_messages, 1}, {"s", window, 0, 0}};
}

/// k rounds in one piece.
Rounds together(const Rounds& single, int k) {
  Rounds plan = single;
  plan.restore_s *= k;
  plan.send_s *= k;
  plan.apply_s *= k;
  plan.rounds /= k;
  plan.piece.messages *= k;
  plan.piece.bytes *= k;
  plan.piece.bursts = k;
  return plan;
}

} // namespace

TEST_CASE("a small window makes the reader starve while the sender restores") {
  // The sender may go on when three quarters are applied: 3 s; then 2 s of restoring, of which the reader
  // has 1 s of work left. A round takes 5 s; the first piece begins at 2 s, the last one takes 4 s.
  const auto dates = play(rounds(2, 1, 4, 0.25, 10));
  CHECK(dates.reader_s == Approx(2 + 9 * 5 + 4));
  CHECK(dates.reader_starved_s == Approx(2 + 9 * 1));
  CHECK(dates.sender_blocked_s == Approx(10 * 2));
}

TEST_CASE("without a window worth speaking of, restoring and applying take turns") {
  const auto dates = play(rounds(2, 1, 4, 0, 10)); // one message of 10,000 lies between
  CHECK(dates.reader_s == Approx(10 * (2 + 4)).epsilon(1e-4));
}

TEST_CASE("with a window that covers the restoring, only the reader counts") {
  CHECK(play(rounds(2, 1, 4, 0.75, 10)).reader_s == Approx(2 + 10 * 4));
  CHECK(play(rounds(2, 1, 4, 0.5, 10)).reader_s == Approx(2 + 10 * 4)); // just
  CHECK(play(rounds(2, 1, 4, 1, 10)).reader_s == Approx(2 + 10 * 4));
}

TEST_CASE("a sender that needs longer is never held up") {
  const auto dates = play(rounds(3, 2, 1, 0.25, 10));
  CHECK(dates.reader_s == Approx(10 * 5));
  CHECK(dates.sender_blocked_s == 0);
}

TEST_CASE("in the steady state a round takes max(R + S, A, R + (1 - w) A)") {
  const std::vector<Numbers> costs = {{2, 1, 4}, {1, 1, 1}, {3, 0.5, 1}, {0, 1, 2}, {1, 3, 3}, {5, 1, 4}};
  for (const auto& cost : costs)
    for (const double window : {0.0, 0.1, 0.25, 0.5, 0.8, 1.0}) {
      const double restore_s = cost[0], send_s = cost[1], apply_s = cost[2];
      const double period_s = std::max({restore_s + send_s, apply_s, restore_s + (1 - window) * apply_s});
      const double found_s = (play(rounds(restore_s, send_s, apply_s, window, 40)).reader_s -
                              play(rounds(restore_s, send_s, apply_s, window, 20)).reader_s) /
                             20;
      INFO("R " << restore_s << ", S " << send_s << ", A " << apply_s << ", window " << window);
      CHECK(found_s == Approx(period_s).epsilon(2e-4));
    }
}

TEST_CASE("k rounds in one piece take as long as k pieces, but for one round") {
  // By hand for [2, 1] against 4 with a quarter: one by one 2 + 39 * 5 + 4 = 201; four together
  // 8 + 9 * 20 + 16 = 204.
  const auto single = rounds(2, 1, 4, 0.25, 40);
  CHECK(play(single).reader_s == Approx(201));
  CHECK(play(together(single, 4)).reader_s == Approx(204));
  const std::vector<Numbers> costs = {{2, 1, 4}, {1, 1, 1}, {3, 0.5, 1}, {0, 1, 2}, {5, 1, 4}};
  for (const auto& cost : costs)
    for (const double window : {0.0, 0.1, 0.25, 0.5, 0.8, 1.0})
      for (const int k : {2, 5, 20}) {
        const auto one_by_one = rounds(cost[0], cost[1], cost[2], window, 40);
        const double round_s = k * (cost[0] + std::max(cost[1], cost[2]));
        INFO("R " << cost[0] << ", S " << cost[1] << ", A " << cost[2] << ", window " << window << ", k "
                  << k);
        CHECK(std::abs(play(together(one_by_one, k)).reader_s - play(one_by_one).reader_s) <=
              round_s * (1 + 1e-9));
      }
}

TEST_CASE("aggregated rounds see the window once per round, at most as wide as the piece") {
  // 10 rounds with a window of half a round each: half of the piece, which is split in two.
  CHECK(play(together(rounds(2, 1, 4, 0.5, 40), 10)).parts == 8);
  // As wide as a round, or wider: nothing is split.
  CHECK(play(together(rounds(2, 1, 4, 1, 40), 10)).parts == 4);
  CHECK(play(together(rounds(2, 1, 4, 3, 40), 10)).parts == 4);
}
