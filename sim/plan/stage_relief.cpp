#include "sim/plan/stage_relief.hpp"

#include "sim/scenario/library_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <set>

namespace replisim {

namespace {

/// All costs whose names begin with one of `groups`, divided.
std::vector<Override> cheaper(const Scenario& scenario, const std::vector<std::string>& groups,
                              double factor) {
  std::vector<Override> out;
  for (const CostParameter& parameter : cost_parameters()) {
    const std::string name(parameter.name);
    const double value = effective_cost_s(scenario.profile, parameter) / factor;
    for (const std::string& group : groups)
      if (name.starts_with(group + ".") and value > 0)
        out.push_back(
            {"profile.parameters." + name, fmt::format("{:.9g}ns", 1e9 * std::max(value, parameter.low))});
  }
  return out;
}

Override faster_disks(const Scenario& scenario, const std::string& host, double factor) {
  std::vector<std::string> disks;
  for (const Disk& d : scenario.hosts.at(host).disks)
    disks.push_back(fmt::format(
        "{{name: \"{}\", fsync_latency: {:.9g}us, write_bandwidth: {:.12g}B/s, read_bandwidth: {:.12g}B/s, "
        "read_latency: {:.9g}us, capacity: {}B, used: {}B}}",
        d.name, 1e6 * d.fsync_latency_s / factor, d.write_bandwidth_bytes_per_s * factor,
        d.read_bandwidth_bytes_per_s * factor, 1e6 * d.read_latency_s / factor, d.capacity_bytes,
        d.used_bytes));
  return {fmt::format("hosts.{}.disks", host), fmt::format("[{}]", fmt::join(disks, ", "))};
}

} // namespace

std::vector<StageRelief> stage_reliefs(const Scenario& scenario, double factor) {
  std::vector<StageRelief> out;
  std::set<std::string> publishers, subscribers;
  bool parallel = false;
  for (const auto& [name, publication] : scenario.publications)
    publishers.insert(publication.server);
  for (const auto& [name, subscription] : scenario.subscriptions) {
    subscribers.insert(subscription.server);
    parallel = parallel or subscription.streaming == Streaming::Parallel;
  }
  const std::string times = fmt::format("{:g} times as fast", factor);
  for (const std::string& server : publishers) {
    out.push_back({server + ".backend", "its work " + times, cheaper(scenario, {"backend"}, factor)});
    out.push_back({server + ".walsender", "its work " + times,
                   cheaper(scenario, {"walsender", "invalidation", "decoding"}, factor)});
    out.push_back({server + ".wal_disk",
                   "disks of its host " + times,
                   {faster_disks(scenario, scenario.servers.at(server).host, factor)}});
  }
  for (const std::string& server : subscribers) {
    out.push_back(
        {server + ".apply_worker", "its work " + times, cheaper(scenario, {"leader", "apply"}, factor)});
    if (parallel)
      out.push_back(
          {server + ".parallel_apply_worker", "its work " + times, cheaper(scenario, {"apply"}, factor)});
    if (not publishers.contains(server))
      out.push_back({server + ".disk",
                     "disks of its host " + times,
                     {faster_disks(scenario, scenario.servers.at(server).host, factor)}});
  }
  if (not scenario.links.empty()) {
    StageRelief network{"network", fmt::format("bandwidth and windows {:g} times as large", factor), {}};
    for (std::size_t i = 0; i < scenario.links.size(); ++i) {
      network.overrides.push_back(
          {fmt::format("links[{}].bandwidth", i),
           fmt::format("{:.12g}B/s", scenario.links[i].bandwidth_bytes_per_s * factor)});
      network.overrides.push_back(
          {fmt::format("links[{}].window", i),
           fmt::format("{:.0f}B", std::round(static_cast<double>(scenario.links[i].window_bytes) * factor))});
    }
    out.push_back(std::move(network));
  }
  for (const auto& [name, consumer] : scenario.consumers)
    out.push_back({name + ".consumer",
                   "its work " + times,
                   {{fmt::format("consumers.{}.cost_per_change", name),
                     fmt::format("{:.9g}ns", 1e9 * consumer.cost_per_change_s / factor)}}});
  for (const auto& [name, machine] : scenario.hosts)
    out.push_back({name + " (CPUs)",
                   fmt::format("{:g} times as many cores", factor),
                   {{fmt::format("hosts.{}.cores_per_socket", name),
                     fmt::format("{:.0f}", std::ceil(machine.cores_per_socket * factor))}}});
  return out;
}

} // namespace replisim
