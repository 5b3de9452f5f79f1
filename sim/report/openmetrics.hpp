// A run as OpenMetrics text, under the column names of PostgreSQL's views: what a dashboard shows of a real
// pair it shows of a simulated one.
#pragma once

#include "sim/run/replications.hpp"

#include <optional>
#include <string>

namespace replisim {

/// Figures at the end of the first replication. With `start_s`, seconds of the Unix epoch at which the run is
/// to have begun, every sample has its date, and the timeline is there as well, in the form that
/// `promtool tsdb create-blocks-from openmetrics` reads.
std::string run_openmetrics(const Replications& replications, std::optional<double> start_s = {});

/// Seconds of the Unix epoch from a number or a date like 2026-05-01T12:00:00Z. Throws UsageError.
double parse_epoch(const std::string& text);

} // namespace replisim
