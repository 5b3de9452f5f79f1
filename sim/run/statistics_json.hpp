// The statistics of a run as JSON, and back.
#pragma once

#include "sim/run/run_statistics.hpp"

#include <nlohmann/json.hpp>

namespace replisim {

nlohmann::json statistics_json(const RunStatistics& statistics);
/// Throws what nlohmann::json throws where something is missing.
RunStatistics statistics_from(const nlohmann::json& object);

} // namespace replisim
