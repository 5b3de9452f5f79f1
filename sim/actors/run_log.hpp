// What the processes write down while they run: one record per transaction and subscription. The
// run's metrics, the timeline and the conservation check read it; nobody decides by it.
#pragma once

#include "models/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Written by the publisher backend.
struct TransactionRecord {
  std::string name;
  Xid xid;
  double begin_s = 0;
  double statement_end_s = 0;
  double commit_s = 0;
  Rows rows_written = 0;
  Rows rows_rolled_back = 0;
  Bytes wal_bytes = 0;
  bool committed = false;
};

/// Fate of one transaction's changes on the way to one subscription. Rows.
struct DeliveryRecord {
  Rows read = 0;     ///< decoded by the walsender
  Rows dropped = 0;  ///< of aborted (sub)transactions, dropped before sending
  Rows filtered = 0; ///< of unpublished tables
  Rows sent = 0;
  Rows received = 0; ///< by the leader apply worker
  Rows applied = 0;  ///< applied and (at the end) committed
  Rows undone = 0;   ///< received, then rolled back or truncated
  double first_lock_s = -1;
  double applied_s = -1; ///< commit applied; -1 while in flight
};

/// Everything one subscription's processes record.
struct SubscriptionRecord {
  std::map<Xid, DeliveryRecord> deliveries;
  Bytes sent_bytes = 0;     ///< on the wire
  Bytes tmp_file_bytes = 0; ///< subscriber-side files of streamed changes, now
  Bytes peak_tmp_file_bytes = 0;
  Lsn sent_lsn, replay_lsn;
  int locking_transactions = 0; ///< that hold row locks now
};

struct RunLog {
  std::vector<TransactionRecord> transactions;
  std::map<std::string, SubscriptionRecord> subscriptions;
};

} // namespace replisim
