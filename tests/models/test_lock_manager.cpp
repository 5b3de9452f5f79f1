// Queues, fairness and deadlocks, worked out by hand after proc.c and deadlock.c.
#include "models/lock_manager.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using enum LockMode;

namespace {
const LockTag table_t{LockTag::Kind::Relation, "t", 0};
const LockTag table_u{LockTag::Kind::Relation, "u", 0};
using Backends = std::vector<BackendId>;

/// A manager with backends 0, 1, 2, ...
struct Locks : LockManager {
  explicit Locks(int backends) {
    for (int i = 0; i < backends; ++i)
      add_backend("backend " + std::to_string(i));
  }
};
} // namespace

TEST_CASE("modes that agree are held together, others wait") {
  Locks locks(3);
  CHECK(locks.acquire(0, table_t, RowExclusive));
  CHECK(locks.acquire(1, table_t, RowExclusive));
  CHECK_FALSE(locks.acquire(2, table_t, AccessExclusive));
  CHECK(locks.waiting(2));
  CHECK(locks.wanted(2) == table_t);
  CHECK(locks.release(0, table_t, RowExclusive).empty()); // 1 still holds it
  CHECK(locks.release(1, table_t, RowExclusive) == Backends{2});
  CHECK_FALSE(locks.waiting(2));
  CHECK(locks.holds(2, table_t, AccessExclusive));
}

TEST_CASE("a reader that comes after a waiting ALTER TABLE waits behind it") {
  Locks locks(4);
  CHECK(locks.acquire(0, table_t, AccessShare));
  CHECK_FALSE(locks.acquire(1, table_t, AccessExclusive));
  CHECK_FALSE(locks.acquire(2, table_t, AccessShare)); // agrees with the holder, not with the waiter
  CHECK(locks.blockers(2).size() == 1);
  CHECK(locks.blockers(2)[0].blocker == 1);
  CHECK(locks.blockers(2)[0].soft);
  CHECK(locks.release_all(0) == Backends{1});
  CHECK_FALSE(locks.acquire(3, table_t, AccessShare));
  CHECK(locks.release_all(1) == Backends{2, 3}); // both readers, in order
}

TEST_CASE("who holds a lock already goes before those who wait for it") {
  Locks locks(3);
  CHECK(locks.acquire(0, table_t, AccessShare));
  CHECK(locks.acquire(1, table_t, AccessShare));
  CHECK_FALSE(locks.acquire(2, table_t, AccessExclusive)); // waits for 0 and 1
  CHECK(locks.acquire(0, table_t, RowExclusive));          // agrees with all holders: granted past the queue
  CHECK(locks.release_all(1).empty());
  CHECK(locks.release_all(0) == Backends{2});
}

TEST_CASE("a lock one holds is taken again at once, and given back as often") {
  Locks locks(3);
  CHECK(locks.acquire(0, table_t, Share));
  CHECK_FALSE(locks.acquire(1, table_t, RowExclusive));
  CHECK(locks.acquire(0, table_t, Share));
  CHECK(locks.release(0, table_t, Share).empty());
  CHECK(locks.holds(0, table_t, Share));
  CHECK(locks.release(0, table_t, Share) == Backends{1});
  CHECK(locks.release(0, table_t, Share).empty()); // nothing left to give back
}

TEST_CASE("those who agree with everybody before them are woken together") {
  Locks locks(6);
  CHECK(locks.acquire(0, table_t, AccessExclusive));
  CHECK_FALSE(locks.acquire(1, table_t, Share));
  CHECK_FALSE(locks.acquire(2, table_t, RowShare));
  CHECK_FALSE(locks.acquire(3, table_t, RowExclusive)); // conflicts with 1, who waits before it
  CHECK_FALSE(locks.acquire(4, table_t, Share));        // ... and this one with 3
  CHECK_FALSE(locks.acquire(5, table_t, AccessShare));
  CHECK(locks.release_all(0) == Backends{1, 2, 5});
  CHECK(locks.release_all(1) == Backends{3}); // 4 keeps its place behind 3
  CHECK(locks.release_all(3) == Backends{4});
}

TEST_CASE("one who gives up lets those behind him through") {
  Locks locks(3);
  CHECK(locks.acquire(0, table_t, AccessShare));
  CHECK_FALSE(locks.acquire(1, table_t, AccessExclusive));
  CHECK_FALSE(locks.acquire(2, table_t, AccessShare));
  CHECK(locks.give_up(1) == Backends{2});
  CHECK_FALSE(locks.waiting(1));
  CHECK(locks.give_up(1).empty());
}

TEST_CASE("two that wait for each other are a deadlock, whoever looks") {
  Locks locks(3);
  CHECK(locks.acquire(0, table_t, AccessExclusive));
  CHECK(locks.acquire(1, table_u, AccessExclusive));
  CHECK_FALSE(locks.acquire(0, table_u, AccessShare));
  CHECK_FALSE(locks.check_deadlock(0).deadlock()); // not yet
  CHECK_FALSE(locks.acquire(1, table_t, AccessShare));
  CHECK(locks.check_deadlock(0).cycle == Backends{0, 1});
  CHECK(locks.check_deadlock(1).cycle == Backends{1, 0});
  // A third one that waits for them is no part of it: it goes on waiting.
  CHECK_FALSE(locks.acquire(2, table_t, AccessShare));
  CHECK_FALSE(locks.check_deadlock(2).deadlock());
  CHECK(locks.all_blockers(2) == std::set<BackendId>{0, 1});
  // The victim's transaction is over: the other one goes on.
  CHECK(locks.give_up(0).empty());
  CHECK(locks.release_all(0) == Backends{1, 2});
}

TEST_CASE("a cycle of three is found") {
  Locks locks(3);
  const LockTag table_v{LockTag::Kind::Relation, "v", 0};
  CHECK(locks.acquire(0, table_t, Exclusive));
  CHECK(locks.acquire(1, table_u, Exclusive));
  CHECK(locks.acquire(2, table_v, Exclusive));
  CHECK_FALSE(locks.acquire(0, table_u, Exclusive));
  CHECK_FALSE(locks.acquire(1, table_v, Exclusive));
  CHECK_FALSE(locks.check_deadlock(1).deadlock());
  CHECK_FALSE(locks.acquire(2, table_t, Exclusive));
  CHECK(locks.check_deadlock(1).cycle == Backends{1, 2, 0});
}

TEST_CASE("a cycle through mere waiters is resolved by letting one go first") {
  // 0 reads t; 1 wants to alter t and waits; 2, which holds u, wants to read t and waits behind 1; 0 wants u.
  // 0 waits for 2, 2 for 1 (only because 1 came first), 1 for 0. With 2 before 1 all is well.
  Locks locks(3);
  CHECK(locks.acquire(0, table_t, AccessShare));
  CHECK(locks.acquire(2, table_u, AccessExclusive));
  CHECK_FALSE(locks.acquire(1, table_t, AccessExclusive));
  CHECK_FALSE(locks.acquire(2, table_t, AccessShare));
  CHECK_FALSE(locks.acquire(0, table_u, AccessShare));
  const auto check = locks.check_deadlock(0);
  CHECK_FALSE(check.deadlock());
  CHECK(check.woken == Backends{2});
  CHECK(locks.release_all(2) == Backends{0});
  CHECK(locks.release_all(0) == Backends{1});
}

TEST_CASE("a queue rearranged in vain is as it was") {
  // Both edges between 0 and 1 are hard; 2 waits behind 1 for t.
  Locks locks(3);
  CHECK(locks.acquire(0, table_t, Exclusive));
  CHECK(locks.acquire(1, table_u, Exclusive));
  CHECK_FALSE(locks.acquire(1, table_t, Exclusive));
  CHECK_FALSE(locks.acquire(2, table_t, Exclusive));
  CHECK_FALSE(locks.acquire(0, table_u, Exclusive));
  CHECK(locks.check_deadlock(0).deadlock());
  CHECK(locks.give_up(0).empty());
  CHECK(locks.release_all(0) == Backends{1}); // before 2
  CHECK(locks.waiting(2));
}

TEST_CASE("rows are queued for in order of arrival") {
  // 0 has changed row 5. 1 and 2 want it: 1 has the tuple lock and waits for 0's transaction, 2 waits for 1.
  Locks locks(3);
  const LockTag row{LockTag::Kind::Tuple, "t", 5};
  const LockTag of_0{LockTag::Kind::TransactionId, "", 100};
  const LockMode queue = queueing_mode(RowLock::NoKeyUpdate);
  CHECK(locks.acquire(0, of_0, Exclusive));
  CHECK(locks.acquire(1, row, queue));
  CHECK_FALSE(locks.acquire(1, of_0, Share));
  CHECK_FALSE(locks.acquire(2, row, queue));
  CHECK(locks.release_all(0) == Backends{1});
  CHECK(locks.release(1, row, queue) == Backends{2});
}

TEST_CASE("lock objects are named as in the server's messages") {
  CHECK(describe(table_t) == "relation t");
  CHECK(describe({LockTag::Kind::Tuple, "t", 5}) == "tuple 5 of relation t");
  CHECK(describe({LockTag::Kind::TransactionId, "", 731}) == "transaction 731");
  CHECK(describe({LockTag::Kind::ApplyStream, "s", 731}) == "remote transaction 731 of subscription s");
}
