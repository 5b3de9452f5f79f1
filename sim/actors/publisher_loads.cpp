#include "sim/actors/publisher_loads.hpp"

#include "models/base/random.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
constexpr double running_xacts_interval_s = 15;
constexpr Bytes running_xacts_bytes = 56; ///< header 24, main data header 2, xl_running_xacts 24, aligned
constexpr double checkpoint_poll_s = 1;
} // namespace

FlowClients::FlowClients(Params params, WalLog& wal, PublisherState& state, TransactionRecord& record)
    : params_(params), wal_(wal), state_(state), record_(record),
      shape_(flow_shape(*params.flow, *params.tables, *params.costs)) {}

/// Arrivals in [from, to): by the curve's integral, or at random with that mean.
std::int64_t FlowClients::arrivals(double from_s, double to_s, std::uint64_t tick) {
  const FlowLoad& flow = *params_.flow;
  if (flow.poisson) {
    const double mean = flow.rate_per_s * (curve_integral(flow, to_s) - curve_integral(flow, from_s));
    return RandomStream(params_.seed, flow.name + " arrivals").poisson(tick, mean);
  }
  const double expected = flow.rate_per_s * (curve_integral(flow, to_s) - curve_integral(flow, flow.from_s));
  return static_cast<std::int64_t>(std::floor(expected + 1e-6)) - emitted_;
}

void FlowClients::run(engine::Process& process) {
  const FlowLoad& flow = *params_.flow;
  process.sleep(flow.from_s, engine::Activity::Starved);
  double done_s = flow.from_s;
  for (std::uint64_t tick = 1; flow.until_s <= 0 or done_s < flow.until_s - 1e-9; ++tick) {
    double next_s = flow.from_s + static_cast<double>(tick) * params_.tick_s;
    if (next_s < process.now()) // behind: what has come since is run at once
      tick = static_cast<std::uint64_t>((process.now() - flow.from_s) / params_.tick_s) + 1;
    next_s = flow.from_s + static_cast<double>(tick) * params_.tick_s;
    if (flow.until_s > 0)
      next_s = std::min(next_s, flow.until_s);
    process.sleep(std::max(0.0, next_s - process.now()), engine::Activity::Starved);
    const std::int64_t transactions = arrivals(done_s, next_s, tick);
    if (transactions > 0)
      commit(process, transactions, done_s, next_s);
    done_s = next_s;
  }
}

Bytes FlowClients::wal_bytes(std::int64_t transactions) {
  double bytes = bytes_remainder_ + static_cast<double>(transactions) * shape_.wal_bytes;
  for (const auto& step : params_.flow->transaction) {
    if (step.operation == Operation::Insert or not params_.page_images)
      continue;
    const double rows = static_cast<double>(transactions * step.rows);
    double& touched = state_.touched[step.table];
    bytes += page_image_bytes(params_.tables->at(step.table), touched, rows);
    touched += rows;
  }
  const auto whole = static_cast<Bytes>(bytes);
  bytes_remainder_ = bytes - static_cast<double>(whole);
  return whole;
}

void FlowClients::commit(engine::Process& process, std::int64_t transactions, double from_s, double to_s) {
  const double count = static_cast<double>(transactions);
  process.cpu_on(params_.cpus, count * shape_.backend_s);
  const Bytes bytes = wal_bytes(transactions);
  // The transactions came evenly; each was committed when its turn came, the last one at the tick.
  const double first_s = from_s + (to_s - from_s) / count;
  WalEntry entry;
  entry.top = entry.xid = params_.accounted_as;
  entry.records = std::llround(count * shape_.wal_records);
  entry.what = FlowCommitted{params_.flow, transactions, first_s, to_s};
  const Lsn end = wal_.insert(process, bytes, std::move(entry));
  state_.last_commit = std::max(state_.last_commit, end);
  record_.wal_bytes += bytes;
  record_.transactions += transactions;
  for (const auto& step : params_.flow->transaction)
    record_.rows_written += step.rows * transactions;
  emitted_ += transactions;
  if (params_.waits_for_flush)
    wal_.flush(process, end);
  record_.commit_s = process.now();
}

void OtherWalWriter::run(engine::Process& process) {
  process.sleep(load_.from_s, engine::Activity::Starved);
  Bytes written = 0;
  for (std::int64_t tick = 1;; ++tick) {
    double next_s = load_.from_s + static_cast<double>(tick) * tick_s_;
    if (load_.until_s > 0)
      next_s = std::min(next_s, load_.until_s);
    process.sleep(std::max(1e-9, next_s - process.now()), engine::Activity::Starved);
    const auto due = static_cast<Bytes>(load_.bytes_per_s * (next_s - load_.from_s));
    WalEntry entry;
    constexpr Bytes typical_record_bytes = 100;
    entry.records = std::max<std::int64_t>(1, (due - written) / typical_record_bytes);
    entry.what = OtherWal{};
    if (due > written)
      wal_.insert(process, due - written, std::move(entry));
    written = due;
    if (load_.until_s > 0 and next_s >= load_.until_s)
      return;
  }
}

void BackgroundWriter::run(engine::Process& process) {
  process.set_housekeeping();
  Lsn seen = wal_.inserted();
  while (true) {
    process.sleep(running_xacts_interval_s, engine::Activity::Starved);
    if (wal_.inserted() == seen)
      continue;
    WalEntry entry;
    entry.what = RunningXacts{};
    seen = wal_.insert(process, running_xacts_bytes, std::move(entry));
  }
}

Checkpointer::Checkpointer(RetentionRules rules, WalLog& wal, PublisherState& state,
                           std::vector<ReplicationConnection*> connections, std::function<void()> removed)
    : rules_(rules), wal_(wal), state_(state), connections_(std::move(connections)),
      removed_(std::move(removed)) {}

void Checkpointer::run(engine::Process& process) {
  process.set_housekeeping();
  Lsn last_redo = wal_.inserted();
  double last_start_s = 0;
  while (true) {
    process.sleep(checkpoint_poll_s, engine::Activity::Starved);
    const double elapsed_s = process.now() - last_start_s;
    const Bytes written = wal_.inserted() - last_redo;
    const bool by_volume = written >= rules_.checkpoint_distance_bytes();
    if (written == 0 or (elapsed_s < rules_.checkpoint_timeout_s and not by_volume))
      continue;
    last_redo = wal_.inserted();
    last_start_s = process.now();
    state_.touched.clear();
    // Spread over the distance to the next one, judged by how long this one was in coming.
    process.sleep(rules_.completion_target * std::min(elapsed_s, rules_.checkpoint_timeout_s),
                  engine::Activity::Starved);
    complete(process, last_redo);
  }
}

void Checkpointer::complete(engine::Process& process, Lsn redo) {
  WalEntry entry;
  entry.what = RunningXacts{};
  wal_.flush(process, wal_.insert(process, running_xacts_bytes, std::move(entry)));
  ++checkpoints_;
  std::vector<Slot*> slots;
  for (auto* connection : connections_)
    slots.push_back(&connection->slot());
  const Lsn keep = checkpoint_slots(rules_, slots, wal_.inserted(), redo, process.now());
  for (auto* connection : connections_)
    if (connection->slot().lost())
      connection->stop(); // the walsender is terminated
  wal_.remove_before(keep);
  removed_();
}

} // namespace replisim
