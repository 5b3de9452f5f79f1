// What runs on publishers: sessions, replays, flows and clients, WAL of other databases, background load.
#include "models/backend_cost.hpp"
#include "sim/actors/pipeline.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// Background load comes in slices of this length.
constexpr double background_period_s = 0.05;
} // namespace

void Pipeline::add_backend(const BatchLoad& load) { add_session(load.server, load.name, &load, {}); }

/// Small transactions in bulk, the others in sessions.
void Pipeline::add_replay(const ReplayLoad& load) {
  ReplayPlan plan = plan_replay(load);
  for (FlowLoad& flow : plan.flows)
    add_flow(replayed_.emplace_back(std::move(flow)));
  for (std::size_t i = 0; i < plan.sessions.size(); ++i)
    add_session(load.server, fmt::format("{} {}", load.name, i + 1), nullptr,
                {&load, std::move(plan.sessions[i])});
}

void Pipeline::add_session(const std::string& server_name, const std::string& name, const BatchLoad* load,
                           ReplayTurns replay) {
  const Server& server = scenario_.servers.at(server_name);
  auto& side = publishers_.at(server_name);
  PublisherBackend::Params params;
  params.load = load;
  params.replay = std::move(replay);
  params.tables = &scenario_.tables;
  params.costs = &costs_;
  params.batch_rows = resolution_.batch_rows;
  params.full_page_images = server.checkpoint_before_workload and server.settings.flag("full_page_writes");
  params.waits_for_flush = server.settings.text("synchronous_commit") != "off";
  params.sync = side.sync.get();
  ++side.state.busy_loads;
  if (load != nullptr and load->sessions > 1) {
    side.groups.push_back(std::make_unique<SessionGroup>(params, scenario_.hosts.at(server.host).cpus(),
                                                         *side.wal, side.state, log_));
    spawn(server.name, "backend", server.name + " sessions " + name, server.host,
          [this, group = side.groups.back().get(), server_name](engine::Process& process) {
            group->run(process);
            load_over(server_name);
          });
    return;
  }
  side.backends.push_back(std::make_unique<PublisherBackend>(params, *side.wal, side.state, log_));
  spawn(server.name, "backend", server.name + " backend " + name, server.host,
        [this, backend = side.backends.back().get(), server_name](engine::Process& process) {
          backend->run(process);
          load_over(server_name);
        });
}

/// The record in which all transactions of a flow are summed up, and its place in every slot's deliveries.
Xid Pipeline::add_flow_record(const FlowLoad& flow, const std::string& server, bool of_clients) {
  log_.flows.emplace_back();
  auto& record = log_.flows.back();
  record.name = flow.name;
  record.server = server;
  record.transactions = 0;
  record.of_clients = of_clients;
  record.xid = publishers_.at(server).state.xids.next();
  for (auto& [name, slot] : slots_)
    if (slot.publisher == server)
      log_.subscriptions.at(name).deliveries[record.xid].flow = true;
  for (auto& [name, slot] : sync_slots_)
    if (slot.publisher == server)
      log_.sync_slots.at(name).deliveries[record.xid].flow = true;
  return record.xid;
}

/// One flush of a nearly empty WAL, where commits wait for it.
double Pipeline::commit_flush_s(const Server& server) const {
  const bool waits = server.settings.text("synchronous_commit") != "off" and server.settings.flag("fsync");
  return waits ? scenario_.hosts.at(server.host).disks.front().fsync_latency_s : 0;
}

void Pipeline::add_clients(const ClientLoad& load) {
  const Server& server = scenario_.servers.at(load.server);
  auto& side = publishers_.at(load.server);
  log_.clients.emplace_back();
  log_.clients.back().name = load.name;
  log_.clients.back().clients = load.clients;
  const std::size_t first_flow = log_.flows.size();
  PublisherClients::Params params;
  for (const auto& script : load.scripts)
    params.accounted_as.push_back(add_flow_record(script.flow, load.server, true));
  params.load = &load;
  params.tables = &scenario_.tables;
  params.costs = &costs_;
  params.pool.clients = load.clients;
  params.pool.threads = std::min(load.threads, load.clients);
  params.pool.rate_limit = load.rate_per_s;
  params.pool.server = &scenario_.hosts.at(server.host);
  params.pool.client = &scenario_.hosts.at(load.host);
  params.route.one_way_s = server.host == load.host ? 0 : connection("", load.host, server.host).latency_s;
  params.route.flush_s = commit_flush_s(server);
  params.server = hosts_.at(server.host);
  params.client = hosts_.at(load.host);
  params.tick_s = resolution_.tick_s;
  params.page_images = server.settings.flag("full_page_writes");
  params.exact = scenario_.statistics.exact;
  params.sync = side.sync.get();
  params.dead = dead_versions_of(load.server);
  if (auto* dead = dead_versions_of(load.server))
    dead->add_writers(load.clients);
  params.seed = seed_;
  side.clients.push_back(std::make_unique<PublisherClients>(world_, std::move(params), *side.wal, side.state,
                                                            log_, first_flow, log_.clients.back()));
  ++side.state.busy_loads;
  auto* clients = side.clients.back().get();
  spawn(server.name, "backend", server.name + " backends " + load.name, server.host,
        [this, clients, name = server.name](engine::Process& process) {
          clients->run(process);
          load_over(name);
        });
  roles_.back().makes_load = true;
  spawn(load.host, "clients", load.name + " client program", load.host,
        [clients](engine::Process& process) { clients->run_program(process); });
  roles_.back().makes_load = true;
  spawn(server.name, "commit", server.name + " commits " + load.name, server.host,
        [clients](engine::Process& process) { clients->run_commits(process); });
  roles_.back().makes_load = true;
}

void Pipeline::add_flow(const FlowLoad& flow) {
  const Server& server = scenario_.servers.at(flow.server);
  auto& side = publishers_.at(flow.server);
  const Xid xid = add_flow_record(flow, flow.server, false);
  auto& record = log_.flows.back();
  FlowClients::Params params;
  params.flow = &flow;
  params.tables = &scenario_.tables;
  params.costs = &costs_;
  params.tick_s = resolution_.tick_s;
  double peak = 1;
  for (const auto& point : flow.curve)
    peak = std::max(peak, point.factor);
  const double peak_rate = flow.times_s.empty() ? peak * flow.rate_per_s : peak_rate_per_s(flow);
  const double cores = peak_rate * flow_shape(flow, scenario_.tables, costs_).backend_s;
  params.cpus = std::clamp(static_cast<int>(std::ceil(2 * cores)), 1, scenario_.hosts.at(server.host).cpus());
  params.waits_for_flush = server.settings.text("synchronous_commit") != "off";
  params.flush_s = commit_flush_s(server);
  params.wal_bytes_per_s = scenario_.hosts.at(server.host).disks.front().write_bandwidth_bytes_per_s;
  params.page_images = server.settings.flag("full_page_writes");
  params.seed = seed_;
  params.dead = dead_versions_of(flow.server);
  if (auto* dead = dead_versions_of(flow.server))
    dead->add_writers(params.cpus);
  params.accounted_as = xid;
  side.flows.push_back(std::make_unique<FlowClients>(params, *side.wal, side.state, record));
  ++side.state.busy_loads;
  spawn(server.name, "backend", server.name + " clients " + flow.name, server.host,
        [this, clients = side.flows.back().get(), name = server.name](engine::Process& process) {
          clients->run(process);
          load_over(name);
        });
}

void Pipeline::add_other_wal(const OtherWalLoad& load) {
  auto& side = publishers_.at(load.server);
  side.others.push_back(std::make_unique<OtherWalWriter>(load, *side.wal, resolution_.tick_s));
  spawn(load.server, "other_databases", load.server + " other databases " + load.name,
        scenario_.servers.at(load.server).host,
        [writer = side.others.back().get()](engine::Process& process) { writer->run(process); });
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

} // namespace replisim
