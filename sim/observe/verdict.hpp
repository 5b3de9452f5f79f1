// Is a slot's client keeping up, behind but catching up, or falling behind, and which stage is to blame?
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Distance of the applied position from the insert position, at equal distances in time.
using LagSeries = std::map<std::string, std::vector<double>>; ///< by slot, bytes

/// A verdict in words (keeping up; caught up in the end; behind but catching up; falling behind; ...) for
/// each slot: from the lag at the end of the run against the lag at half and three quarters of it, and from
/// the stages' shares of busy time: the busiest is to blame, the next one would be next.
std::map<std::string, std::string> verdicts(const Pipeline& pipeline, const LagSeries& lags,
                                            const RunResult& result, double end_s);

} // namespace replisim
