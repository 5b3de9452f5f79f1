#include "sim/actors/run_log.hpp"

#include <algorithm>

namespace replisim {

void SubscriptionRecord::forget_unfinished() {
  locking_transactions = 0;
  for (auto& [xid, delivery] : deliveries) {
    delivery.finishing = false;
    if (delivery.prepared_s >= 0 and delivery.applied_s < 0 and delivery.first_lock_s >= 0)
      ++locking_transactions; // it holds its rows over there
    if (delivery.applied_s >= 0 or delivery.prepared_s >= 0)
      continue;
    if (delivery.flow) { // applied ones stay applied; what was under way is counted when it is sent again
      delivery.sent = delivery.received = delivery.applied + delivery.left_out;
      delivery.read = delivery.received + delivery.filtered + delivery.dropped;
    } else {
      delivery = {};
    }
  }
  tmp_file_bytes = 0;
  unsent_.clear();
}

void SubscriptionRecord::taken(Xid top, double on_link_s, double visible_s, double now_s) {
  LagPath& path = counted(top).path;
  path.spend(LagStage::SendQueue, on_link_s);
  path.spend(LagStage::Transfer, visible_s);
  path.wait(client_work, top.value, now_s, LagStage::ReceiveQueue, LagStage::ReceiveQueue);
}

void SubscriptionRecord::arrived(DeliveryRecord& delivery, double applied_s, double confirmed_s) {
  delivery.applied_s = applied_s;
  if (not delivery.path.begun() or &delivery == &redelivered)
    return;
  delivery.path.spend(LagStage::Commit, applied_s);
  delivery.path.applied(confirmed_s);
  lags.add(delivery.path.parts());
}

void SubscriptionRecord::finishes(Xid top) { deliveries[top].finishing = true; }

DeliveryRecord& SubscriptionRecord::counted(Xid top) {
  DeliveryRecord& delivery = deliveries[top];
  if (delivery.applied_s < 0 and (delivery.prepared_s < 0 or delivery.finishing))
    return delivery;
  redelivered = {};
  return redelivered;
}

void SubscriptionRecord::replayed(Lsn lsn, double now_s) {
  replay_lsn = std::max(replay_lsn, lsn);
  for (; not unsent_.empty() and unsent_.front().first <= lsn; unsent_.pop_front()) {
    deliveries[unsent_.front().second].applied_s = now_s;
  }
}

} // namespace replisim
