// The two extreme cases of a transaction with rolled back parts.
#include "calibration/suites/abort_bounds.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <set>

namespace replisim {

namespace {

/// One thing the decoder sees: changes of a (sub)transaction, or the abort record of one.
struct Decoded {
  Xid xid;
  const StatementStep* statement = nullptr; ///< none: `xid` aborts
  Rows first_row = 1;
};

struct History {
  std::vector<Decoded> events;
  std::set<Xid> aborted;
};

/// Numbers the subtransactions of `batch` (the top-level transaction is 1) and lists what is decoded.
History history_of(const BatchLoad& batch, const Scenario& scenario) {
  struct Open {
    std::string savepoint;
    Xid xid;
  };
  History history;
  std::vector<Open> open = {{"", Xid{1}}};
  std::uint32_t next_xid = 2;
  std::map<std::string, Rows> inserted;
  for (const TransactionStep& step : batch.transaction) {
    if (const auto* statement = std::get_if<StatementStep>(&step)) {
      Rows& before = inserted[statement->table];
      const bool inserts = statement->operation == Operation::Insert;
      const Rows first = inserts ? scenario.tables.at(statement->table).initial_rows + before + 1 : 1;
      history.events.push_back({open.back().xid, statement, first});
      before += inserts ? statement->rows : 0;
    } else if (const auto* savepoint = std::get_if<SavepointStep>(&step)) {
      open.push_back({savepoint->name, Xid{next_xid++}});
    } else {
      const std::string& name = std::get<RollbackToStep>(step).savepoint;
      const auto kept = std::find_if(open.rbegin(), open.rend(),
                                     [&](const Open& level) { return level.savepoint == name; });
      REPLISIM_REQUIRE(kept != open.rend(), "rollback to unknown savepoint '{}'", name);
      // The innermost goes first; the savepoint itself lives on, as a new subtransaction.
      while (true) {
        const Open level = open.back();
        open.pop_back();
        history.events.push_back({level.xid, nullptr, 1});
        history.aborted.insert(level.xid);
        if (level.savepoint == name)
          break;
      }
      open.push_back({name, Xid{next_xid++}});
    }
  }
  return history;
}

SlotCounters decode(const History& history, const Scenario& scenario, const Server& publisher, bool streaming,
                    bool aborts_seen) {
  ReorderBuffer buffer(publisher.settings.bytes("logical_decoding_work_mem"), streaming,
                       traits_of(publisher.version));
  const auto lookup = [&](Xid xid) { return aborts_seen && history.aborted.contains(xid); };
  const Xid top{1};
  for (const Decoded& event : history.events) {
    if (event.statement == nullptr) {
      buffer.abort_subtransaction(event.xid);
      continue;
    }
    const Table& table = scenario.tables.at(event.statement->table);
    const ChangeRun run{.xid = event.xid,
                        .table = &table,
                        .statement = event.statement,
                        .rows = {event.first_row, event.statement->rows},
                        .change_bytes = change_bytes(table, event.statement->operation)};
    buffer.add(top, run, lookup);
  }
  buffer.commit(top);
  buffer.forget(top);
  return buffer.counters();
}

} // namespace

AbortBounds abort_bounds(const Scenario& scenario) {
  REPLISIM_REQUIRE(!scenario.batches.empty(), "scenario '{}' has no batch", scenario.name);
  REPLISIM_REQUIRE(!scenario.subscriptions.empty(), "scenario '{}' has no subscription", scenario.name);
  const BatchLoad& batch = scenario.batches.front();
  const bool streaming = scenario.subscriptions.begin()->second.streaming != Streaming::Off;
  const Server& publisher = scenario.servers.at(batch.server);
  const History history = history_of(batch, scenario);
  return {.seen = decode(history, scenario, publisher, streaming, true),
          .unseen = decode(history, scenario, publisher, streaming, false)};
}

} // namespace replisim
