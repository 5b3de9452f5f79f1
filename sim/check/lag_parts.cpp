#include "sim/check/lag_parts.hpp"

#include "models/base/check.hpp"

#include <algorithm>

namespace replisim {

namespace {
void check_transaction(const std::string& slot, const TransactionRecord& transaction,
                       const DeliveryRecord& delivery) {
  const LagParts& parts = delivery.path.parts();
  const Nanoseconds committed = to_nanoseconds(transaction.commit_record_s);
  const Nanoseconds lag = to_nanoseconds(delivery.applied_s) - committed;
  REPLISIM_REQUIRE(parts.lag() == lag,
                   "slot {}, transaction {}: the parts of its lag add up to {} ns of {} ns", slot,
                   transaction.name, parts.lag(), lag);
  REPLISIM_REQUIRE(parts.of(LagStage::Executing) == committed - to_nanoseconds(transaction.begin_s),
                   "slot {}, transaction {}: it executed for {} ns", slot, transaction.name,
                   parts.of(LagStage::Executing));
  REPLISIM_REQUIRE(std::all_of(parts.ns.begin(), parts.ns.end(), [](Nanoseconds part) { return part >= 0; }),
                   "slot {}, transaction {}: a part of its lag is negative", slot, transaction.name);
}
} // namespace

void check_lag_parts(const RunLog& log, const PublisherOf& publisher_of) {
  for (const auto& [name, subscription] : log.subscriptions) {
    subscription.lags.check();
    for (const auto& transaction : log.transactions) {
      const auto it = subscription.deliveries.find(transaction.xid);
      if (transaction.committed and transaction.server == publisher_of.at(name) and
          it != subscription.deliveries.end() and it->second.applied_s >= 0 and it->second.path.begun() and
          it->second.applied > 0)
        check_transaction(name, transaction, it->second);
    }
  }
}

} // namespace replisim
