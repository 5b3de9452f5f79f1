// Who holds which rows of the tables of one server, as ranges: a transaction that has changed five million
// rows in a row costs one entry.
//
// Counterpart: the xmax of tuples (heapam.c: compute_infobits, HeapTupleSatisfiesUpdate). A row lock lasts to
// the end of its transaction, and whoever wants the row waits for that transaction, not for the row.
#pragma once

#include "models/lock_modes.hpp"

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace replisim {

/// A set of row numbers as disjoint ranges.
class RowSet {
public:
  void add(RowRange range);
  void add(const RowSet& rows);
  void remove(RowRange range);
  /// The first row of `range` that is in the set.
  std::optional<Rows> first_in(RowRange range) const;
  /// Rows in the set.
  Rows count() const;
  std::size_t ranges() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }

private:
  std::map<Rows, Rows> ends_; ///< first row of a range, row behind its last one
};

/// A process of a server that can hold locks. Handed out by LockManager::add_backend.
using BackendId = int;

class RowLocks {
public:
  /// Locks rows from the front of `range` up to the first one that somebody else holds in a conflicting
  /// strength. When that is not the whole of it, `holder` says who (the first added of several).
  struct Locked {
    Rows count = 0;
    std::optional<BackendId> holder;
  };
  /// Whoever `passes` over does not count as a holder.
  Locked lock(BackendId backend, const std::string& table, RowRange range, RowLock strength,
              const std::function<bool(BackendId)>& passes = {});
  /// The backend's transaction is over.
  void release(BackendId backend);
  /// Rows of `from` are held by `to`, which holds none yet.
  void transfer(BackendId from, BackendId to);
  /// Its changes of these rows were rolled back to a savepoint.
  void release(BackendId backend, const std::string& table, RowRange range);
  /// Rows of a table that a backend holds, in whatever strength.
  Rows held(BackendId backend, const std::string& table) const;
  /// The backends that hold rows of a table, in order.
  std::vector<BackendId> holders(const std::string& table) const;

private:
  using ByStrength = std::array<RowSet, row_lock_strengths>;
  std::map<std::string, std::map<BackendId, ByStrength>> tables_;
};

} // namespace replisim
