// Transactions that a subscription has prepared on its server (two_phase), from PREPARE to COMMIT PREPARED.
//
// Counterpart: worker.c (apply_handle_prepare, apply_handle_commit_prepared) and twophase.c: their rows stay
// locked, whoever applied them goes on to other work, and they outlive the workers.
#pragma once

#include "sim/actors/replication_messages.hpp"
#include "sim/actors/run_log.hpp"
#include "sim/actors/server_locks.hpp"
#include "sim/actors/subscriber_wal.hpp"

namespace replisim {

/// max_prepared_transactions of one server.
struct PreparedSlots {
  int most = 0;
  int used = 0;
};

class PreparedTransactions {
public:
  PreparedTransactions(engine::World& world, std::string subscription, ServerLocks& locks, SubscriberWal& wal,
                       SubscriptionRecord& record, PreparedSlots& slots)
      : world_(world), subscription_(std::move(subscription)), locks_(locks), wal_(wal), record_(record),
        slots_(slots) {}

  /// Why the server refuses to prepare another one; empty: it does not.
  std::string refusal() const;
  /// All rows of the transaction are applied by `backend`: they become the prepared transaction's.
  void prepare(engine::Process& process, BackendId backend, const PrepareTransaction& transaction);
  /// COMMIT PREPARED or ROLLBACK PREPARED, by the leader.
  void finish(engine::Process& process, const FinishPrepared& transaction);

private:
  engine::World& world_;
  std::string subscription_;
  ServerLocks& locks_;
  SubscriberWal& wal_;
  SubscriptionRecord& record_;
  PreparedSlots& slots_;
  std::map<Xid, BackendId> holders_; ///< of the locks
};

} // namespace replisim
