// WAL volume: record sizes per operation, full-page images, index page splits.
#pragma once

#include "models/table.hpp"

namespace replisim {

/// WAL that a statement writes, cumulated over its first rows.
struct WalVolume {
  Bytes bytes = 0;          ///< including page headers (24 B per 8 kB WAL page)
  std::int64_t records = 0; ///< all resource managers
};

/// WAL of the first `rows` rows of a statement, in a table with one WAL record per heap change,
/// index entries for inserts and (non-HOT) updates, btree page splits and, where
/// `full_page_images`, the image of each existing page at its first change. Monotone in `rows`, so a
/// part of a statement is the difference of two calls. Sources: heapam.c, nbtinsert.c, xloginsert.c.
WalVolume statement_wal(const Table& table, Operation operation, Rows rows, bool full_page_images);

Bytes commit_record_bytes();
/// Record of PREPARE TRANSACTION: the two-phase state (twophase.c, StartPrepare) of a transaction that has
/// changed one table; what its name, further tables and invalidations add is small beside its rows.
Bytes prepare_record_bytes();
/// What COMMIT PREPARED and ROLLBACK PREPARED add to a commit or abort record: the prepared xid and the name.
Bytes prepared_name_bytes();
/// Of one transaction or subtransaction, of which so many released subtransactions are part.
Bytes abort_record_bytes(std::size_t released = 0);
/// What a subtransaction's first record is longer by: the top-level xid (wal_level = logical).
Bytes top_xid_bytes();

} // namespace replisim
