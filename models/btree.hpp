// B-tree indexes as WAL sees them: leaf inserts, page splits, deduplication, page images.
//
// Sources: nbtinsert.c (records), nbtsplitloc.c (where a page splits), nbtdedup.c (posting lists).
// Checked record by record against pg_waldump of 500,000 inserts and updates.
#pragma once

#include "models/wal_record.hpp"

namespace replisim {

/// What matters of an index.
struct IndexShape {
  enum class Order {
    Ascending, ///< entries arrive in key order: a page is left 90 % full at its split
    Random     ///< in no order: splits in the middle, pages ln 2 = 69 % full on average (Yao, 1978)
  };
  Bytes entry_bytes = 16; ///< index tuple: MAXALIGN(8 + key data)
  Order order = Order::Ascending;
  bool deduplicates = true; ///< equal keys are equal bytes (not so for numeric, float, jsonb)
};

/// Entries a leaf page keeps when it splits under ascending inserts (fillfactor 90): 366 for an int4 key.
Rows ascending_leaf_entries(const IndexShape& index);

/// WAL of `inserted` new entries in an index that holds `present` ones. Page images, of existing
/// leaves hit by random inserts, only with `full_page_images`. Monotone in `inserted`.
wal::RecordSum index_insert_wal(const IndexShape& index, Rows present, Rows inserted, bool full_page_images);

/// WAL of second versions of the first `updated` of `present` entries, in the table's physical order,
/// after the index was filled by inserts in `index.order` and before any vacuum: a full leaf first
/// merges the version pairs into posting lists and splits when that yields too little. 0 `present`,
/// or fewer than `updated`: any number. Monotone in `updated`.
wal::RecordSum index_update_wal(const IndexShape& index, Rows present, Rows updated, bool full_page_images);

} // namespace replisim
