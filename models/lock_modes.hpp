// PostgreSQL's lock modes and which of them conflict: lock.c (LockConflicts) for tables and everything else
// in the lock manager, heapam.c (tupleLockExtraInfo) for rows.
#pragma once

#include "models/workload.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// In the order of their numbers, 1 to 8, from the weakest to the strongest.
enum class LockMode {
  AccessShare,          ///< SELECT
  RowShare,             ///< SELECT ... FOR
  RowExclusive,         ///< INSERT, UPDATE, DELETE, MERGE, COPY FROM; apply workers
  ShareUpdateExclusive, ///< VACUUM, ANALYZE, CREATE INDEX CONCURRENTLY
  Share,                ///< CREATE INDEX
  ShareRowExclusive,    ///< CREATE TRIGGER, many ALTER TABLE
  Exclusive,            ///< REFRESH MATERIALIZED VIEW CONCURRENTLY
  AccessExclusive       ///< ALTER TABLE, DROP TABLE, TRUNCATE, VACUUM FULL
};

/// Whether one session cannot hold `a` while another one holds `b`; symmetric.
bool conflicts(LockMode a, LockMode b);

/// As LOCK TABLE spells it ("row exclusive") and back.
std::string_view to_string(LockMode mode);
std::optional<LockMode> parse_lock_mode(std::string_view text);
const std::vector<std::string_view>& lock_mode_names();

/// The four strengths of a row lock, from the weakest.
enum class RowLock {
  KeyShare,    ///< what a foreign key takes on the referenced row
  Share,       ///< SELECT ... FOR SHARE
  NoKeyUpdate, ///< UPDATE that leaves the key columns alone
  Update       ///< DELETE, UPDATE of a key column, SELECT ... FOR UPDATE
};
inline constexpr int row_lock_strengths = 4;

bool conflicts(RowLock a, RowLock b);

/// The mode in which a session queues for a row before it waits for the row's holder, so that those who wait
/// get it in order of arrival (heapam.c: heap_acquire_tuplock).
LockMode queueing_mode(RowLock strength);

/// What a statement takes on the rows it changes; an UPDATE is taken to leave the key alone. Nothing for an
/// INSERT: until its commit nobody else sees the new rows.
std::optional<RowLock> row_lock_of(Operation operation);

} // namespace replisim
