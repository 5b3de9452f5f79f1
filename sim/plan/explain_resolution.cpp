#include "sim/plan/explain_resolution.hpp"

#include "sim/actors/resolution.hpp"

#include <fmt/format.h>

#include <cmath>

namespace replisim {

namespace {
constexpr double largest_difference = 0.005; ///< of the metric: below what an input must move to matter
constexpr int step = 4, coarsest_factor = step * step;
} // namespace

std::vector<std::string> coarser_resolutions(const Scenario& scenario) {
  std::vector<std::string> out;
  const bool gathers =
      not scenario.flows.empty() or not scenario.replays.empty() or not scenario.other_wal.empty();
  if (not gathers or scenario.time_resolution_s > 0)
    return out;
  const double tick_s = resolution_of(scenario, effective_costs(scenario.profile)).tick_s;
  for (int factor = step; factor <= coarsest_factor; factor *= step)
    out.push_back(fmt::format("{:.0f}ms", tick_s * factor * 1e3));
  return out;
}

std::string coarsest_that_agrees(const std::vector<ResolutionLook>& looks, const ResolutionLook& base) {
  std::string out;
  for (const ResolutionLook& look : looks) {
    const bool agrees = std::abs(look.metric - base.metric) <= largest_difference * std::abs(base.metric);
    if (not agrees or look.bottleneck != base.bottleneck) // not a number agrees with nothing
      break;
    out = look.resolution;
  }
  return out;
}

} // namespace replisim
