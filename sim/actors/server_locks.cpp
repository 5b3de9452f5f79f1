#include "sim/actors/server_locks.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace replisim {

ServerLocks::ServerLocks(engine::World& world, double deadlock_timeout_s)
    : world_(world), deadlock_timeout_s_(deadlock_timeout_s) {}

BackendId ServerLocks::add_backend(const std::string& name, Kind kind, double lock_timeout_s) {
  const BackendId id = manager_.add_backend(name);
  Backend& backend = backends_.emplace_back();
  backend.kind = kind;
  sessions_ = sessions_ or kind == Kind::Session;
  backend.lock_timeout_s = lock_timeout_s;
  backend.signal = std::make_unique<engine::Signal>(world_, name + " (lock)");
  return id;
}

LockTag ServerLocks::transaction_of(BackendId backend) const {
  return {LockTag::Kind::TransactionId, "", at(backend).transaction};
}

/// A transaction has an id, and others can wait for it, once it writes.
void ServerLocks::begin(BackendId backend, bool writes) {
  Backend& self = at(backend);
  if (not self.in_transaction) {
    self.in_transaction = true;
    self.begun_s = world_.now();
  }
  if (writes and self.transaction == 0) {
    self.transaction = next_transaction_++;
    manager_.acquire(backend, transaction_of(backend), LockMode::Exclusive);
  }
}

void ServerLocks::end_transaction(BackendId backend) {
  Backend& self = at(backend);
  if (self.in_transaction)
    self.longest_s = std::max(self.longest_s, world_.now() - self.begun_s);
  self.in_transaction = false;
  self.transaction = 0;
  self.cancelled.reset();
  rows_.release(backend);
  wake(manager_.release_all(backend));
}

BackendId ServerLocks::prepare(BackendId backend, const std::string& name) {
  const BackendId holder = add_backend(name, at(backend).kind);
  Backend& self = at(backend);
  Backend& prepared = at(holder);
  prepared.in_transaction = std::exchange(self.in_transaction, false);
  prepared.begun_s = self.begun_s;
  prepared.transaction = std::exchange(self.transaction, 0);
  manager_.transfer(backend, holder);
  rows_.transfer(backend, holder);
  return holder;
}

void ServerLocks::end_session(BackendId backend) {
  leave_queue(backend);
  end_transaction(backend);
  wake(manager_.release_all(backend, true));
}

// --- Taking locks -------------------------------------------------------------------------------

void ServerLocks::lock_table(engine::Process& process, BackendId backend, const std::string& table,
                             LockMode mode) {
  begin(backend, mode >= LockMode::RowExclusive);
  const LockTag tag{LockTag::Kind::Relation, table, 0};
  if (manager_.holds(backend, tag, mode))
    return;
  acquire(process, backend, tag, mode);
  unblocked(backend);
}

RowLocks::Locked ServerLocks::take_rows(BackendId backend, const std::string& table, RowRange rows,
                                        RowLock strength) {
  const bool applies = at(backend).kind == Kind::Apply;
  return rows_.lock(backend, table, rows, strength,
                    [this, applies](BackendId other) { return applies and at(other).kind == Kind::Apply; });
}

void ServerLocks::lock_rows(engine::Process& process, BackendId backend, const std::string& table,
                            RowRange rows, RowLock strength, const std::function<void(RowRange)>& ready) {
  begin(backend, true);
  while (rows.count > 0) {
    const auto locked = take_rows(backend, table, rows, strength);
    if (locked.count > 0)
      ready({rows.first, locked.count});
    rows.first += locked.count;
    rows.count -= locked.count;
    if (rows.count > 0) {
      wait_for_row(process, backend, table, rows.first, strength);
      ready({rows.first, 1});
      ++rows.first;
      --rows.count;
    }
  }
}

void ServerLocks::lock_changes(engine::Process& process, BackendId backend,
                               const std::vector<ChangeRun>& runs,
                               const std::function<void(const std::vector<ChangeRun>&)>& apply) {
  std::vector<ChangeRun> ready;
  const auto flush = [&] {
    if (not ready.empty())
      apply(ready);
    ready.clear();
  };
  for (const ChangeRun& run : runs) {
    const std::string& table = run.table->name;
    begin(backend, true);
    if (not manager_.holds(backend, {LockTag::Kind::Relation, table, 0}, LockMode::RowExclusive)) {
      flush();
      lock_table(process, backend, table, LockMode::RowExclusive);
    }
    const auto strength = row_lock_of(run.statement->operation);
    RowRange left = run.rows;
    while (left.count > 0) {
      const auto locked =
          strength ? take_rows(backend, table, left, *strength) : RowLocks::Locked{left.count, {}};
      if (locked.count > 0) {
        ready.push_back(run);
        ready.back().rows = {left.first, locked.count};
      }
      left = {left.first + locked.count, left.count - locked.count};
      if (left.count > 0) {
        flush();
        wait_for_row(process, backend, table, left.first, *strength);
      }
    }
  }
  flush();
}

/// Queues for the row, then waits for whoever holds it, until it is free.
void ServerLocks::wait_for_row(engine::Process& process, BackendId backend, const std::string& table,
                               Rows row, RowLock strength) {
  const LockTag tuple{LockTag::Kind::Tuple, table, row};
  acquire(process, backend, tuple, queueing_mode(strength));
  while (true) {
    const auto locked = take_rows(backend, table, {row, 1}, strength);
    if (locked.count == 1)
      break;
    const LockTag holder = transaction_of(*locked.holder);
    acquire(process, backend, holder, LockMode::Share);
    wake(manager_.release(backend, holder, LockMode::Share));
  }
  wake(manager_.release(backend, tuple, queueing_mode(strength)));
  unblocked(backend);
}

/// Whoever waits for the transaction because of such a row looks again.
void ServerLocks::release_rows(BackendId backend, const std::string& table, RowRange rows) {
  rows_.release(backend, table, rows);
  if (at(backend).transaction == 0)
    return;
  const LockTag mine = transaction_of(backend);
  for (BackendId other = 0; other < static_cast<BackendId>(backends_.size()); ++other)
    if (manager_.waiting(other) and manager_.wanted(other) == mine) {
      wake(manager_.give_up(other));
      at(other).signal->notify();
    }
}

// --- Waiting ------------------------------------------------------------------------------------

void ServerLocks::acquire(engine::Process& process, BackendId backend, const LockTag& tag, LockMode mode) {
  if (not manager_.acquire(backend, tag, mode))
    wait(process, backend);
}

void ServerLocks::wait(engine::Process& process, BackendId backend) {
  Backend& self = at(backend);
  self.on_deadlock = nullptr;
  start_timers(backend);
  while (manager_.waiting(backend))
    process.wait(*self.signal, engine::Activity::Blocked);
  if (self.cancelled) {
    const Cancelled why = *self.cancelled;
    self.cancelled.reset();
    unblocked(backend);
    throw StatementCancelled(why);
  }
}

void ServerLocks::watch(BackendId backend, std::function<void()> on_deadlock) {
  at(backend).on_deadlock = std::move(on_deadlock);
  ++at(backend).wait;
  world_.at(world_.now() + deadlock_timeout_s_, [this, backend, wait = at(backend).wait] {
    if (at(backend).wait == wait and manager_.waiting(backend))
      check(backend);
  });
}

void ServerLocks::start_timers(BackendId backend) {
  Backend& self = at(backend);
  const bool goes_on = self.blocked_since_s >= 0; // the same statement still waits for the same thing
  if (not goes_on)
    self.blocked_since_s = world_.now();
  note_blockers(backend);
  ++self.wait;
  world_.at(world_.now() + deadlock_timeout_s_, [this, backend, wait = self.wait] {
    if (at(backend).wait == wait and manager_.waiting(backend))
      check(backend);
  });
  if (self.lock_timeout_s > 0)
    world_.at(world_.now() + self.lock_timeout_s, [this, backend, wait = self.wait] {
      if (at(backend).wait != wait or not manager_.waiting(backend))
        return;
      ++at(backend).waits.lock_timeouts;
      cancel(backend, Cancelled::LockTimeout);
    });
}

void ServerLocks::note_blockers(BackendId backend) {
  for (const BackendId blocker : manager_.all_blockers(backend))
    at(backend).blocked_by_apply |= at(blocker).kind == Kind::Apply;
}

void ServerLocks::unblocked(BackendId backend) {
  Backend& self = at(backend);
  if (self.blocked_since_s < 0)
    return;
  const double seconds = world_.now() - self.blocked_since_s;
  self.waits.all.add(seconds, 1);
  self.waits.total_s += seconds;
  if (self.blocked_by_apply) {
    self.waits.on_apply.add(seconds, 1);
    self.waits.on_apply_total_s += seconds;
  }
  self.blocked_since_s = -1;
  self.blocked_by_apply = false;
}

void ServerLocks::check(BackendId backend) {
  const auto check = manager_.check_deadlock(backend);
  if (not check.deadlock()) {
    wake(check.woken);
    return;
  }
  Backend& self = at(backend);
  ++self.waits.deadlocks;
  deadlocks_.push_back({world_.now(), manager_.name(backend), sentence(check.cycle)});
  if (self.on_deadlock) // it does not wait in wait()
    self.on_deadlock();
  else
    cancel(backend, Cancelled::Deadlock);
}

std::string ServerLocks::sentence(const std::vector<BackendId>& cycle) const {
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i)
    text += fmt::format("{}{} waits for {}, blocked by {}", i == 0 ? "" : "; ", manager_.name(cycle[i]),
                        describe(manager_.wanted(cycle[i])), manager_.name(cycle[(i + 1) % cycle.size()]));
  return text;
}

void ServerLocks::cancel(BackendId backend, Cancelled why) {
  if (not manager_.waiting(backend))
    return;
  at(backend).cancelled = why;
  const auto woken = manager_.give_up(backend);
  at(backend).signal->notify();
  wake(woken);
}

void ServerLocks::wake(const LockManager::Woken& woken) {
  for (const BackendId backend : woken)
    at(backend).signal->notify();
}

// --- What has happened --------------------------------------------------------------------------

ServerLocks::Waits ServerLocks::waits(BackendId backend) const {
  const Backend& self = at(backend);
  Waits out = self.waits;
  if (self.blocked_since_s >= 0) {
    const double seconds = world_.now() - self.blocked_since_s;
    out.all.add(seconds, 1);
    out.total_s += seconds;
    if (self.blocked_by_apply) {
      out.on_apply.add(seconds, 1);
      out.on_apply_total_s += seconds;
    }
  }
  return out;
}

int ServerLocks::waiting() const {
  int count = 0;
  for (BackendId backend = 0; backend < static_cast<BackendId>(backends_.size()); ++backend)
    count += manager_.waiting(backend) ? 1 : 0;
  return count;
}

double ServerLocks::oldest_transaction_s(std::optional<BackendId> besides) const {
  double oldest = 0;
  for (BackendId backend = 0; backend < static_cast<BackendId>(backends_.size()); ++backend)
    if (at(backend).in_transaction and backend != besides)
      oldest = std::max(oldest, world_.now() - at(backend).begun_s);
  return oldest;
}

double ServerLocks::apply_waits_s() const {
  double sum = 0;
  for (BackendId backend = 0; backend < static_cast<BackendId>(backends_.size()); ++backend)
    if (at(backend).kind == Kind::Apply)
      sum += waits(backend).total_s;
  return sum;
}

double ServerLocks::longest_transaction_s(Kind kind) const {
  double longest = 0;
  for (const Backend& backend : backends_)
    if (backend.kind == kind)
      longest = std::max(
          {longest, backend.longest_s, backend.in_transaction ? world_.now() - backend.begun_s : 0.0});
  return longest;
}

} // namespace replisim
