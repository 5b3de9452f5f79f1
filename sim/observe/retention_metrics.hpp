// Figures of subscribers that retain dead tuples.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

namespace replisim {

void collect_retention(const Pipeline& pipeline, double end_s, RunResult& result);

} // namespace replisim
