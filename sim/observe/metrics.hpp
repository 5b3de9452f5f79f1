// From what the processes wrote down to the metrics of the vocabulary, the stage shares and the verdict.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

namespace replisim {

/// Fills metrics, subscriptions, stages, bottleneck and transactions of `result`.
void collect_metrics(const Pipeline& pipeline, double end_s, RunResult& result);

} // namespace replisim
