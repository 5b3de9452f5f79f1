// Puts the records of pg_waldump together again: which transaction changed which rows of which table, in
// which order, and when.
//
// The dump names the subtransactions of a transaction when it commits. Of one that was rolled back alone it
// does not say to which transaction it belonged: see find_parent.
#pragma once

#include "calibration/import/recorded_workload.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// Names and columns of tables by relfilenode, where the user gives them.
using TableNames = std::map<std::uint32_t, RecordedTable>;

class WalCollector {
public:
  explicit WalCollector(TableNames names = {}) : names_(std::move(names)) {}

  void add(const WalLine& line);

  /// What was found of the database with most changes, or of `database`. Call once, at the end.
  RecordedWorkload finish(std::uint32_t database = 0);

private:
  struct Run {
    std::uint64_t sequence = 0; ///< of its first row
    std::uint64_t last = 0;     ///< of its last one
    RecordedStep step;
  };
  /// What makes records of rows comparable in length.
  struct FirstLike {
    RecordedStep::Kind kind = RecordedStep::Kind::Savepoint;
    std::size_t table = 0;
    std::size_t blocks = 0;
    Bytes length = 0;
  };
  /// A (sub)transaction whose end has not been read.
  struct OpenXid {
    std::uint64_t first = 0, last = 0; ///< sequence numbers of its records
    std::size_t begin_mark = 0;        ///< index into marks_
    std::uint32_t database = 0;
    std::vector<Run> runs;
    std::uint64_t aborted_at = 0; ///< rolled back; waits for its parent's end
    Bytes change_wal_bytes = 0;
    std::int64_t invalidations = 0;
    std::size_t last_table = 0; ///< whose index entries follow
    bool changed_rows = false;
    Bytes wide_bytes = 0;    ///< values out of line that wait for their row
    std::int64_t chunks = 0; ///< they came in
    /// The first record beside the first one like it: a subtransaction's carries the top-level xid, too.
    enum class FirstRecord { Unknown, Longer, Usual } first_record = FirstRecord::Unknown;
    FirstLike first_like;
  };
  struct Ended {
    std::size_t begin_mark = 0, end_mark = 0;
    std::size_t steps = 0;
    std::uint32_t database = 0;
    bool rolled_back = false;
    Bytes change_wal_bytes = 0;
    std::int64_t subtransactions = 0, undone = 0, inferred = 0;
  };
  struct Mark {
    std::uint64_t lsn = 0;
    std::int64_t time_us = -1; ///< known at commits and aborts
  };

  void take_heap(const WalLine& line, OpenXid& open);
  void take_index(const WalLine& line, OpenXid& open);
  void take_transaction(const WalLine& line);
  Bytes length_of_row(const WalLine& line, RecordedStep::Kind kind, std::size_t table,
                      const LengthStatistics& usual, OpenXid& open) const;
  void change(RecordedStep::Kind kind, std::size_t table, Rows rows, OpenXid& open);
  void take_chunk(const WalLine& line, RecordedTable& toast, OpenXid& open);
  void cancel_insert(std::size_t table, OpenXid& open);
  void take_insert(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open);
  void take_multi_insert(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open);
  void take_update(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open);
  void take_delete(const WalLine& line, RecordedTable& table, std::size_t index, OpenXid& open);
  void end(std::uint32_t xid, const WalLine& line, bool rolled_back);
  bool end_subtransaction(std::uint32_t xid);
  std::uint32_t find_parent(std::uint32_t xid, const OpenXid& aborted) const;
  std::size_t steps_of(std::uint32_t xid, const std::vector<std::uint32_t>& members, Ended& ended);
  std::size_t table_of(const WalRelation& relation);
  OpenXid& open_xid(const WalLine& line);
  void fill_times();
  void ignore_other_databases(std::uint32_t database);
  std::vector<RecordedSteps> kept_steps(std::vector<std::size_t>& renumbered) const;
  void keep_transactions(std::uint32_t database);

  TableNames names_;
  RecordedWorkload out_;
  std::map<WalRelation, std::size_t> table_index_;
  std::map<std::uint32_t, OpenXid> open_;
  std::map<std::uint32_t, std::uint32_t>
      assigned_; ///< by subtransaction: its parent, by an assignment record
  std::map<std::uint32_t, std::vector<std::uint32_t>> undone_; ///< by parent: rolled back subtransactions
  std::map<std::uint32_t, std::int64_t> inferred_;             ///< by parent: how many of these are guessed
  std::map<RecordedSteps, std::size_t> known_steps_;
  std::vector<Ended> ended_;
  std::vector<Mark> marks_;
  std::map<std::uint32_t, std::int64_t> changes_in_; ///< by database
  std::map<std::uint32_t, std::int64_t> commits_in_, catalog_commits_in_, invalidations_in_;
  std::uint64_t sequence_ = 0;
  std::uint64_t last_opening_ = 0; ///< when a (sub)transaction wrote its first record
  std::uint32_t first_xid_ = 0;
  std::optional<Lsn> first_lsn_;
  std::uint64_t end_lsn_ = 0;
};

} // namespace replisim
