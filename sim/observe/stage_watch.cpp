#include "sim/observe/stage_watch.hpp"

#include <algorithm>

namespace replisim {

namespace {
constexpr double work_under_way_s = 1;
constexpr double segment_bytes = 16.0 * 1024 * 1024;

double& of(StationSeconds& seconds, Station station) { return seconds[static_cast<std::size_t>(station)]; }
} // namespace

double work_under_way_bytes(double wal_bytes, double now_s) {
  return std::min(segment_bytes, wal_bytes / std::max(1e-9, now_s) * work_under_way_s);
}

StageWatch::StageWatch(const Pipeline& pipeline) : pipeline_(pipeline) {
  for (const auto& role : pipeline.roles()) {
    if (role.stage == "backend") {
      publishers_[role.node].backends.push_back(role.process);
      publishers_[role.node].last_s.push_back(0);
    }
    if (role.slot.empty())
      continue;
    auto& slot = slots_[role.slot];
    if (role.stage == "walsender")
      slot.walsender = role.process;
    else if (role.stage == "network")
      slot.network = role.process;
    else if (role.stage == "parallel_apply_worker")
      slot.workers.push_back(role.process);
    else
      slot.client = role.process;
  }
}

StageWatch::Reading StageWatch::read(const SlotProcesses& processes, const WalsenderWork& work) {
  Reading reading;
  const auto sender = processes.walsender->usage(), client = processes.client->usage();
  reading.walsender_busy_s = sender.busy_s;
  reading.walsender_blocked_s = sender.blocked_s;
  reading.client_s = client.busy_s;
  reading.client_blocked_s = client.blocked_s;
  if (processes.network != nullptr)
    reading.network_s = processes.network->usage().busy_s;
  for (const auto* worker : processes.workers)
    reading.workers_s += worker->usage().busy_s;
  reading.work = work;
  return reading;
}

StationSeconds StageWatch::busy_between(const Reading& before, const Reading& after, double seconds) {
  StationSeconds busy{};
  const double sender_s = after.walsender_busy_s - before.walsender_busy_s;
  const std::array<double, 4> work = {
      after.work.decode_s - before.work.decode_s, after.work.spill_s - before.work.spill_s,
      after.work.filter_s - before.work.filter_s, after.work.send_s - before.work.send_s};
  double sum = 0;
  for (const double part : work)
    sum += std::max(0.0, part);
  // Work is noted when it begins: where none began in this stretch, an earlier piece still runs.
  const auto first = static_cast<std::size_t>(Station::Decoding);
  for (std::size_t i = 0; i < work.size(); ++i)
    busy[first + i] = sum > 0 ? sender_s * std::max(0.0, work[i]) / sum : sender_s / 4;
  const double network_s = after.network_s - before.network_s, client_s = after.client_s - before.client_s;
  of(busy, Station::Bandwidth) = network_s;
  of(busy, Station::Client) = client_s;
  of(busy, Station::Worker) = std::min(seconds, after.workers_s - before.workers_s);
  of(busy, Station::Window) =
      std::max(0.0, after.walsender_blocked_s - before.walsender_blocked_s - network_s - client_s -
                        (after.client_blocked_s - before.client_blocked_s));
  return busy;
}

void StageWatch::sample_publisher(const PublisherSide& side, PublisherProcesses& processes) const {
  processes.backend_s = 0;
  for (std::size_t i = 0; i < processes.backends.size(); ++i) {
    const auto usage = processes.backends[i]->usage();
    const double cpu_s = usage.busy_s - usage.device_s;
    processes.backend_s = std::max(processes.backend_s, cpu_s - processes.last_s[i]);
    processes.last_s[i] = cpu_s;
  }
  processes.disk_s = side.wal->disk_busy_s() - processes.last_disk_s;
  processes.last_disk_s += processes.disk_s;
}

void StageWatch::sample(double now_s) {
  const double seconds = now_s - last_s_;
  if (seconds <= 0)
    return;
  last_s_ = now_s;
  for (const auto& [name, side] : pipeline_.publishers())
    sample_publisher(side, publishers_[name]);
  for (const auto& [name, side] : pipeline_.slots()) {
    const SubscriptionRecord& record = pipeline_.log().subscriptions.at(name);
    const auto& publisher = publishers_.at(side.publisher);
    const WalLog& wal = *pipeline_.publishers().at(side.publisher).wal;
    auto& processes = slots_.at(name);
    const Reading reading = read(processes, record.walsender);
    StationSeconds busy = busy_between(processes.last, reading, seconds);
    processes.last = reading;
    of(busy, Station::Backend) = publisher.backend_s;
    of(busy, Station::WalDisk) = std::min(seconds, publisher.disk_s);
    SlotWatch& watch = watches_[name];
    watch.watched_s += seconds;
    const double lag = static_cast<double>(std::max<Bytes>(0, wal.inserted() - record.replay_lsn));
    const bool behind = lag > work_under_way_bytes(static_cast<double>(wal.inserted().value), now_s);
    for (std::size_t i = 0; i < stations; ++i) {
      watch.busy[i] += busy[i];
      watch.busy_behind[i] += behind ? busy[i] : 0;
    }
    if (not behind)
      continue;
    watch.behind_s += seconds;
    watch.unflushed_bytes += static_cast<double>(wal.inserted() - wal.flushed());
    watch.unread_bytes += static_cast<double>(std::max<Bytes>(0, wal.flushed() - record.sent_lsn));
  }
}

} // namespace replisim
