// What a decoding session remembers of relations: pgoutput's relation-sync cache, the relcache behind it, and
// the map from file numbers to relations. Says what has to be built again, and what messages make it look at.
//
// Mirrors pgoutput.c (get_rel_sync_entry, rel_sync_cache_relation_cb, rel_sync_cache_publication_cb),
// relcache.c and relfilenumbermap.c (RelfilenumberMapInvalidateCallback).
#pragma once

#include "models/invalidation.hpp"

#include <map>
#include <string>

namespace replisim {

/// What looking through the map costs, in units of one entry that lies in the core's own cache; an entry that
/// is not found there costs twice as much.
double map_scan_weight(double entries);

class RelationCache {
public:
  /// What has to be built before changes of a table can be sent.
  struct Built {
    std::int64_t entries = 0;   ///< of the relation-sync cache; a Relation message follows each
    std::int64_t relations = 0; ///< of the relcache
  };

  /// `rows` changes of `table` are replayed by `transactions` transactions. They find an invalid entry once
  /// for each time it was invalidated since it was last used, but no oftener than there are transactions.
  Built use(const Table& table, Rows rows, std::int64_t transactions = 1);

  /// Another transaction is replayed. Messages that one transaction executes twice with no use between, where
  /// they stand and at its end, are one invalidation, of the same relations.
  void next_replay() { ++replay_; }

  /// Executes the messages once; returns how much of the map was looked at, in units of map_scan_weight().
  double execute(const Invalidations& messages);

  /// InvalidateSystemCaches: nothing stays valid.
  void reset();

  /// Relations in the map.
  std::int64_t mapped() const { return mapped_; }

private:
  /// A table, or all copies of one that stands for many. The ones used first are the ones that stay valid.
  struct Known {
    std::int64_t mapped = 0;
    std::int64_t valid_entries = 0;
    std::int64_t valid_relations = 0;
    std::int64_t invalidations = 0;     ///< since it was last used
    std::int64_t last_replay = 0;       ///< that invalidated it
    std::int64_t forgotten_entries = 0; ///< by that one
    std::int64_t forgotten_relations = 0;
  };
  void note_invalidation(Known& known) const;
  void forget(Known& known, std::int64_t copies, bool relation);

  std::map<const Table*, Known> tables_;
  std::int64_t mapped_ = 0;
  std::int64_t replay_ = 1;
};

} // namespace replisim
