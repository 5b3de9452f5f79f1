// Which WAL a checkpoint may remove, and which slots it invalidates: xlog.c (KeepLogSeg,
// CalculateCheckpointSegments), slot.c (InvalidateObsoleteReplicationSlots).
#pragma once

#include "models/settings.hpp"
#include "models/slot.hpp"

#include <vector>

namespace replisim {

inline constexpr Bytes wal_segment_bytes = 16 * 1024 * 1024; ///< initdb's default

/// What decides about a publisher's WAL and checkpoints.
struct RetentionRules {
  double checkpoint_timeout_s = 300;
  double completion_target = 0.9;
  Bytes max_wal_size_bytes = 0;
  Bytes max_slot_wal_keep_size_bytes = -1; ///< -1: no limit
  Bytes wal_keep_size_bytes = 0;
  double idle_slot_timeout_s = 0; ///< 0: never
  explicit RetentionRules(const Settings& settings);
  RetentionRules() = default;

  /// WAL since the last checkpoint's start that starts the next one: max_wal_size divided by
  /// 1 + checkpoint_completion_target, in whole segments, at least one.
  Bytes checkpoint_distance_bytes() const;
};

/// A checkpoint ends at `now_s` with the insert position `inserted`; `redo` is where it started. Slots that
/// lie too far behind, or idle too long, are lost; the others are saved. Returns up to where WAL may go,
/// rounded down to a segment.
Lsn checkpoint_slots(const RetentionRules& rules, const std::vector<Slot*>& slots, Lsn inserted, Lsn redo,
                     double now_s);

/// pg_replication_slots.wal_status of a slot: reserved, extended, unreserved or lost.
std::string wal_status(const RetentionRules& rules, const Slot& slot, Lsn inserted);

} // namespace replisim
