// The anatomy of lags as JSON, and back.
#pragma once

#include "sim/run/result.hpp"

#include <nlohmann/json.hpp>

namespace replisim {

/// One transaction on one slot, in whole nanoseconds: stages_ns (commit_flush to commit) add up to lag_ns,
/// with executing_ns to begin_to_applied_ns. feedback_ns is null when nobody will confirm the transaction.
nlohmann::json lag_parts_json(const LagParts& parts);
LagParts lag_parts_from(const nlohmann::json& object);

/// A slot: transactions, lag {mean_s, p50_s, p95_s, p99_s}, the same for each of `stages`, whose means add up
/// to that of the lag, and for executing and feedback, which are no part of it.
nlohmann::json lag_summary_json(const LagSummary& summary);
LagSummary lag_summary_from(const nlohmann::json& object);

} // namespace replisim
