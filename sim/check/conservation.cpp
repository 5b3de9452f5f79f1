#include "sim/check/conservation.hpp"

#include "models/base/check.hpp"

namespace replisim {

namespace {
void check_delivery(const std::string& subscription, Xid xid, const DeliveryRecord& delivery) {
  const Rows unsent = delivery.read - delivery.dropped - delivery.filtered - delivery.sent;
  const Rows in_transit = delivery.sent - delivery.received;
  const Rows unapplied = delivery.received - delivery.applied - delivery.undone - delivery.left_out;
  REPLISIM_REQUIRE(unsent >= 0 and in_transit >= 0 and unapplied >= 0 and delivery.applied >= 0,
                   "subscription {}, transaction {}: read {}, dropped {}, filtered {}, sent {}, received {}, "
                   "applied {}, undone {}",
                   subscription, xid.value, delivery.read, delivery.dropped, delivery.filtered, delivery.sent,
                   delivery.received, delivery.applied, delivery.undone);
  REPLISIM_REQUIRE(delivery.applied_s < 0 or unsent + in_transit + unapplied == 0,
                   "subscription {}, transaction {} is applied, but {} changes are unsent, {} in transit, {} "
                   "received and not applied",
                   subscription, xid.value, unsent, in_transit, unapplied);
}

void check_slots(const RunLog& log, const std::map<std::string, SubscriptionRecord>& slots,
                 const PublisherOf& publisher_of) {
  for (const auto& [name, subscription] : slots) {
    for (const auto& [xid, delivery] : subscription.deliveries)
      check_delivery(name, xid, delivery);
    for (const auto& transaction : log.transactions) {
      if (not transaction.committed or transaction.server != publisher_of.at(name))
        continue;
      const auto it = subscription.deliveries.find(transaction.xid);
      if (it == subscription.deliveries.end() or it->second.applied_s < 0)
        continue;
      const Rows committed = transaction.rows_written - transaction.rows_rolled_back;
      REPLISIM_REQUIRE(
          it->second.read == transaction.rows_written and
              it->second.applied + it->second.filtered + it->second.left_out >= committed and
              it->second.applied + it->second.left_out <= committed,
          "subscription {}, transaction {}: {} rows written, {} committed, {} read, {} applied, {} "
          "filtered",
          name, transaction.name, transaction.rows_written, committed, it->second.read, it->second.applied,
          it->second.filtered);
    }
  }
}
} // namespace

void check_conservation(const RunLog& log, const PublisherOf& publisher_of) {
  check_slots(log, log.subscriptions, publisher_of);
  check_slots(log, log.sync_slots, publisher_of);
}

} // namespace replisim
