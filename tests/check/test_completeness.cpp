// Forged ends of runs: a transaction that never arrived, a flow's row too few or too many, rows handed on
// that were never applied, and changes that fall between a copy and the leader.
#include "models/base/errors.hpp"
#include "sim/check/completeness.hpp"
#include "sim/check/initial_sync_rows.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

/// A batch and a flow of 5 transactions of 3 published rows on `pub`; slot `s` has all of it. What `s`
/// applied of the batch is handed on.
struct Ended {
  Scenario scenario;
  RunLog log;
  SlotAtEnd slot;
};

Ended honest() {
  Ended ended;
  FlowLoad flow;
  flow.name = "flow";
  flow.transaction = {{Operation::Insert, "t", 1, {}},
                      {Operation::Update, "u", 2, {}},
                      {Operation::Insert, "unpublished", 7, {}}};
  ended.scenario.flows = {flow};
  Publication& publication = ended.scenario.publications["p"];
  publication.tables = {"t", "u"};
  TransactionRecord batch;
  batch.name = "batch";
  batch.server = "pub";
  batch.xid = {7};
  batch.rows_written = 10;
  batch.committed = true;
  ended.log.transactions.push_back(batch);
  TransactionRecord flows = batch;
  flows.name = "flow";
  flows.xid = {8};
  flows.transactions = 5;
  ended.log.flows.push_back(flows);
  TransactionRecord handed_on = batch;
  handed_on.server = "sub";
  handed_on.xid = {3};
  handed_on.received_by = "s";
  handed_on.origin_xid = {7};
  ended.log.transactions.push_back(handed_on);
  SubscriptionRecord& record = ended.log.subscriptions["s"];
  record.deliveries[{7}].applied = 10;
  record.deliveries[{7}].applied_s = 2;
  record.deliveries[{8}].applied = 14;
  record.deliveries[{8}].left_out = 1;
  record.replay_lsn = {100};
  ended.slot.name = "s";
  ended.slot.publisher = "pub";
  ended.slot.last_commit = {100};
  ended.slot.hands_on = true;
  return ended;
}

void check(Ended& ended) {
  ended.slot.publication = &ended.scenario.publications.at("p");
  check_complete(ended.scenario, ended.log, ended.slot);
}

template <class Change>
void noticed(const std::string& words, Change change) {
  Ended ended = honest();
  change(ended);
  INFO(words);
  CHECK_THROWS_WITH(check(ended), Catch::Contains(words));
  // Nobody can tell yet.
  for (void (*premature)(Ended&) :
       {+[](Ended& e) { e.slot.busy_loads = 1; }, +[](Ended& e) { e.slot.lost = true; },
        +[](Ended& e) { e.slot.disabled = true; }, +[](Ended& e) { e.slot.last_commit = {101}; }}) {
    Ended early = honest();
    change(early);
    premature(early);
    CHECK_NOTHROW(check(early));
  }
}

DeliveryRecord& delivery(Ended& ended, std::uint32_t xid) {
  return ended.log.subscriptions.at("s").deliveries.at({xid});
}

} // namespace

TEST_CASE("completeness: a client that has everything passes") {
  Ended ended = honest();
  CHECK_NOTHROW(check(ended));
}

TEST_CASE("completeness: a committed transaction that never arrived is noticed") {
  noticed("transaction batch has not been applied", [](Ended& e) { delivery(e, 7).applied_s = -1; });
  noticed("transaction batch has not been applied", [](Ended& e) {
    e.log.subscriptions.at("s").deliveries.erase({7});
    e.slot.hands_on = false;
  });
}

TEST_CASE("completeness: what need not arrive is not missed") {
  const auto passes = [](auto change) {
    Ended ended = honest();
    ended.slot.hands_on = false;
    ended.log.subscriptions.at("s").deliveries.erase({7});
    change(ended);
    CHECK_NOTHROW(check(ended));
  };
  passes([](Ended& e) { e.log.transactions.front().committed = false; });
  passes([](Ended& e) { e.log.transactions.front().rows_written = 0; });
  passes([](Ended& e) { e.log.transactions.front().server = "elsewhere"; });
  passes([](Ended& e) { e.slot.from_the_start = false; }); // it may be part of a copy
  passes([](Ended& e) {
    e.log.transactions.front().received_by = "another";
    e.slot.own_changes_only = true;
  });
}

TEST_CASE("completeness: a flow's row too few or too many is noticed") {
  noticed("of the 15 rows that flow flow has for it 14 have", [](Ended& e) { --delivery(e, 8).applied; });
  noticed("16 have arrived", [](Ended& e) { ++delivery(e, 8).applied; });
  noticed("16 have arrived", [](Ended& e) { ++delivery(e, 8).left_out; });
  noticed("16 have arrived", [](Ended& e) { // of tables that are copied some may be missing, none too many
    ++delivery(e, 8).applied;
    e.slot.from_the_start = false;
  });
  Ended fewer = honest();
  fewer.slot.from_the_start = false;
  --delivery(fewer, 8).applied;
  CHECK_NOTHROW(check(fewer));
}

TEST_CASE("completeness: of a flow counts what the publication passes on") {
  Ended ended = honest();
  ended.scenario.publications.at("p").updates = false;
  delivery(ended, 8) = {};
  delivery(ended, 8).applied = 5; // one insert each
  CHECK_NOTHROW(check(ended));
  ++delivery(ended, 8).applied;
  CHECK_THROWS_WITH(check(ended), Catch::Contains("of the 5 rows that flow flow has for it 6 have"));
}

TEST_CASE("completeness: rows handed on that were not applied, or applied and not handed on, are noticed") {
  noticed("sub hands on 9 rows of batch, of which 10 were",
          [](Ended& e) { --e.log.transactions.back().rows_written; });
  noticed("sub hands on 11 rows of batch", [](Ended& e) { ++e.log.transactions.back().rows_written; });
  noticed("sub hands on 7 rows of batch", [](Ended& e) { e.log.transactions.back().rows_rolled_back = 3; });
  noticed("of which 0 were applied", [](Ended& e) { e.log.transactions.back().origin_xid = {9}; });
  noticed("sub hands on 14 rows of flow, of which 10 were", [](Ended& e) {
    TransactionRecord flow = e.log.transactions.back();
    flow.name = "flow";
    flow.rows_written = 14;
    e.log.flows.push_back(flow);
  });
  Ended of_another = honest();
  of_another.log.transactions.back().received_by = "another";
  of_another.log.transactions.back().rows_written = 1;
  CHECK_NOTHROW(check(of_another));
}

TEST_CASE("initial sync: a change that neither the copy nor anybody else has, or two have, is noticed") {
  CHECK_NOTHROW(check_synchronised("s", "t", {10, 4, 6}));
  CHECK_NOTHROW(check_synchronised("s", "t", {}));
  CHECK_THROWS_WITH(check_synchronised("s", "t", {10, 4, 5}),
                    Catch::Contains("table t: the leader left out 10 changes, the copy holds 4"));
  CHECK_THROWS_AS(check_synchronised("s", "t", {10, 3, 6}), InvariantViolation);
  CHECK_THROWS_AS(check_synchronised("s", "t", {10, 5, 6}), InvariantViolation);
  CHECK_THROWS_AS(check_synchronised("s", "t", {10, 4, 7}), InvariantViolation);
  CHECK_THROWS_AS(check_synchronised("s", "t", {0, 0, 1}), InvariantViolation);
}
