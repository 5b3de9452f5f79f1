// Rows held as ranges.
#include "models/row_locks.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

TEST_CASE("neighbouring rows become one range and gaps stay") {
  RowSet rows;
  rows.add({1, 10});
  rows.add({21, 10});
  CHECK(rows.ranges() == 2);
  CHECK(rows.count() == 20);
  rows.add({11, 10}); // fills the gap
  CHECK(rows.ranges() == 1);
  CHECK(rows.count() == 30);
  rows.add({5, 3}); // known already
  CHECK(rows.count() == 30);
  rows.add({40, 0});
  CHECK(rows.ranges() == 1);
}

TEST_CASE("the first row of a range that is held") {
  RowSet rows;
  rows.add({10, 5});  // 10 to 14
  rows.add({100, 1}); // 100
  CHECK_FALSE(rows.first_in({1, 9}).has_value());
  CHECK(rows.first_in({1, 10}) == 10);
  CHECK(rows.first_in({12, 100}) == 12);
  CHECK_FALSE(rows.first_in({15, 85}).has_value());
  CHECK(rows.first_in({15, 86}) == 100);
  CHECK_FALSE(rows.first_in({101, 5}).has_value());
}

TEST_CASE("rows taken out of the middle leave two ranges") {
  RowSet rows;
  rows.add({1, 100});
  rows.remove({41, 20});
  CHECK(rows.ranges() == 2);
  CHECK(rows.count() == 80);
  CHECK(rows.first_in({40, 30}) == 40);
  CHECK(rows.first_in({41, 30}) == 61);
  rows.remove({1, 40});
  CHECK(rows.count() == 40);
  rows.remove({1, 1000});
  CHECK(rows.empty());
}

TEST_CASE("five million rows of one transaction are one range") {
  RowLocks locks;
  for (Rows done = 0; done < 5000000; done += 5000)
    CHECK_FALSE(locks.lock(0, "t", {done + 1, 5000}, RowLock::NoKeyUpdate).holder.has_value());
  CHECK(locks.held(0, "t") == 5000000);
  const auto other = locks.lock(1, "t", {4999999, 10}, RowLock::NoKeyUpdate);
  CHECK(other.count == 0);
  CHECK(other.holder == 0);
  CHECK(locks.lock(1, "t", {5000001, 10}, RowLock::NoKeyUpdate).count == 10);
}

TEST_CASE("rows are locked up to the first one that somebody else holds") {
  RowLocks locks;
  locks.lock(7, "t", {50, 1}, RowLock::Update);
  locks.lock(3, "t", {80, 1}, RowLock::NoKeyUpdate);
  const auto locked = locks.lock(1, "t", {1, 100}, RowLock::NoKeyUpdate);
  CHECK(locked.count == 49);
  CHECK(locked.holder == 7);
  CHECK(locks.held(1, "t") == 49);
  locks.release(7);
  const auto rest = locks.lock(1, "t", {50, 51}, RowLock::NoKeyUpdate);
  CHECK(rest.count == 30);
  CHECK(rest.holder == 3);
  CHECK(locks.held(1, "t") == 79);
  CHECK(locks.holders("t") == std::vector<BackendId>{1, 3});
  CHECK(locks.lock(1, "u", {1, 100}, RowLock::Update).count == 100); // another table
}

TEST_CASE("readers of a key do not stop an update that leaves the key alone") {
  RowLocks locks;
  locks.lock(1, "t", {5, 1}, RowLock::KeyShare);
  CHECK(locks.lock(2, "t", {5, 1}, RowLock::NoKeyUpdate).count == 1);
  CHECK(locks.lock(3, "t", {5, 1}, RowLock::Update).count == 0); // a delete waits for both
  CHECK(locks.lock(3, "t", {5, 1}, RowLock::Update).holder == 1);
  CHECK(locks.lock(4, "t", {5, 1}, RowLock::Share).holder == 2);
}

TEST_CASE("a rollback to a savepoint gives its rows back") {
  RowLocks locks;
  locks.lock(1, "t", {1, 100}, RowLock::NoKeyUpdate);
  locks.release(1, "t", {61, 40});
  CHECK(locks.held(1, "t") == 60);
  CHECK(locks.lock(2, "t", {61, 40}, RowLock::Update).count == 40);
  CHECK(locks.lock(2, "t", {60, 1}, RowLock::Update).count == 0);
}

TEST_CASE("a row held in two strengths counts once") {
  RowLocks locks;
  locks.lock(1, "t", {1, 10}, RowLock::Share);
  locks.lock(1, "t", {6, 10}, RowLock::Update);
  CHECK(locks.held(1, "t") == 15);
  CHECK(locks.held(2, "t") == 0);
  CHECK(locks.held(1, "u") == 0);
}
