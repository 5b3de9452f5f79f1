#include "sim/actors/sync_replication.hpp"

#include <algorithm>
#include <vector>

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

void SyncReplication::left(const std::string& name) {
  acknowledged_.erase(name);
  waits_.erase(name);
}

/// Positions are received and applied in one message of the apply worker: remote_write waits as long as
/// remote_apply.
void SyncReplication::note_waits(const std::string& name, double applied_s, double flushed_s) {
  constexpr double weight = 0.25; // of the last batch, of the tick's length
  const double wait_s = level_ == SyncLevel::Flush ? flushed_s : applied_s;
  const auto [known, first] = waits_.try_emplace(name, wait_s);
  if (not first)
    known->second += weight * (wait_s - known->second);
}

std::optional<double> SyncReplication::commit_wait_s() const {
  if (level_ == SyncLevel::None)
    return 0;
  if (not sync_released(rule_, acknowledged_))
    return std::nullopt;
  // The standbys as they are listed; "*" lists all, in whatever order.
  std::vector<double> waits;
  for (const std::string& listed : rule_.names)
    for (const auto& [name, lsn] : acknowledged_)
      if (listed == name or listed == "*") {
        const auto wait = waits_.find(name);
        waits.push_back(wait == waits_.end() ? 0 : wait->second);
      }
  const auto count = std::min(waits.size(), static_cast<std::size_t>(rule_.count));
  if (count == 0)
    return 0;
  if (rule_.any)
    std::sort(waits.begin(), waits.end());
  return *std::max_element(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(count));
}

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
