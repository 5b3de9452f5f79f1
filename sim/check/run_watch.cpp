#include "sim/check/run_watch.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
constexpr std::int64_t looks_before_fewer = 2000; ///< then every second one is left out
constexpr double rounding = 1e-9;
} // namespace

RunWatch::RunWatch(Pipeline& pipeline, const Scenario& scenario) : pipeline_(pipeline), scenario_(scenario) {
  for (const auto& [name, side] : pipeline.slots()) {
    const Lsn confirmed = side.slot->confirmed_flush_lsn();
    slots_[name] = {side.slot->restart_lsn(), side.slot->saved_restart_lsn(), confirmed, confirmed, {}, 0};
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
    check_wal(name, side);
  for (const auto& [name, side] : pipeline_.slots()) {
    check_slot(name, side);
    check_memory(name, side);
  }
  check_times(now_s);
  for (const auto& [name, side] : pipeline_.subscribers())
    check_locks(name, side);
}

void RunWatch::check_wal(const std::string& server, const PublisherSide& side) {
  const WalSeen now{side.wal->removed(), side.wal->flushed(), side.wal->inserted()};
  WalSeen& before = wal_[server];
  REPLISIM_REQUIRE(now.removed <= now.flushed and now.flushed <= now.inserted,
                   "WAL of {}: removed up to {}, flushed up to {}, inserted up to {}", server,
                   now.removed.value, now.flushed.value, now.inserted.value);
  REPLISIM_REQUIRE(before.removed <= now.removed and before.flushed <= now.flushed and
                       before.inserted <= now.inserted,
                   "WAL of {} goes back: removed {} to {}, flushed {} to {}, inserted {} to {}", server,
                   before.removed.value, now.removed.value, before.flushed.value, now.flushed.value,
                   before.inserted.value, now.inserted.value);
  before = now;
}

/// A record in hand counts as sent when all of it is; the client may have applied and confirmed it before.
/// What was sent before a connection ended may have been more than anybody saw.
void RunWatch::check_slot(const std::string& name, const SlotSide& side) {
  const Slot& slot = *side.slot;
  const WalLog& wal = *pipeline_.publishers().at(side.publisher).wal;
  const SubscriptionRecord& record = pipeline_.log().subscriptions.at(name);
  SlotSeen& seen = slots_[name];
  const Lsn restart = slot.restart_lsn(), saved = slot.saved_restart_lsn(),
            confirmed = slot.confirmed_flush_lsn();
  REPLISIM_REQUIRE(saved <= restart and restart <= confirmed and confirmed <= wal.flushed(),
                   "slot {}: restart_lsn {} (saved {}), confirmed_flush_lsn {}, flushed {}", name,
                   restart.value, saved.value, confirmed.value, wal.flushed().value);
  REPLISIM_REQUIRE(record.sent_lsn <= wal.flushed() and record.replay_lsn <= wal.flushed(),
                   "slot {}: sent {}, applied {}, flushed {}", name, record.sent_lsn.value,
                   record.replay_lsn.value, wal.flushed().value);
  REPLISIM_REQUIRE(slot.lost() or wal.removed() <= saved,
                   "slot {}: WAL from {} on may be needed, {} is removed", name, saved.value,
                   wal.removed().value);
  REPLISIM_REQUIRE(seen.restart <= restart and seen.saved <= saved and seen.confirmed <= confirmed and
                       seen.replayed <= record.replay_lsn,
                   "slot {} goes back: restart_lsn {} to {}, confirmed_flush_lsn {} to {}, applied {} to {}",
                   name, seen.restart.value, restart.value, seen.confirmed.value, confirmed.value,
                   seen.replayed.value, record.replay_lsn.value);
  const std::int64_t connections = side.connection->connections();
  const bool same = connections == seen.connections or seen.connections == 0;
  seen = {restart, saved, confirmed, std::max(seen.sent, record.sent_lsn), record.replay_lsn, connections};
  REPLISIM_REQUIRE(not same or confirmed <= std::max(seen.sent, record.replay_lsn),
                   "slot {}: {} is confirmed, {} sent, {} applied", name, confirmed.value, seen.sent.value,
                   record.replay_lsn.value);
}

void RunWatch::check_memory(const std::string& name, const SlotSide& side) const {
  const ReorderBuffer& buffer = side.decoder->buffer();
  const Bytes limit = scenario_.servers.at(side.publisher).settings.bytes("logical_decoding_work_mem");
  REPLISIM_REQUIRE(buffer.memory_bytes() >= 0 and buffer.memory_bytes() < limit,
                   "slot {}: {} bytes in the reorder buffer, of {}", name, buffer.memory_bytes(), limit);
  REPLISIM_REQUIRE(
      buffer.catalog_memory_bytes() >= 0 and buffer.catalog_memory_bytes() <= buffer.memory_bytes() and
          buffer.spill_file_bytes() >= 0 and buffer.spill_file_bytes() <= buffer.peak_spill_file_bytes(),
      "slot {}: {} bytes of catalog changes among {} in memory, spill files of {} bytes, at most {}", name,
      buffer.catalog_memory_bytes(), buffer.memory_bytes(), buffer.spill_file_bytes(),
      buffer.peak_spill_file_bytes());
  const SubscriptionRecord& record = pipeline_.log().subscriptions.at(name);
  REPLISIM_REQUIRE(record.tmp_file_bytes >= 0 and record.tmp_file_bytes <= record.peak_tmp_file_bytes,
                   "subscription {}: files of {} bytes, at most {}", name, record.tmp_file_bytes,
                   record.peak_tmp_file_bytes);
}

/// A process that has come to its end stops counting.
void RunWatch::check_times(double now_s) const {
  for (const Role& role : pipeline_.roles()) {
    const engine::Usage usage = role.process->usage();
    const double sum_s = usage.busy_s + usage.starved_s + usage.blocked_s;
    const bool ends =
        role.stage != "walsender" and role.stage != "parallel_apply_worker" and role.stage != "network";
    const double allowed_s = rounding * (1 + now_s) * 1e3;
    REPLISIM_REQUIRE(usage.busy_s >= 0 and usage.starved_s >= 0 and usage.blocked_s >= 0 and
                         usage.device_s <= usage.busy_s + allowed_s and
                         (ends ? sum_s <= now_s + allowed_s : std::abs(sum_s - now_s) <= allowed_s),
                     "{}: {} s busy ({} of them at a device), {} s starved, {} s blocked, at {} s",
                     role.process->name(), usage.busy_s, usage.device_s, usage.starved_s, usage.blocked_s,
                     now_s);
  }
}

/// Whether a subscription of `server` has a transaction in hand that it applies.
bool RunWatch::applies(const std::string& server) const {
  for (const auto& [name, subscription] : scenario_.subscriptions) {
    if (subscription.server != server)
      continue;
    const SubscriptionRecord& record = pipeline_.log().subscriptions.at(name);
    REPLISIM_REQUIRE(record.locking_transactions >= 0, "subscription {}: {} transactions hold locks", name,
                     record.locking_transactions);
    if (record.locking_transactions > 0)
      return true;
  }
  return false;
}

void RunWatch::check_locks(const std::string& server, const SubscriberSide& side) const {
  const bool others = not scenario_.flows.empty() or not scenario_.clients.empty() or
                      not scenario_.sessions.empty() or not scenario_.replays.empty();
  if (side.locks == nullptr or others or applies(server))
    return;
  REPLISIM_REQUIRE(side.locks->oldest_transaction_s() <=
                       0, // a worker without a row yet may wait for its stream lock
                   "{}: nothing is being applied, but the oldest transaction is {} s old", server,
                   side.locks->oldest_transaction_s());
  for (const auto& [table, definition] : scenario_.tables)
    REPLISIM_REQUIRE(side.locks->rows().holders(table).empty(),
                     "{}: nothing is being applied, but rows of {} are locked", server, table);
}

} // namespace replisim
