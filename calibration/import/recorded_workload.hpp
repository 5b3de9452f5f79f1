// What a server did, taken from its WAL or from a pgbench log: transactions, tables, and the WAL around them.
#pragma once

#include "calibration/import/wal_dump.hpp"
#include "models/table.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace replisim {

/// One step of a recorded transaction. Tables are indexes into RecordedWorkload::tables; savepoints are
/// numbered within their transaction.
struct RecordedStep {
  enum class Kind { Insert, Update, Delete, Savepoint, RollbackTo, Release } kind = Kind::Insert;
  std::size_t table = 0;
  Rows rows = 0;            ///< of the first three; the number of the savepoint otherwise
  bool writes_wide = false; ///< an UPDATE whose rows write values out of line (TOAST)
  auto operator<=>(const RecordedStep&) const = default;
  bool changes_rows() const { return kind <= Kind::Delete; }
  /// Whether both are parts of one statement, as far as the WAL shows it.
  bool is_like(const RecordedStep& other) const {
    return kind == other.kind and table == other.table and writes_wide == other.writes_wide;
  }
};

using RecordedSteps = std::vector<RecordedStep>;

struct RecordedTransaction {
  double at_s = 0; ///< its first record, since the first one of all
  double lasts_s = 0;
  std::size_t steps = 0; ///< index into RecordedWorkload::distinct
  bool rolled_back = false;
};

/// Number and mean of lengths, and the one that is most frequent.
class LengthStatistics {
public:
  void add(Bytes length, std::int64_t times = 1);
  std::int64_t count() const { return count_; }
  double mean() const { return count_ > 0 ? static_cast<double>(sum_) / static_cast<double>(count_) : 0; }
  /// The length that more than half of all have; 0 when there is none.
  Bytes usual() const;

private:
  std::int64_t count_ = 0;
  Bytes sum_ = 0;
  std::map<Bytes, std::int64_t> frequencies_; ///< of the first lengths seen, bounded
};

struct RecordedTable {
  WalRelation relation;
  std::string name;
  Rows inserts = 0, updates = 0, deletes = 0;
  Rows hot_updates = 0;
  LengthStatistics new_tuple;     ///< t_len of new tuples
  LengthStatistics update_length; ///< of UPDATE records, bare
  LengthStatistics insert_length;
  LengthStatistics delete_length;
  LengthStatistics old_tuple; ///< t_len of what a DELETE carries of the old row
  Rows with_key = 0;          ///< changes that carry the key of the old row
  Rows with_old_row = 0;      ///< that carry all of it (replica identity full)
  Rows without_identity = 0;  ///< deletes that carry nothing
  std::set<std::uint32_t> indexes;
  LengthStatistics index_entry; ///< bytes of index tuples
  std::uint64_t last_block = 0; ///< highest block seen: how large the table is at least
  bool ignored = false;         ///< a catalog, a TOAST table, or not of the database
  bool toast = false;
  /// Values out of line that rows of this table wrote before themselves: how much of them there was, and how
  /// many records of rows they came before.
  Bytes wide_bytes = 0;
  Rows wide_records = 0;
  Rows wide_updates = 0;

  // From a map file, where there is one:
  std::vector<Column> columns;
  std::vector<std::string> key;
  Rows rows_before = -1;
};

struct RecordedWorkload {
  std::string source; ///< file it was read from
  std::vector<RecordedTable> tables;
  std::vector<RecordedSteps> distinct;
  std::vector<RecordedTransaction> transactions; ///< in order of at_s; those with changes of rows
  std::uint32_t database = 0;
  double span_s = 0; ///< from the first to the last record with a time

  std::int64_t committed = 0;              ///< all transactions of the database that wrote a commit record
  std::int64_t committed_without_rows = 0; ///< of these, those without a change of a row: DDL, VACUUM, locks
  std::int64_t rolled_back = 0;            ///< with changes of rows
  std::int64_t other_databases = 0;        ///< committed transactions of other databases
  std::int64_t unfinished = 0;             ///< with changes, neither committed nor rolled back at the end
  std::int64_t begun_before = 0;           ///< committed, but the first records are not in the file
  std::int64_t subtransactions = 0;        ///< of the transactions kept
  std::int64_t subtransactions_rolled_back = 0;
  std::int64_t rolled_back_by_inference = 0; ///< of these: the dump does not say whose they are
  std::int64_t catalog_transactions = 0;     ///< committed with invalidation messages
  std::int64_t invalidations = 0;
  std::int64_t truncates = 0;
  std::int64_t toast_rows = 0;       ///< chunks of values out of line
  std::int64_t toast_rows_alone = 0; ///< of these, those that no row of a table follows
  std::int64_t clock_went_back = 0;  ///< commits stamped more than a second before an earlier one
  Rows committed_changes = 0; ///< inserted, updated, deleted rows of committed transactions, savepoints kept

  std::int64_t records = 0;
  Bytes wal_bytes = 0;        ///< from the first record to the end of the last one
  Bytes image_bytes = 0;      ///< full-page images in it
  Bytes change_wal_bytes = 0; ///< heap, index, commit and abort records of the transactions, images left out
};

} // namespace replisim
