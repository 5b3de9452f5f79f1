// Where a lag goes: parts that add up, sums over many transactions, and batches of small ones.
#include "models/base/errors.hpp"
#include "models/flow_station.hpp"
#include "models/lag_anatomy.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {
constexpr double ms = 1e-3;

Nanoseconds sum(const LagParts& parts) {
  Nanoseconds total = 0;
  for (const Nanoseconds part : parts.ns)
    total += part;
  return total;
}
} // namespace

TEST_CASE("the parts of a way add up, whatever the order of the dates") {
  LagPath path;
  path.spend(LagStage::Decode, 5); // before its commit was read: nothing
  path.begin(1, 1.5);
  path.spend(LagStage::CommitFlush, 1.6);
  path.spend(LagStage::WaitingToBeRead, 1.55); // already past
  path.spend(LagStage::Decode, 1.6 + 1.0 / 3);
  path.spend(LagStage::Decode, 2);
  path.spend(LagStage::Apply, 3.7);
  path.applied(3.9);
  const LagParts& parts = path.parts();
  CHECK(parts.of(LagStage::Executing) == 500'000'000);
  CHECK(parts.of(LagStage::CommitFlush) == 100'000'000);
  CHECK(parts.of(LagStage::WaitingToBeRead) == 0);
  CHECK(parts.of(LagStage::Decode) == 400'000'000);
  CHECK(parts.lag() == 2'200'000'000);
  CHECK(parts.of(LagStage::Feedback) == 200'000'000);
  CHECK(parts.applied_ns - parts.commit_ns == parts.lag());
  CHECK(sum(parts) == 2'900'000'000);
  path.begin(1, 1.5); // sent again
  CHECK(path.parts().lag() == 0);
}

TEST_CASE("who waits for a process: its own work there is applying, that for others is queueing") {
  WorkLedger ledger;
  ledger.start(7, 1);
  ledger.stop(2);
  ledger.start(8, 2);
  ledger.stop(2.5);
  ledger.start(7, 3); // still at it
  const Nanoseconds s = 1'000'000'000;
  CHECK(ledger.split(0, 4 * s, 7) == std::pair<Nanoseconds, Nanoseconds>{2 * s, s / 2});
  CHECK(ledger.split(0, 4 * s, 8) == std::pair<Nanoseconds, Nanoseconds>{s / 2, 2 * s});
  CHECK(ledger.split(s * 3 / 2, s * 9 / 4, 7) == std::pair<Nanoseconds, Nanoseconds>{s / 2, s / 4});
  LagPath path;
  path.begin(0, 0);
  path.wait(ledger, 7, 4, LagStage::ReceiveQueue, LagStage::Transfer);
  CHECK(path.parts().of(LagStage::Apply) == 2 * s);
  CHECK(path.parts().of(LagStage::ReceiveQueue) == s / 2);
  CHECK(path.parts().of(LagStage::Transfer) == s * 3 / 2);
  CHECK(path.parts().lag() == 4 * s);
}

TEST_CASE("sums of nanoseconds are exact beyond 64 bits") {
  ExactSum total;
  for (int i = 0; i < 10; ++i)
    total.add(1'000'000'000'000'001, 1'000'000'000);
  CHECK(total.seconds == 10'000'000'000'000'010); // 10^25 ns and a bit
  CHECK(total.ns == 0);
  total.add(-1, 1);
  CHECK(total.seconds == 10'000'000'000'000'009);
  CHECK(total.ns == 999'999'999);
}

TEST_CASE("statistics of lags: means of stages add up to the mean lag, and a gap is found") {
  LagPath first, last;
  first.begin(0, 0);
  last.begin(0, 1);
  first.spend(LagStage::Decode, 2);
  first.spend(LagStage::Apply, 3);
  last.spend(LagStage::Decode, 1.5);
  last.spend(LagStage::Apply, 5);
  first.applied(-1);
  last.applied(-1);
  LagStatistics lags;
  lags.add_spread(first.parts(), last.parts(), 1000);
  CHECK(lags.transactions() == 1000);
  CHECK(lags.mean_s(LagStage::Decode) == Approx(1.25));
  CHECK(lags.mean_s(LagStage::Apply) == Approx(2.25));
  CHECK(lags.mean_lag_s() == Approx(3.5));
  CHECK(lags.lag().quantile(0.5) == Approx(3.5).epsilon(0.02));
  CHECK(lags.stage(LagStage::Feedback).count() == 0); // nobody confirms
  CHECK_NOTHROW(lags.check());
  LagParts gap = first.parts();
  gap.applied_ns += 1;
  lags.add(gap);
  CHECK_THROWS_AS(lags.check(), InvariantViolation);
}

TEST_CASE(
    "a station serves the transactions of a batch one after the other, as if they had not been gathered") {
  // Ten in 10 ms, 0.2 ms each; the batch comes after its last one and takes 2 ms.
  FlowStation station;
  const FlowStation::Batch batch{1, 10, 10 * ms, 10 * ms, 10 * ms, 2 * ms};
  const auto served = station.serve({1 * ms, 10 * ms}, batch);
  CHECK(served.started.first_s == Approx(1 * ms));
  CHECK(served.ended.first_s == Approx(1.2 * ms));
  CHECK(served.started.last_s == Approx(10 * ms));
  CHECK(served.ended.last_s == Approx(10.2 * ms));
}

TEST_CASE("a station that is too slow: each waits for the one before, over batches too") {
  FlowStation station; // 2 ms each, one a millisecond
  for (int k = 1; k <= 100; ++k) {
    const double ready_s = 10 * ms * k, begun_s = std::max(ready_s, 10 * ms + 20 * ms * (k - 1));
    const FlowStation::Batch batch{1, 10, 10 * ms, ready_s, begun_s, 20 * ms};
    const auto served = station.serve({ready_s - 9 * ms, ready_s}, batch);
    station.done(batch, 0, begun_s + 20 * ms);
    CHECK(served.ended.last_s == Approx(1 * ms + 20 * ms * k)); // 10 k of 2 ms since the first came
  }
}

TEST_CASE("a station that has to do with each transaction after its service, too") {
  FlowStation station; // 0.2 ms each, then 0.5 ms more; one a millisecond: nobody waits
  for (int k = 1; k <= 3; ++k) {
    const double ready_s = 10 * ms * k;
    const FlowStation::Batch batch{1, 10, 10 * ms, ready_s, ready_s, 2 * ms};
    const auto served = station.serve({ready_s - 9 * ms, ready_s}, batch);
    station.done(batch, 5 * ms, ready_s + 7 * ms);
    CHECK(served.started.first_s == Approx(ready_s - 9 * ms));
    CHECK(served.ended.last_s == Approx(ready_s + 0.2 * ms));
  }
}

TEST_CASE("a station: other batches of the same tick are no queue, those of earlier ticks are") {
  FlowStation station;
  const auto serve = [&](std::uint32_t flow, double ready_s, double begun_s) {
    const FlowStation::Batch batch{flow, 1, 10 * ms, ready_s, begun_s, 4 * ms};
    const auto served = station.serve({ready_s, ready_s}, batch);
    station.done(batch, 0, begun_s + 4 * ms);
    return served.started.first_s - ready_s;
  };
  CHECK(serve(1, 10 * ms, 10 * ms) == 0);
  CHECK(serve(2, 10 * ms, 14 * ms) == 0); // they came one by one in these 10 ms
  CHECK(serve(3, 10 * ms, 18 * ms) == 0);
  CHECK(serve(1, 20 * ms, 22 * ms) == Approx(2 * ms)); // 12 ms of work had come in 10
}

TEST_CASE("a station: long work of another kind is waited for, and so is a process that wakes up") {
  FlowStation station;
  FlowStation::Batch batch{1, 1, 10 * ms, 10 * ms, 10.05 * ms, 1 * ms};
  CHECK(station.serve({10 * ms, 10 * ms}, batch).started.first_s == Approx(10.05 * ms));
  station.done(batch, 0, 11.05 * ms);
  station.other_work(15 * ms, 15 * ms, 5);
  batch = {1, 1, 10 * ms, 20 * ms, 5, 1 * ms};
  CHECK(station.serve({20 * ms, 20 * ms}, batch).started.first_s == 5);
  station.restart(6);
  batch = {1, 1, 10 * ms, 7, 7, 1 * ms};
  CHECK(station.serve({7, 7}, batch).started.first_s == 7);
}
