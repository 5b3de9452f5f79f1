#include "sim/run/riskiest_guesses.hpp"

#include "sim/run/analytic_companion.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace replisim {

namespace {

/// Less than half a percent is no risk.
constexpr double least_change = 0.005;

using Quantities = std::map<std::string, double>;

/// What the laws say, as one list of numbers.
Quantities quantities_of(const Scenario& scenario) {
  const AnalyticAnswer answer = analytic_answer(scenario);
  Quantities out;
  for (const auto& [name, value] : answer.metrics)
    out[name] = value;
  for (const auto& [name, bound] : answer.bounds)
    out[name] = std::sqrt(bound.low * bound.high); // where between them the truth lies, nobody knows
  for (const AnalyticStation& at : answer.stations)
    out["utilisation of " + at.station.name] = at.laws.offered;
  return out;
}

/// "hosts.a.disks": a, disks.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path.substr(0, path.find('[')))
    if (c == '.')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

void slow_down(Machine& machine, const std::string& field) {
  if (field == "disks") {
    for (Disk& disk : machine.disks) {
      disk.fsync_latency_s *= 2;
      disk.write_bandwidth_bytes_per_s /= 2;
      disk.read_bandwidth_bytes_per_s /= 2;
      disk.read_latency_s *= 2;
    }
  } else if (field.empty() or field == "machine" or field == "speed") {
    machine.speed /= 2;
  }
}

/// Doubles the input that `path` names; false where there is none that can be.
bool double_input(Scenario& scenario, const std::string& path) {
  if (const CostParameter* parameter = find_cost_parameter(path)) {
    scenario.profile.costs.*parameter->field *= 2;
    return true;
  }
  const auto parts = parts_of(path);
  const std::string field = parts.size() > 2 ? parts[2] : "";
  if (parts[0] == "cpu_speed" or (parts[0] == "profile" and parts.back() == "cpu_speed")) {
    scenario.profile.cpu_speed /= 2;
    return true;
  }
  if (parts[0] == "hosts") {
    for (auto& [name, machine] : scenario.hosts)
      if (parts.size() == 1 or parts[1] == name)
        slow_down(machine, field);
    return true;
  }
  if (parts[0] == "links") {
    const bool window = path.ends_with(".window");
    for (Link& link : scenario.links) {
      link.window_bytes *= window ? 2 : 1;
      link.latency_s *= window or path.ends_with(".bandwidth") ? 1 : 2;
      link.bandwidth_bytes_per_s /= window or path.ends_with(".latency") ? 1 : 2;
    }
    return true;
  }
  if (parts[0] == "tables" and parts.size() > 1 and scenario.tables.contains(parts[1]) and field == "rows") {
    scenario.tables.at(parts[1]).initial_rows *= 2;
    return true;
  }
  return false;
}

} // namespace

std::vector<RiskyGuess> riskiest_guesses(const Scenario& scenario, std::size_t most) {
  std::vector<RiskyGuess> out;
  if (not scenario.replays.empty()) // a list of transactions is too large to be gone over for each guess
    return out;
  const Quantities before = quantities_of(scenario);
  for (const Guess& guess : scenario.guesses) {
    Scenario changed = scenario;
    if (not double_input(changed, guess.path))
      continue;
    RiskyGuess risky{guess, 0, ""};
    for (const auto& [name, value] : quantities_of(changed)) {
      const auto old = before.find(name);
      if (old == before.end() or old->second <= 0 or not std::isfinite(value) or
          not std::isfinite(old->second))
        continue;
      if (const double change = value / old->second - 1; std::abs(change) > std::abs(risky.change) + 1e-9) {
        risky.change = change;
        risky.quantity = name;
      }
    }
    if (std::abs(risky.change) >= least_change)
      out.push_back(std::move(risky));
  }
  std::stable_sort(out.begin(), out.end(), [](const RiskyGuess& a, const RiskyGuess& b) {
    return std::abs(a.change) > std::abs(b.change);
  });
  if (out.size() > most)
    out.resize(most);
  return out;
}

} // namespace replisim
