// Is a slot's client keeping up, behind but catching up, or falling behind, and which stage is to blame?
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/observe/stage_watch.hpp"
#include "sim/run/result.hpp"

#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Distance of the applied position from the insert position, at equal distances in time.
using LagSeries = std::map<std::string, std::vector<double>>; ///< by slot, bytes

/// A verdict for each slot: its state (keeping up; caught up in the end; behind but catching up; falling
/// behind;
/// ...) from the lag at the end of the run against the lag at half and three quarters of it; the stage to
/// blame is the one that was busy most of the time in which the slot was behind, the next one would be next.
/// A slot that keeps up has a stage that sets the pace, or would be the first to give way.
std::map<std::string, Verdict> verdicts(const Pipeline& pipeline, const LagSeries& lags,
                                        const StageWatch& watch, double end_s);

} // namespace replisim
