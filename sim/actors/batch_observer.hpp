// Somebody who watches batches of rows on their way from backend to apply: the recorder of a trace.
// Nobody does by default; then the way costs a comparison with null.
#pragma once

#include "sim/actors/replication_messages.hpp"
#include "sim/engine/world.hpp"

namespace replisim {

struct SubscriptionRecord;

/// Where a batch is on its way through one slot, in order.
enum class Hop { Sent, Received, Handed };

class BatchObserver {
public:
  BatchObserver() = default;
  BatchObserver(const BatchObserver&) = delete;
  BatchObserver& operator=(const BatchObserver&) = delete;
  virtual ~BatchObserver() = default;

  /// `by` has inserted WAL that ends at `end`.
  virtual void written(const engine::Process& by, const WalEntry& entry, Lsn end) = 0;
  /// `by` begins to work on these rows of transaction `top`, for the slot that `record` is of.
  virtual void moved(const engine::Process& by, const SubscriptionRecord& record, Hop hop, Xid top,
                     const std::vector<ChangeRun>& runs) = 0;
  /// The same for small transactions of a flow, the last of which ends at `end`.
  virtual void moved(const engine::Process& by, const SubscriptionRecord& record, Hop hop, Lsn end) = 0;
};

} // namespace replisim
