// The analytic companion of a scenario: what the laws of queueing theory say about it, in milliseconds and
// without a simulation; and, beside a run, whether the run agrees.
#pragma once

#include "models/analytic.hpp"
#include "sim/run/result.hpp"

namespace replisim {

class SteadyRecorder;

/// Stations, utilisation, stability and bounds from the scenario and its prices alone.
AnalyticAnswer analytic_answer(const Scenario& scenario);

/// The same at the rates of a finished run, with what the run measured beside it; `recorder` is null where
/// the study is not steady. Disagreement becomes a warning of the result, too.
void add_analytic_companion(const Scenario& scenario, const SteadyRecorder* recorder, RunResult& result);

} // namespace replisim
