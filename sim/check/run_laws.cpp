#include "sim/check/run_laws.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
constexpr double rounding = 1e-6; ///< of times, relative to the run's age and one second
} // namespace

void RunLaws::check_wal(const std::string& server, const WalPositions& now) {
  WalPositions& before = wal_[server];
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
void RunLaws::check_slot(const std::string& name, const SlotPositions& now, const WalPositions& wal) {
  REPLISIM_REQUIRE(now.saved <= now.restart and now.restart <= now.confirmed and now.confirmed <= wal.flushed,
                   "slot {}: restart_lsn {} (saved {}), confirmed_flush_lsn {}, flushed {}", name,
                   now.restart.value, now.saved.value, now.confirmed.value, wal.flushed.value);
  REPLISIM_REQUIRE(now.sent <= wal.flushed and now.replayed <= wal.flushed,
                   "slot {}: sent {}, applied {}, flushed {}", name, now.sent.value, now.replayed.value,
                   wal.flushed.value);
  REPLISIM_REQUIRE(now.lost or wal.removed <= now.saved,
                   "slot {}: WAL from {} on may be needed, {} is removed", name, now.saved.value,
                   wal.removed.value);
  SlotPositions& seen = slots_[name];
  REPLISIM_REQUIRE(seen.restart <= now.restart and seen.saved <= now.saved and
                       seen.confirmed <= now.confirmed and seen.replayed <= now.replayed,
                   "slot {} goes back: restart_lsn {} to {}, confirmed_flush_lsn {} to {}, applied {} to {}",
                   name, seen.restart.value, now.restart.value, seen.confirmed.value, now.confirmed.value,
                   seen.replayed.value, now.replayed.value);
  const bool same_connection = now.connections == seen.connections or seen.connections == 0;
  // A slot that is created meanwhile begins where it is consistent: nothing before that is ever sent.
  const bool created = seen.lost and not now.lost;
  const Lsn sent = std::max({seen.sent, now.sent, created ? now.confirmed : Lsn()});
  seen = now;
  seen.sent = sent;
  REPLISIM_REQUIRE(not same_connection or now.confirmed <= std::max(sent, now.replayed),
                   "slot {}: {} is confirmed, {} sent, {} applied", name, now.confirmed.value, sent.value,
                   now.replayed.value);
}

void RunLaws::check_sizes(const std::string& name, const BufferSizes& sizes) {
  REPLISIM_REQUIRE(sizes.memory >= 0 and sizes.memory < sizes.memory_limit,
                   "slot {}: {} bytes in the reorder buffer, of {}", name, sizes.memory, sizes.memory_limit);
  REPLISIM_REQUIRE(
      sizes.catalog_memory >= 0 and sizes.catalog_memory <= sizes.memory and sizes.spill_files >= 0 and
          sizes.spill_files <= sizes.peak_spill_files,
      "slot {}: {} bytes of catalog changes among {} in memory, spill files of {} bytes, at most {}", name,
      sizes.catalog_memory, sizes.memory, sizes.spill_files, sizes.peak_spill_files);
  REPLISIM_REQUIRE(sizes.subscriber_files >= 0 and sizes.subscriber_files <= sizes.peak_subscriber_files,
                   "subscription {}: files of {} bytes, at most {}", name, sizes.subscriber_files,
                   sizes.peak_subscriber_files);
}

void RunLaws::check_times(const std::string& process, const ProcessTimes& times, double now_s) {
  const double sum_s = times.busy_s + times.starved_s + times.blocked_s;
  const double allowed_s = rounding * (1 + now_s);
  const bool fills = times.may_have_ended ? sum_s <= now_s + allowed_s : std::abs(sum_s - now_s) <= allowed_s;
  REPLISIM_REQUIRE(times.busy_s >= 0 and times.starved_s >= 0 and times.blocked_s >= 0 and fills and
                       times.device_s <= times.busy_s + allowed_s,
                   "{}: {} s busy ({} of them at a device), {} s starved, {} s blocked, at {} s", process,
                   times.busy_s, times.device_s, times.starved_s, times.blocked_s, now_s);
}

void RunLaws::check_no_transaction(const std::string& server, double oldest_transaction_s) {
  REPLISIM_REQUIRE(oldest_transaction_s <= 0, // a worker without a row yet may wait for its stream lock
                   "{}: nothing is being applied, but the oldest transaction is {} s old", server,
                   oldest_transaction_s);
}

void RunLaws::check_no_holders(const std::string& server, const std::string& table, std::size_t holders) {
  REPLISIM_REQUIRE(holders == 0, "{}: nothing is being applied, but {} transactions lock rows of {}", server,
                   holders, table);
}

void RunLaws::check_locking_transactions(const std::string& subscription, int count) {
  REPLISIM_REQUIRE(count >= 0, "subscription {}: {} transactions hold locks", subscription, count);
}

} // namespace replisim
