#include "sim/observe/peaks.hpp"

#include "sim/observe/timeline_recorder.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace replisim {

namespace {
/// A name that a metric can carry: a disk may be called "virtual SSD".
std::string one_word(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}
} // namespace

PeakWatch::PeakWatch(const Scenario& scenario, Pipeline& pipeline)
    : scenario_(scenario), pipeline_(pipeline) {
  for (const auto& [server, side] : pipeline.publishers())
    for (const Disk& disk : scenario.hosts.at(scenario.servers.at(server).host).disks)
      if (disk.capacity_bytes > 0)
        disks_[fmt::format("peak_disk_used_{}.{}", server, one_word(disk.name))] = {
            server, disk.name, static_cast<double>(disk.used_bytes), static_cast<double>(disk.capacity_bytes),
            0};
  pipeline.world().every(scenario.observe.interval_s, [this](double) { look(); });
}

void PeakWatch::look() {
  for (const auto& [server, side] : pipeline_.publishers())
    retained_bytes_ = std::max(retained_bytes_, static_cast<double>(retained_wal_bytes(pipeline_, server)));
  for (auto& [metric, disk] : disks_)
    disk.peak =
        std::max(disk.peak, disk.used_bytes + disk_used_bytes(scenario_, pipeline_, disk.server, disk.name));
}

void PeakWatch::collect(RunResult& result) {
  look();
  result.metrics["peak_retained_wal_bytes"] = retained_bytes_;
  for (const auto& [metric, disk] : disks_)
    result.metrics[metric] = disk.peak / disk.capacity_bytes;
}

} // namespace replisim
