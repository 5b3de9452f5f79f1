// What `replisim compare` shows: one table for each arm against the first one, and what it means.
#pragma once

#include "sim/plan/compare.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace replisim {

/// The human tables; without `all` the metrics people choose by, and only where they differ.
std::string compare_table(const Comparison& comparison, bool all);

/// {version, seed, replications, deterministic, arms[] {label, scenario, scenario_hash, overrides,
/// bottleneck, metrics {name: {mean, half_width_95}}, warnings}, differences[] {arm, against,
/// variance_factor, metrics {name: {difference, half_width_95, first, other, relative, belief, p,
/// variance_factor}}, only_first[], only_other[]}, recommendation[]}. A variance factor of null: the
/// differences are exact.
nlohmann::json compare_json(const Comparison& comparison);

/// One line a metric and arm: arm, metric, first, other, difference, half_width_95, belief.
std::string compare_csv(const Comparison& comparison);

/// A figure of a metric in a table: "37.304 s", "877.4 MB", "5,000".
std::string figure_text(std::string_view metric, double value);

} // namespace replisim
