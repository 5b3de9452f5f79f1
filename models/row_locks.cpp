#include "models/row_locks.hpp"

#include <algorithm>

namespace replisim {

void RowSet::add(RowRange range) {
  if (range.count <= 0)
    return;
  Rows first = range.first;
  Rows end = range.first + range.count;
  auto it = ends_.upper_bound(first);
  if (it != ends_.begin() and std::prev(it)->second >= first) // touches the range before
    --it;
  while (it != ends_.end() and it->first <= end) {
    first = std::min(first, it->first);
    end = std::max(end, it->second);
    it = ends_.erase(it);
  }
  ends_.emplace(first, end);
}

void RowSet::add(const RowSet& rows) {
  for (const auto& [first, end] : rows.ends_)
    add({first, end - first});
}

void RowSet::remove(RowRange range) {
  const Rows end = range.first + range.count;
  auto it = ends_.upper_bound(range.first);
  if (it != ends_.begin() and std::prev(it)->second > range.first)
    --it;
  while (it != ends_.end() and it->first < end) {
    const auto [its_first, its_end] = *it;
    it = ends_.erase(it);
    if (its_first < range.first)
      ends_.emplace(its_first, range.first);
    if (its_end > end)
      it = std::next(ends_.emplace(end, its_end).first);
  }
}

std::optional<Rows> RowSet::first_in(RowRange range) const {
  auto it = ends_.upper_bound(range.first);
  if (it != ends_.begin() and std::prev(it)->second > range.first)
    return range.first;
  if (it != ends_.end() and it->first < range.first + range.count)
    return it->first;
  return std::nullopt;
}

Rows RowSet::count() const {
  Rows sum = 0;
  for (const auto& [first, end] : ends_)
    sum += end - first;
  return sum;
}

RowLocks::Locked RowLocks::lock(BackendId backend, const std::string& table, RowRange range, RowLock strength,
                                const std::function<bool(BackendId)>& passes) {
  auto& holders = tables_[table];
  Locked out{range.count, {}};
  for (const auto& [other, held] : holders) {
    if (other == backend or (passes and passes(other)))
      continue;
    for (int s = 0; s < row_lock_strengths; ++s) {
      if (not conflicts(strength, static_cast<RowLock>(s)))
        continue;
      const auto row = held[static_cast<std::size_t>(s)].first_in({range.first, out.count});
      if (row and *row - range.first < out.count)
        out = {*row - range.first, other};
    }
  }
  if (out.count > 0)
    holders[backend][static_cast<std::size_t>(strength)].add({range.first, out.count});
  return out;
}

void RowLocks::release(BackendId backend) {
  for (auto& [table, holders] : tables_)
    holders.erase(backend);
}

void RowLocks::transfer(BackendId from, BackendId to) {
  for (auto& [table, holders] : tables_)
    if (auto held = holders.extract(from)) {
      held.key() = to;
      holders.insert(std::move(held));
    }
}

void RowLocks::release(BackendId backend, const std::string& table, RowRange range) {
  const auto holders = tables_.find(table);
  if (holders == tables_.end())
    return;
  const auto held = holders->second.find(backend);
  if (held == holders->second.end())
    return;
  for (RowSet& rows : held->second)
    rows.remove(range);
}

Rows RowLocks::held(BackendId backend, const std::string& table) const {
  const auto holders = tables_.find(table);
  if (holders == tables_.end())
    return 0;
  const auto held = holders->second.find(backend);
  if (held == holders->second.end())
    return 0;
  RowSet all; // a row may be held in two strengths
  for (const RowSet& rows : held->second)
    all.add(rows);
  return all.count();
}

std::vector<BackendId> RowLocks::holders(const std::string& table) const {
  std::vector<BackendId> out;
  const auto holders = tables_.find(table);
  if (holders != tables_.end())
    for (const auto& [backend, held] : holders->second)
      if (std::any_of(held.begin(), held.end(), [](const RowSet& rows) { return not rows.empty(); }))
        out.push_back(backend);
  return out;
}

} // namespace replisim
