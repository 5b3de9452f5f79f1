// What retain_dead_tuples makes a subscription do: find out, again and again, up to which transaction dead
// rows are still needed to detect conflicts, and tell the slot that holds them.
//
// Counterpart: worker.c (process_rdt_phase_transition and what it calls) and launcher.c
// (advance_conflict_slot_xmin). A cycle: a candidate xid; the publisher's status, asked again while
// transactions are in their commit phase; wait until all that the publisher had flushed is applied and
// flushed here; advance slot pg_conflict_detection. Cycles are 100 ms apart while transactions are applied,
// and up to wal_receiver_status_interval while nothing changes.
#pragma once

#include "models/cost_profile.hpp"
#include "sim/actors/replication_connection.hpp"
#include "sim/actors/run_log.hpp"

namespace replisim {

class DeadTupleRetention {
public:
  struct Params {
    const CostParameters* costs = nullptr;
    double status_interval_s = 10; ///< wal_receiver_status_interval; 0: no limit but the longest one
    double flush_poll_s = 0.2;     ///< wal_writer_delay: how often the local flush is looked at
    double slot_flush_s = 0;       ///< flush of the slot's file
    bool commits_under_way = true; ///< the publisher commits all the time: its status is asked twice
  };
  DeadTupleRetention(engine::World& world, Params params, ReplicationConnection& connection,
                     const SubscriptionRecord& record);
  void run(engine::Process& process);
  std::int64_t slot_updates() const { return slot_updates_; }

private:
  Lsn ask_publisher(engine::Process& process);

  Params params_;
  ReplicationConnection& connection_;
  const SubscriptionRecord& record_;
  engine::Signal answered_;
  Lsn answer_;
  bool waiting_ = false;
  std::int64_t slot_updates_ = 0;
};

} // namespace replisim
