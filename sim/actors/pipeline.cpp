#include "sim/actors/pipeline.hpp"

#include "models/apply_cost.hpp"
#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// Automatic resolution: this fraction of the estimated time (the sum of all stages).
constexpr double automatic_fraction = 1.0 / 1200;

/// A Unix-domain socket holds as many messages as its send buffer has room for; each one is a kernel
/// buffer of its own whose bookkeeping counts (net.core.wmem_default 212,992 bytes; sk_buff plus the
/// rounding of the data, about 640 bytes for a row message).
constexpr Bytes local_socket_bytes = 212992;
constexpr Bytes local_message_overhead_bytes = 640;

/// Background load comes in slices of this length.
constexpr double background_period_s = 0.05;

/// CPU seconds of one row through all stages, one after the other: an upper bound of the run's pace.
double seconds_through_all_stages(const CostParameters& costs, const Table& table,
                                  const StatementStep& step) {
  const ChangeRun run{{}, &table, &step, {1, 1}, 0};
  const double publisher = std::max({costs.backend_insert_row_s, costs.backend_update_row_s}) +
                           costs.decode_change_s + costs.spill_change_s + costs.restore_change_s +
                           costs.send_change_s;
  return publisher + costs.receive_change_s + apply_seconds(costs, {run});
}
} // namespace

CostParameters effective_costs(const CostProfile& profile) {
  CostParameters costs = profile.costs;
  for (const auto& parameter : cost_parameters())
    if (not parameter.name.starts_with("latency."))
      costs.*parameter.field /= profile.cpu_speed;
  return costs;
}

Rows batch_rows(const Scenario& scenario, const CostParameters& costs, double& resolution_s) {
  double rows = 0, seconds = 0;
  for (const auto& load : scenario.batches)
    for (const auto& step : load.transaction)
      if (const auto* statement = std::get_if<StatementStep>(&step)) {
        const auto count = static_cast<double>(statement->rows);
        rows += count;
        seconds +=
            count * seconds_through_all_stages(costs, scenario.tables.at(statement->table), *statement);
      }
  resolution_s = scenario.time_resolution_s > 0 ? scenario.time_resolution_s : seconds * automatic_fraction;
  if (seconds == 0)
    return 1;
  return std::max<Rows>(1, std::llround(rows * std::min(1.0, resolution_s / seconds)));
}

Pipeline::Pipeline(const Scenario& scenario)
    : scenario_(scenario), costs_(effective_costs(scenario.profile)),
      batch_rows_(batch_rows(scenario, costs_, resolution_s_)) {
  add_hosts();
  for (const auto& [name, publication] : scenario.publications)
    if (not publishers_.contains(publication.server))
      add_publisher(scenario.servers.at(publication.server));
  for (const auto& load : scenario.batches)
    if (not publishers_.contains(load.server))
      add_publisher(scenario.servers.at(load.server));
  log_.transactions.resize(scenario.batches.size());
  for (const auto& [name, subscription] : scenario.subscriptions)
    add_subscription(subscription);
  for (std::size_t i = 0; i < scenario.batches.size(); ++i)
    add_backend(scenario.batches[i], i);
  for (const auto& load : scenario.background)
    add_background(load);
}

void Pipeline::add_hosts() {
  for (const auto& [name, machine] : scenario_.hosts)
    hosts_[name] = world_.add_host(name, machine);
  for (const auto& link : scenario_.links)
    world_.add_link(hosts_.at(link.from), hosts_.at(link.to), link.bandwidth_bytes_per_s);
}

void Pipeline::spawn(const std::string& node, const std::string& stage, const std::string& name,
                     const std::string& host, std::function<void(engine::Process&)> body) {
  roles_.push_back({node, stage, &world_.spawn(name, hosts_.at(host), std::move(body))});
}

void Pipeline::add_publisher(const Server& server) {
  auto& side = publishers_[server.name];
  const Settings& settings = server.settings;
  const double buffers = settings.number("wal_buffers");
  const Bytes automatic =
      std::clamp<Bytes>(settings.bytes("shared_buffers") / 32, 64 * 1024, 16 * 1024 * 1024);
  side.wal = std::make_unique<WalLog>(
      world_, WalLog::Options{buffers < 0 ? automatic : static_cast<Bytes>(buffers), settings.flag("fsync")},
      scenario_.hosts.at(server.host).disks.front());
  side.wal_writer = std::make_unique<WalWriter>(*side.wal, settings.number("wal_writer_delay"));
  for (const auto& [name, table] : scenario_.tables)
    side.next_row[name] = table.initial_rows + 1;
  spawn(server.name, "walwriter", server.name + " walwriter", server.host,
        [writer = side.wal_writer.get()](engine::Process& process) { writer->run(process); });
}

void Pipeline::add_backend(const BatchLoad& load, std::size_t index) {
  const Server& server = scenario_.servers.at(load.server);
  auto& side = publishers_.at(load.server);
  log_.transactions[index].name = load.name;
  PublisherBackend::Params params;
  params.load = &load;
  params.tables = &scenario_.tables;
  params.costs = &costs_;
  params.batch_rows = batch_rows_;
  params.full_page_images = server.checkpoint_before_workload and server.settings.flag("full_page_writes");
  params.waits_for_flush = server.settings.text("synchronous_commit") != "off";
  params.index = index;
  side.backends.push_back(
      std::make_unique<PublisherBackend>(params, *side.wal, side.status, side.xids, side.next_row, log_));
  ++deliveries_left_; // its own end
  for (const auto& [name, subscription] : scenario_.subscriptions)
    deliveries_left_ += scenario_.publications.at(subscription.publication).server == load.server ? 1 : 0;
  spawn(server.name, "backend", server.name + " backend " + load.name, server.host,
        [this, backend = side.backends.back().get()](engine::Process& process) {
          backend->run(process);
          delivered();
        });
}

engine::StreamOptions Pipeline::connection(const std::string& name, const std::string& from_host,
                                           const std::string& to_host) const {
  for (const auto& link : scenario_.links)
    if ((link.from == from_host and link.to == to_host) or (link.from == to_host and link.to == from_host))
      return {name, link.window_bytes, 0, link.latency_s};
  return {name, local_socket_bytes, local_message_overhead_bytes, 0};
}

void Pipeline::add_subscription(const Subscription& subscription) {
  const Publication& publication = scenario_.publications.at(subscription.publication);
  const Server& publisher = scenario_.servers.at(publication.server);
  const Server& subscriber = scenario_.servers.at(subscription.server);
  auto& from = publishers_.at(publication.server);
  auto& side = subscriptions_[subscription.name];
  auto& record = log_.subscriptions[subscription.name];

  Decoder::Params decoding;
  decoding.work_mem_bytes = publisher.settings.bytes("logical_decoding_work_mem");
  decoding.streaming = subscription.streaming != Streaming::Off;
  decoding.traits = traits_of(publisher.version);
  decoding.costs = &costs_;
  side.decoder = std::make_unique<Decoder>(decoding, from.status);
  side.stream = std::make_unique<ReplicationStream>(
      world_, connection("connection of " + subscription.name, publisher.host, subscriber.host));

  Walsender::Params sending;
  sending.costs = &costs_;
  sending.streaming = subscription.streaming;
  sending.batch_rows = batch_rows_;
  sending.published = {publication.tables.begin(), publication.tables.end()};
  sending.wakeup_latency_s = costs_.wakeup_latency_s;
  const std::string walsender = publisher.name + " walsender " + subscription.name;
  side.walsender = std::make_unique<Walsender>(sending, *side.decoder, from.wal->add_reader(walsender),
                                               *side.stream, record);
  spawn(publisher.name, "walsender", walsender, publisher.host,
        [sender = side.walsender.get()](engine::Process& process) { sender->run(process); });
  if (publisher.host != subscriber.host) {
    side.stream->cross_link(hosts_.at(publisher.host), hosts_.at(subscriber.host));
    roles_.push_back({subscription.name, "network", world_.processes().back().get()});
  }

  ApplyWorker::Params applying;
  applying.costs = &costs_;
  applying.streaming = subscription.streaming;
  applying.batch_rows = batch_rows_;
  const Settings& settings = subscriber.settings;
  if (subscription.streaming == Streaming::Parallel)
    applying.parallel_workers =
        static_cast<int>(std::min({settings.number("max_parallel_apply_workers_per_subscription"),
                                   settings.number("max_logical_replication_workers") - 1,
                                   settings.number("max_worker_processes") - 2})); // launcher and leader
  applying.parallel_workers = std::max(0, applying.parallel_workers);
  for (int i = 0; i < applying.parallel_workers; ++i) {
    const std::string name =
        subscriber.name + " parallel apply worker " + subscription.name + " " + std::to_string(i + 1);
    side.workers.push_back(std::make_unique<ParallelApplyWorker>(world_, name, costs_, record));
    spawn(subscriber.name, "parallel_apply_worker", name, subscriber.host,
          [worker = side.workers.back().get()](engine::Process& process) { worker->run(process); });
  }
  side.leader = std::make_unique<ApplyWorker>(applying, *side.stream, side.workers, record,
                                              [this](Xid) { delivered(); });
  spawn(subscriber.name, "apply_worker", subscriber.name + " apply worker " + subscription.name,
        subscriber.host, [leader = side.leader.get()](engine::Process& process) { leader->run(process); });
}

void Pipeline::add_background(const BackgroundLoad& load) {
  // Several processes when more than one core is wanted: one process never uses more than one.
  const int processes = std::max(1, static_cast<int>(std::ceil(load.cores)));
  const double share = load.cores / processes;
  const double speed = scenario_.hosts.at(load.host).speed;
  for (int i = 0; i < processes; ++i)
    spawn(load.host, "background", load.name + " " + std::to_string(i + 1), load.host,
          [share, speed](engine::Process& process) {
            for (std::int64_t slice = 0;; ++slice) {
              process.cpu(share * background_period_s * speed);
              const double next = static_cast<double>(slice + 1) * background_period_s;
              process.sleep(std::max(1e-6, next - process.now()), engine::Activity::Starved);
            }
          });
}

void Pipeline::delivered() {
  REPLISIM_REQUIRE(deliveries_left_ > 0, "more commits applied than made");
  if (--deliveries_left_ == 0)
    world_.finish();
}

void Pipeline::run() { world_.run(); }

} // namespace replisim
