// Forged run logs: a change that is lost, comes twice or from nowhere, and a lag whose parts do not add up.
#include "models/base/errors.hpp"
#include "sim/check/conservation.hpp"
#include "sim/check/lag_parts.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

const PublisherOf publishers = {{"s", "pub"}};

/// 10 rows written, 3 of them rolled back to a savepoint, 7 applied; the commit record at 1 s, applied at 3
/// s.
RunLog honest() {
  RunLog log;
  TransactionRecord transaction;
  transaction.name = "batch";
  transaction.server = "pub";
  transaction.xid = {7};
  transaction.rows_written = 10;
  transaction.rows_rolled_back = 3;
  transaction.committed = true;
  transaction.begin_s = 0.25;
  transaction.commit_record_s = 1;
  log.transactions.push_back(transaction);
  DeliveryRecord& delivery = log.subscriptions["s"].deliveries[{7}];
  delivery.read = 10;
  delivery.dropped = 3;
  delivery.sent = delivery.received = delivery.applied = 7;
  delivery.applied_s = 3;
  delivery.path.begin(0.25, 1);
  delivery.path.spend(LagStage::Decode, 2);
  delivery.path.spend(LagStage::Apply, 3);
  delivery.path.applied(3.5);
  return log;
}

DeliveryRecord& delivery_of(RunLog& log) { return log.subscriptions["s"].deliveries[{7}]; }

void breaks_conservation(const char* what, void (*change)(DeliveryRecord&)) {
  INFO(what);
  RunLog log = honest();
  change(delivery_of(log));
  CHECK_THROWS_AS(check_conservation(log, publishers), InvariantViolation);
  RunLog of_table_sync = honest();
  change(delivery_of(of_table_sync));
  of_table_sync.sync_slots = std::move(of_table_sync.subscriptions);
  of_table_sync.subscriptions.clear();
  CHECK_THROWS_AS(check_conservation(of_table_sync, publishers), InvariantViolation);
}

} // namespace

TEST_CASE("conservation: every way to lose, double or invent a change is noticed") {
  check_conservation(honest(), publishers);
  breaks_conservation("more sent than read", [](DeliveryRecord& d) { d.sent = d.received = d.applied = 8; });
  breaks_conservation("more received than sent", [](DeliveryRecord& d) { d.received = d.applied = 8; });
  breaks_conservation("more applied than received", [](DeliveryRecord& d) { d.applied = 8; });
  breaks_conservation("undone and applied", [](DeliveryRecord& d) { d.undone = 1; });
  breaks_conservation("left out and applied", [](DeliveryRecord& d) { d.left_out = 1; });
  breaks_conservation("a negative number applied",
                      [](DeliveryRecord& d) { d.applied = -1, d.undone = 0, d.applied_s = -1; });
  breaks_conservation("applied while a change is unsent",
                      [](DeliveryRecord& d) { d.sent = d.received = d.applied = 6; });
  breaks_conservation("applied while a change is on its way",
                      [](DeliveryRecord& d) { d.received = d.applied = 6; });
  breaks_conservation("applied while a change is in hand", [](DeliveryRecord& d) { d.applied = 6; });
  breaks_conservation("a change never read",
                      [](DeliveryRecord& d) { d.read = 9, d.sent = d.received = d.applied = 6; });
  breaks_conservation("what was rolled back is applied",
                      [](DeliveryRecord& d) { d.dropped = 2, d.sent = d.received = d.applied = 8; });
  breaks_conservation("a committed change is dropped",
                      [](DeliveryRecord& d) { d.dropped = 4, d.sent = d.received = d.applied = 6; });
}

TEST_CASE("conservation: what is under way is no loss") {
  RunLog log = honest();
  DeliveryRecord& delivery = delivery_of(log);
  delivery.applied_s = -1;
  delivery.sent = 6;
  delivery.received = 5;
  delivery.applied = 4;
  check_conservation(log, publishers);
}

TEST_CASE("parts of a lag: a gap, an overlap and a wrong beginning are noticed") {
  check_lag_parts(honest(), publishers);
  RunLog late = honest();
  delivery_of(late).applied_s = 3.000000001;
  CHECK_THROWS_AS(check_lag_parts(late, publishers), InvariantViolation);
  RunLog early = honest();
  early.transactions.front().commit_record_s = 0.999999999;
  CHECK_THROWS_AS(check_lag_parts(early, publishers), InvariantViolation);
  RunLog began_elsewhere = honest();
  began_elsewhere.transactions.front().begin_s = 0.5;
  CHECK_THROWS_AS(check_lag_parts(began_elsewhere, publishers), InvariantViolation);
}

TEST_CASE("parts of a lag: a negative part is noticed even where the sum is right") {
  RunLog log = honest();
  TransactionRecord& transaction = log.transactions.front();
  transaction.begin_s = 2; // after its commit record
  DeliveryRecord& delivery = delivery_of(log);
  delivery.path = {};
  delivery.path.begin(2, 1);
  delivery.path.spend(LagStage::Apply, 3);
  delivery.path.applied(3.5);
  CHECK_THROWS_AS(check_lag_parts(log, publishers), InvariantViolation);
}
