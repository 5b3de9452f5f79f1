// What `replisim plan` shows: the answer, what binds it, what was looked at, and the statements to apply.
#pragma once

#include "sim/plan/plan.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace replisim {

std::string plan_table(const PlanAnswer& answer);

/// {scenario, version, seed, find, over, promises[], feasible, answer {value, breaks, text, knobs, cost,
/// binding[], bottleneck, promises[]}, settings[], front[], reasons[], notes[], statements[] {server, sql,
/// reason, effects}, check[], guesses[], simulations}. What does not apply is null or empty.
nlohmann::json plan_json(const PlanAnswer& answer);

/// [{server, sql, reason, effects}]
nlohmann::json statements_json(const std::vector<Statement>& statements);

/// The statements as scripts for psql, one a server, with wrapped comments.
std::string statements_text(const std::vector<Statement>& statements);

} // namespace replisim
