// What a server spills for a transaction that rolls part of itself back, in the two extreme cases.
#pragma once

#include "models/reorder_buffer.hpp"
#include "sim/scenario/scenario.hpp"

namespace replisim {

/// Slot counters of one transaction. When the walsender evicts, it may or may not find the abort of a
/// rolled back subtransaction in the commit log already: that depends on how far it lags behind.
struct AbortBounds {
  SlotCounters seen;   ///< every rolled back subtransaction is known to be aborted from its first change on
  SlotCounters unseen; ///< no abort is known before its record is decoded: PostgreSQL up to 17, always
};

/// Sends the first batch of `scenario` through the reorder buffer of its publisher, once each way,
/// without any clock. Requires a batch and a subscription.
AbortBounds abort_bounds(const Scenario& scenario);

} // namespace replisim
