// The publisher's WAL: what has been inserted, what is flushed, and who reads it.
//
// Counterpart: xlog.c (XLogInsert, AdvanceXLInsertBuffer, XLogFlush). An entry stands for the records of
// a run of rows, or for one transaction record. Walsenders see an entry once all of it is flushed.
#pragma once

#include "models/invalidation.hpp"
#include "models/workload.hpp"
#include "sim/engine/world.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

namespace replisim {

class BatchObserver;

/// Heap and index records of a run of rows of one statement.
struct RowsWritten {
  const StatementStep* statement = nullptr;
  const Table* table = nullptr;
  RowRange rows;
};
/// PREPARE TRANSACTION of a top-level transaction.
struct Prepared {};
/// Abort record of a subtransaction (ROLLBACK TO SAVEPOINT), with the released ones that had become part of
/// it.
struct SubtransactionAborted {
  std::vector<Xid> released = {};
};
/// Commit record of a top-level transaction; `index` counts the run's transactions.
struct Committed {
  std::size_t index = 0;
  double begin_s = 0;    ///< its BEGIN
  bool prepared = false; ///< COMMIT PREPARED
};
/// Abort record of a top-level transaction, with the subtransactions that had become part of it.
struct RolledBack {
  std::vector<Xid> released = {};
  bool prepared = false; ///< ROLLBACK PREPARED
};
/// When one transaction of a flow began and committed, as first_begin_s and first_commit_s are for the first.
struct TransactionDates {
  double begin_s = 0;
  double commit_s = 0;
  double flush_wait_s = 0; ///< until the flush began that took its commit record
};

/// Small transactions of a flow, each committed on its own, their commits spread evenly over a time.
struct FlowCommitted {
  const FlowLoad* flow = nullptr;
  std::int64_t transactions = 0;
  double first_commit_s = 0;
  double last_commit_s = 0;
  Bytes queued_bytes = 0;   ///< accounted memory of their changes
  double commit_groups = 0; ///< WAL flushes by which they became visible, one after the other
  double span_s = 0;        ///< time over which they came
  double first_begin_s = 0;
  double last_begin_s = 0;
  double gathered_s = 0;     ///< the time over which they came; they are worked on together after it
  double flush_excess_s = 0; ///< what flushing all their WAL together takes longer than that of one
  double flush_wait_s = 0;   ///< mean time until the flush began that took a commit record
  std::shared_ptr<const std::vector<TransactionDates>> dates; ///< of each, in order; null: they lie evenly
  bool all_noted = false;     ///< the lag of each of them is recorded, however many they are
  double origin_first_s = -1; ///< of received ones: commit dates where they were made, first and last
  double origin_last_s = -1;
};
/// A statement that changes the catalog: rows of the catalog, and the messages of its commands.
struct CatalogChanged {
  InvalidationsRef messages;
  std::int64_t commands = 1;
};
/// Commit record of a transaction that changed the catalog and no rows.
struct CatalogCommitted {};
/// WAL of other databases: read, never decoded.
struct OtherWal {};
/// Running-xacts record (bgwriter, checkpoints).
struct RunningXacts {};

/// Size of a record where only the bytes of many are known: a header and a small row. Decides what reading
/// them costs by records, not how much WAL there is.
inline constexpr Bytes typical_record_bytes = 100;

struct WalEntry {
  Lsn start, end;
  Xid top;                  ///< top-level transaction
  Xid xid;                  ///< the (sub)transaction that wrote it
  std::int64_t records = 1; ///< WAL records it stands for, of all resource managers
  std::variant<RowsWritten, SubtransactionAborted, Prepared, Committed, RolledBack, FlowCommitted,
               CatalogChanged, CatalogCommitted, OtherWal, RunningXacts>
      what;
  std::uint64_t next_xid = 0; ///< transaction ids assigned when it was written, small transactions' included
  double inserted_s = 0;      ///< date of the last record
  double flushed_s = -1;      ///< date it became visible to walsenders
  bool received = false;      ///< it has an origin: workers of a subscription wrote it
};

/// The commit log, as far as anybody asks it: which (sub)transactions are known to be aborted now.
class TransactionStatus {
public:
  void mark_aborted(Xid xid) { aborted_.insert(xid); }
  bool aborted(Xid xid) const { return aborted_.contains(xid); }

private:
  std::set<Xid> aborted_;
};

class WalLog {
public:
  struct Options {
    Bytes wal_buffers_bytes = 0;
    bool fsync = true;
    Bytes initial_bytes = 0; ///< WAL there at the start, flushed
  };
  WalLog(engine::World& world, Options options, const Disk& disk);

  /// Appends `bytes` of WAL. A writer that finds wal_buffers full writes the oldest pages out itself,
  /// which the page cache takes for nothing, and whoever completes a segment must flush it: so it is
  /// the writer who flushes once a segment and wal_buffers lie unflushed behind the WAL writer.
  Lsn insert(engine::Process& writer, Bytes bytes, WalEntry entry);
  /// The two halves of it: for a writer that goes on while its WAL is written, and looks for room afterwards.
  Lsn append(Bytes bytes, WalEntry entry);
  void make_room(engine::Process& writer);
  /// XLogFlush: returns when everything up to `lsn` is flushed; one flush serves all who wait.
  void flush(engine::Process& process, Lsn lsn);

  /// Told of every insertion; nobody by default.
  void set_observer(BatchObserver* observer) { observer_ = observer; }
  /// Called after every insertion.
  void on_growth(std::function<void()> callback) { on_growth_ = std::move(callback); }
  /// Called with every entry when it is inserted.
  void on_entry(std::function<void(const WalEntry&)> callback) { on_entry_.push_back(std::move(callback)); }
  /// A checkpoint removes what lies before `lsn`.
  void remove_before(Lsn lsn);
  Lsn removed() const { return removed_; }

  Lsn inserted() const { return inserted_; }
  /// Transaction ids assigned so far.
  std::uint64_t next_xid() const { return next_xid_; }
  Lsn flushed() const { return flushed_; }
  void slow_disk(double factor) { device_.slow_down(factor); }
  /// Time the disk has spent on flushes.
  double disk_busy_s() const { return device_.busy_s(world_.now()); }
  /// Announced whenever WAL is inserted: the WAL writer's cue.
  engine::Signal& insertion() { return insertion_; }

  /// A walsender's position in the WAL.
  class Reader {
  public:
    /// The next entry that is flushed whole, if there is one.
    std::optional<WalEntry> try_next();
    /// Whether try_next would give one.
    bool ready() const;
    /// Waits until WAL is flushed or somebody calls `wake`.
    void wait(engine::Process& process) { process.wait(flushed_, engine::Activity::Starved); }
    void wake() { flushed_.notify(); }
    /// Goes to the first entry that ends after `lsn`, which must not be removed.
    void seek(Lsn lsn);
    /// Holds nothing back until the next seek().
    void park() { next_ = static_cast<std::size_t>(-1); }
    Lsn position() const { return position_; }
    Lsn flushed() const { return log_.flushed(); }

  private:
    friend class WalLog;
    Reader(WalLog& log, const std::string& name) : log_(log), flushed_(log.world_, name + " (WAL)") {}
    WalLog& log_;
    engine::Signal flushed_;
    std::size_t next_ = 0;
    Lsn position_;
  };
  Reader& add_reader(const std::string& name);
  /// From now on entries stay until they are removed by checkpoints: readers may go back.
  void keep_until_removed() { keeps_all_ = true; }

private:
  void publish(Lsn lsn);
  void trim();
  std::size_t first_ending_after(Lsn lsn) const;

  engine::World& world_;
  Options options_;
  engine::Device device_;
  engine::Signal insertion_;
  std::function<void()> on_growth_;
  BatchObserver* observer_ = nullptr;
  std::vector<std::function<void(const WalEntry&)>> on_entry_;
  std::deque<WalEntry> entries_;
  std::size_t first_ = 0; ///< index of entries_.front() since the start of the run
  std::vector<std::unique_ptr<Reader>> readers_;
  Lsn inserted_, flushed_, removed_;
  std::uint64_t next_xid_ = 0;
  Xid newest_xid_;
  bool keeps_all_ = false; ///< some reader may come back
  Lsn written_;            ///< target of the last request the device took up
};

} // namespace replisim
