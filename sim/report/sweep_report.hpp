// What `replisim sweep` shows: one row per point, then the break-even answers.
#pragma once

#include "sim/run/sweep.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace replisim {

/// The human table: the axes, then as many of the key metrics as fit report_columns, the bottleneck; errors
/// of points in full below; then the break-even answers.
std::string sweep_table(const Sweep& sweep);

/// {scenario, version, seed, replications, axes[], sample, points[] {axes, overrides, metrics, bottleneck,
/// scenario_hash, fingerprint, warnings, error}, break_even[], notes[], guesses[], interrupted}. With
/// replications the metrics are means and a point has `half_width_95` too. A failed point has null for what
/// it lacks, a good one a null `error`.
nlohmann::json sweep_json(const Sweep& sweep);

/// One line per point: the axes' labels, every metric any point has, bottleneck, error.
std::string sweep_csv(const Sweep& sweep);

} // namespace replisim
