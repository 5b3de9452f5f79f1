#include "sim/actors/subscriber_session.hpp"

#include "models/backend_cost.hpp"
#include "models/base/random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace replisim {

namespace {
/// What changing one row costs; reading one is not told apart from the transaction's own cost.
double row_seconds(const CostParameters& costs, const Table& table, const SessionStep& step) {
  switch (step.kind) {
  case SessionStep::Kind::Insert:
    return backend_row_seconds(costs, table, Operation::Insert);
  case SessionStep::Kind::Update:
    return backend_row_seconds(costs, table, Operation::Update);
  case SessionStep::Kind::Delete:
    return backend_row_seconds(costs, table, Operation::Delete);
  default:
    return 0;
  }
}

/// Of one row: dead versions on the way to it, and an update that cannot stay on its page.
double dead_seconds(const DeadVersions* dead, const SessionStep& step) {
  if (dead == nullptr)
    return 0;
  switch (step.kind) {
  case SessionStep::Kind::Update:
    return dead->backend_seconds(step.table, Operation::Update);
  case SessionStep::Kind::Delete:
    return dead->backend_seconds(step.table, Operation::Delete);
  default:
    return 0;
  }
}
} // namespace

SubscriberSession::SubscriberSession(Params params, ServerLocks& locks, BackendId backend,
                                     SessionRecord& record)
    : params_(std::move(params)), locks_(locks), backend_(backend), record_(record) {}

void SubscriberSession::run(engine::Process& process) {
  double arrival_s = 0;
  while (next_start(process, arrival_s))
    transaction(process, arrival_s);
}

/// Sleeps until the next transaction begins. While it does, it keeps nobody's run going.
bool SubscriberSession::next_start(engine::Process& process, double& arrival_s) {
  const SessionLoad& load = *params_.load;
  if (load.times > 0 and begun_ == load.times)
    return false;
  double start_s = 0;
  if (load.rate_per_s > 0) { // the next arrival is this client's
    double gap = 1 / load.rate_per_s;
    if (load.poisson)
      gap *= -std::log1p(-RandomStream(params_.seed, load.name + " arrivals").uniform(record_.arrivals));
    if (record_.arrivals == 0)
      record_.last_arrival_s = load.from_s;
    ++record_.arrivals;
    record_.last_arrival_s += gap;
    start_s = record_.last_arrival_s;
  } else if (last_start_s_ < 0) { // clients of a closed loop do not begin in step
    start_s = load.from_s + load.every_s * params_.client / load.clients;
  } else {
    start_s = std::max(process.now(), last_start_s_ + load.every_s);
  }
  arrival_s = load.rate_per_s > 0 ? start_s : std::max(start_s, process.now());
  if (load.until_s > 0 and arrival_s >= load.until_s)
    return false;
  process.set_housekeeping(true);
  process.sleep(std::max(0.0, start_s - process.now()), engine::Activity::Starved);
  process.set_housekeeping(false);
  last_start_s_ = process.now();
  ++begun_;
  return true;
}

void SubscriberSession::transaction(engine::Process& process, double arrival_s) {
  const SessionLoad& load = *params_.load;
  const std::uint64_t first_draw = draws_;
  double& open_since_s = record_.open_since_s[static_cast<std::size_t>(params_.client)];
  open_since_s = arrival_s;
  for (int tries = 1;; ++tries) {
    draws_ = first_draw; // the same transaction again
    try {
      owed_s_ = params_.costs->backend_transaction_s;
      for (const SessionStep& step : load.transaction)
        execute(process, step);
      pay(process, 0);
      if (load.writes() and not load.rolls_back and params_.flush)
        params_.flush(process);
      locks_.end_transaction(backend_);
      break;
    } catch (const StatementCancelled&) {
      locks_.end_transaction(backend_);
      pay(process, 0); // the work of a query that waited for its table is done
      if (tries >= load.max_tries) {
        ++record_.failures;
        open_since_s = -1;
        return;
      }
      ++record_.retries;
    }
  }
  open_since_s = -1;
  ++record_.transactions;
  record_.latency.add(process.now() - arrival_s, 1);
  record_.over_50ms += process.now() - arrival_s > SessionRecord::long_s ? 1 : 0;
}

Rows SubscriberSession::random_row(const SessionStep& step) {
  const std::string stream = params_.load->name + " " + std::to_string(params_.client) + " rows";
  const double rows = static_cast<double>(step.to_row - step.from_row + 1);
  return step.from_row +
         static_cast<Rows>(std::floor(rows * RandomStream(params_.seed, stream).uniform(draws_++)));
}

/// CPU of a statement, and what the transaction itself takes with its first one.
void SubscriberSession::pay(engine::Process& process, double seconds) {
  process.cpu(std::exchange(owed_s_, 0.0) + seconds);
}

void SubscriberSession::execute(engine::Process& process, const SessionStep& step) {
  // A query locks its table when it is analysed, before most of the work that any transaction is; whatever
  // may be kept waiting for rows, or waits itself, has done that work before.
  const bool only_reads = step.kind == SessionStep::Kind::Select and not step.row_lock;
  if (not only_reads)
    pay(process, 0);
  if (step.kind == SessionStep::Kind::Pause) {
    process.sleep(step.takes_s, engine::Activity::Starved);
    return;
  }
  locks_.lock_table(process, backend_, step.table, step.mode);
  if (step.kind == SessionStep::Kind::Vacuum) {
    ++record_.vacuums;
    record_.vacuum_horizon_s = std::max(record_.vacuum_horizon_s, locks_.oldest_transaction_s(backend_));
  }
  if (only_reads) {
    pay(process, step.takes_s);
    return;
  }
  const double seconds = row_seconds(*params_.costs, params_.tables->at(step.table), step);
  const auto work = [&](RowRange rows) {
    const double count = static_cast<double>(rows.count);
    process.cpu(count * (seconds + dead_seconds(params_.dead, step)));
    const bool updates = step.kind == SessionStep::Kind::Update;
    if (params_.dead != nullptr and (updates or step.kind == SessionStep::Kind::Delete))
      params_.dead->died(step.table, count, updates, process.now());
  };
  if (not step.row_lock)
    work({1, step.rows});
  else if (step.first_row > 0)
    locks_.lock_rows(process, backend_, step.table, {step.first_row, step.rows}, *step.row_lock, work);
  else
    for (Rows i = 0; i < step.rows; ++i)
      locks_.lock_rows(process, backend_, step.table, {random_row(step), 1}, *step.row_lock, work);
  process.cpu(step.takes_s);
}

} // namespace replisim
