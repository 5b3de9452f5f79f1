// Which settings of a scenario the explorer offers, and between which values.
#pragma once

#include "sim/scenario/loader.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace replisim::cli {

/// [{path, label, kind, values[], value}, ...]: `choice` is a menu, `steps` a slider over values in order.
/// Values are YAML text; the one of the scenario is always among them.
nlohmann::json knobs_of(const ScenarioSource& source, const Scenario& scenario,
                        const std::vector<Override>& overrides);

/// The scenario as it is run, as one YAML file that stands by itself.
std::string standalone_yaml(const std::string& file, const std::vector<Override>& overrides);

} // namespace replisim::cli
