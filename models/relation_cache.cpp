#include "models/relation_cache.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// A hash element (link and hash value 16 bytes, key and relation 12, aligned) with its share of buckets.
constexpr double map_entry_bytes = 40;
/// The cache a server core has for itself (level 2).
constexpr double core_cache_bytes = 1024 * 1024;
} // namespace

double map_scan_weight(double entries) {
  const double size = entries * map_entry_bytes / core_cache_bytes;
  if (size <= 1)
    return entries;
  // Walking in a circle through a cache with random replacement: an entry is still there after `size (1 -
  // hits)` evictions for each place of the cache. Converges from below to the one solution under 1.
  double hits = 0;
  for (int i = 0; i < 50; ++i)
    hits = std::exp(-size * (1 - hits));
  return entries * (2 - hits);
}

RelationCache::Built RelationCache::use(const Table& table, Rows rows, std::int64_t transactions) {
  Known& known = tables_[&table];
  const std::int64_t used = std::min<std::int64_t>(rows, table.copies);
  Built built{std::max<std::int64_t>(0, used - known.valid_entries),
              std::max<std::int64_t>(0, used - known.valid_relations)};
  const std::int64_t times = std::max<std::int64_t>(1, std::min(known.invalidations, transactions));
  built.entries *= times;
  built.relations *= times;
  known.invalidations = known.last_replay = 0;
  known.valid_entries = std::max(known.valid_entries, used);
  known.valid_relations = std::max(known.valid_relations, used);
  mapped_ += std::max<std::int64_t>(0, used - known.mapped);
  known.mapped = std::max(known.mapped, used);
  return built;
}

void RelationCache::note_invalidation(Known& known) const {
  if (known.last_replay == replay_)
    return;
  ++known.invalidations;
  known.last_replay = replay_;
  known.forgotten_entries = known.forgotten_relations = 0;
}

void RelationCache::forget(Known& known, std::int64_t copies, bool relation) {
  note_invalidation(known);
  const std::int64_t entries = std::max<std::int64_t>(0, copies - known.forgotten_entries);
  known.forgotten_entries += entries;
  known.valid_entries -= std::min(entries, known.valid_entries);
  if (not relation)
    return;
  const std::int64_t relations = std::max<std::int64_t>(0, copies - known.forgotten_relations);
  known.forgotten_relations += relations;
  known.valid_relations -= std::min(relations, known.valid_relations);
  const std::int64_t removed = std::min(relations, known.mapped);
  known.mapped -= removed;
  mapped_ -= removed;
}

double RelationCache::execute(const Invalidations& messages) {
  if (messages.messages == 0)
    return 0;
  if (messages.everything) { // one message for all relations: the map is emptied at its first
    const double looked_at = map_scan_weight(static_cast<double>(mapped_));
    reset();
    return looked_at;
  }
  // Each relcache message looks through what is left of the map; those that find their relation remove it.
  const std::int64_t before = mapped_;
  for (const auto& touched : messages.touched)
    if (const auto known = tables_.find(touched.table); known != tables_.end())
      forget(known->second, touched.copies, touched.relation);
  if (messages.all_entries)
    for (auto& [table, known] : tables_) {
      note_invalidation(known);
      known.valid_entries = 0;
    }
  const std::int64_t removing = std::min(messages.relcache, before - mapped_);
  double looked_at =
      static_cast<double>(messages.relcache - removing) * map_scan_weight(static_cast<double>(mapped_));
  for (std::int64_t i = 0; i < removing; ++i)
    looked_at += map_scan_weight(static_cast<double>(before - i));
  return looked_at;
}

void RelationCache::reset() {
  for (auto& [table, known] : tables_)
    known = Known{0, 0, 0, known.invalidations + 1, replay_, 0, 0};
  mapped_ = 0;
}

} // namespace replisim
