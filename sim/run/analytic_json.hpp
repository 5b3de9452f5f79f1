// The analytic companion as JSON, and back.
#pragma once

#include "models/analytic.hpp"

#include <nlohmann/json.hpp>

namespace replisim {

nlohmann::json analytic_json(const AnalyticAnswer& answer);
/// Throws what nlohmann::json throws where something is missing.
AnalyticAnswer analytic_from(const nlohmann::json& object);

} // namespace replisim
