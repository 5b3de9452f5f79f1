#include "sim/actors/initial_sync.hpp"

#include "models/slot.hpp"

#include <algorithm>

namespace replisim {

InitialSync::InitialSync(engine::World& world, Params params, const std::string& subscription,
                         PublisherLedger& ledger)
    : world_(world), params_(std::move(params)), ledger_(ledger),
      leader_woken_(world, subscription + " (relation states)") {}

InitialSync::Entry& InitialSync::add(const Table& table, TableSyncRecord& record) {
  Entry& entry = tables_.emplace_back(world_, table.name + " (relation state)");
  entry.table = &table;
  entry.record = &record;
  return entry;
}

void InitialSync::add_worker(const std::string& name) { workers_.emplace_back(world_, name + " (launch)"); }

/// CREATE SUBSCRIPTION creates the slot and waits for its consistent point.
void InitialSync::create(engine::Process& process, Slot& slot) {
  process.sleep(params_.created_s, engine::Activity::Starved);
  process.sleep(2 * params_.latency_s, engine::Activity::Starved);
  const SlotStart start = ledger_.find_start(process, leader_woken_);
  slot.create(start.consistent, start.restart);
  position_ = start.consistent;
  launches_ = SyncLaunches(tables_.size(), params_.limit, params_.retry_s);
  for (Entry& entry : tables_) {
    entry.baseline = ledger_.changes(entry.table->name);
    if (not params_.copies) {
      entry.state = SyncState::Ready;
      entry.record->ready_s = world_.now();
    }
  }
  created_ = true;
  if (not params_.copies)
    params_.progressed();
  launch();
}

bool InitialSync::all_ready() const {
  return created_ and std::all_of(tables_.begin(), tables_.end(),
                                  [](const Entry& entry) { return entry.state == SyncState::Ready; });
}

const InitialSync::Entry* InitialSync::find(const std::string& table) const {
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [&](const Entry& entry) { return entry.table->name == table; });
  return found == tables_.end() ? nullptr : &*found;
}

bool InitialSync::applies(const std::string& table, Lsn final) const {
  const Entry* entry = find(table);
  if (entry == nullptr or entry->state == SyncState::Ready)
    return true;
  return entry->state == SyncState::SyncDone and final > entry->done;
}

/// Starts workers where there is a place, a table without one, and its last start long enough ago.
void InitialSync::launch() {
  if (paused_ or not created_)
    return;
  double next_s = -1;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    Entry& entry = tables_[i];
    if (entry.worker or entry.state == SyncState::Ready or entry.state == SyncState::SyncDone)
      continue;
    const double date_s = launches_.earliest_s(i);
    if (date_s > world_.now() + 1e-9) {
      next_s = next_s < 0 ? date_s : std::min(next_s, date_s);
      continue;
    }
    const auto idle = std::find_if(workers_.begin(), workers_.end(),
                                   [](const Worker& worker) { return worker.table == nullptr; });
    if (idle == workers_.end() or not launches_.has_place())
      break;
    if (params_.places != nullptr and not params_.places->take()) {
      next_s = world_.now() + params_.retry_s; // out of logical replication worker slots
      break;
    }
    launches_.started(i, world_.now());
    entry.worker = true;
    entry.record->launched_s = world_.now();
    ++entry.record->attempts;
    idle->table = &entry;
    idle->woken.notify();
  }
  if (next_s >= 0)
    launch_later(next_s);
}

void InitialSync::set_paused(bool paused) {
  paused_ = paused;
  launch();
}

void InitialSync::launch_later(double date_s) {
  if (timer_s_ >= 0 and timer_s_ <= date_s)
    return;
  timer_s_ = date_s;
  world_.at(date_s, [this] {
    timer_s_ = -1;
    launch();
  });
}

InitialSync::Entry& InitialSync::next_table(engine::Process& process, std::size_t worker) {
  Worker& self = workers_[worker];
  while (self.table == nullptr)
    process.wait(self.woken, engine::Activity::Starved);
  return *self.table;
}

bool InitialSync::catching_up() const {
  return std::any_of(tables_.begin(), tables_.end(),
                     [](const Entry& entry) { return entry.state == SyncState::Catchup; });
}

/// SYNCWAIT to CATCHUP, one table after the other: the leader waits for each.
void InitialSync::signal_next() {
  if (catching_up())
    return;
  const auto waiting = std::find_if(tables_.begin(), tables_.end(),
                                    [](const Entry& entry) { return entry.state == SyncState::SyncWait; });
  if (waiting == tables_.end())
    return;
  waiting->target = std::max(waiting->consistent, position_);
  waiting->state = SyncState::Catchup;
  waiting->woken.notify();
}

void InitialSync::note_ready() {
  bool any = false;
  for (Entry& entry : tables_)
    if (entry.state == SyncState::SyncDone and position_ >= entry.done) {
      entry.state = SyncState::Ready;
      entry.record->ready_s = world_.now();
      any = true;
    }
  if (any and params_.progressed)
    params_.progressed();
}

void InitialSync::look(engine::Process& process, Lsn position) {
  position_ = std::max(position_, position);
  note_ready();
  while (true) {
    signal_next();
    if (not catching_up())
      break;
    process.wait(leader_woken_, engine::Activity::Blocked);
  }
  note_ready();
}

void InitialSync::set_idle(bool idle) {
  idle_ = idle;
  if (idle)
    received(position_);
}

void InitialSync::received(Lsn position) {
  if (not idle_ or not created_)
    return;
  position_ = std::max(position_, position);
  note_ready();
  signal_next();
}

void InitialSync::wait_for_leader(engine::Process& process, Entry& entry) {
  entry.state = SyncState::SyncWait;
  if (idle_)
    signal_next();
  while (entry.state == SyncState::SyncWait)
    process.wait(entry.woken, engine::Activity::Starved);
}

void InitialSync::ended(Entry& entry) {
  entry.worker = false;
  for (Worker& worker : workers_)
    if (worker.table == &entry)
      worker.table = nullptr;
  launches_.ended();
  if (params_.places != nullptr)
    params_.places->give_back();
  leader_woken_.notify();
  if (idle_)
    received(position_);
  launch();
}

} // namespace replisim
