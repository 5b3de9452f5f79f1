// The cast of an initial synchronisation: table-sync workers, their slots, and the COPY of each table.
#include "sim/actors/pipeline.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace replisim {

namespace {
/// A run that ends when all is applied is given up when a table was tried so often for nothing.
constexpr int most_attempts = 20;
} // namespace

/// Its leader applies changes of tables that are synchronised only.
void Pipeline::add_initial_sync(const Subscription& subscription, ApplyWorker::Params& applying) {
  const Publication& publication = scenario_.publications.at(subscription.publication);
  const Server& subscriber = scenario_.servers.at(subscription.server);
  auto& main = slots_.at(subscription.name);
  auto& from = publishers_.at(main.publisher);
  auto& syncing = syncs_[subscription.name];
  main.slot->drop(); // there is none before CREATE SUBSCRIPTION
  main.reader->park();
  if (from.ledger == nullptr)
    from.ledger = std::make_unique<PublisherLedger>(*from.wal);
  InitialSync::Params params;
  params.created_s = subscription.initial_sync->created_s;
  params.copies = subscription.initial_sync->copies;
  params.latency_s = main.connection->latency_s();
  params.retry_s = subscriber.settings.number("wal_retrieve_retry_interval");
  params.limit = static_cast<int>(subscriber.settings.number("max_sync_workers_per_subscription"));
  params.places = &subscribers_.at(subscription.server).worker_slots;
  params.progressed = [this] {
    check_cut_overs();
    progressed();
  };
  syncing.sync = std::make_unique<InitialSync>(world_, std::move(params), subscription.name, *from.ledger);
  applying.relations = syncing.sync.get();
  main.connection->on_caught_up([sync = syncing.sync.get()](Lsn sent) { sync->received(sent); });
  for (const std::string& table : publication.tables)
    add_table_sync(subscription, syncing, scenario_.tables.at(table), applying);
  const auto places =
      static_cast<std::size_t>(std::min(subscriber.settings.number("max_sync_workers_per_subscription"),
                                        static_cast<double>(publication.tables.size())));
  for (std::size_t i = 0; i < places; ++i) {
    const std::string name =
        fmt::format("{} table-sync worker {} {}", subscriber.name, subscription.name, i + 1);
    syncing.sync->add_worker(name);
    syncing.workers.emplace_back(
        *syncing.sync, i, costs_.worker_start_s, syncing.tables,
        [this, subscription = subscription.name](const std::string& table, const std::string& why) {
          note_sync_failure(subscription, table, why);
        });
    spawn(subscriber.name, "table_sync_worker", name, subscriber.host,
          [worker = &syncing.workers.back()](engine::Process& process) { worker->run(process); });
    roles_.back().slot = subscription.name;
  }
}

void Pipeline::add_table_sync(const Subscription& subscription, SyncSide& syncing, const Table& table,
                              const ApplyWorker::Params& applying) {
  const Server& subscriber = scenario_.servers.at(subscription.server);
  const std::string name = fmt::format("{} sync {}", subscription.name, table.name);
  SlotClient client;
  client.name = name;
  client.publication = subscription.publication;
  client.host = subscriber.host;
  client.streaming = subscription.streaming == Streaming::Off ? Streaming::Off : Streaming::On;
  client.binary = subscription.binary;
  client.receiver_timeout_s = subscriber.settings.number("wal_receiver_timeout");
  client.synchronises = true;
  auto& side = sync_slots_[name];
  side.subscriber = subscription.server;
  auto& record = log_.sync_slots[name];
  build_slot(client, side, record);
  side.slot->drop();
  side.reader->park();

  const Server& publisher = scenario_.servers.at(side.publisher);
  const Disk& disk = scenario_.hosts.at(subscriber.host).disks.front();
  side.local_wal =
      std::make_unique<SubscriberWal>(subscribers_.at(subscription.server).wal, false, disk.fsync_latency_s);
  side.errors = std::make_unique<ApplyErrors>();
  auto& notes = log_.syncs[subscription.name].emplace_back();
  notes.table = table.name;
  auto& entry = syncing.sync->add(table, notes);
  auto& states = syncing.states.emplace_back(entry, *side.connection);
  side.connection->on_caught_up([&states](Lsn sent) { states.received(sent); });

  ApplyWorker::Params catching_up = applying;
  catching_up.relations = &states;
  catching_up.wal = side.local_wal.get();
  catching_up.errors = side.errors.get();
  catching_up.streaming = client.streaming;
  catching_up.parallel_workers = 0;
  catching_up.backend = applying.locks->add_backend(name, ServerLocks::Kind::Apply);
  side.leader =
      std::make_unique<ApplyWorker>(world_, catching_up, *side.connection, side.workers, record, [] {});

  TableCopy::Params copying;
  copying.cost = copy_cost(table, *applying.price, subscription.initial_sync->rate_bytes_per_s,
                           scenario_.hosts.at(subscriber.host).speed);
  copying.statement_timeout_s = publisher.settings.number("statement_timeout");
  copying.latency_s = side.connection->latency_s();
  auto stream = connection("COPY of " + name, publisher.host, subscriber.host);
  auto& copy = syncing.copies.emplace_back(world_, copying, stream);
  spawn(publisher.name, "copy", publisher.name + " COPY " + name, publisher.host,
        [copy = &copy](engine::Process& process) { copy->serve(process); });
  roles_.back().slot = subscription.name;
  if (publisher.host != subscriber.host)
    copy.cross_link(hosts_.at(publisher.host), hosts_.at(subscriber.host));
  syncing.tables.push_back({&entry, side.slot.get(), &copy, side.leader.get(), side.local_wal.get(),
                            copying.cost.heap_bytes, [slot = side.slot.get(), reader = side.reader] {
                              slot->drop();
                              reader->park();
                            }});
}

void Pipeline::note_sync_failure(const std::string& subscription, const std::string& table,
                                 const std::string& why) {
  const auto& records = log_.syncs.at(subscription);
  const auto record = std::find_if(records.begin(), records.end(),
                                   [&](const TableSyncRecord& known) { return known.table == table; });
  if (record->attempts == 1)
    outcomes_.push_back(
        {world_.now(), "sync_failed", subscription,
         fmt::format("the table-sync worker of {} for {} ended: {}; what it had copied is dead "
                     "rows, and it begins again from the start (the table of the initial sync "
                     "counts all)",
                     subscription, table, why)});
  if (record->attempts < most_attempts or scenario_.observe.until_s > 0)
    return;
  outcomes_.push_back(
      {world_.now(), "not_caught_up", subscription,
       fmt::format("given up after {} attempts to copy {}: {}", record->attempts, table, why)});
  world_.finish();
}

} // namespace replisim
