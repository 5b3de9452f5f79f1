// Commits of one publisher that wait for subscriptions: syncrep.c (SyncRepWaitForLSN, SyncRepReleaseWaiters).
#pragma once

#include "models/sync_standbys.hpp"
#include "sim/actors/replication_connection.hpp"

#include <list>
#include <optional>

namespace replisim {

class SyncReplication {
public:
  SyncReplication(engine::World& world, SyncStandbys rule, SyncLevel level)
      : world_(world), rule_(std::move(rule)), level_(level) {}

  /// Returns when the standbys have acknowledged `lsn` at the level that synchronous_commit asks for.
  void wait(engine::Process& process, Lsn lsn);

  /// The subscription `name` is connected and has reported.
  void reported(const std::string& name, const ReplicationConnection::Positions& positions);
  /// Small transactions that `name` received lately took so long, on average, from their flush here until
  /// it was known here that they are applied, and flushed, there.
  void note_waits(const std::string& name, double applied_s, double flushed_s);
  /// What the commits of such transactions wait for on average; nothing while too few standbys are connected
  /// for any commit to return.
  std::optional<double> commit_wait_s() const;
  /// Nobody has acknowledged such transactions yet.
  bool unknown_wait() const { return level_ != SyncLevel::None and waits_.empty(); }
  /// It is gone: until it is back it counts for nothing.
  void left(const std::string& name);

private:
  bool released(Lsn lsn) const { return released_ >= lsn; }
  void release();

  engine::World& world_;
  SyncStandbys rule_;
  SyncLevel level_;
  std::map<std::string, Lsn> acknowledged_;
  std::map<std::string, double> waits_; ///< at this level, by standby
  Lsn released_;
  std::list<engine::Signal> waiting_;
};

} // namespace replisim
