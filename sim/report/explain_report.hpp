// What `replisim explain` shows: what limits, what would be next, which inputs move the metric, which decide.
#pragma once

#include "sim/plan/explain.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace replisim {

/// The human form; at most `inputs` rows of inputs.
std::string explain_table(const Explanation& explanation, std::size_t inputs);

/// {scenario, version, seed, metric, value, random, bottleneck, stages[] {stage, how, metric, next}, chain[],
/// inputs[] {path, kind, now, guess, span, ends[] {value, metric, noise, failed}, morris {mean,
/// mean_absolute, deviation}, sobol {first, total}}, without_effect, decide[], decide_share, notes[],
/// simulations}.
nlohmann::json explain_json(const Explanation& explanation);

} // namespace replisim
