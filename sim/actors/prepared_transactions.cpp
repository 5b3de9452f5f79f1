#include "sim/actors/prepared_transactions.hpp"

#include "models/wal_volume.hpp"

#include <utility>

#include <fmt/format.h>

namespace replisim {

std::string PreparedTransactions::refusal() const {
  if (slots_.most == 0)
    return "prepared transactions are disabled: max_prepared_transactions is 0";
  if (slots_.used >= slots_.most)
    return fmt::format("max_prepared_transactions is reached: {} are prepared", slots_.used);
  return {};
}

void PreparedTransactions::prepare(engine::Process& process, BackendId backend,
                                   const PrepareTransaction& transaction) {
  ++slots_.used;
  auto& delivery = record_.deliveries[transaction.top];
  delivery.prepared_s = process.now();
  holders_[transaction.top] = locks_.prepare(
      backend, fmt::format("prepared transaction {} of {}", transaction.top.value, subscription_));
  wal_.commit_flushed(process, prepare_record_bytes(), transaction.end);
  delivery.prepared_s = process.now();
  record_.replayed(transaction.end, process.now());
}

void PreparedTransactions::finish(engine::Process& process, const FinishPrepared& transaction) {
  const auto holder = holders_.find(transaction.top);
  if (holder == holders_.end())
    return;
  auto& delivery = record_.deliveries[transaction.top];
  const Bytes bytes = transaction.commits ? commit_record_bytes() : abort_record_bytes();
  wal_.commit_flushed(process, bytes + prepared_name_bytes(), transaction.end);
  if (delivery.first_lock_s >= 0)
    --record_.locking_transactions;
  if (not transaction.commits) {
    delivery.undone += std::exchange(delivery.applied, 0);
    delivery.first_lock_s = -1;
  }
  --slots_.used;
  locks_.end_transaction(holder->second);
  holders_.erase(holder);
  record_.replayed(transaction.end, process.now());
}

} // namespace replisim
