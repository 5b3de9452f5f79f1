#include "models/analytic.hpp"

#include "models/queueing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace replisim {

namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

struct Load {
  double measured = 0, low = 0, high = 0;
};

/// Stations that share a process are compared together.
std::map<std::string, Load> loads_by_process(const AnalyticAnswer& answer) {
  std::map<std::string, Load> loads;
  for (const AnalyticStation& at : answer.stations) {
    if (at.measured < 0)
      continue;
    Load& load = loads[at.station.cpu_metric];
    load.measured = at.measured; // of the process
    load.low += at.laws.utilisation * at.station.servers;
    load.high += at.laws.utilisation_most * at.station.servers;
  }
  return loads;
}

} // namespace

StationLaws laws_of(const QueueStation& station) {
  StationLaws laws;
  const double rate = station.arrivals_per_s;
  const double service = station.service_s / station.servers, most = station.service_most_s / station.servers;
  const double served = station.served_per_s < 0 ? rate : station.served_per_s;
  laws.utilisation = std::min(1.0, served * service);
  laws.utilisation_most = std::min(1.0, served * most);
  laws.offered = rate * service;
  laws.limit_per_s = service > 0 ? 1 / service : unbounded;
  // What comes on top (wake-ups) goes away where there is no time for it.
  laws.stable = laws.offered < 1;
  laws.md1_wait_s = queueing::md1_wait_s(rate, service);
  laws.mm1_wait_s = queueing::mg1_wait_s(rate, service, 1);
  laws.kingman_wait_s = queueing::kingman_wait_s(rate, most, std::max(station.arrival_cv2, station.batch), 0);
  return laws;
}

bool LittleCheck::holds() const {
  return not skipped.empty() or std::abs(number - rate_per_s * lag_s) <= tolerance;
}

std::vector<std::string> disagreements_of(const AnalyticAnswer& answer) {
  std::vector<std::string> out;
  for (const auto& [process, load] : loads_by_process(answer)) {
    const double slack = std::max(least_utilisation, analytic_tolerance * load.measured);
    if (load.measured < load.low - slack or load.measured > load.high + slack)
      out.push_back(
          fmt::format("utilisation law: {} says {:.1f} % of a CPU, rate times service time {:.1f} to "
                      "{:.1f} %",
                      process, 100 * load.measured, 100 * load.low, 100 * load.high));
  }
  for (const auto& [name, little] : answer.little)
    if (not little.holds())
      out.push_back(
          fmt::format("Little's law: {:.4g} transactions are on the way to {}, rate times lag says {:.4g}",
                      little.number, name, little.rate_per_s * little.lag_s));
  for (const auto& [name, bound] : answer.bounds) {
    if (bound.measured < 0 or not bound.skipped.empty())
      continue;
    if (bound.measured < bound.low * (1 - analytic_tolerance) or
        bound.measured > bound.high * (1 + analytic_tolerance))
      out.push_back(fmt::format("{}: {:.4g} s lies outside of its bounds, {:.4g} to {:.4g} s", name,
                                bound.measured, bound.low, bound.high));
  }
  return out;
}

} // namespace replisim
