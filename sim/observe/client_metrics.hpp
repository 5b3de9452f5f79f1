// What clients in a closed loop got through, the budget of their transactions, and how far behind it leaves
// the subscriptions.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

namespace replisim {

/// Adds `clients`, tps, latency_s and its quantiles, lag_transactions and catch_up_s; nothing without
/// clients.
void add_client_metrics(const Pipeline& pipeline, double end_s, RunResult& result);

} // namespace replisim
