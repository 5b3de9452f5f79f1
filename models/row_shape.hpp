// What one row of a statement is to WAL and to the reorder buffer: its chunks in the TOAST table, and the
// changes that are not complete by themselves.
//
// Mirrors heaptoast.c and toast_helper.c (which values move out of line), decode.c and reorderbuffer.c
// (ReorderBufferProcessPartialChange: a transaction with pending chunks, or with a speculative insertion that
// is not confirmed, cannot be streamed).
#pragma once

#include "models/wal_volume.hpp"
#include "models/workload.hpp"

#include <vector>

namespace replisim {

/// The changes of one row, in the order in which they are queued.
struct RowShape {
  std::vector<Bytes> before; ///< accounted memory of the changes before its last one
  Bytes last = 0;            ///< ... of its last one
  bool incomplete = false;   ///< until the last one is queued the transaction may not be streamed
  /// Changes of a row, and their accounted memory together.
  Rows changes() const { return static_cast<Rows>(before.size()) + 1; }
  Bytes bytes() const;
};
RowShape row_shape(const Table& table, const StatementStep& statement);

/// Chunks of the TOAST table that one row of the statement inserts, and that it deletes.
struct ToastWork {
  Rows inserted = 0;
  Rows deleted = 0;
};
ToastWork toast_work(const Table& table, const StatementStep& statement);

/// WAL of the first `rows` rows of a statement, TOAST chunks and confirmations included; otherwise as the
/// statement_wal of an operation.
WalVolume statement_wal(const Table& table, const StatementStep& statement, Rows rows, bool full_page_images);

} // namespace replisim
