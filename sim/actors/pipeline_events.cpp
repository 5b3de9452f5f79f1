// Faults and changes during a run, as the scenario's events say, and what they did to each slot.
#include "models/wal_retention.hpp"
#include "sim/actors/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace replisim {

namespace {
using Kind = Event::Kind;
constexpr double for_ever_s = 1e9;
/// Other programs want their CPUs a slice at a time.
constexpr double slice_s = 0.05;
/// Where a load goes on, something is always under way: a client that has all that is older than a moment, or
/// than this share of the time since the fault, has caught up.
constexpr double moment_s = 0.5, moment_share = 0.002;

/// Calls `look` with what had been written when it was called last, until it gives nothing.
void look_again(engine::World& world, double ended_s, Lsn written,
                const std::function<std::optional<Lsn>(Lsn)>& look) {
  const double wait_s = std::max(moment_s, moment_share * (world.now() - ended_s));
  world.at(
      world.now() + wait_s,
      [&world, ended_s, written, look] {
        if (const auto next = look(written))
          look_again(world, ended_s, *next, look);
      },
      true);
}

std::string link_key(const std::string& a, const std::string& b) {
  return std::min(a, b) + " " + std::max(a, b);
}
} // namespace

void Pipeline::add_events() {
  if (scenario_.events.empty())
    return;
  for (const Event& event : scenario_.events) {
    if (event.kind == Kind::CpuTaken)
      take_cpu(event);
    const std::size_t first = log_.faults.size();
    for (const std::string& slot : slots_touched_by(event))
      log_.faults.push_back({describe(event), slot, event.at_s});
    if (event.when_ready)
      continue; // see check_cut_overs
    world_.at(event.at_s, [this, &event, first] { begin_event(event, first); });
    if (event.lasts() and event.for_s > 0)
      world_.at(event.end_s(), [this, &event, first] { end_event(event, first); });
  }
  for (auto& [name, side] : slots_)
    side.connection->on_caught_up([this, slot = name](Lsn) { client_has_everything(slot); });
  world_.every(std::max(scenario_.observe.interval_s, 1e-3), [this](double) { watch_faults(); });
}

std::vector<std::string> Pipeline::slots_touched_by(const Event& event) const {
  std::vector<std::string> out;
  for (const auto& [name, side] : slots_) {
    const Server& publisher = scenario_.servers.at(side.publisher);
    const auto subscription = scenario_.subscriptions.find(name);
    const bool subscribes = subscription != scenario_.subscriptions.end();
    const std::string server = subscribes ? subscription->second.server : "";
    const std::string host =
        subscribes ? scenario_.servers.at(server).host : scenario_.consumers.at(name).host;
    const bool between = link_key(publisher.host, host) == link_key(event.host, event.other_host);
    bool touched = false;
    switch (event.kind) {
    case Kind::SubscriberDown:
      touched = server == event.server or side.publisher == event.server;
      break;
    case Kind::SlowDisk:
      touched = server == event.server or side.publisher == event.server;
      break;
    case Kind::Partition:
    case Kind::LinkChange:
      touched = between;
      break;
    case Kind::Crash:
      touched = name == event.subscription;
      break;
    case Kind::CpuTaken:
    case Kind::CreditsUsedUp:
      touched = publisher.host == event.host or host == event.host;
      break;
    case Kind::SettingChange:
    case Kind::CutOver:
      break;
    }
    if (touched)
      out.push_back(name);
  }
  return out;
}

void Pipeline::begin_event(const Event& event, std::size_t first_record) {
  outcomes_.push_back({world_.now(), "event", to_string(event.kind), describe(event)});
  turn(event, true);
  if (event.lasts())
    return;
  end_event(event, first_record);
}

void Pipeline::end_event(const Event& event, std::size_t first_record) {
  if (event.lasts()) {
    outcomes_.push_back({world_.now(), "event", to_string(event.kind), describe(event) + ": over"});
    turn(event, false);
  }
  const std::size_t count = slots_touched_by(event).size();
  for (std::size_t i = first_record; i < first_record + count; ++i) {
    FaultRecord& fault = log_.faults[i];
    const SlotSide& side = slots_.at(fault.slot);
    const WalLog& wal = *publishers_.at(side.publisher).wal;
    fault.ended_s = world_.now();
    fault.retained_at_end_bytes = side.slot->lost() ? 0 : wal.inserted() - side.slot->restart_lsn();
    const Lsn applied = log_.subscriptions.at(fault.slot).replay_lsn;
    fault.backlog_bytes = std::max<Bytes>(0, wal.inserted() - applied);
    if (side.connection->connected() and side.connection->idle() and
        side.connection->stream().outstanding_bytes() == 0)
      fault.caught_up_s = world_.now();
    look_again(world_, fault.ended_s, wal.inserted(), [this, i](Lsn written) -> std::optional<Lsn> {
      const FaultRecord& watched = log_.faults[i];
      const SlotSide& of = slots_.at(watched.slot);
      if (watched.caught_up_s < 0 and log_.subscriptions.at(watched.slot).replay_lsn >= written)
        client_has_everything(watched.slot);
      if (watched.caught_up_s >= 0)
        return std::nullopt;
      return publishers_.at(of.publisher).wal->inserted();
    });
  }
  watch_faults();
}

/// What slots hold back while a fault lasts and until its traces are gone.
void Pipeline::watch_faults() {
  for (FaultRecord& fault : log_.faults) {
    if (fault.begun_s > world_.now() or fault.caught_up_s >= 0)
      continue;
    const SlotSide& side = slots_.at(fault.slot);
    if (side.slot->lost())
      continue;
    const auto& from = publishers_.at(side.publisher);
    const Bytes retained = from.wal->inserted() - side.slot->restart_lsn();
    fault.most_retained_bytes = std::max(fault.most_retained_bytes, retained);
    const Bytes cap = from.checkpointer->rules().max_slot_wal_keep_size_bytes;
    if (cap >= 0 and retained > cap and fault.cap_passed_s < 0)
      fault.cap_passed_s = world_.now();
  }
}

void Pipeline::client_has_everything(const std::string& slot) {
  for (FaultRecord& fault : log_.faults)
    if (fault.slot == slot and fault.ended_s >= 0 and fault.caught_up_s < 0) {
      fault.caught_up_s = world_.now();
      const Bytes retained =
          publishers_.at(slots_.at(slot).publisher).wal->inserted() - slots_.at(slot).slot->restart_lsn();
      fault.most_retained_bytes = std::max(fault.most_retained_bytes, retained);
    }
  check_cut_overs();
}

void Pipeline::turn(const Event& event, bool on) {
  switch (event.kind) {
  case Kind::SubscriberDown:
    if (on)
      take_down(event.server, event.for_s > 0 ? event.end_s() : for_ever_s);
    else
      for (auto& [name, syncing] : syncs_)
        if (scenario_.subscriptions.at(name).server == event.server)
          syncing.sync->set_paused(subscribers_.at(event.server).down_until_s > world_.now());
    break;
  case Kind::Partition: {
    int& cuts = cut_links_[link_key(event.host, event.other_host)];
    cuts += on ? 1 : -1;
    for (auto* connection : connections_between(event.host, event.other_host))
      connection->set_cut(cuts > 0);
    break;
  }
  case Kind::Crash:
    crash(event);
    break;
  case Kind::SlowDisk: {
    int& slowed = slowed_disks_[event.server];
    slowed += on ? 1 : -1;
    const auto publishes = publishers_.find(event.server);
    WalLog* wal =
        publishes != publishers_.end() ? publishes->second.wal.get() : subscribers_.at(event.server).wal;
    wal->slow_disk(slowed > 0 ? event.factor : 1);
    break;
  }
  case Kind::CpuTaken:
    break; // its processes know when
  case Kind::CreditsUsedUp:
    world_.use_up_credits(hosts_.at(event.host));
    break;
  case Kind::LinkChange:
    change_link(event, on);
    break;
  case Kind::SettingChange:
    change_setting(event);
    break;
  case Kind::CutOver:
    cut_over(event.server);
    break;
  }
}

/// All processes of the server end; those that come back wait until it is up again.
void Pipeline::take_down(const std::string& server, double until_s) {
  auto& side = subscribers_.at(server);
  side.down_until_s = std::max(side.down_until_s, until_s);
  for (auto& [name, syncing] : syncs_) {
    if (scenario_.subscriptions.at(name).server != server)
      continue;
    syncing.sync->set_paused(true);
    for (TableCopy& copy : syncing.copies)
      copy.cancel("the subscriber is shut down");
  }
  for (auto& [name, slot] : slots_)
    if (slot.publisher == server)
      slot.connection->stop(); // its walsenders end as well
  for (const auto& [name, subscription] : scenario_.subscriptions) {
    if (subscription.server != server)
      continue;
    slots_.at(name).leader->fail();
    for (const std::string& table : scenario_.publications.at(subscription.publication).tables)
      if (const auto found = sync_slots_.find(fmt::format("{} sync {}", name, table));
          found != sync_slots_.end())
        found->second.leader->fail();
  }
}

void Pipeline::crash(const Event& event) {
  if (event.process == Event::Process::TableSyncWorker) {
    for (TableCopy& copy : syncs_.at(event.subscription).copies)
      copy.cancel("terminating logical replication worker due to administrator command");
    for (auto& [name, side] : sync_slots_)
      if (name.starts_with(event.subscription + " sync "))
        side.leader->fail();
    return;
  }
  SlotSide& side = slots_.at(event.subscription);
  if (event.process == Event::Process::Walsender)
    side.connection->stop();
  else
    side.leader->fail();
}

std::vector<ReplicationConnection*> Pipeline::connections_between(const std::string& a,
                                                                  const std::string& b) {
  std::vector<ReplicationConnection*> out;
  const auto add = [&](const std::string& host, SlotSide& side) {
    if (link_key(scenario_.servers.at(side.publisher).host, host) == link_key(a, b))
      out.push_back(side.connection.get());
  };
  for (auto& [name, side] : slots_) {
    const auto subscription = scenario_.subscriptions.find(name);
    add(subscription != scenario_.subscriptions.end() ? scenario_.servers.at(subscription->second.server).host
                                                      : scenario_.consumers.at(name).host,
        side);
  }
  for (auto& [name, side] : sync_slots_)
    for (const auto& [subscription, syncing] : syncs_)
      if (name.starts_with(subscription + " sync "))
        add(scenario_.servers.at(scenario_.subscriptions.at(subscription).server).host, side);
  return out;
}

void Pipeline::change_link(const Event& event, bool on) {
  const auto link = std::find_if(scenario_.links.begin(), scenario_.links.end(), [&](const Link& known) {
    return link_key(known.from, known.to) == link_key(event.host, event.other_host);
  });
  if (event.bandwidth_bytes_per_s > 0)
    world_.set_bandwidth(hosts_.at(link->from), hosts_.at(link->to),
                         on ? event.bandwidth_bytes_per_s : link->bandwidth_bytes_per_s);
  if (event.latency_s >= 0)
    for (auto* connection : connections_between(event.host, event.other_host))
      connection->set_latency(on ? event.latency_s : link->latency_s);
}

/// A reload: what it concerns reads the new value.
void Pipeline::change_setting(const Event& event) {
  const std::string& name = event.setting;
  const double value = event.value.number;
  if (const auto found = publishers_.find(event.server); found != publishers_.end()) {
    RetentionRules& rules = found->second.checkpointer->rules();
    if (name == "max_slot_wal_keep_size")
      rules.max_slot_wal_keep_size_bytes = std::llround(value);
    else if (name == "max_wal_size")
      rules.max_wal_size_bytes = std::llround(value);
    else if (name == "checkpoint_timeout")
      rules.checkpoint_timeout_s = value;
    else if (name == "wal_keep_size")
      rules.wal_keep_size_bytes = std::llround(value);
    else if (name == "idle_replication_slot_timeout")
      rules.idle_slot_timeout_s = value;
  }
  for (auto* slots : {&slots_, &sync_slots_})
    for (auto& [slot, side] : *slots) {
      if (side.publisher == event.server and name == "wal_sender_timeout")
        side.connection->set_sender_timeout(value);
      if (side.publisher == event.server and name == "logical_decoding_work_mem")
        side.decoder->set_work_mem(std::llround(value));
      const auto subscription = scenario_.subscriptions.find(slot);
      if (name == "wal_receiver_timeout" and subscription != scenario_.subscriptions.end() and
          subscription->second.server == event.server)
        side.connection->set_receiver_timeout(value);
    }
}

void Pipeline::take_cpu(const Event& event) {
  const int processes = std::max(1, static_cast<int>(std::ceil(event.cores)));
  const double share = event.cores / processes;
  const double speed = scenario_.hosts.at(event.host).speed;
  const double end_s = event.for_s > 0 ? event.end_s() : for_ever_s;
  for (int i = 0; i < processes; ++i)
    spawn(event.host, "background", fmt::format("other programs of {} {}", event.host, roles_.size()),
          event.host, [from_s = event.at_s, end_s, share, speed](engine::Process& process) {
            process.sleep(from_s, engine::Activity::Starved);
            for (std::int64_t slice = 0; process.now() < end_s; ++slice) {
              process.cpu(share * slice_s * speed);
              const double next_s = from_s + static_cast<double>(slice + 1) * slice_s;
              process.sleep(std::max(1e-6, next_s - process.now()), engine::Activity::Starved);
            }
          });
}

void Pipeline::cut_over(const std::string& server) {
  publishers_.at(server).state.stopped = true;
  log_.cut_overs.push_back({server, world_.now(), -1});
}

/// Cut-overs that wait for all tables begin; one ends when every client has everything.
void Pipeline::check_cut_overs() {
  for (const Event& event : scenario_.events) {
    if (not event.when_ready or publishers_.at(event.server).state.stopped)
      continue;
    const bool ready = std::all_of(syncs_.begin(), syncs_.end(),
                                   [](const auto& entry) { return entry.second.sync->all_ready(); });
    if (ready)
      world_.at(world_.now(), [this, &event] {
        if (not publishers_.at(event.server).state.stopped)
          begin_event(event, log_.faults.size());
      });
  }
  for (CutOverRecord& cut : log_.cut_overs) {
    const PublisherSide& from = publishers_.at(cut.server);
    const bool over =
        from.state.busy_loads == 0 and std::all_of(slots_.begin(), slots_.end(), [&](const auto& entry) {
          return entry.second.publisher != cut.server or
                 log_.subscriptions.at(entry.first).replay_lsn >= from.state.last_commit;
        });
    if (over and cut.over_s < 0) {
      cut.over_s = world_.now();
      outcomes_.push_back({world_.now(), "cut_over", cut.server,
                           fmt::format("{} has written nothing for {} when the last subscriber has "
                                       "everything: so long applications wait at the cut-over",
                                       cut.server, format_duration(cut.over_s - cut.at_s))});
    }
  }
}

} // namespace replisim
