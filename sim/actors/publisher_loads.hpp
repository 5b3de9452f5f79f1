// What else writes WAL on a publisher: small transactions, other databases, the background writer's
// running-xacts records, and the checkpointer that removes it again.
#pragma once

#include "models/dead_versions.hpp"
#include "models/flow_shape.hpp"
#include "models/group_commit.hpp"
#include "models/wal_retention.hpp"
#include "sim/actors/publisher_backend.hpp"
#include "sim/actors/replication_connection.hpp"

namespace replisim {

/// Clients that run small transactions at a rate (open loop). One process stands for all of them: every
/// `tick_s` it runs the transactions that have come meanwhile, on as many CPUs as they need.
class FlowClients {
public:
  struct Params {
    const FlowLoad* flow = nullptr;
    const std::map<std::string, Table>* tables = nullptr;
    const CostParameters* costs = nullptr;
    double tick_s = 0.01;
    int cpus = 1;
    double wal_bytes_per_s = 1e9; ///< of the disk that holds WAL
    bool waits_for_flush = true;
    double flush_s = 0; ///< one flush of the WAL
    bool page_images = false;
    std::uint64_t seed = 1;
    Xid accounted_as;                   ///< the id under which deliveries count the flow's rows
    const DeadVersions* dead = nullptr; ///< retained on this server, a subscriber; null: none
  };
  FlowClients(Params params, WalLog& wal, PublisherState& state, TransactionRecord& record);
  void run(engine::Process& process);

private:
  struct Arrivals {
    std::int64_t transactions = 0;
    double first_s = 0, last_s = 0;
    std::vector<double> dates = {}; ///< of each; empty: they came evenly
  };
  std::int64_t arrivals(double from_s, double to_s, std::uint64_t tick);
  Arrivals arrived(double from_s, double to_s, std::uint64_t tick);
  bool one_by_one() const;
  void run_replay(engine::Process& process);
  void commit(engine::Process& process, const Arrivals& arrivals);
  FlowCommitted committed(const Arrivals& arrivals, double took_s);
  void date_one_by_one(FlowCommitted& what, const Arrivals& arrivals, double each_s);
  double flush_wait_s(double rate_per_s) const;
  Bytes wal_bytes(std::int64_t transactions);
  double backend_s() const;
  std::uint64_t ticks_at_once() const;

  Params params_;
  WalLog& wal_;
  PublisherState& state_;
  TransactionRecord& record_;
  FlowShape shape_;
  std::int64_t emitted_ = 0;
  double bytes_remainder_ = 0;
  double last_commit_s_ = 0;
  GroupCommit flushes_;
  std::uint64_t dates_drawn_ = 0;
};

/// Other databases of the server: WAL at a rate, and nothing else.
class OtherWalWriter {
public:
  OtherWalWriter(const OtherWalLoad& load, WalLog& wal, double tick_s)
      : load_(load), wal_(wal), tick_s_(tick_s) {}
  void run(engine::Process& process);

private:
  const OtherWalLoad& load_;
  WalLog& wal_;
  double tick_s_;
};

/// The background writer's share in decoding: a running-xacts record at least 15 s after the last one, if WAL
/// was written meanwhile (bgwriter.c, LOG_SNAPSHOT_INTERVAL_MS).
class BackgroundWriter {
public:
  explicit BackgroundWriter(WalLog& wal) : wal_(wal) {}
  void run(engine::Process& process);

private:
  WalLog& wal_;
};

/// Counterpart: checkpointer.c, xlog.c (CreateCheckPoint, RemoveOldXlogFiles). Starts by time or by WAL
/// volume, is spread over checkpoint_completion_target of the distance, and at its end invalidates slots and
/// removes WAL.
class Checkpointer {
public:
  Checkpointer(RetentionRules rules, WalLog& wal, PublisherState& state,
               std::vector<ReplicationConnection*> connections, std::vector<Slot*> sql_slots,
               std::function<void()> removed);
  void run(engine::Process& process);
  std::int64_t checkpoints() const { return checkpoints_; }
  RetentionRules& rules() { return rules_; }

private:
  void complete(engine::Process& process, Lsn redo);

  RetentionRules rules_;
  WalLog& wal_;
  PublisherState& state_;
  std::vector<ReplicationConnection*> connections_;
  std::vector<Slot*> sql_slots_; ///< without a connection
  std::function<void()> removed_;
  std::int64_t checkpoints_ = 0;
};

} // namespace replisim
