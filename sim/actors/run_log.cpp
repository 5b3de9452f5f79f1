#include "sim/actors/run_log.hpp"

namespace replisim {

void SubscriptionRecord::forget_unfinished() {
  for (auto& [xid, delivery] : deliveries) {
    if (delivery.applied_s >= 0)
      continue;
    if (delivery.flow) { // applied ones stay applied; what was under way is counted when it is sent again
      delivery.sent = delivery.received = delivery.applied;
      delivery.read = delivery.applied + delivery.filtered + delivery.dropped;
    } else {
      delivery = {};
    }
  }
  tmp_file_bytes = 0;
  locking_transactions = 0;
}

DeliveryRecord& SubscriptionRecord::counted(Xid top) {
  DeliveryRecord& delivery = deliveries[top];
  if (delivery.applied_s < 0)
    return delivery;
  redelivered = {};
  return redelivered;
}

} // namespace replisim
