#include "sim/check/run_watch.hpp"

#include <algorithm>

namespace replisim {

namespace {
constexpr std::int64_t looks_before_fewer = 2000; ///< then every second one is left out
} // namespace

RunWatch::RunWatch(Pipeline& pipeline, const Scenario& scenario) : pipeline_(pipeline), scenario_(scenario) {
  for (const auto& [name, side] : pipeline.slots()) {
    const Lsn confirmed = side.slot->confirmed_flush_lsn();
    laws_.begin_slot(name, {side.slot->restart_lsn(),
                            side.slot->saved_restart_lsn(),
                            confirmed,
                            confirmed,
                            {},
                            0,
                            side.slot->lost()});
  }
  pipeline.world().every(scenario.observe.interval_s, [this](double now_s) {
    if (ticks_++ % stride_ != 0)
      return;
    look(now_s);
    if (++looks_ % looks_before_fewer == 0)
      stride_ *= 2;
  });
}

void RunWatch::look(double now_s) {
  for (const auto& [name, side] : pipeline_.publishers())
    laws_.check_wal(name, wal_of(side));
  for (const auto& [name, side] : pipeline_.slots()) {
    laws_.check_slot(name, slot_of(name, side), wal_of(pipeline_.publishers().at(side.publisher)));
    RunLaws::check_sizes(name, sizes_of(name, side));
  }
  check_times(now_s);
  for (const auto& [name, side] : pipeline_.subscribers())
    check_locks(name, side);
}

WalPositions RunWatch::wal_of(const PublisherSide& side) {
  return {side.wal->removed(), side.wal->flushed(), side.wal->inserted()};
}

SlotPositions RunWatch::slot_of(const std::string& name, const SlotSide& side) const {
  const Slot& slot = *side.slot;
  const SubscriptionRecord& record = pipeline_.log().subscriptions.at(name);
  return {slot.restart_lsn(), slot.saved_restart_lsn(), slot.confirmed_flush_lsn(),
          record.sent_lsn,    record.replay_lsn,        side.connection->connections(),
          slot.lost()};
}

BufferSizes RunWatch::sizes_of(const std::string& name, const SlotSide& side) const {
  const ReorderBuffer& buffer = side.decoder->buffer();
  const SubscriptionRecord& record = pipeline_.log().subscriptions.at(name);
  return {buffer.memory_bytes(),
          scenario_.servers.at(side.publisher).settings.bytes("logical_decoding_work_mem"),
          buffer.catalog_memory_bytes(),
          buffer.spill_file_bytes(),
          buffer.peak_spill_file_bytes(),
          record.tmp_file_bytes,
          record.peak_tmp_file_bytes};
}

void RunWatch::check_times(double now_s) const {
  for (const Role& role : pipeline_.roles()) {
    const engine::Usage usage = role.process->usage();
    const bool may_have_ended =
        role.stage != "walsender" and role.stage != "parallel_apply_worker" and role.stage != "network";
    RunLaws::check_times(role.process->name(),
                         {usage.busy_s, usage.device_s, usage.starved_s, usage.blocked_s, may_have_ended},
                         now_s);
  }
}

/// Whether a subscription of `server` has a transaction in hand that it applies, be it by a table-sync
/// worker.
bool RunWatch::applies(const std::string& server) const {
  const auto locks_rows = [](const std::string& name, const SubscriptionRecord& record) {
    RunLaws::check_locking_transactions(name, record.locking_transactions);
    return record.locking_transactions > 0;
  };
  const RunLog& log = pipeline_.log();
  bool any = false;
  for (const auto& [name, subscription] : scenario_.subscriptions)
    any = (subscription.server == server and locks_rows(name, log.subscriptions.at(name))) or any;
  for (const auto& [name, side] : pipeline_.sync_slots())
    any = (side.subscriber == server and locks_rows(name, log.sync_slots.at(name))) or any;
  return any;
}

void RunWatch::check_locks(const std::string& server, const SubscriberSide& side) const {
  const bool others = not scenario_.flows.empty() or not scenario_.clients.empty() or
                      not scenario_.sessions.empty() or not scenario_.replays.empty();
  if (side.locks == nullptr or others or applies(server))
    return;
  RunLaws::check_no_transaction(server, side.locks->oldest_transaction_s());
  for (const auto& [table, definition] : scenario_.tables)
    RunLaws::check_no_holders(server, table, side.locks->rows().holders(table).size());
}

} // namespace replisim
