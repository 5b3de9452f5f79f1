#include "models/lock_manager.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <functional>

namespace replisim {

std::string describe(const LockTag& tag) {
  switch (tag.kind) {
  case LockTag::Kind::Relation:
    return fmt::format("relation {}", tag.name);
  case LockTag::Kind::Tuple:
    return fmt::format("tuple {} of relation {}", tag.number, tag.name);
  case LockTag::Kind::TransactionId:
    return fmt::format("transaction {}", tag.number);
  case LockTag::Kind::ApplyStream:
  case LockTag::Kind::ApplyTransaction:
    break;
  }
  return fmt::format("remote transaction {} of subscription {}", tag.number, tag.name);
}

BackendId LockManager::add_backend(std::string name) {
  backends_.push_back({std::move(name), false, {}, LockMode::AccessShare, {}});
  return static_cast<BackendId>(backends_.size()) - 1;
}

void LockManager::grant(Lock& lock, const LockTag& tag, BackendId backend, LockMode mode) {
  for (Held& held : lock.held)
    if (held.backend == backend and held.mode == mode) {
      ++held.count;
      return;
    }
  lock.held.push_back({backend, mode, 1});
  backends_[index(backend)].held.insert(tag);
}

bool LockManager::conflicts_with_holders(const Lock& lock, BackendId backend, LockMode mode) {
  return std::any_of(lock.held.begin(), lock.held.end(), [&](const Held& held) {
    return held.backend != backend and conflicts(mode, held.mode);
  });
}

bool LockManager::acquire(BackendId backend, const LockTag& tag, LockMode mode) {
  Backend& self = backends_.at(index(backend));
  REPLISIM_REQUIRE(not self.waits, "{} waits for {} and asks for {}", self.name, describe(self.wanted),
                   describe(tag));
  Lock& lock = locks_[tag];
  const bool mine = holds(backend, tag, mode);
  // Where in the queue: before the first one who waits for a lock that this backend holds.
  auto place = lock.queue.begin();
  bool behind_conflict = false;
  for (; place != lock.queue.end(); ++place) {
    const bool waits_for_me = std::any_of(lock.held.begin(), lock.held.end(), [&](const Held& held) {
      return held.backend == backend and conflicts(place->mode, held.mode);
    });
    if (waits_for_me)
      break;
    behind_conflict = behind_conflict or conflicts(mode, place->mode);
  }
  if (mine or (not behind_conflict and not conflicts_with_holders(lock, backend, mode))) {
    grant(lock, tag, backend, mode);
    return true;
  }
  lock.queue.insert(place, {backend, mode});
  self.waits = true;
  self.wanted = tag;
  self.mode = mode;
  return false;
}

/// ProcLockWakeup: in the order of the queue, whoever conflicts neither with a holder nor with one who goes
/// on waiting before him.
void LockManager::wake(const LockTag& tag, Woken& woken) {
  const auto it = locks_.find(tag);
  if (it == locks_.end())
    return;
  Lock& lock = it->second;
  std::vector<LockMode> ahead;
  std::deque<Waiter> left;
  for (const Waiter& waiter : lock.queue) {
    const bool behind =
        std::any_of(ahead.begin(), ahead.end(), [&](LockMode mode) { return conflicts(waiter.mode, mode); });
    if (behind or conflicts_with_holders(lock, waiter.backend, waiter.mode)) {
      ahead.push_back(waiter.mode);
      left.push_back(waiter);
      continue;
    }
    grant(lock, tag, waiter.backend, waiter.mode);
    backends_[index(waiter.backend)].waits = false;
    woken.push_back(waiter.backend);
  }
  lock.queue = std::move(left);
  if (lock.held.empty() and lock.queue.empty())
    locks_.erase(it);
}

LockManager::Woken LockManager::release(BackendId backend, const LockTag& tag, LockMode mode) {
  Woken woken;
  const auto it = locks_.find(tag);
  if (it == locks_.end())
    return woken;
  auto& held = it->second.held;
  const auto mine = std::find_if(held.begin(), held.end(), [&](const Held& entry) {
    return entry.backend == backend and entry.mode == mode;
  });
  if (mine == held.end() or --mine->count > 0)
    return woken;
  held.erase(mine);
  if (std::none_of(held.begin(), held.end(), [&](const Held& entry) { return entry.backend == backend; }))
    backends_.at(index(backend)).held.erase(tag);
  wake(tag, woken);
  return woken;
}

LockManager::Woken LockManager::release_all(BackendId backend, bool session_ends) {
  Woken woken;
  const std::set<LockTag> tags = std::move(backends_.at(index(backend)).held);
  backends_.at(index(backend)).held.clear();
  for (const LockTag& tag : tags) {
    if (tag.kind == LockTag::Kind::ApplyStream and not session_ends) {
      backends_.at(index(backend)).held.insert(tag);
      continue;
    }
    auto& held = locks_.at(tag).held;
    held.erase(
        std::remove_if(held.begin(), held.end(), [&](const Held& entry) { return entry.backend == backend; }),
        held.end());
    wake(tag, woken);
  }
  return woken;
}

void LockManager::transfer(BackendId from, BackendId to) {
  std::set<LockTag>& mine = backends_.at(index(from)).held;
  for (auto it = mine.begin(); it != mine.end();) {
    if (it->kind == LockTag::Kind::ApplyStream) { // the session's
      ++it;
      continue;
    }
    for (Held& held : locks_.at(*it).held)
      if (held.backend == from)
        held.backend = to;
    backends_.at(index(to)).held.insert(*it);
    it = mine.erase(it);
  }
}

LockManager::Woken LockManager::give_up(BackendId backend) {
  Woken woken;
  Backend& self = backends_.at(index(backend));
  if (not self.waits)
    return woken;
  self.waits = false;
  auto& queue = locks_.at(self.wanted).queue;
  queue.erase(std::find_if(queue.begin(), queue.end(),
                           [&](const Waiter& waiter) { return waiter.backend == backend; }));
  wake(LockTag(self.wanted), woken);
  return woken;
}

bool LockManager::holds(BackendId backend, const LockTag& tag, LockMode mode) const {
  const auto it = locks_.find(tag);
  return it != locks_.end() and
         std::any_of(it->second.held.begin(), it->second.held.end(),
                     [&](const Held& held) { return held.backend == backend and held.mode == mode; });
}

std::vector<LockManager::Edge> LockManager::blockers(BackendId backend) const {
  std::vector<Edge> out;
  const Backend& self = backends_.at(index(backend));
  if (not self.waits)
    return out;
  const Lock& lock = locks_.at(self.wanted);
  for (const Held& held : lock.held)
    if (held.backend != backend and conflicts(self.mode, held.mode))
      out.push_back({held.backend, false});
  for (const Waiter& waiter : lock.queue) {
    if (waiter.backend == backend)
      break;
    if (conflicts(self.mode, waiter.mode))
      out.push_back({waiter.backend, true});
  }
  return out;
}

std::set<BackendId> LockManager::all_blockers(BackendId backend) const {
  std::set<BackendId> seen;
  std::vector<BackendId> open = {backend};
  while (not open.empty()) {
    const BackendId next = open.back();
    open.pop_back();
    for (const Edge& edge : blockers(next))
      if (seen.insert(edge.blocker).second)
        open.push_back(edge.blocker);
  }
  return seen;
}

std::vector<BackendId> LockManager::cycle_through(BackendId start) const {
  std::vector<BackendId> path;
  std::set<BackendId> seen;
  const std::function<bool(BackendId)> search = [&](BackendId backend) {
    path.push_back(backend);
    seen.insert(backend);
    for (const Edge& edge : blockers(backend)) {
      if (edge.blocker == start or (not seen.contains(edge.blocker) and search(edge.blocker)))
        return true;
    }
    path.pop_back();
    return false;
  };
  if (not search(start))
    path.clear();
  return path;
}

/// Tries to break the cycle where one waits for another only because he came later: lets him go first. What
/// was tried in vain is taken back.
bool LockManager::resolve(const std::vector<BackendId>& cycle, int depth) {
  constexpr int deepest = 4;
  if (depth == deepest)
    return false;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const BackendId waiter = cycle[i];
    const BackendId before = cycle[(i + 1) % cycle.size()];
    const auto edges = blockers(waiter);
    const bool hard = std::any_of(edges.begin(), edges.end(),
                                  [&](const Edge& edge) { return edge.blocker == before and not edge.soft; });
    if (hard)
      continue;
    auto& queue = locks_.at(backends_[index(waiter)].wanted).queue;
    const std::deque<Waiter> as_it_was = queue;
    const auto place = [&](BackendId backend) {
      return std::find_if(queue.begin(), queue.end(),
                          [&](const Waiter& entry) { return entry.backend == backend; });
    };
    std::rotate(place(before), place(waiter), std::next(place(waiter)));
    std::vector<BackendId> next;
    for (const BackendId backend : cycle) {
      next = cycle_through(backend);
      if (not next.empty())
        break;
    }
    if (next.empty() or resolve(next, depth + 1))
      return true;
    queue = as_it_was;
  }
  return false;
}

LockManager::Check LockManager::check_deadlock(BackendId backend) {
  Check check;
  const auto cycle = cycle_through(backend);
  if (cycle.empty())
    return check;
  if (not resolve(cycle, 0)) {
    check.cycle = cycle;
    return check;
  }
  std::set<LockTag> queues;
  for (const Backend& waiting : backends_)
    if (waiting.waits)
      queues.insert(waiting.wanted);
  for (const LockTag& tag : queues)
    wake(tag, check.woken);
  return check;
}

} // namespace replisim
