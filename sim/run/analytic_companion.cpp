#include "sim/run/analytic_companion.hpp"

#include "models/backend_cost.hpp"
#include "models/client_shape.hpp"
#include "models/flow_shape.hpp"
#include "models/sync_standbys.hpp"
#include "sim/actors/pipeline.hpp"
#include "sim/actors/publishing.hpp"
#include "sim/observe/steady_recorder.hpp"
#include "sim/scenario/subscriber_memory.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

constexpr double clients_iterations = 20;
/// Beyond this load of a host, processes wait for CPUs, which the bounds of a slot do not know.
constexpr double busy_host = 0.7;
/// WAL records of an updated row beyond its own: lock, index entries, pruning.
constexpr double more_records = 3;
/// Of other databases (as sim/actors/publisher_loads has it).
constexpr double other_record_bytes = 100;
/// A sample of the number on the way catches what is gathered in up to so many ticks.
constexpr double ticks_gathered = 2;

/// Transactions of one kind at a rate.
struct Rated {
  const FlowLoad* flow = nullptr;
  FlowShape shape;
  double rate_per_s = 0;
  double arrival_cv2 = 1;
  double batch = 1; ///< committed together
  bool of_clients = false;
};

struct SlotView {
  std::string name, server, host; ///< of who reads
  const Publication* publication = nullptr;
  const Subscription* subscription = nullptr; ///< null: a consumer
  const Consumer* consumer = nullptr;
};

class Companion {
public:
  explicit Companion(const Scenario& scenario) : s_(scenario), costs_(effective_costs(scenario.profile)) {}

  /// `measured_tps`: transactions of clients per second in a run; nothing: by the closed network. `passed`:
  /// what got through each slot in it.
  AnalyticAnswer answer(std::optional<double> measured_tps, std::map<std::string, double> passed,
                        double flows_tps = -1) {
    passed_ = std::move(passed);
    flows_tps_ = flows_tps;
    name_left_out();
    rate_flows();
    for (const ClientLoad& load : s_.clients)
      if (commits_wait_for_standbys(s_.servers.at(load.server).settings))
        out_.left_out.push_back(load.name + ", whose commits wait for standbys");
      else
        rate_clients(load, measured_tps);
    for (const SlotView& slot : slots())
      add_slot(slot);
    add_backends();
    add_hosts();
    if (s_.flows.empty() and s_.clients.empty())
      add_single_transaction();
    return std::move(out_);
  }

private:
  void name_left_out();
  void rate_flows();
  void rate_clients(const ClientLoad& load, std::optional<double> measured_tps);
  std::vector<SlotView> slots() const;
  void add_slot(const SlotView& slot);
  void add_backends();
  void add_hosts();
  void add_single_transaction();
  AnalyticBound single_bound(const FlowLoad& flow, double pause_s, bool undone) const;
  AnalyticBound lag_bound(const SlotView& slot, const QueueStation& sender,
                          const QueueStation& applier) const;
  double commit_flush_s(const std::string& server) const;
  double latency_s(const std::string& a, const std::string& b) const;
  DeliveredShape delivered(const SlotView& slot, const FlowLoad& flow) const;
  void add(QueueStation station);
  double speed(const std::string& host) const { return s_.hosts.at(host).speed; }

  const Scenario& s_;
  CostParameters costs_;
  std::vector<Rated> loads_;
  std::map<std::string, double> host_threads_; ///< by host: mean threads at work
  double others_ = 0;
  std::map<std::string, double> passed_; ///< by slot, per second
  double flows_tps_ = -1;                ///< what flows got through in a run; negative: nothing was run
  AnalyticAnswer out_;
};

void Companion::name_left_out() {
  const auto left = [&](bool any, const char* what) {
    if (any)
      out_.left_out.emplace_back(what);
  };
  left(not s_.replays.empty(), "replayed transactions");
  left(not s_.ddl.empty() or not s_.decode.empty(), "catalog changes and decoding through SQL");
  left(not s_.batches.empty() and (not s_.flows.empty() or not s_.clients.empty()),
       "transactions at given times beside the flows");
  left(std::any_of(s_.flows.begin(), s_.flows.end(),
                   [](const FlowLoad& flow) { return not flow.curve.empty(); }),
       "load curves: rates are means over them");
}

void Companion::rate_flows() {
  for (const FlowLoad& flow : s_.flows) {
    Rated load;
    load.flow = &flow;
    load.shape = flow_shape(flow, s_.tables, costs_);
    const double end_s = flow.until_s > 0 ? flow.until_s : s_.observe.until_s;
    if (not flow.times_s.empty() and flow.times_s.back() > flow.times_s.front())
      load.rate_per_s =
          static_cast<double>(flow.times_s.size()) / (flow.times_s.back() - flow.times_s.front());
    else if (end_s > flow.from_s)
      load.rate_per_s = flow.rate_per_s * (curve_integral(flow, end_s) - curve_integral(flow, flow.from_s)) /
                        (end_s - flow.from_s);
    load.arrival_cv2 = flow.poisson or not flow.times_s.empty() ? 1 : 0;
    const double flush_s = commit_flush_s(flow.server);
    const double groups = flush_s > 0 ? commit_groups_per_s(load.rate_per_s, load.rate_per_s, flush_s) : 0;
    load.batch = groups > 0 ? std::max(1.0, load.rate_per_s / groups) : 1;
    out_.metrics["tps"] += load.rate_per_s;
    loads_.push_back(std::move(load));
  }
}

double Companion::commit_flush_s(const std::string& name) const {
  const Server& server = s_.servers.at(name);
  const bool waits = server.settings.text("synchronous_commit") != "off" and server.settings.flag("fsync");
  return waits ? s_.hosts.at(server.host).disks.front().fsync_latency_s : 0;
}

double Companion::latency_s(const std::string& a, const std::string& b) const {
  for (const Link& link : s_.links)
    if ((link.from == a and link.to == b) or (link.from == b and link.to == a))
      return link.latency_s;
  return 0;
}

/// The closed network, with the walsenders and apply workers beside the clients that its own rate keeps at
/// work.
void Companion::rate_clients(const ClientLoad& load, std::optional<double> measured_tps) {
  const Server& server = s_.servers.at(load.server);
  const ClientRoute route{latency_s(load.host, server.host), commit_flush_s(load.server)};
  const ClientDemand demand = client_demand(load, s_.tables, costs_, route);
  ClientPool pool;
  pool.clients = load.clients;
  pool.threads = std::min(load.threads, load.clients);
  pool.rate_limit = load.rate_per_s;
  pool.server = &s_.hosts.at(server.host);
  pool.client = &s_.hosts.at(load.host);
  ClosedNetwork network(pool, demand);
  OtherThreads others;
  ClientCycle cycle;
  double beside_s = 0; // CPU of walsenders and appliers per transaction, on the server's host
  std::vector<Rated> rated;
  for (std::size_t i = 0; i < load.scripts.size(); ++i) {
    Rated one;
    one.flow = &load.scripts[i].flow;
    one.of_clients = true;
    one.shape = flow_shape(*one.flow, s_.tables, costs_);
    one.rate_per_s = script_share(load, i);
    for (const SlotView& slot : slots())
      if (slot.publication->server == load.server and not one.flow->transaction.empty()) {
        const DeliveredShape shape = delivered(slot, *one.flow);
        beside_s += one.rate_per_s * (shape.send_s + one.shape.rows * costs_.decode_change_s +
                                      one.shape.wal_bytes * costs_.wal_read_byte_s);
        if (slot.subscription != nullptr and slot.host == server.host)
          beside_s +=
              one.rate_per_s *
              (shape.receive_s +
               apply_time(*one.flow, s_.tables, shape, apply_cost_of(s_, *slot.subscription, costs_)).cpu_s);
      }
    rated.push_back(std::move(one));
  }
  const double most_threads = 2.0 * static_cast<double>(slots().size());
  for (int i = 0; i < clients_iterations; ++i) {
    cycle = network.solve(others);
    others.server = std::min(most_threads, cycle.tps * beside_s / speed(server.host));
    if (load.host == server.host)
      others.client = others.server;
  }
  const double tps = measured_tps.value_or(cycle.tps);
  for (Rated& one : rated) {
    one.rate_per_s *= tps;
    one.batch = cycle.flushes_per_s > 0 ? std::max(1.0, cycle.tps / cycle.flushes_per_s) : 1;
    if (not one.flow->transaction.empty())
      loads_.push_back(std::move(one));
  }
  out_.metrics["tps"] += cycle.tps;
  out_.metrics["latency_s"] = std::max(out_.metrics["latency_s"], cycle.response_s());
  const bool alone = s_.clients.size() == 1 and s_.flows.empty();
  add({load.server + ".backend", alone ? "cpu_" + load.server + ".backend_s" : "", tps, -1,
       demand.server_cpu_s / speed(server.host), demand.server_cpu_s / speed(server.host),
       s_.hosts.at(server.host).capacity(s_.hosts.at(server.host).cpus()), 1, 1});
  host_threads_[server.host] += tps * demand.server_cpu_s / speed(server.host);
  host_threads_[load.host] += tps * demand.client_cpu_s / speed(load.host);
}

std::vector<SlotView> Companion::slots() const {
  std::vector<SlotView> out;
  for (const auto& [name, subscription] : s_.subscriptions)
    out.push_back({name, subscription.server, s_.servers.at(subscription.server).host,
                   &s_.publications.at(subscription.publication), &subscription, nullptr});
  for (const auto& [name, consumer] : s_.consumers)
    out.push_back({name, name, consumer.host, &s_.publications.at(consumer.publication), nullptr, &consumer});
  return out;
}

DeliveredShape Companion::delivered(const SlotView& slot, const FlowLoad& flow) const {
  const bool binary = slot.subscription != nullptr and slot.subscription->binary;
  const PublicationFilter filter(*slot.publication, s_.tables, binary);
  return delivered_shape(
      flow, filter.tables(), costs_,
      [&](const std::string& table) { return publishing_of(*slot.publication, table); },
      traits_of(s_.servers.at(slot.publication->server).version).skips_empty_transactions);
}

void Companion::add(QueueStation station) {
  const StationLaws laws = laws_of(station);
  out_.stations.push_back({std::move(station), laws, -1});
}

/// A walsender and who applies: single-threaded stations in a row, their service means over the loads.
void Companion::add_slot(const SlotView& slot) {
  const std::string& publisher = slot.publication->server;
  const double from_speed = speed(s_.servers.at(publisher).host), to_speed = speed(slot.host);
  QueueStation sender{publisher + ".walsender", "cpu_" + publisher + ".walsender_s"};
  QueueStation applier{slot.server + (slot.consumer == nullptr ? ".apply_worker" : ".consumer"),
                       slot.consumer == nullptr ? "cpu_" + slot.server + ".apply_worker_s" : ""};
  double wal_bytes_per_s = 0, records_per_s = 0, sent = 0, applied = 0, applied_most = 0, read = 0,
         read_most = 0;
  for (const OtherWalLoad& other : s_.other_wal)
    if (other.server == publisher) {
      wal_bytes_per_s += other.bytes_per_s;
      records_per_s += other.bytes_per_s / other_record_bytes;
    }
  for (const Rated& load : loads_) {
    if (load.flow->server != publisher)
      continue;
    const double rate = load.rate_per_s;
    const DeliveredShape shape = delivered(slot, *load.flow);
    // Updates of clients stay on their page for the most part, with one record each; the others have some
    // more.
    const double records = load.of_clients ? load.shape.rows + 1 : load.shape.wal_records;
    const double extra = load.of_clients ? more_records * load.shape.rows : 0;
    sender.arrivals_per_s += rate;
    wal_bytes_per_s += rate * load.shape.wal_bytes;
    sent += rate * (shape.send_s + load.shape.rows * costs_.decode_change_s);
    read += rate * records * costs_.wal_read_record_s;
    read_most += rate * ((records + extra) * costs_.wal_read_record_s + 2 * costs_.sender_wakeup_s);
    double each_s = shape.receive_s;
    if (slot.subscription != nullptr)
      each_s += apply_time(*load.flow, s_.tables, shape, apply_cost_of(s_, *slot.subscription, costs_)).cpu_s;
    else
      each_s = shape.rows * slot.consumer->cost_per_change_s;
    applied += rate * each_s;
    applied_most += rate * (each_s + costs_.receiver_wakeup_s);
    sender.arrival_cv2 = applier.arrival_cv2 = std::max(load.arrival_cv2, loads_.size() > 1 ? 1.0 : 0.0);
    sender.batch = std::max(sender.batch, load.batch);
  }
  if (sender.arrivals_per_s <= 0)
    return;
  const double all_wal_s =
      wal_bytes_per_s * costs_.wal_read_byte_s + records_per_s * costs_.wal_read_record_s;
  read += all_wal_s;
  read_most += all_wal_s;
  sender.service_s = (sent + read) / sender.arrivals_per_s / from_speed;
  sender.service_most_s = (sent + read_most) / sender.arrivals_per_s / from_speed;
  applier.arrivals_per_s = sender.arrivals_per_s;
  applier.batch = sender.batch;
  applier.service_s = applied / sender.arrivals_per_s / to_speed;
  applier.service_most_s = applied_most / sender.arrivals_per_s / to_speed;
  const auto measured = passed_.find(slot.name);
  const double served = measured != passed_.end()
                            ? measured->second
                            : std::min({sender.arrivals_per_s, 1 / std::max(sender.service_s, 1e-300),
                                        1 / std::max(applier.service_s, 1e-300)});
  sender.served_per_s = applier.served_per_s = served;
  host_threads_[s_.servers.at(publisher).host] += served * sender.service_s;
  host_threads_[slot.host] += served * applier.service_s;
  out_.bounds["lag_s_mean of " + slot.name] = lag_bound(slot, sender, applier);
  add(std::move(sender));
  add(std::move(applier));
}

/// At least the services; at most, beside them, Kingman's waits, two flushes, and who sleeps waking up.
AnalyticBound Companion::lag_bound(const SlotView& slot, const QueueStation& sender,
                                   const QueueStation& applier) const {
  const std::string& publisher = slot.publication->server;
  const Server& server = s_.servers.at(publisher);
  const double way_s = latency_s(server.host, slot.host);
  const double flush_s = commit_flush_s(publisher);
  const bool waits = server.settings.text("synchronous_commit") != "off";
  const double unflushed_s = waits ? 0 : 3 * server.settings.number("wal_writer_delay");
  AnalyticBound bound;
  bound.low = sender.service_s + applier.service_s + way_s;
  bound.high = sender.service_most_s + applier.service_most_s + way_s + 2 * flush_s + unflushed_s +
               2 * costs_.wakeup_latency_s + laws_of(sender).kingman_wait_s + laws_of(applier).kingman_wait_s;
  if (slot.consumer != nullptr)
    bound.skipped = "a client confirms in its own time";
  else if (s_.other_wal.size() + s_.batches.size() + s_.ddl.size() + s_.replays.size() > 0)
    bound.skipped = "other work runs beside the flows";
  return bound;
}

void Companion::add_backends() {
  std::map<std::string, QueueStation> by_server;
  for (const Rated& load : loads_) {
    if (load.of_clients)
      continue;
    QueueStation& at = by_server[load.flow->server];
    at.arrivals_per_s += load.rate_per_s;
    at.service_s += load.rate_per_s * load.shape.backend_s;
  }
  for (auto& [name, station] : by_server) {
    const Machine& host = s_.hosts.at(s_.servers.at(name).host);
    if (station.arrivals_per_s <= 0)
      continue;
    host_threads_[s_.servers.at(name).host] += station.service_s / host.speed;
    station.name = name + ".backend";
    station.cpu_metric = s_.clients.empty() and s_.batches.empty() ? "cpu_" + name + ".backend_s" : "";
    station.service_s /= station.arrivals_per_s * host.speed;
    station.service_most_s = station.service_s;
    station.servers = host.capacity(host.cpus());
    if (flows_tps_ >= 0 and out_.metrics["tps"] > 0) // flows that are behind get through less than comes
      station.served_per_s = station.arrivals_per_s * flows_tps_ / out_.metrics["tps"];
    add(std::move(station));
  }
}

/// A host as a whole: all that runs there over its CPUs; and its way to the others.
void Companion::add_hosts() {
  for (const BackgroundLoad& load : s_.background)
    host_threads_[load.host] += load.cores;
  for (const auto& [name, threads] : host_threads_) {
    const Machine& host = s_.hosts.at(name);
    const double rate = out_.metrics["tps"];
    if (rate <= 0)
      continue;
    const double capacity = host.capacity(host.cpus());
    add({name + " CPUs", "", rate, -1, threads / rate, threads / rate, capacity, 1, 1});
    others_ = std::max(others_, threads / capacity);
  }
  if (others_ > busy_host)
    for (auto& [name, bound] : out_.bounds)
      if (bound.skipped.empty())
        bound.skipped = "processes wait for CPUs";
}

/// Asymptotic bounds of one transaction: it takes as long as its slowest stage at least, as all of them one
/// after the other at most.
void Companion::add_single_transaction() {
  if (s_.batches.size() != 1 or s_.subscriptions.size() != 1 or not s_.replays.empty() or
      not s_.ddl.empty() or not s_.consumers.empty())
    return;
  const BatchLoad& batch = s_.batches.front();
  const SlotView slot = slots().front();
  if (batch.times != 1 or batch.sessions != 1 or batch.rolls_back or batch.two_phase() or
      slot.publication->server != batch.server)
    return;
  FlowLoad flow;
  flow.server = batch.server;
  double pause_s = 0;
  bool undone = false;
  for (const TransactionStep& step : batch.transaction) {
    if (const auto* statement = std::get_if<StatementStep>(&step))
      flow.transaction.push_back(*statement);
    else if (const auto* pause = std::get_if<PauseStep>(&step))
      pause_s += pause->seconds;
    else if (std::holds_alternative<RollbackToStep>(step))
      undone = true;
  }
  AnalyticBound bound = single_bound(flow, pause_s, undone);
  if (batch.at_s > 0 or not s_.background.empty() or not s_.other_wal.empty())
    bound.skipped = "other work runs beside it";
  out_.bounds["total_s"] = bound;
}

/// `flow`: the statements of the transaction.
AnalyticBound Companion::single_bound(const FlowLoad& flow, double pause_s, bool undone) const {
  const Subscription& subscription = s_.subscriptions.begin()->second;
  const SlotView slot = slots().front();
  const Server& from = s_.servers.at(flow.server);
  const double from_speed = speed(from.host), to_speed = speed(slot.host);
  const FlowShape shape = flow_shape(flow, s_.tables, costs_);
  const DeliveredShape sent = delivered(slot, flow);
  const ApplyCost price = apply_cost_of(s_, subscription, costs_);
  ApplyTime in_order;
  for (std::size_t i = 0; i < flow.transaction.size(); ++i)
    in_order += sent.sent[i] * price.row(s_.tables.at(flow.transaction[i].table),
                                         flow.transaction[i].operation, RowOrder::Table);
  const double random_read_s = apply_time(flow, s_.tables, sent, price).read_s;
  const double rows = shape.rows;
  const double backend = shape.backend_s / from_speed + pause_s;
  const double send =
      (shape.wal_bytes * costs_.wal_read_byte_s + shape.wal_records * costs_.wal_read_record_s +
       rows * costs_.decode_change_s + sent.send_s) /
      from_speed;
  const double receive = sent.receive_s / to_speed;
  const double apply = in_order.cpu_s / to_speed + std::min(in_order.read_s, random_read_s);
  const bool workers = subscription.streaming == Streaming::Parallel; // who receives is another process then
  const double chunks =
      shape.queued_bytes / static_cast<double>(from.settings.bytes("logical_decoding_work_mem")) +
      static_cast<double>(s_.batches.front().transaction.size()) + 1;
  const double more = (rows * (costs_.spill_change_s + costs_.restore_change_s + costs_.discard_change_s) +
                       chunks * (costs_.stream_chunk_s + costs_.spill_file_s)) /
                          from_speed +
                      (rows * (costs_.file_write_change_s + costs_.file_read_change_s +
                               costs_.forward_change_s + costs_.ring_read_change_s) +
                       chunks * costs_.chunk_dispatch_s) /
                          to_speed +
                      std::max(in_order.read_s, random_read_s);
  const double wal_s = 2 * shape.wal_bytes / s_.hosts.at(from.host).disks.front().write_bandwidth_bytes_per_s;
  double link_s = 0;
  for (const Link& link : s_.links)
    if (link.from == from.host or link.to == from.host)
      link_s = std::max(link_s, sent.bytes / link.bandwidth_bytes_per_s);
  AnalyticBound bound;
  bound.low =
      undone ? backend : std::max({backend, send, workers ? std::max(receive, apply) : receive + apply});
  bound.high = backend + send + receive + apply + more + wal_s + link_s + 1;
  return bound;
}

/// Utilisations as a run measured them: CPU seconds over its length.
void measure_stations(const RunResult& result, AnalyticAnswer& answer) {
  const double run_s = result.statistics.shortened ? result.statistics.asked_s : result.statistics.run_s;
  for (AnalyticStation& at : answer.stations)
    if (const auto found = result.metrics.find(at.station.cpu_metric);
        found != result.metrics.end() and run_s > 0)
      at.measured = found->second / run_s;
}

void measure_slots(const Scenario& scenario, const SteadyRecorder* recorder, const RunResult& result,
                   AnalyticAnswer& answer) {
  const double tick_s = resolution_of(scenario, effective_costs(scenario.profile)).tick_s;
  const bool overloaded = std::any_of(answer.stations.begin(), answer.stations.end(),
                                      [](const AnalyticStation& at) { return not at.laws.stable; });
  for (const auto& [name, metrics] : result.subscriptions) {
    AnalyticBound& bound = answer.bounds["lag_s_mean of " + name];
    LittleCheck& little = answer.little[name];
    const auto verdict = result.verdicts.find(name);
    const bool keeps_up = verdict != result.verdicts.end() and verdict->second.state == "keeping up";
    if (recorder == nullptr or not keeps_up or overloaded) {
      little.skipped = bound.skipped = recorder == nullptr ? "no steady study"
                                       : not keeps_up      ? "the slot does not keep up"
                                                           : "more comes than some station takes";
      continue;
    }
    const double from_s = result.statistics.warmup_s;
    const auto passage = recorder->passage(name, from_s);
    little = {recorder->mean_behind(name, from_s), passage.per_s, passage.lag_s, 0, ""};
    little.tolerance = analytic_tolerance * std::max(little.number, passage.per_s * passage.lag_s) +
                       ticks_gathered * tick_s * recorder->committed_per_s(from_s) + 1;
    bound.measured = passage.lag_s;
  }
}

} // namespace

AnalyticAnswer analytic_answer(const Scenario& scenario) {
  return Companion(scenario).answer(std::nullopt, {});
}

void add_analytic_companion(const Scenario& scenario, const SteadyRecorder* recorder, RunResult& result) {
  std::optional<double> tps;
  if (scenario.clients.size() == 1 and not result.clients.empty())
    tps = result.clients.front().tps;
  std::map<std::string, double> passed;
  for (const auto& [name, metrics] : result.subscriptions)
    if (const auto found = metrics.find("apply_tps"); found != metrics.end())
      passed[name] = found->second;
  const auto flows = result.metrics.find("tps");
  const bool flows_alone = scenario.clients.empty() and flows != result.metrics.end();
  result.analytic = Companion(scenario).answer(tps, std::move(passed), flows_alone ? flows->second : -1);
  const bool covered = scenario.replays.empty() and scenario.ddl.empty() and scenario.decode.empty() and
                       (scenario.batches.empty() or (scenario.flows.empty() and scenario.clients.empty()));
  if (covered and recorder != nullptr)
    measure_stations(result, result.analytic);
  if (not scenario.flows.empty() or not scenario.clients.empty())
    measure_slots(scenario, recorder, result, result.analytic);
  const auto total = result.analytic.bounds.find("total_s");
  const auto measured = result.metrics.find("total_s");
  if (total != result.analytic.bounds.end() and measured != result.metrics.end())
    total->second.measured = measured->second;
  result.analytic.disagreements = disagreements_of(result.analytic);
  for (const std::string& sentence : result.analytic.disagreements)
    result.warnings.push_back("simulation and theory disagree; " + sentence);
}

} // namespace replisim
