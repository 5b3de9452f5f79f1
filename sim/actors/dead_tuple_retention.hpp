// What retain_dead_tuples makes a subscription do: find out, again and again, up to which transaction dead
// rows are still needed to detect conflicts, and tell the slot that holds them.
//
// Counterpart: worker.c (process_rdt_phase_transition and what it calls, adjust_xid_advance_interval) and
// launcher.c (advance_conflict_slot_xmin). A cycle: a candidate, the oldest transaction id in use; the
// publisher's status, asked again while transactions are in their commit phase; wait until all that the
// publisher had flushed is applied and flushed here; the candidate becomes oldest_nonremovable_xid, and slot
// pg_conflict_detection follows the oldest one of all subscriptions. The distance of two looks for a
// candidate is 100 ms, doubled with each look that finds no new id, up to wal_receiver_status_interval: so
// that setting counts after quiet times and while an old transaction is open, and not under a steady load.
#pragma once

#include "models/dead_versions.hpp"
#include "sim/actors/replication_connection.hpp"
#include "sim/actors/run_log.hpp"

namespace replisim {

class DeadTupleRetention {
public:
  struct Params {
    std::string subscription;
    const CostParameters* costs = nullptr;
    double status_interval_s = 10; ///< wal_receiver_status_interval; 0: no limit but the longest one
    double flush_poll_s = 0.2;     ///< wal_writer_delay: how often the local flush is looked at
    double slot_flush_s = 0;       ///< flush of the slot's file
    double max_retention_s = 0;    ///< max_retention_duration; 0: no limit
    bool commits_under_way = true; ///< the publisher commits all the time: its status is asked twice
    /// There was quiet before the run: the interval has grown to its limit, and half of one is left.
    bool after_quiet = true;
    DeadVersions* dead = nullptr;                 ///< of the subscriber
    std::function<std::uint64_t()> xids_assigned; ///< on the subscriber, so far
    std::function<double()> oldest_open_s;        ///< when its oldest open transaction began; negative: none
    std::function<Lsn()> flushed;            ///< up to where the publisher's WAL is applied and flushed here
    std::function<bool()> tables_ready;      ///< none is being synchronised
    std::function<void(bool active)> turned; ///< max_retention_duration has stopped it, or it goes on
  };
  DeadTupleRetention(engine::World& world, Params params, ReplicationConnection& connection);
  void run(engine::Process& process);
  std::int64_t slot_updates() const { return slot_updates_; }
  bool active() const { return active_; } ///< subretentionactive
  std::int64_t stops() const { return stops_; }
  std::int64_t resumptions() const { return resumptions_; }

private:
  /// A transaction id: of an open transaction, by its beginning, or the next one to be assigned.
  struct Candidate {
    double open_since_s = -1;
    std::uint64_t next = 0;
    bool operator==(const Candidate&) const = default;
  };
  bool rest(engine::Process& process, double seconds);
  enum class Outcome { Done, Disconnected, TooLong };

  Candidate oldest_in_use() const;
  double next_interval(double interval_s, bool new_id) const;
  Outcome ask_publisher(engine::Process& process, double begun_s, Lsn& needed);
  Outcome await_flush(engine::Process& process, double begun_s, Lsn needed);
  bool too_long(double begun_s) const;
  Outcome cycle(engine::Process& process, double begun_s);
  void finish(engine::Process& process, const Candidate& candidate, double begun_s);
  void stop();

  engine::World& world_;
  Params params_;
  ReplicationConnection& connection_;
  engine::Signal answered_;
  Lsn answer_;
  bool waiting_ = false;
  std::int64_t requests_ = 0;
  bool active_ = true;
  Candidate oldest_nonremovable_;
  std::int64_t slot_updates_ = 0, stops_ = 0, resumptions_ = 0;
};

} // namespace replisim
