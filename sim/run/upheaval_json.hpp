// Initial synchronisations and faults as JSON, and back.
#pragma once

#include "sim/run/upheaval.hpp"

#include <nlohmann/json.hpp>

namespace replisim {

/// {"initial_sync": {...}, "faults": [...]}; only what there is.
void add_upheaval(const Upheaval& upheaval, nlohmann::json& result);
Upheaval upheaval_from(const nlohmann::json& result);

} // namespace replisim
