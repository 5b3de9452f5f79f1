// The reference model: one transaction after the other, row by row, in plain numbers.
//
// Written from PostgreSQL's mechanics and MODEL.md, to be compared with the simulator. It shares no code with
// sim/ or models/ and works in another way: there is no clock and there are no processes. Every date follows
// from earlier dates, as a message is received when it has arrived and its receiver is free. What a row
// weighs and costs is given as a number.
//
// Assumed: as many cores as processes, so that nobody waits for one; a run shorter than 15 s, in which no
// running-xacts record, checkpoint or time-out falls; fewer rows in flight than the parallel apply worker's
// ring holds.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace reference {

/// What an INSERT, UPDATE or DELETE of one row is to every stage. Sizes in bytes, times in seconds.
struct Row {
  int table = 0;
  bool published = true;
  std::int64_t wal_bytes = 0;
  std::int64_t wal_records = 1;
  std::int64_t memory_bytes = 0; ///< accounted in the reorder buffer
  std::int64_t body_bytes = 0;   ///< of its message
  double execute_s = 0;          ///< in the backend
  double send_s = 0;             ///< output plugin, frame, socket
  double apply_s = 0;
};

struct Savepoint {
  std::string name;
};
struct RollbackTo {
  std::string name;
};
struct Release {
  std::string name;
};
struct Pause {
  double seconds = 0;
};
using Act = std::variant<Row, Savepoint, RollbackTo, Release, Pause>;

struct Transaction {
  std::string name;
  double begin_s = 0;
  bool rolls_back = false;
  std::vector<Act> acts;
};

enum class Mode { Off, File, Workers };

struct Input {
  // The publisher's WAL.
  std::int64_t commit_record_bytes = 0;
  std::vector<std::int64_t> abort_record_bytes; ///< by the number of subtransactions that it lists
  std::int64_t assignment_bytes = 0;            ///< more in a subtransaction's first record
  bool flushes = true;                          ///< fsync
  bool commit_waits = true;                     ///< synchronous_commit
  double flush_latency_s = 0;
  double flush_bytes_per_s = 1;
  double wal_writer_delay_s = 0.2;
  // The walsender.
  std::int64_t work_mem_bytes = 0;
  Mode mode = Mode::Off;
  bool looks_up_aborted = false; ///< 18: before an eviction
  /// A chunk of which nothing is published is sent as an opening and a closing. MODEL.md, Streaming, says why
  /// the simulator sends nothing.
  bool brackets_empty_chunks = true;
  bool skips_empty = true; ///< 15: nothing is sent of a transaction without published rows
  double wakeup_s = 0;
  double read_byte_s = 0, read_record_s = 0, decode_s = 0, discard_s = 0, spill_s = 0, restore_s = 0;
  double spill_file_s = 0; ///< for each (sub)transaction that has one: all WAL lies in one segment
  double search_s = 0;     ///< before 17: looking at one (sub)transaction in search of the largest
  double send_transaction_s = 0, send_control_s = 0, stream_chunk_s = 0;
  std::vector<std::int64_t> relation_bytes; ///< body of a table's Relation message
  // The connection.
  std::int64_t window_bytes = 0;
  std::int64_t message_overhead_bytes = 0; ///< what a message takes of the window besides its bytes
  bool crosses_link = false;
  double link_latency_s = 0;
  double link_bytes_per_s = 1;
  // The subscriber.
  int pool = 0;       ///< max_parallel_apply_workers_per_subscription
  int places = 0;     ///< that the server has left for them
  double start_s = 0; ///< of a parallel apply worker
  double receive_s = 0, receive_byte_s = 0, forward_s = 0, file_write_s = 0, file_read_s = 0;
  double chunk_dispatch_s = 0, ring_read_s = 0;
  std::vector<Transaction> transactions;
  // Of another walsender that may be earlier or later than this one by `slack_s`: a look into the commit log
  // within it of a rollback may be answered either way. `answers` to the first of those; the dates decide of
  // others.
  double slack_s = 0;
  std::vector<bool> answers;
};

/// pg_stat_replication_slots.
struct Counters {
  std::int64_t spill_txns = 0, spill_count = 0, spill_bytes = 0;
  std::int64_t stream_txns = 0, stream_count = 0, stream_bytes = 0;
  std::int64_t total_txns = 0, total_bytes = 0;
  bool operator==(const Counters&) const = default;
};

/// Negative dates: it did not happen.
struct Dates {
  std::int64_t rows = 0;         ///< changed, rolled back ones included
  std::int64_t rows_applied = 0; ///< and committed
  double statement_end_s = 0;
  double commit_s = -1;        ///< COMMIT has returned
  double first_applied_s = -1; ///< the subscriber begins with its first row
  double applied_s = -1;       ///< its commit is applied
};

struct Output {
  Counters counters;
  std::int64_t sent_bytes = 0;
  std::int64_t wal_bytes = 0;
  std::int64_t without_worker = 0; ///< streamed transactions that found no parallel apply worker
  std::vector<Dates> transactions; ///< as in the input
  std::vector<bool> races; ///< what each look into the commit log that came close to a rollback was answered
  std::int64_t evictions = 0;
};

Output solve(const Input& input);

} // namespace reference
