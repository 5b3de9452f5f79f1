// How finely a run is resolved, and the costs that apply in it.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace replisim {

/// The costs of a profile as they apply: CPU costs divided by its cpu_speed, latencies as they are.
CostParameters effective_costs(const CostProfile& profile);

/// How finely a run is resolved.
struct Resolution {
  double time_s = 0;   ///< as stated, or a fixed fraction of the estimated time of all rows
  Rows batch_rows = 1; ///< rows of one statement worked off at once
  double tick_s = 0;   ///< distance at which flows of small transactions are gathered
};
Resolution resolution_of(const Scenario& scenario, const CostParameters& costs);

} // namespace replisim
