// Who gets a parallel apply worker, which ones stay, and how long a leader waits for a full ring.
#include "models/parallel_workers.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

TEST_CASE("a pool launches up to its maximum and keeps half of it") {
  ParallelWorkerPool pool(4);
  for (int i = 0; i < 4; ++i) {
    const auto assigned = pool.allocate();
    REQUIRE(assigned);
    CHECK(assigned->worker == i);
    CHECK(assigned->launched);
  }
  CHECK_FALSE(pool.allocate());
  CHECK_FALSE(pool.release(0)); // 4 of 4 alive
  CHECK_FALSE(pool.release(1)); // 3
  CHECK(pool.release(2));       // 2: half
  CHECK(pool.release(3));
  CHECK(pool.alive() == 2);
  const auto again = pool.allocate();
  CHECK(again->worker == 2); // an idle one comes before a new one
  CHECK_FALSE(again->launched);
}

TEST_CASE("a worker of a partially serialised transaction is stopped") {
  ParallelWorkerPool pool(2);
  CHECK(pool.allocate());
  CHECK_FALSE(pool.release(0, true));
  CHECK(pool.alive() == 0);
  CHECK(pool.allocate()->launched);
  CHECK(pool.release(0, false));
}

TEST_CASE("subscriptions share their server's places for workers") {
  WorkerSlots slots(3);
  CHECK(slots.take()); // a leader
  ParallelWorkerPool first(2, &slots), second(2, &slots);
  CHECK(first.allocate());
  CHECK(first.allocate());
  CHECK_FALSE(second.allocate()); // its own maximum is not reached
  CHECK(slots.free() == 0);
  first.release(0); // 2 alive of 2: it is stopped
  CHECK(slots.free() == 1);
  CHECK(second.allocate());
  first.stop_all();
  CHECK(slots.free() == 1);
  second.release(0); // one alive is half of two: it stays and keeps its place
  CHECK(slots.free() == 1);
  second.stop_all();
  CHECK(slots.free() == 2);
}

TEST_CASE("no maximum, no workers") {
  CHECK_FALSE(ParallelWorkerPool(0).allocate());
  CHECK_FALSE(ParallelWorkerPool(-1).allocate());
}

TEST_CASE("a leader gives up ten seconds after the ring was full and no quarter came back") {
  RingPatience patience(1000);
  patience.waits(100);
  CHECK(patience.gives_up_s() == 110);
  patience.waits(103); // still the same wait
  patience.taken(249, 105);
  CHECK(patience.gives_up_s() == 110); // not yet a quarter
  patience.taken(1, 107);
  CHECK(patience.gives_up_s() == 117);
  patience.had_room();
  patience.waits(130);
  CHECK(patience.gives_up_s() == 140);
  patience.had_room(); // of what comes back before a quarter is complete, the leader sees nothing
  patience.waits(135);
  CHECK(patience.gives_up_s() == 140);
}

TEST_CASE("what a worker takes while nobody waits counts for the quarter, not for the wait") {
  RingPatience patience(1000);
  patience.taken(200, 1);
  patience.waits(5);
  patience.taken(50, 6);
  CHECK(patience.gives_up_s() == 16);
}
