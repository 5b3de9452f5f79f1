// The lock manager of one server: who holds what in which mode, who waits for it in which order, and whether
// those who wait wait for each other.
//
// Counterpart: lock.c and proc.c (LockAcquire, JoinWaitQueue, ProcLockWakeup), deadlock.c (DeadLockCheck). It
// knows no clock: who waits is told when it may go on, and asks for the deadlock check when it has waited for
// deadlock_timeout. Rows are not kept here but in RowLocks; a session that wants a locked row waits here for
// the transaction that holds it (lmgr.c: XactLockTableWait). Simplified: two sessions that want to strengthen
// the same lock are found by the check, not as soon as the second one asks.
#pragma once

#include "models/row_locks.hpp"

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace replisim {

/// What a lock is on; the kinds are `locktype` of pg_locks.
struct LockTag {
  enum class Kind { Relation, Tuple, TransactionId, ApplyStream, ApplyTransaction } kind = Kind::Relation;
  std::string name;        ///< table of Relation and Tuple, subscription of the apply locks
  std::int64_t number = 0; ///< row of Tuple, transaction of the others
  auto operator<=>(const LockTag&) const = default;
};

/// "relation test_tab", "tuple 5 of relation test_tab", "transaction 7", "remote transaction 7 of
/// subscription s".
std::string describe(const LockTag& tag);

class LockManager {
public:
  /// A process; `name` for messages.
  BackendId add_backend(std::string name);
  const std::string& name(BackendId backend) const { return backends_.at(index(backend)).name; }

  /// Takes the lock, or joins its queue. True when it is granted at once. One that conflicts with nobody
  /// who holds it, but with somebody who waits for it, waits behind him: a stream of readers does not
  /// starve an ALTER TABLE. A backend that holds a lock for which somebody waits goes before him.
  bool acquire(BackendId backend, const LockTag& tag, LockMode mode);
  bool waiting(BackendId backend) const { return backends_.at(index(backend)).waits; }
  /// What a waiting backend waits for.
  const LockTag& wanted(BackendId backend) const { return backends_.at(index(backend)).wanted; }

  /// All of these return who may go on: their locks have been granted.
  using Woken = std::vector<BackendId>;
  Woken release(BackendId backend, const LockTag& tag, LockMode mode);
  /// At the end of a transaction. Stream locks of parallel apply belong to the session and stay, unless it
  /// ends.
  Woken release_all(BackendId backend, bool session_ends = false);
  /// What a transaction of `from` holds is held by `to` from now on; nobody may go on because of it.
  void transfer(BackendId from, BackendId to);
  /// The backend no longer waits: cancelled, or out of patience.
  Woken give_up(BackendId backend);

  bool holds(BackendId backend, const LockTag& tag, LockMode mode) const;
  bool holds_any(BackendId backend) const { return not backends_.at(index(backend)).held.empty(); }

  /// Whom a waiting backend waits for: holders in a conflicting mode, then those before it in the queue that
  /// want a conflicting one. Empty when it does not wait.
  struct Edge {
    BackendId blocker = 0;
    bool soft = false; ///< a waiter before it; the queue could be rearranged
  };
  std::vector<Edge> blockers(BackendId backend) const;
  /// Everybody it waits for directly or through others, in order.
  std::set<BackendId> all_blockers(BackendId backend) const;

  /// The check of a backend that has waited for deadlock_timeout: `cycle` lists who waits for whom, beginning
  /// with it, when nothing but its own cancellation helps. When rearranging queues is enough, it is done
  /// and `woken` may go on. A cycle that this backend is not part of is left to those who are.
  struct Check {
    std::vector<BackendId> cycle;
    Woken woken;
    bool deadlock() const { return not cycle.empty(); }
  };
  Check check_deadlock(BackendId backend);

private:
  struct Held {
    BackendId backend;
    LockMode mode;
    std::int64_t count; ///< taken so often
  };
  struct Waiter {
    BackendId backend;
    LockMode mode;
  };
  struct Lock {
    std::vector<Held> held;
    std::deque<Waiter> queue;
  };
  struct Backend {
    std::string name;
    bool waits = false;
    LockTag wanted;
    LockMode mode = LockMode::AccessShare;
    std::set<LockTag> held;
  };

  static std::size_t index(BackendId backend) { return static_cast<std::size_t>(backend); }
  void grant(Lock& lock, const LockTag& tag, BackendId backend, LockMode mode);
  static bool conflicts_with_holders(const Lock& lock, BackendId backend, LockMode mode);
  void wake(const LockTag& tag, Woken& woken);
  std::vector<BackendId> cycle_through(BackendId start) const;
  bool resolve(const std::vector<BackendId>& cycle, int depth);

  std::vector<Backend> backends_;
  std::map<LockTag, Lock> locks_;
};

} // namespace replisim
