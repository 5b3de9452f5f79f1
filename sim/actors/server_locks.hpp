// The locks of one subscriber: processes that wait for them, for how long, and the deadlock check.
//
// Counterpart: lock.c, proc.c (ProcSleep, deadlock_timeout, lock_timeout) and, for rows, heapam.c
// (heap_update, heap_lock_tuple): who wants a row that somebody else has changed takes the tuple lock, so
// that others queue behind him, and then waits for the other one's transaction to end.
#pragma once

#include "models/lag_sketch.hpp"
#include "models/lock_manager.hpp"
#include "models/reorder_buffer.hpp"
#include "sim/engine/world.hpp"

#include <exception>
#include <functional>
#include <memory>

namespace replisim {

/// Why a statement ended while it waited; its transaction is rolled back.
enum class Cancelled { Deadlock, LockTimeout, Stopped };

class StatementCancelled : public std::exception {
public:
  explicit StatementCancelled(Cancelled why) : why_(why) {}
  Cancelled why() const { return why_; }
  const char* what() const noexcept override {
    return "a statement was cancelled while it waited for a lock";
  }

private:
  Cancelled why_;
};

/// A deadlock that was found.
struct DeadlockRecord {
  double t_s = 0;
  std::string victim;
  std::string text; ///< one sentence: who waited for whom
};

class ServerLocks {
public:
  ServerLocks(engine::World& world, double deadlock_timeout_s);

  /// Apply processes are told from sessions: what sessions wait for them is a result of its own. Two apply
  /// processes never want the same published row at once, as the publisher's row locks have seen to that.
  enum class Kind { Apply, Session };
  BackendId add_backend(const std::string& name, Kind kind, double lock_timeout_s = 0);

  /// Whether anybody but apply processes takes locks here.
  bool has_sessions() const { return sessions_; }

  /// A table lock, held to the end of the transaction. Throws StatementCancelled.
  void lock_table(engine::Process& process, BackendId backend, const std::string& table, LockMode mode);
  /// Rows of a table, held to the end of the transaction, waiting for those that others hold. `ready` is
  /// called with each stretch of rows whenever it is about to wait, and with the last one. Throws
  /// StatementCancelled.
  void lock_rows(engine::Process& process, BackendId backend, const std::string& table, RowRange rows,
                 RowLock strength, const std::function<void(RowRange)>& ready);
  /// The locks that applying `runs` takes: each table in ROW EXCLUSIVE, and the rows. `apply` is called with
  /// what can be applied before the next wait, and at the end.
  void lock_changes(engine::Process& process, BackendId backend, const std::vector<ChangeRun>& runs,
                    const std::function<void(const std::vector<ChangeRun>&)>& apply);
  /// ROLLBACK TO SAVEPOINT gives rows back that were changed since.
  void release_rows(BackendId backend, const std::string& table, RowRange rows);
  /// Commit or rollback.
  void end_transaction(BackendId backend);
  /// PREPARE TRANSACTION: what the transaction in hand holds goes over to a backend of its own, which this
  /// returns; end_transaction of that one is COMMIT PREPARED.
  BackendId prepare(BackendId backend, const std::string& name);
  /// The process ends: locks that belong to no transaction go, too.
  void end_session(BackendId backend);

  /// Locks outside of tables: the stream and transaction locks of parallel apply.
  bool try_lock(BackendId backend, const LockTag& tag, LockMode mode) {
    return manager_.acquire(backend, tag, mode);
  }
  /// The backend waits by other means for something that shows as a lock: see LockManager. `watch` makes the
  /// deadlock check take place.
  void watch(BackendId backend, std::function<void()> on_deadlock);
  void leave_queue(BackendId backend) { wake(manager_.give_up(backend)); }
  void unlock(BackendId backend, const LockTag& tag, LockMode mode) {
    wake(manager_.release(backend, tag, mode));
  }

  /// Ends the wait of a backend, if it waits: it throws StatementCancelled.
  void cancel(BackendId backend, Cancelled why);

  // What has happened.
  /// Waits of a backend for locks: one per table or row that was not free.
  struct Waits {
    LagSketch all;      ///< s
    LagSketch on_apply; ///< s; those in which an apply process held what was wanted, or stood before it
    double total_s = 0, on_apply_total_s = 0;
    std::int64_t deadlocks = 0, lock_timeouts = 0; ///< as the victim
  };
  /// A wait that is under way counts as long as it has lasted.
  Waits waits(BackendId backend) const;
  /// Processes that wait for a lock at this moment.
  int waiting() const;
  /// Age of the oldest transaction that has written or read something: what vacuum cannot pass.
  double oldest_transaction_s(std::optional<BackendId> besides = {}) const;
  /// What the apply processes have waited for locks in all.
  double apply_waits_s() const;
  /// Longest transaction so far, by kind, one under way included.
  double longest_transaction_s(Kind kind) const;
  const std::vector<DeadlockRecord>& deadlocks() const { return deadlocks_; }
  const LockManager& manager() const { return manager_; }
  const RowLocks& rows() const { return rows_; }

private:
  struct Backend {
    Kind kind = Kind::Session;
    double lock_timeout_s = 0;
    std::unique_ptr<engine::Signal> signal;
    bool in_transaction = false;
    double begun_s = 0;
    double longest_s = 0;
    std::int64_t transaction = 0; ///< number of its transaction, when it has written
    std::uint64_t wait = 0;       ///< counts waits: timers of old ones mean nothing
    double blocked_since_s = -1;
    bool blocked_by_apply = false;
    std::optional<Cancelled> cancelled;
    std::function<void()> on_deadlock;
    Waits waits;
  };
  Backend& at(BackendId backend) { return backends_[static_cast<std::size_t>(backend)]; }
  const Backend& at(BackendId backend) const { return backends_[static_cast<std::size_t>(backend)]; }
  void begin(BackendId backend, bool writes);
  void acquire(engine::Process& process, BackendId backend, const LockTag& tag, LockMode mode);
  void wait(engine::Process& process, BackendId backend);
  void wait_for_row(engine::Process& process, BackendId backend, const std::string& table, Rows row,
                    RowLock strength);
  RowLocks::Locked take_rows(BackendId backend, const std::string& table, RowRange rows, RowLock strength);
  LockTag transaction_of(BackendId backend) const;
  void start_timers(BackendId backend);
  void check(BackendId backend);
  void note_blockers(BackendId backend);
  void unblocked(BackendId backend);
  void wake(const LockManager::Woken& woken);
  std::string sentence(const std::vector<BackendId>& cycle) const;

  engine::World& world_;
  double deadlock_timeout_s_;
  bool sessions_ = false;
  LockManager manager_;
  RowLocks rows_;
  std::deque<Backend> backends_;
  std::vector<DeadlockRecord> deadlocks_;
  std::int64_t next_transaction_ = 1;
};

} // namespace replisim
