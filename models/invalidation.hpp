// Invalidation messages as a decoder handles them: sets of them, what each transaction has gathered, and the
// snapshots that travel with them.
//
// Mirrors reorderbuffer.c (ReorderBufferAddInvalidations, ReorderBufferAddDistributedInvalidations,
// ReorderBufferExecuteInvalidations), snapbuild.c (SnapBuildCommitTxn, SnapBuildDistributeSnapshotAndInval,
// SnapBuildPurgeOlderTxn) and inval.c. Sets are shared, since one commit hands the same one to many.
#pragma once

#include "models/table.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace replisim {

/// sizeof(SharedInvalidationMessage).
inline constexpr Bytes invalidation_message_bytes = 16;
/// What a transaction may have received at most, 8 MB: beyond, the array is freed and the caches are reset as
/// a whole (reorderbuffer.c: MAX_DISTR_INVAL_MSG_PER_TXN).
inline constexpr std::int64_t most_received_messages = 8 * 1024 * 1024 / invalidation_message_bytes;
/// What one allocation can hold, 1 GB: where messages are distributed again and again, decoding fails beyond
/// ("invalid memory alloc request size").
inline constexpr std::int64_t most_messages_in_memory = 0x3fffffff / invalidation_message_bytes;

/// Messages that are queued and executed together.
struct Invalidations {
  /// A relation they name.
  struct Touched {
    const Table* table = nullptr;
    std::int64_t copies = 1; ///< of a table that stands for many alike: how many of them
    bool relation = true;    ///< its relcache entry too, not only its entry in the relation-sync cache
    bool operator==(const Touched&) const = default;
  };
  std::int64_t messages = 0;    ///< of this database
  std::int64_t relcache = 0;    ///< among them: each makes the map of cached relations be looked through
  std::int64_t foreign = 0;     ///< of other databases: queued, and skipped when executed
  bool all_entries = false;     ///< every entry of the relation-sync cache becomes invalid
  bool everything = false;      ///< every relcache entry too
  std::vector<Touched> touched; ///< in order of first mention

  std::int64_t total() const { return messages + foreign; }
  Bytes bytes() const { return total() * invalidation_message_bytes; }
  void touch(const Table* table, std::int64_t copies, bool relation);
  void add(const Invalidations& other);
  bool operator==(const Invalidations&) const = default;
};

/// Null: none.
using InvalidationsRef = std::shared_ptr<const Invalidations>;

/// Appends `more` to sets that many transactions share: equal pairs are merged once, so that transactions
/// that stay alike go on sharing. For the appending of one `more`.
class InvalidationsMerger {
public:
  explicit InvalidationsMerger(InvalidationsRef more) : more_(std::move(more)) {}
  InvalidationsRef after(const InvalidationsRef& before);

private:
  InvalidationsRef more_;
  std::map<const Invalidations*, std::pair<InvalidationsRef, InvalidationsRef>> merged_; ///< before, result
  const Invalidations* last_ = nullptr;
  InvalidationsRef last_result_;
};

/// The committed catalog-changing transactions that a snapshot lists one by one.
class CatalogHistory {
public:
  void committed(Xid xid) { xids_.push_back(xid); }
  /// A running-xacts record: those before the oldest transaction still running are known to be over.
  void purge(Xid oldest_running);
  void clear() { xids_.clear(); }
  std::int64_t count() const { return static_cast<std::int64_t>(xids_.size()); }

private:
  std::vector<Xid> xids_;
};

/// Accounted memory of a queued snapshot that lists `xids` transactions, of a queued set of messages, and of
/// a command id (ReorderBufferChangeSize).
Bytes snapshot_change_bytes(int snapshot_struct_bytes, std::int64_t xids);
Bytes invalidation_change_bytes(std::int64_t messages);
inline constexpr Bytes command_id_change_bytes = 80;

} // namespace replisim
