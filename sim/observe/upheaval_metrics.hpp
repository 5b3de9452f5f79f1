// Figures and words about initial synchronisations, faults and cut-overs.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

namespace replisim {

void collect_upheaval(const Scenario& scenario, const Pipeline& pipeline, double end_s, RunResult& result);

} // namespace replisim
