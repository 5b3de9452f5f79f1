// The largest or smallest value of a quantity at which one setting keeps its promises.
#pragma once

#include "sim/plan/plan_looks.hpp"

namespace replisim {

/// Searches the quantity of the question for one setting.
PlanPoint search_setting(const PlannedScenario& base, PlanSetting setting, PlanLooks& looks);

/// Fills a point from what was seen of it: judgement, bottleneck, replications.
void describe_point(PlanPoint& point, const Looked& looked);

} // namespace replisim
