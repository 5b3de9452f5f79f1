// Where two simulations part: the first event that is not the same.
#pragma once

#include "sim/engine/event_tap.hpp"
#include "sim/scenario/scenario.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace replisim {

/// One side: a scenario and the seed it is run with.
struct SimulationSource {
  const Scenario* scenario = nullptr;
  std::uint64_t seed = 1;
};

struct EventDivergence {
  std::uint64_t number = 0;               ///< of the first different event, from 1
  std::uint64_t total_a = 0, total_b = 0; ///< events of each run
  std::optional<engine::SeenEvent> a, b;  ///< nothing: that run is over
  std::vector<engine::SeenEvent> before;  ///< the last few that are the same, in order
};

/// Simulates both, each twice, in forked children: once for hashes of prefixes, once for the events where
/// those begin to differ. Nothing where all events are the same.
std::optional<EventDivergence> first_divergence(const SimulationSource& a, const SimulationSource& b);

} // namespace replisim
