// All positions of the knobs of a plan, with what they cost.
#pragma once

#include "sim/plan/plan.hpp"

#include <vector>

namespace replisim {

/// Every combination, by cost. Loads each: what the scenario's checks refuse is `excluded`. Throws UsageError
/// where a single value of a knob is refused already, a price is missing, or there are too many.
std::vector<PlanSetting> plan_settings(const PlannedScenario& base, const PlanEngine& engine,
                                       const PlanOptions& options);

/// The command line's overrides and those of a setting.
std::vector<Override> overrides_of(const PlanOptions& options,
                                   const std::vector<std::pair<std::string, std::string>>& sets);

} // namespace replisim
