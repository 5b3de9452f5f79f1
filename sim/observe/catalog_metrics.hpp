// What catalog changes did to decoding, slot by slot; and the calls of sessions that decode through SQL.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

namespace replisim {

/// Adds them to the metrics of the run and of each slot; nothing where no catalog changes and nobody decodes
/// so.
void collect_catalog_metrics(const Pipeline& pipeline, RunResult& result);

} // namespace replisim
