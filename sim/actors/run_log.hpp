// What the processes write down while they run: one record per transaction and subscription. The
// run's metrics, the timeline and the conservation check read it; nobody decides by it.
#pragma once

#include "models/base/units.hpp"
#include "models/closed_network.hpp"
#include "models/lag_anatomy.hpp"
#include "models/lag_sketch.hpp"

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

class BatchObserver;

/// Written by the publisher backend.
struct TransactionRecord {
  std::string name;
  std::string server;
  Xid xid;
  double begin_s = 0;
  double statement_end_s = 0;
  double commit_s = 0;
  Rows rows_written = 0;
  Rows rows_rolled_back = 0;
  double commit_record_s = 0; ///< commit record inserted
  Bytes wal_bytes = 0;
  bool committed = false;
  std::int64_t transactions = 1;  ///< a flow's record stands for many
  bool of_clients = false;        ///< a flow that clients in a closed loop make
  std::string received_by = {};   ///< a subscription whose workers wrote it here; empty: it was made here
  std::string origin_server = {}; ///< of a received one: the server that made it
  Xid origin_xid = {};            ///< ... and its id there
  double origin_commit_s = -1;    ///< ... and when it was committed there
};

/// Fate of one transaction's changes on the way to one subscription. Rows.
struct DeliveryRecord {
  bool flow = false; ///< stands for all transactions of a flow
  Rows read = 0;     ///< decoded by the walsender
  Rows dropped = 0;  ///< of aborted (sub)transactions, dropped before sending
  Rows filtered = 0; ///< of unpublished tables
  Rows sent = 0;
  Rows received = 0;      ///< by the leader apply worker
  Rows applied = 0;       ///< applied and (at the end) committed
  Rows undone = 0;        ///< received, then rolled back or truncated
  double read_s = -1;     ///< first change decoded
  double sent_s = -1;     ///< first rows sent
  double sent_to_s = -1;  ///< last rows sent so far
  double received_s = -1; ///< first rows taken by the client
  int worker = -1;        ///< parallel apply worker it was given to; -1: none
  Rows left_out =
      0; ///< received by a leader while a table-sync worker saw to the table, or the other way round
  double first_lock_s = -1;
  double applied_s = -1;  ///< commit applied; -1 while in flight
  double prepared_s = -1; ///< prepared on the subscriber: it stays there over restarts
  bool finishing = false; ///< and its COMMIT PREPARED has been read
  LagPath path;           ///< of its commit; complete when it has been applied
};

/// What a walsender spends its CPU on, in seconds of the reference core.
struct WalsenderWork {
  double decode_s = 0; ///< reading WAL and decoding
  double spill_s = 0;  ///< writing spill files and reading them back
  double filter_s = 0; ///< row filters
  double send_s = 0;   ///< replay, output plugin, socket
};

/// Everything one slot's processes record: the walsender and a subscription's or consumer's.
struct SubscriptionRecord {
  /// The connection is gone: what was under way is read and sent again.
  void forget_unfinished();

  /// Where to count what happens to transaction `top`: its delivery, or, once the client has it and is sent
  /// it again because it never confirmed, a record that nobody adds up.
  DeliveryRecord& counted(Xid top);

  /// COMMIT of `top` is read; its rows may be prepared over there already.
  void finishes(Xid top);

  /// The client has everything up to `lsn`: with it, transactions of which nothing was sent are done.
  void replayed(Lsn lsn, double now_s);

  /// Transaction `top`, whose commit ends at `lsn`, has nothing for the client.
  void skipped(Lsn lsn, Xid top) { unsent_.emplace_back(lsn, top); }
  /// The leader (or the client) takes the commit message of `top`.
  void taken(Xid top, double on_link_s, double visible_s, double now_s);
  /// The transaction of `delivery` is applied; its publisher will know at `confirmed_s` (negative: never).
  void arrived(DeliveryRecord& delivery, double applied_s, double confirmed_s);

  std::map<Xid, DeliveryRecord> deliveries;
  BatchObserver* observer = nullptr; ///< of a traced run
  DeliveryRecord redelivered;        ///< see counted()
  Bytes sent_bytes = 0;              ///< on the wire
  Bytes tmp_file_bytes = 0;          ///< subscriber-side files of streamed changes, now
  Bytes peak_tmp_file_bytes = 0;
  Lsn sent_lsn, replay_lsn;
  std::int64_t without_worker_txns = 0;       ///< streamed ones that found no parallel apply worker
  std::int64_t partially_serialized_txns = 0; ///< whose ring stayed full for ten seconds
  int locking_transactions = 0;               ///< that hold row locks now
  Bytes reread_bytes = 0; ///< WAL read again after reconnections: confirmed - restart_lsn, summed
  Rows read_again = 0;    ///< changes decoded again and not sent, the client having them
  LagSketch flow_lag;     ///< commit to applied, of the transactions of flows
  LagStatistics lags;     ///< stage by stage, of all transactions applied
  WalsenderWork walsender;
  WorkLedger client_work;             ///< what the leader apply worker (or the client) works on
  std::int64_t flow_transactions = 0; ///< applied
  LagSketch end_to_end; ///< from the commit where it was made to applied, of what came over other servers

private:
  std::deque<std::pair<Lsn, Xid>> unsent_; ///< skipped, and the client not yet past them
};

/// Written by the sessions of one DDL load.
struct DdlRecord {
  std::string name;
  std::string server;
  std::int64_t commits = 0;
  std::int64_t messages = 0; ///< invalidation messages of its commits
  Bytes wal_bytes = 0;
};

/// Written by a session that decodes through SQL.
struct DecodeRecord {
  std::vector<double> seconds; ///< of each call
  std::int64_t messages = 0;   ///< rows the last call returned
};

/// What the clients of one load wrote down, in sums over their transactions.
struct ClientRecord {
  std::string name;
  int clients = 0;
  double begun_s = 0;
  double ended_s = 0;
  double transactions = 0;
  ClientCycle times; ///< each time summed over the transactions
  LagSketch response;
  LagSketch lock_wait; ///< of each transaction, where they are run one by one

  double elapsed_s() const { return ended_s - begun_s; }
};

/// Written by the table-sync workers of one table; dates are those of the last attempt, -1: not reached.
struct TableSyncRecord {
  std::string table;
  int attempts = 0;
  double launched_s = -1;
  double snapshot_s = -1; ///< its slot has a consistent point: COPY begins
  double copied_s = -1;
  double catchup_s = -1; ///< the leader has set the target
  double done_s = -1;    ///< SYNCDONE
  double ready_s = -1;
  Rows rows = 0; ///< copied by the last attempt
  Bytes bytes = 0;
  Rows copied_changes = 0; ///< committed since the subscription was created, and part of the copy
  Bytes bloat_bytes = 0;   ///< dead rows that failed attempts have left
  std::string failure;     ///< of the last attempt that failed
  Lsn written_at_done;     ///< the publisher's WAL at SYNCDONE
  Lsn target;              ///< of its catch-up
};

/// What one event did to one slot.
struct FaultRecord {
  std::string event; ///< in words
  std::string slot;
  double begun_s = 0;
  double ended_s = -1;             ///< -1: not yet
  double caught_up_s = -1;         ///< when the slot's client had everything again
  double cap_passed_s = -1;        ///< when the slot held back more than max_slot_wal_keep_size
  Bytes retained_at_end_bytes = 0; ///< WAL the slot held back when it ended
  Bytes most_retained_bytes = 0;   ///< until it had caught up
  Bytes backlog_bytes = 0;         ///< WAL written and not applied when it ended
};

/// Applications have left a publisher.
struct CutOverRecord {
  std::string server;
  double at_s = -1;   ///< nothing is written from now on
  double over_s = -1; ///< every subscriber has everything
};

struct RunLog {
  std::deque<TransactionRecord> transactions; ///< of batches, each run its own, in order of BEGIN
  std::deque<TransactionRecord> flows;        ///< one record a flow, summed over its transactions
  std::deque<ClientRecord> clients;           ///< one record a load of clients
  std::deque<DdlRecord> ddl;                  ///< one record a load
  std::map<std::string, SubscriptionRecord> subscriptions;
  std::map<std::string, SubscriptionRecord> sync_slots;     ///< of table-sync workers
  std::map<std::string, std::deque<TableSyncRecord>> syncs; ///< by subscription
  std::deque<FaultRecord> faults;
  std::deque<CutOverRecord> cut_overs;
  std::map<std::string, DecodeRecord> decoding; ///< by name of the calls
};

} // namespace replisim
