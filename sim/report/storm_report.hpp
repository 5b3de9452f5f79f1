// What a storm found, for people and for programs.
#pragma once

#include "sim/run/storm.hpp"

#include <string>

namespace replisim {

/// `saved`: the file that holds the smallest scenario, when there is one.
std::string storm_text(const Scenario& scenario, const StormRequest& request, const Storm& storm,
                       const std::string& saved);
std::string storm_json(const Scenario& scenario, const StormRequest& request, const Storm& storm);

} // namespace replisim
