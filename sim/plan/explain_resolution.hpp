// The time resolution at which a metric is explained.
#pragma once

#include "sim/scenario/scenario.hpp"

#include <functional>
#include <string>
#include <vector>

namespace replisim {

/// What a run at a candidate says of the base; `resolution` as an override's value, such as "80ms".
struct ResolutionLook {
  std::string resolution;
  double metric = 0; ///< NaN: the run failed, or reports no such metric
  std::string bottleneck;
};

/// Coarser time resolutions to try, finest first: multiples of the distance at which flows of small
/// transactions are gathered, which is what their runs cost. None where nothing is gathered, or where the
/// scenario states its resolution.
std::vector<std::string> coarser_resolutions(const Scenario& scenario);

/// The coarsest of `looks` (finest first) at which the metric differs from `base` by no more than half a
/// percent, at no finer one by more, and the bottleneck is the same one. Empty: none of them.
std::string coarsest_that_agrees(const std::vector<ResolutionLook>& looks, const ResolutionLook& base);

} // namespace replisim
