// What locks cost the sessions of subscribers, and what the sessions did.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

namespace replisim {

/// Adds the metrics of each entry of `sessions`, and those of all of them together.
void collect_session_metrics(const Pipeline& pipeline, double end_s, RunResult& result);

} // namespace replisim
