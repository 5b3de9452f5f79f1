#include "models/wal_retention.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace replisim {

RetentionRules::RetentionRules(const Settings& settings)
    : checkpoint_timeout_s(settings.number("checkpoint_timeout")),
      completion_target(settings.number("checkpoint_completion_target")),
      max_wal_size_bytes(settings.bytes("max_wal_size")),
      max_slot_wal_keep_size_bytes(settings.bytes("max_slot_wal_keep_size")),
      wal_keep_size_bytes(settings.bytes("wal_keep_size")),
      idle_slot_timeout_s(settings.number("idle_replication_slot_timeout")) {}

Bytes RetentionRules::checkpoint_distance_bytes() const {
  const auto segments = static_cast<Bytes>(static_cast<double>(max_wal_size_bytes / wal_segment_bytes) /
                                           (1 + completion_target));
  return std::max<Bytes>(1, segments) * wal_segment_bytes;
}

namespace {
Lsn whole_segments(Lsn lsn) {
  return {lsn.value / static_cast<std::uint64_t>(wal_segment_bytes) *
          static_cast<std::uint64_t>(wal_segment_bytes)};
}

/// `inserted` minus `bytes`, not below the start.
Lsn behind(Lsn inserted, Bytes bytes) {
  const auto back = static_cast<std::uint64_t>(bytes);
  return {inserted.value > back ? inserted.value - back : 0};
}
} // namespace

Lsn checkpoint_slots(const RetentionRules& rules, const std::vector<Slot*>& slots, Lsn inserted, Lsn redo,
                     double now_s) {
  Lsn keep = std::min(redo, behind(inserted, rules.wal_keep_size_bytes));
  const Lsn limit =
      rules.max_slot_wal_keep_size_bytes >= 0
          ? behind(inserted, std::max(rules.max_slot_wal_keep_size_bytes, rules.wal_keep_size_bytes))
          : Lsn{0};
  for (Slot* slot : slots) {
    if (slot->lost())
      continue;
    const double idle_s = now_s - slot->inactive_since_s();
    if (whole_segments(slot->saved_restart_lsn()) < whole_segments(limit))
      slot->lose(now_s, fmt::format("restart_lsn lay {} behind, more than max_slot_wal_keep_size",
                                    format_bytes(static_cast<double>(inserted - slot->restart_lsn()))));
    else if (not slot->active() and rules.idle_slot_timeout_s > 0 and idle_s > rules.idle_slot_timeout_s)
      slot->lose(now_s, fmt::format("idle for {}, more than idle_replication_slot_timeout",
                                    format_duration(idle_s)));
    else
      keep = std::min(keep, slot->saved_restart_lsn());
    slot->save();
  }
  return whole_segments(keep);
}

std::string wal_status(const RetentionRules& rules, const Slot& slot, Lsn inserted) {
  if (slot.lost())
    return "lost";
  const Bytes behind_bytes = inserted - slot.restart_lsn();
  if (rules.max_slot_wal_keep_size_bytes >= 0 and behind_bytes > rules.max_slot_wal_keep_size_bytes)
    return "unreserved";
  return behind_bytes > rules.max_wal_size_bytes ? "extended" : "reserved";
}

} // namespace replisim
