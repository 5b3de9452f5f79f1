// Subscribers that retain dead tuples: what dies there, who holds it, and until when.
#include "sim/actors/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

DeadVersions* Pipeline::dead_versions_of(const std::string& server) {
  const auto side = subscribers_.find(server);
  return side == subscribers_.end() ? nullptr : side->second.dead.get();
}

/// Once for each of its retaining subscriptions; rows that sessions of the server itself change are seen in
/// its WAL.
void Pipeline::add_dead_versions(const std::string& server) {
  SubscriberSide& side = subscribers_.at(server);
  if (side.dead == nullptr) {
    side.dead = std::make_unique<DeadVersions>(costs_, scenario_.tables);
    if (const auto publisher = publishers_.find(server); publisher != publishers_.end())
      publisher->second.wal->on_entry(
          [this, dead = side.dead.get()](const WalEntry& entry) { note_dead(entry, *dead); });
  }
  side.dead->add_writers(1);
}

void Pipeline::note_dead(const WalEntry& entry, DeadVersions& dead) const {
  if (entry.received)
    return; // its apply worker tells
  const double now_s = world_.now();
  if (const auto* rows = std::get_if<RowsWritten>(&entry.what)) {
    const Operation operation = rows->statement->operation;
    if (operation != Operation::Insert)
      dead.died(rows->table->name, static_cast<double>(rows->rows.count), operation == Operation::Update,
                now_s);
  } else if (const auto* flow = std::get_if<FlowCommitted>(&entry.what)) {
    for (const StatementStep& step : flow->flow->transaction)
      if (step.operation != Operation::Insert)
        dead.died(step.table, static_cast<double>(step.rows * flow->transactions),
                  step.operation == Operation::Update, now_s);
  }
}

/// On a subscriber: changes whenever a transaction there gets an id.
std::uint64_t Pipeline::xids_assigned(const std::string& server) const {
  std::uint64_t sum = 0;
  if (const auto publisher = publishers_.find(server); publisher != publishers_.end())
    sum += publisher->second.wal->next_xid();
  for (const auto& [name, subscription] : scenario_.subscriptions)
    if (subscription.server == server)
      sum += slots_.at(name).local_wal->transactions();
  for (const SessionRecord& record : sessions_)
    if (record.server == server)
      sum += static_cast<std::uint64_t>(record.transactions);
  return sum;
}

/// When the oldest transaction began that holds locks on a subscriber now; negative: there is none.
double Pipeline::oldest_open_s(const std::string& server) const {
  const double age_s = subscribers_.at(server).locks->oldest_transaction_s();
  return age_s > 0 ? world_.now() - age_s : -1;
}

void Pipeline::add_retention(const Subscription& subscription, SlotSide& side) {
  const Server& subscriber = scenario_.servers.at(subscription.server);
  DeadTupleRetention::Params params;
  params.subscription = subscription.name;
  params.costs = &costs_;
  params.status_interval_s = subscriber.settings.number("wal_receiver_status_interval");
  params.flush_poll_s = subscriber.settings.number("wal_writer_delay");
  if (subscriber.settings.flag("fsync"))
    params.slot_flush_s = scenario_.hosts.at(subscriber.host).disks.front().fsync_latency_s;
  params.max_retention_s = subscription.max_retention_s;
  const std::string& publisher = side.publisher;
  const auto commits_there = [&](const auto& load) { return load.server == publisher; };
  params.commits_under_way = std::any_of(scenario_.clients.begin(), scenario_.clients.end(), commits_there) or
                             std::any_of(scenario_.flows.begin(), scenario_.flows.end(), commits_there);
  params.after_quiet = not subscription.initial_sync;
  params.dead = dead_versions_of(subscription.server);
  params.xids_assigned = [this, server = subscription.server] { return xids_assigned(server); };
  params.oldest_open_s = [this, server = subscription.server] { return oldest_open_s(server); };
  params.flushed = [&side, &record = log_.subscriptions.at(subscription.name)] {
    return side.local_wal->has_unflushed() ? side.local_wal->flushed_remote() : record.replay_lsn;
  };
  params.tables_ready = [this, name = subscription.name] {
    const auto syncing = syncs_.find(name);
    return syncing == syncs_.end() or syncing->second.sync->all_ready();
  };
  params.turned = [this, name = subscription.name](bool active) {
    outcomes_.push_back({world_.now(), active ? "retention_resumed" : "retention_stopped", name,
                         active ? fmt::format("{} retains dead tuples again: a cycle took less than "
                                              "max_retention_duration",
                                              name)
                                : fmt::format("{} retains dead tuples no longer: a cycle took more than "
                                              "max_retention_duration (subretentionactive is false)",
                                              name)});
  };
  side.retention = std::make_unique<DeadTupleRetention>(world_, params, *side.connection);
  spawn(subscriber.name, "launcher", subscriber.name + " launcher " + subscription.name, subscriber.host,
        [retention = side.retention.get()](engine::Process& process) { retention->run(process); });
}

} // namespace replisim
