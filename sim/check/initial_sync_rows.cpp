#include "sim/check/initial_sync_rows.hpp"

#include "models/base/check.hpp"

namespace replisim {

void check_synchronised(const std::string& subscription, const std::string& table,
                        const SynchronisedChanges& changes) {
  REPLISIM_REQUIRE(changes.left_out == changes.copied + changes.caught_up,
                   "subscription {}, table {}: the leader left out {} changes, the copy holds {} of them and "
                   "its worker applied {}",
                   subscription, table, changes.left_out, changes.copied, changes.caught_up);
}

/// What the leader left out is what others have: once a table is READY both sums are complete. Where a
/// publication passes on a part of the changes only, they cannot be told apart by counting.
void check_initial_sync(const Scenario& scenario, const Pipeline& pipeline) {
  for (const auto& [name, syncing] : pipeline.syncs()) {
    const Subscription& subscription = scenario.subscriptions.at(name);
    const Publication& publication = scenario.publications.at(subscription.publication);
    const bool whole = publication.row_filters.empty() and publication.inserts and publication.updates and
                       publication.deletes;
    if (not whole or not subscription.initial_sync->copies)
      continue;
    for (std::size_t i = 0; i < syncing.tables.size(); ++i) {
      const InitialSync::Entry& entry = *syncing.tables[i].entry;
      if (entry.state != SyncState::Ready)
        continue;
      const std::string& table = entry.table->name;
      check_synchronised(name, table,
                         {syncing.sync->total_left_out(table), entry.record->copied_changes,
                          syncing.states[i].total_applied(table)});
    }
  }
}

} // namespace replisim
