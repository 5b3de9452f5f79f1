#include "sim/actors/pipeline.hpp"

#include "models/base/check.hpp"
#include "models/protocol.hpp"

#include <algorithm>

namespace replisim {

namespace {
/// A Unix-domain socket holds as many messages as its send buffer has room for; each one is a kernel
/// buffer of its own whose bookkeeping counts (net.core.wmem_default 212,992 bytes; sk_buff plus the
/// rounding of the data, about 640 bytes for a row message).
constexpr Bytes local_socket_bytes = 212992;
constexpr Bytes local_message_overhead_bytes = 640;

/// A run that ends when all is applied, and never gets there, is given up after this time.
constexpr double patience_s = 30 * 86400.0;

/// The loopback device delivers a message to the receiving socket within the sender's send().
CostParameters with_loopback(CostParameters costs) {
  costs.send_change_s += costs.loopback_message_s;
  return costs;
}

/// Pieces that a window is sent in at least: enough that who waits for room waits for an eighth of it, and
/// not for all of it. More make a run of long round trips dearer and move dates by less than a batch of rows
/// does.
constexpr Bytes pieces_a_window = 8;

/// How finely a walsender sends over its connection. Behind a latency one window a round trip passes, and
/// room comes back by pieces: a piece is an eighth of the window at most.
void fit_to_window(Walsender::Params& sending, const engine::StreamOptions& stream, const Scenario& scenario,
                   const Publication& publication) {
  sending.message_overhead_bytes = stream.message_overhead_bytes;
  if (stream.latency_s <= 0)
    return;
  sending.window_bytes = stream.window_bytes;
  Bytes largest = 1;
  for (const std::string& table : publication.tables)
    for (const Operation operation : {Operation::Insert, Operation::Update, Operation::Delete})
      largest = std::max(largest, message_body_bytes(scenario.tables.at(table), operation, {1, 1}, {}) +
                                      protocol::frame_bytes + protocol::streamed_xid_bytes);
  sending.batch_rows =
      std::min(sending.batch_rows, std::max<Rows>(1, stream.window_bytes / pieces_a_window / largest));
}
} // namespace

Pipeline::Pipeline(const Scenario& scenario, std::uint64_t seed)
    : scenario_(scenario), seed_(seed), costs_(effective_costs(scenario.profile)),
      costs_on_one_host_(with_loopback(costs_)), resolution_(resolution_of(scenario, costs_)) {
  add_hosts();
  auto publisher = [this](const std::string& server) {
    if (not publishers_.contains(server))
      add_publisher(scenario_.servers.at(server));
  };
  for (const auto& [name, publication] : scenario.publications)
    publisher(publication.server);
  for (const auto& load : scenario.batches)
    publisher(load.server);
  for (const auto& load : scenario.ddl)
    publisher(load.server);
  for (const auto& load : scenario.replays)
    publisher(load.server);
  // Clients of a server that subscribes and publishes nothing write WAL that nobody decodes.
  for (const auto& load : scenario.clients)
    publisher(load.server);
  for (const auto& load : scenario.flows)
    publisher(load.server);
  for (const auto& [name, subscription] : scenario.subscriptions)
    add_subscriber(scenario_.servers.at(subscription.server));
  for (const auto& [name, subscription] : scenario.subscriptions)
    if (subscription.retain_dead_tuples)
      add_dead_versions(subscription.server);
  for (const auto& [name, subscription] : scenario.subscriptions)
    add_subscription(subscription);
  for (const auto& [name, consumer] : scenario.consumers)
    add_consumer(consumer);
  for (const auto& [name, calls] : scenario.decode)
    add_decode(calls);
  for (const auto& load : scenario.batches)
    add_backend(load);
  for (const auto& load : scenario.ddl)
    add_ddl(load);
  for (const auto& flow : scenario.flows)
    add_flow(flow);
  for (const auto& load : scenario.replays)
    add_replay(load);
  for (const auto& load : scenario.clients)
    add_clients(load);
  for (const auto& load : scenario.other_wal)
    add_other_wal(load);
  for (const auto& load : scenario.sessions)
    add_sessions(load);
  for (const auto& load : scenario.background)
    add_background(load);
  for (const auto& [name, side] : publishers_)
    add_checkpointer(name);
  add_events();
  world_.at(
      scenario.observe.until_s > 0 ? scenario.observe.until_s : patience_s,
      [this] {
        if (scenario_.observe.until_s <= 0)
          outcomes_.push_back({world_.now(), "not_caught_up", scenario_.name,
                               "given up after 30 days: not every transaction was applied"});
        world_.finish();
      },
      scenario.observe.until_s <= 0);
}

void Pipeline::add_hosts() {
  for (const auto& [name, machine] : scenario_.hosts)
    hosts_[name] = world_.add_host(name, machine);
  world_.on_throttled([this](engine::HostId throttled) {
    for (const auto& [name, machine] : scenario_.hosts)
      if (hosts_.at(name).value == throttled.value and throttled_.insert(name).second)
        outcomes_.push_back({world_.now(), "credits_used_up", name,
                             fmt::format("{} has used up its CPU credits: its {} CPUs together do no more "
                                         "than {:g} of one",
                                         name, machine.cpus(), machine.baseline * machine.cpus())});
  });
  for (const auto& link : scenario_.links)
    world_.add_link(hosts_.at(link.from), hosts_.at(link.to), link.bandwidth_bytes_per_s);
}

void Pipeline::spawn(const std::string& node, const std::string& stage, const std::string& name,
                     const std::string& host, std::function<void(engine::Process&)> body) {
  roles_.push_back({node, stage, &world_.spawn(name, hosts_.at(host), std::move(body)), false, ""});
}

WalLog::Options wal_options(const Server& server) {
  const Settings& settings = server.settings;
  const double buffers = settings.number("wal_buffers");
  const Bytes automatic =
      std::clamp<Bytes>(settings.bytes("shared_buffers") / 32, 64 * 1024, 16 * 1024 * 1024);
  WalLog::Options options;
  options.wal_buffers_bytes = buffers < 0 ? automatic : static_cast<Bytes>(buffers);
  options.fsync = settings.flag("fsync");
  options.initial_bytes = server.initial_retained_wal_bytes;
  return options;
}

void Pipeline::add_publisher(const Server& server) {
  auto& side = publishers_[server.name];
  const Settings& settings = server.settings;
  side.wal =
      std::make_unique<WalLog>(world_, wal_options(server), scenario_.hosts.at(server.host).disks.front());
  side.wal->keep_until_removed();
  side.wal->on_growth([this, name = server.name] { check_disks(name); });
  side.rules = RetentionRules(settings);
  std::string problem;
  if (auto rule = parse_sync_standbys(settings.text("synchronous_standby_names"), problem))
    side.sync = std::make_unique<SyncReplication>(world_, std::move(*rule),
                                                  sync_level(settings.text("synchronous_commit")));
  side.wal_writer = std::make_unique<WalWriter>(*side.wal, settings.number("wal_writer_delay"));
  side.background_writer = std::make_unique<BackgroundWriter>(*side.wal);
  for (const auto& [name, table] : scenario_.tables)
    side.state.next_row[name] = table.initial_rows + 1;
  spawn(server.name, "walwriter", server.name + " walwriter", server.host,
        [writer = side.wal_writer.get()](engine::Process& process) { writer->run(process); });
  spawn(server.name, "background_writer", server.name + " background writer", server.host,
        [writer = side.background_writer.get()](engine::Process& process) { writer->run(process); });
}

void Pipeline::add_checkpointer(const std::string& name) {
  auto& side = publishers_.at(name);
  side.checkpointer = std::make_unique<Checkpointer>(side.rules, *side.wal, side.state, side.connections,
                                                     side.sql_slots, [this] { note_losses(); });
  const Server& server = scenario_.servers.at(name);
  spawn(name, "checkpointer", name + " checkpointer", server.host,
        [checkpointer = side.checkpointer.get()](engine::Process& process) { checkpointer->run(process); });
}

engine::StreamOptions Pipeline::connection(const std::string& name, const std::string& from_host,
                                           const std::string& to_host) const {
  for (const auto& link : scenario_.links)
    if ((link.from == from_host and link.to == to_host) or (link.from == to_host and link.to == from_host))
      return {name, link.window_bytes, 0, link.latency_s};
  return {name, local_socket_bytes, local_message_overhead_bytes, 0};
}

SlotSide& Pipeline::add_slot(const SlotClient& client) {
  build_slot(client, slots_[client.name], log_.subscriptions[client.name]);
  return slots_.at(client.name);
}

void Pipeline::build_slot(const SlotClient& client, SlotSide& side, SubscriptionRecord& record) {
  const std::string& name = client.name;
  const Publication& publication = scenario_.publications.at(client.publication);
  const Server& publisher = scenario_.servers.at(publication.server);
  auto& from = publishers_.at(publication.server);
  side.publisher = publication.server;
  side.slot = std::make_unique<Slot>(name, from.wal->inserted(), Lsn{0});

  auto stream = connection("connection of " + name, publisher.host, client.host);
  stream.window_bytes += client.buffer_bytes;
  ReplicationConnection::Params connecting;
  connecting.sender_timeout_s = publisher.settings.number("wal_sender_timeout");
  connecting.latency_s = stream.latency_s;
  connecting.confirms_keepalives = client.confirms_keepalives;
  connecting.receiver_timeout_s = client.receiver_timeout_s;
  connecting.lag_overflow_entries = traits_of(publisher.version).lag_overflow_entries;
  side.connection = std::make_unique<ReplicationConnection>(world_, connecting, stream, *side.slot);
  from.connections.push_back(side.connection.get());
  side.connection->on_timeout([this, connection = side.connection.get(), name] {
    if (connection->timeouts() == 1)
      outcomes_.push_back({world_.now(), "sender_timeout", name,
                           fmt::format("the walsender of {} ended: no answer within wal_sender_timeout "
                                       "(sender_timeouts counts all)",
                                       name)});
  });
  side.connection->on_receiver_timeout([this, connection = side.connection.get(), name] {
    if (connection->receiver_timeouts() == 1)
      outcomes_.push_back({world_.now(), "receiver_timeout", name,
                           fmt::format("the apply worker of {} ended: nothing came within "
                                       "wal_receiver_timeout (receiver_timeouts counts all)",
                                       name)});
  });

  Decoder::Params decoding = decoding_of(publisher, client.streaming != Streaming::Off);
  decoding.two_phase = client.two_phase;
  side.decoder = std::make_unique<Decoder>(decoding, from.state.status);

  Walsender::Params sending;
  sending.costs = publisher.host == client.host ? &costs_on_one_host_ : &costs_;
  sending.streaming = client.streaming;
  sending.batch_rows = resolution_.batch_rows;
  fit_to_window(sending, stream, scenario_, publication);
  sending.publication = &publication;
  sending.own_changes_only = client.own_changes_only;
  sending.tables = &scenario_.tables;
  sending.binary = client.binary;
  sending.traits = decoding.traits;
  sending.wakeup_latency_s = costs_.wakeup_latency_s;
  sending.progressed = [this] { progressed(); };
  sending.later = [this](double delay_s, std::function<void()> action) {
    world_.at(world_.now() + delay_s, std::move(action));
  };
  sending.spilled = [this, server = publication.server] { check_disks(server); };
  sending.failed = [this, name](const std::string& reason) { decoding_failed(name, reason); };
  const std::string walsender = publisher.name + " walsender " + name;
  side.reader = &from.wal->add_reader(walsender);
  side.walsender =
      std::make_unique<Walsender>(sending, *side.decoder, *side.reader, *side.connection, record);
  spawn(publisher.name, client.synchronises ? "table_sync_walsender" : "walsender", walsender, publisher.host,
        [sender = side.walsender.get()](engine::Process& process) { sender->run(process); });
  roles_.back().slot = name;
  if (publisher.host != client.host) {
    side.connection->stream().cross_link(hosts_.at(publisher.host), hosts_.at(client.host));
    if (not client.synchronises)
      roles_.push_back({name, "network", world_.processes().back().get(), false, name});
  }
}

void Pipeline::add_consumer(const Consumer& consumer) {
  SlotClient client;
  client.name = consumer.name;
  client.publication = consumer.publication;
  client.streaming = consumer.streaming;
  client.host = consumer.host;
  client.buffer_bytes = consumer.buffer_bytes;
  client.confirms_keepalives = consumer.confirms_keepalives;
  auto& side = add_slot(client);
  side.consumer = std::make_unique<ConsumerClient>(
      world_, consumer, *side.connection, log_.subscriptions.at(consumer.name), [this] { progressed(); });
  spawn(consumer.name, "consumer", "consumer " + consumer.name, consumer.host,
        [client = side.consumer.get()](engine::Process& process) { client->run(process); });
  roles_.back().slot = consumer.name;
}

void Pipeline::load_over(const std::string& server) {
  --publishers_.at(server).state.busy_loads;
  for (auto& [name, side] : sql_slots_)
    if (side.publisher == server)
      side.session->load_over();
  progressed();
}

/// Ends a run without an end date once every load is over and every slot's client has all of it.
void Pipeline::progressed() {
  if (not log_.cut_overs.empty())
    check_cut_overs();
  if (scenario_.observe.until_s > 0)
    return;
  for (const auto& [name, side] : publishers_)
    if (side.state.busy_loads > 0)
      return;
  for (const auto& [name, side] : slots_)
    if (not side.slot->lost() and not(side.leader != nullptr and side.leader->disabled()) and
        log_.subscriptions.at(name).replay_lsn < publishers_.at(side.publisher).state.last_commit)
      return;
  for (const auto& [name, side] : sql_slots_)
    if (not side.session->finished())
      return;
  for (const auto& [name, syncing] : syncs_)
    if (not syncing.sync->all_ready())
      return;
  world_.finish();
}

void Pipeline::watch(engine::Observer& processes, BatchObserver& batches) {
  world_.set_observer(&processes);
  for (auto& [name, side] : publishers_)
    side.wal->set_observer(&batches);
  for (auto& [name, record] : log_.subscriptions)
    record.observer = &batches;
}

void Pipeline::note_losses() {
  for (const auto& [name, side] : slots_) {
    const bool noted =
        std::any_of(outcomes_.begin(), outcomes_.end(), [&, slot = name](const Outcome& outcome) {
          return outcome.kind == "slot_lost" and outcome.subject == slot;
        });
    if (side.slot->invalidated() and not noted)
      outcomes_.push_back({side.slot->lost_s(), "slot_lost", name,
                           fmt::format("slot {} is lost: {}", name, side.slot->why_lost())});
  }
  progressed();
}

double disk_used_bytes(const Scenario& scenario, const Pipeline& pipeline, const std::string& server_name,
                       const std::string& disk) {
  const Server& server = scenario.servers.at(server_name);
  const auto& side = pipeline.publishers().at(server_name);
  double used = 0;
  const std::string first = scenario.hosts.at(server.host).disks.front().name;
  if ((server.wal_disk.empty() ? first : server.wal_disk) == disk)
    used += static_cast<double>(side.wal->inserted() - side.wal->removed());
  if ((server.data_disk.empty() ? first : server.data_disk) == disk)
    for (const auto& [name, slot] : pipeline.slots())
      if (slot.publisher == server_name)
        used += static_cast<double>(slot.decoder->buffer().spill_file_bytes());
  if ((server.data_disk.empty() ? first : server.data_disk) == disk)
    for (const auto& [name, slot] : pipeline.sync_slots())
      if (slot.publisher == server_name)
        used += static_cast<double>(slot.decoder->buffer().spill_file_bytes());
  if ((server.data_disk.empty() ? first : server.data_disk) == disk)
    for (const auto& [name, slot] : pipeline.sql_slots())
      if (slot.publisher == server_name)
        used += static_cast<double>(slot.decoder->buffer().spill_file_bytes());
  return used;
}

/// A full disk ends the run: the server stops (PANIC for WAL, read-only in practice for the data directory).
void Pipeline::check_disks(const std::string& server) {
  if (not outcomes_.empty() and outcomes_.back().kind == "disk_full")
    return; // the run is ending
  for (const auto& disk : scenario_.hosts.at(scenario_.servers.at(server).host).disks) {
    if (disk.capacity_bytes == 0)
      continue;
    const double used =
        static_cast<double>(disk.used_bytes) + disk_used_bytes(scenario_, *this, server, disk.name);
    if (used < static_cast<double>(disk.capacity_bytes))
      continue;
    outcomes_.push_back({world_.now(), "disk_full", disk.name,
                         fmt::format("disk {} of {} is full: {} of {}", disk.name, server, format_bytes(used),
                                     format_bytes(static_cast<double>(disk.capacity_bytes)))});
    world_.finish();
    return;
  }
}

void Pipeline::run() { world_.run(); }

} // namespace replisim
