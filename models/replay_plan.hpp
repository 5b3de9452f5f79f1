// How a replay is run: small transactions in bulk, the others one by one in as many sessions as were open at
// a time.
#pragma once

#include "models/workload.hpp"

#include <vector>

namespace replisim {

/// Transactions of at most so many rows, without subtransactions, are small: at 100 rows of a few hundred
/// bytes they stay below the smallest logical_decoding_work_mem.
inline constexpr Rows small_transaction_rows = 100;
/// One that stays open for longer is not: it holds back restart_lsn, and its rows wait in the reorder buffer.
inline constexpr double small_transaction_s = 1;

struct ReplayPlan {
  std::vector<FlowLoad> flows; ///< one for each distinct small transaction that is frequent; with times_s
  std::vector<std::vector<std::size_t>> sessions; ///< indexes of transactions, each list without overlaps
};

ReplayPlan plan_replay(const ReplayLoad& load);

/// The most commits of a flow with times_s within one second, as a rate.
double peak_rate_per_s(const FlowLoad& flow);

} // namespace replisim
