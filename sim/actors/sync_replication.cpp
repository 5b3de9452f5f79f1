#include "sim/actors/sync_replication.hpp"

namespace replisim {

void SyncReplication::wait(engine::Process& process, Lsn lsn) {
  if (level_ == SyncLevel::None or released(lsn))
    return;
  const auto place = waiting_.emplace(waiting_.end(), world_, process.name() + " (synchronous commit)");
  while (not released(lsn))
    process.wait(*place, engine::Activity::Blocked);
  waiting_.erase(place);
}

void SyncReplication::reported(const std::string& name, const ReplicationConnection::Positions& positions) {
  if (not rule_.lists(name))
    return;
  const Lsn by_level = level_ == SyncLevel::Write   ? positions.received
                       : level_ == SyncLevel::Flush ? positions.flushed
                                                    : positions.applied;
  Lsn& acknowledged = acknowledged_[name];
  acknowledged = std::max(acknowledged, by_level);
  release();
}

void SyncReplication::left(const std::string& name) { acknowledged_.erase(name); }

void SyncReplication::release() {
  const auto lsn = sync_released(rule_, acknowledged_);
  if (not lsn or *lsn <= released_)
    return;
  released_ = *lsn;
  // Those who are woken take themselves off the list when they run.
  std::vector<engine::Signal*> woken;
  for (auto& signal : waiting_)
    woken.push_back(&signal);
  for (auto* signal : woken)
    signal->notify();
}

} // namespace replisim
