// What the pages show of a run beside its result: settings, and the same scenario in the other modes.
#pragma once

#include "sim/run/replications.hpp"
#include "sim/run/run_simulation.hpp"
#include "sim/scenario/loader.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace replisim::cli {

/// [[path, value], ...] of the scenario as it is run: file, what it extends, overrides.
nlohmann::json settings_json(const std::string& file, const std::vector<Override>& overrides);

/// {modes[] {streaming, current, metrics, stages, bottleneck, error}, reason}: each subscription's
/// `streaming` set to off, on and parallel. `current` is the mode that all subscriptions have already, if
/// they agree. A mode that cannot be has an `error`.
nlohmann::json modes_json(const ScenarioSource& source, const std::vector<Override>& overrides,
                          std::uint64_t seed, bool exact, const PoolOptions& pool);

} // namespace replisim::cli
