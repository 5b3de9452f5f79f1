// The cast on subscribers: their WAL, leader and parallel apply workers, and who waits for them.
#include "sim/actors/pipeline.hpp"
#include "sim/scenario/subscriber_memory.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace replisim {

/// Once for each of its subscriptions, whose leaders come before any parallel apply worker.
void Pipeline::add_subscriber(const Server& server) {
  auto& side = subscribers_[server.name];
  const Settings& settings = server.settings;
  if (side.wal == nullptr) {
    side.worker_slots = WorkerSlots(static_cast<int>(std::min(
        settings.number("max_logical_replication_workers"), settings.number("max_worker_processes") - 1)));
    side.prepared_slots.most = static_cast<int>(settings.number("max_prepared_transactions"));
    const auto publishes = publishers_.find(server.name);
    if (publishes != publishers_.end()) {
      side.wal = publishes->second.wal.get();
    } else {
      side.own_wal = std::make_unique<WalLog>(world_, wal_options(server),
                                              scenario_.hosts.at(server.host).disks.front());
      side.wal = side.own_wal.get();
      side.wal_writer = std::make_unique<WalWriter>(*side.wal, settings.number("wal_writer_delay"));
      spawn(server.name, "walwriter", server.name + " walwriter", server.host,
            [writer = side.wal_writer.get()](engine::Process& process) { writer->run(process); });
    }
  }
  side.worker_slots.take();
}

Pipeline::SlotClient Pipeline::client_of(const Subscription& subscription) const {
  const Server& subscriber = scenario_.servers.at(subscription.server);
  SlotClient client;
  client.name = subscription.name;
  client.publication = subscription.publication;
  client.streaming = subscription.streaming;
  client.host = subscriber.host;
  client.binary = subscription.binary;
  client.two_phase = subscription.two_phase;
  client.own_changes_only = subscription.own_changes_only;
  client.receiver_timeout_s = subscriber.settings.number("wal_receiver_timeout");
  return client;
}

void Pipeline::add_subscription(const Subscription& subscription) {
  const Server& subscriber = scenario_.servers.at(subscription.server);
  auto& side = add_slot(client_of(subscription));
  side.subscriber = subscription.server;
  auto& record = log_.subscriptions.at(subscription.name);
  const Settings& settings = subscriber.settings;
  ApplyWorker::Params applying;
  side.price = std::make_unique<ApplyCost>(
      apply_cost_of(scenario_, subscription, costs_, dead_versions_of(subscription.server)));
  applying.costs = &costs_;
  applying.price = side.price.get();
  applying.tables = &scenario_.tables;
  const Disk& disk = scenario_.hosts.at(subscriber.host).disks.front();
  auto& server_side = subscribers_.at(subscription.server);
  side.local_wal = std::make_unique<SubscriberWal>(server_side.wal, subscription.commits_wait_for_flush,
                                                   settings.flag("fsync") ? disk.fsync_latency_s : 0);
  add_handed_on(subscription, side);
  applying.wal = side.local_wal.get();
  side.errors =
      std::make_unique<ApplyErrors>(&subscription, [this, &side, &subscription](const std::string& text) {
        note_error(subscription, side, text);
      });
  applying.errors = side.errors.get();
  applying.worker_slots = &server_side.worker_slots;
  applying.down_until_s = &server_side.down_until_s;
  const Server& publisher = scenario_.servers.at(scenario_.publications.at(subscription.publication).server);
  if (const auto also = subscribers_.find(publisher.name); also != subscribers_.end())
    applying.publisher_down_until_s = &also->second.down_until_s;
  applying.keepalive_interval_s = publisher.settings.number("wal_sender_timeout") / 2;
  applying.streaming = subscription.streaming;
  applying.batch_rows = resolution_.batch_rows;
  applying.flush_delay_s = settings.number("wal_writer_delay");
  applying.retry_interval_s = settings.number("wal_retrieve_retry_interval");
  if (subscription.streaming == Streaming::Parallel)
    applying.parallel_workers =
        static_cast<int>(settings.number("max_parallel_apply_workers_per_subscription"));
  applying.spools = [this, &record, name = subscription.name] { note_spooling(name, record); };
  const std::string leader = subscriber.name + " apply worker " + subscription.name;
  auto& locks = *subscriber_side(subscription.server).locks;
  applying.locks = &locks;
  side.prepared = std::make_unique<PreparedTransactions>(world_, subscription.name, locks, *side.local_wal,
                                                         record, server_side.prepared_slots);
  applying.prepared = side.prepared.get();
  applying.backend = locks.add_backend(leader, ServerLocks::Kind::Apply);
  applying.publication = &scenario_.publications.at(subscription.publication);
  applying.subscription = subscription.name;
  if (subscription.initial_sync)
    add_initial_sync(subscription, applying);
  add_parallel_workers(subscription, applying.parallel_workers);
  if (auto* sync = publishers_.at(publisher.name).sync.get())
    applying.acknowledged = [sync, name = subscription.name](double applied_s, double flushed_s) {
      sync->note_waits(name, applied_s, flushed_s);
    };
  report_to_standbys(subscription, publisher.name);
  side.leader = std::make_unique<ApplyWorker>(world_, applying, *side.connection, side.workers, record,
                                              [this] { progressed(); });
  auto* syncing = subscription.initial_sync ? syncs_.at(subscription.name).sync.get() : nullptr;
  spawn(subscriber.name, "apply_worker", leader, subscriber.host,
        [worker = side.leader.get(), syncing, slot = side.slot.get()](engine::Process& process) {
          if (syncing != nullptr)
            syncing->create(process, *slot);
          worker->run(process);
        });
  roles_.back().slot = subscription.name;
  if (subscription.retain_dead_tuples)
    add_retention(subscription, side);
}

void Pipeline::add_parallel_workers(const Subscription& subscription, int count) {
  const Server& subscriber = scenario_.servers.at(subscription.server);
  auto& side = slots_.at(subscription.name);
  auto& record = log_.subscriptions.at(subscription.name);
  auto& locks = *subscriber_side(subscription.server).locks;
  for (int i = 0; i < count; ++i) {
    const std::string name =
        subscriber.name + " parallel apply worker " + subscription.name + " " + std::to_string(i + 1);
    side.workers.push_back(std::make_unique<ParallelApplyWorker>(
        world_, name,
        ParallelApplyWorker::Shared{*side.price, record, *side.local_wal, *side.errors, *side.prepared, locks,
                                    [&side] { side.leader->fail(); }}));
    spawn(subscriber.name, "parallel_apply_worker", name, subscriber.host,
          [worker = side.workers.back().get()](engine::Process& process) { worker->run(process); });
    roles_.back().slot = subscription.name;
  }
}

/// Told once a subscription.
void Pipeline::note_spooling(const std::string& name, const SubscriptionRecord& record) {
  if (record.partially_serialized_txns == 1)
    outcomes_.push_back({world_.now(), "partial_serialization", name,
                         fmt::format("the ring of a parallel apply worker of {} stayed full for 10 s: the "
                                     "leader serializes the remaining changes to a file "
                                     "(partially_serialized_txns counts all)",
                                     name)});
}

void Pipeline::note_error(const Subscription& subscription, const SlotSide& side, const std::string& text) {
  if (side.errors->disables())
    outcomes_.push_back({world_.now(), "subscription_disabled", subscription.name,
                         fmt::format("subscription {} is disabled: {}", subscription.name, text)});
  else if (side.errors->count() == 1)
    outcomes_.push_back(
        {world_.now(), "apply_error", subscription.name,
         fmt::format("the apply worker of {} exits and tries again, wal_retrieve_retry_interval after "
                     "its last start: {} (apply_error_count counts all)",
                     subscription.name, text)});
}

/// The publisher's commits may wait for this subscription, which it knows by its name.
void Pipeline::report_to_standbys(const Subscription& subscription, const std::string& publisher) {
  auto* sync = publishers_.at(publisher).sync.get();
  if (sync == nullptr)
    return;
  auto& connection = *slots_.at(subscription.name).connection;
  connection.on_positions(
      [sync, name = subscription.name](const ReplicationConnection::Positions& positions) {
        sync->reported(name, positions);
      });
  connection.on_end([sync, name = subscription.name] { sync->left(name); });
}

} // namespace replisim
