// Commits of one publisher that wait for subscriptions: syncrep.c (SyncRepWaitForLSN, SyncRepReleaseWaiters).
#pragma once

#include "models/sync_standbys.hpp"
#include "sim/actors/replication_connection.hpp"

#include <list>

namespace replisim {

class SyncReplication {
public:
  SyncReplication(engine::World& world, SyncStandbys rule, SyncLevel level)
      : world_(world), rule_(std::move(rule)), level_(level) {}

  /// Returns when the standbys have acknowledged `lsn` at the level that synchronous_commit asks for.
  void wait(engine::Process& process, Lsn lsn);

  /// The subscription `name` is connected and has reported.
  void reported(const std::string& name, const ReplicationConnection::Positions& positions);
  /// It is gone: until it is back it counts for nothing.
  void left(const std::string& name);

private:
  bool released(Lsn lsn) const { return released_ >= lsn; }
  void release();

  engine::World& world_;
  SyncStandbys rule_;
  SyncLevel level_;
  std::map<std::string, Lsn> acknowledged_;
  Lsn released_;
  std::list<engine::Signal> waiting_;
};

} // namespace replisim
