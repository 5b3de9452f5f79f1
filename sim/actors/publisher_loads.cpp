#include "sim/actors/publisher_loads.hpp"

#include "models/base/random.hpp"
#include "models/closed_network.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
constexpr double running_xacts_interval_s = 15;
constexpr Bytes running_xacts_bytes = 56; ///< header 24, main data header 2, xl_running_xacts 24, aligned
constexpr double checkpoint_poll_s = 1;
constexpr double most_one_by_one = 2000; ///< transactions of a tick that get dates of their own
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
  if (not flow.times_s.empty()) {
    run_replay(process);
    return;
  }
  process.sleep(flow.from_s, engine::Activity::Starved);
  double done_s = flow.from_s;
  for (std::uint64_t tick = 1; flow.until_s <= 0 or done_s < flow.until_s - 1e-9; ++tick) {
    double next_s = flow.from_s + static_cast<double>(tick) * params_.tick_s;
    if (next_s < process.now()) { // behind: what has come since is run at once, as far as it goes
      const auto now = static_cast<std::uint64_t>((process.now() - flow.from_s) / params_.tick_s) + 1;
      tick = std::min(now, tick + ticks_at_once() - 1);
    }
    next_s = flow.from_s + static_cast<double>(tick) * params_.tick_s;
    if (flow.until_s > 0)
      next_s = std::min(next_s, flow.until_s);
    process.sleep(std::max(0.0, next_s - process.now()), engine::Activity::Starved);
    if (state_.stopped)
      return;
    if (const Arrivals came = arrived(done_s, next_s, tick); came.transactions > 0)
      commit(process, came);
    done_s = next_s;
  }
}

/// Random ones lie, given their number, anywhere in their time, independently of each other (so do those of a
/// Poisson process). Others came evenly, the last one at its end.
FlowClients::Arrivals FlowClients::arrived(double from_s, double to_s, std::uint64_t tick) {
  Arrivals out{arrivals(from_s, to_s, tick), 0, to_s};
  if (out.transactions <= 0)
    return out;
  out.first_s = from_s + (to_s - from_s) / static_cast<double>(out.transactions);
  if (not params_.flow->poisson or not one_by_one())
    return out;
  const RandomStream random(params_.seed, params_.flow->name + " arrival dates");
  for (std::int64_t i = 0; i < out.transactions; ++i)
    out.dates.push_back(from_s + (to_s - from_s) * random.uniform(dates_drawn_++));
  std::sort(out.dates.begin(), out.dates.end());
  return out;
}

bool FlowClients::one_by_one() const { return params_.flow->rate_per_s * params_.tick_s <= most_one_by_one; }

/// While clients are behind, a batch would grow with the one before it, without end if they never catch up.
/// Enough is a batch beside whose time the wait for its flush, which others' work fills, is little.
std::uint64_t FlowClients::ticks_at_once() const {
  constexpr double fewest = 4, most = 1e6, little = 0.05;
  return static_cast<std::uint64_t>(
      std::clamp(std::ceil(params_.flush_s / (little * params_.tick_s)), fewest, most));
}

/// Commits at recorded times, gathered like the others.
void FlowClients::run_replay(engine::Process& process) {
  const std::vector<double>& times = params_.flow->times_s;
  for (std::size_t next = 0; next < times.size();) {
    const double tick = std::floor(times[next] / params_.tick_s) + 1;
    const double latest_s = (tick + static_cast<double>(ticks_at_once() - 1)) * params_.tick_s;
    const double end_s = std::clamp(process.now(), tick * params_.tick_s, latest_s);
    process.sleep(std::max(0.0, end_s - process.now()), engine::Activity::Starved);
    if (state_.stopped)
      return;
    const std::size_t first = next;
    while (next < times.size() and times[next] <= end_s)
      ++next;
    Arrivals came{static_cast<std::int64_t>(next - first), times[first], times[next - 1]};
    if (static_cast<double>(came.transactions) <= most_one_by_one)
      came.dates.assign(times.begin() + static_cast<std::ptrdiff_t>(first),
                        times.begin() + static_cast<std::ptrdiff_t>(next));
    commit(process, came);
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

/// CPU of one transaction, with the dead versions that it passes.
double FlowClients::backend_s() const {
  double seconds = shape_.backend_s;
  if (params_.dead != nullptr)
    for (const auto& step : params_.flow->transaction)
      seconds += static_cast<double>(step.rows) * params_.dead->backend_seconds(step.table, step.operation);
  return seconds;
}

/// By itself each transaction would have begun at once, on a CPU of its own as long as there are some: it
/// takes as much CPU as its share, however many were run together.
FlowCommitted FlowClients::committed(const Arrivals& arrivals, double took_s) {
  const double count = static_cast<double>(arrivals.transactions);
  const double first_s = arrivals.first_s, last_s = arrivals.last_s;
  const double each_s = took_s / count, alone_s = each_s * params_.cpus;
  FlowCommitted out;
  out.flow = params_.flow;
  out.transactions = arrivals.transactions;
  out.queued_bytes = std::llround(count * shape_.queued_bytes);
  out.gathered_s = std::max(params_.tick_s, last_s - first_s);
  out.first_begin_s = first_s;
  out.last_begin_s = last_s;
  if (not arrivals.dates.empty()) {
    date_one_by_one(out, arrivals, each_s);
    return out;
  }
  out.first_commit_s = std::max(first_s + alone_s, last_commit_s_ + each_s);
  out.last_commit_s = std::max(last_s + alone_s, out.first_commit_s + (count - 1) * each_s);
  last_commit_s_ = out.last_commit_s;
  return out;
}

void FlowClients::date_one_by_one(FlowCommitted& what, const Arrivals& arrivals, double each_s) {
  const double alone_s = each_s * params_.cpus;
  std::vector<TransactionDates> dates;
  dates.reserve(arrivals.dates.size());
  for (const double begin_s : arrivals.dates) {
    last_commit_s_ = std::max(begin_s + alone_s, last_commit_s_ + each_s);
    const double wait_s = params_.waits_for_flush ? flushes_.flushed_s(last_commit_s_, params_.flush_s) -
                                                        params_.flush_s - last_commit_s_
                                                  : 0;
    dates.push_back({begin_s, last_commit_s_, std::max(0.0, wait_s)});
    what.flush_wait_s += dates.back().flush_wait_s / static_cast<double>(arrivals.transactions);
  }
  what.first_begin_s = dates.front().begin_s;
  what.last_begin_s = dates.back().begin_s;
  what.first_commit_s = dates.front().commit_s;
  what.last_commit_s = dates.back().commit_s;
  what.dates = std::make_shared<const std::vector<TransactionDates>>(std::move(dates));
}

void FlowClients::commit(engine::Process& process, const Arrivals& arrivals) {
  const std::int64_t transactions = arrivals.transactions;
  const double count = static_cast<double>(transactions);
  const double started_s = process.now();
  process.cpu_on(params_.cpus, count * backend_s());
  const Bytes bytes = wal_bytes(transactions);
  WalEntry entry;
  entry.top = entry.xid = params_.accounted_as;
  entry.records = std::llround(count * shape_.wal_records);
  FlowCommitted what = committed(arrivals, process.now() - started_s);
  what.flush_excess_s = static_cast<double>(bytes) * (1 - 1 / count) / params_.wal_bytes_per_s;
  const double evenly_s = count > 1 ? (arrivals.last_s - arrivals.first_s) * count / (count - 1) : 0;
  what.span_s = evenly_s > 0 ? evenly_s : params_.tick_s;
  const double rate_per_s = count / what.span_s;
  if (params_.waits_for_flush) {
    what.commit_groups = commit_groups_per_s(rate_per_s, rate_per_s, params_.flush_s) * what.span_s;
    if (what.dates == nullptr)
      what.flush_wait_s = flush_wait_s(rate_per_s);
  }
  entry.what = what;
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

/// Half a flush for those that find one going on: where commits come at equal distances, all of them or none.
double FlowClients::flush_wait_s(double rate_per_s) const {
  const bool random = params_.flow->poisson or not params_.flow->times_s.empty();
  const double busy = random ? flush_busy_probability(rate_per_s, params_.flush_s)
                             : (rate_per_s * params_.flush_s > 1 ? 1 : 0);
  return busy * params_.flush_s / 2;
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
                           std::vector<ReplicationConnection*> connections, std::vector<Slot*> sql_slots,
                           std::function<void()> removed)
    : rules_(rules), wal_(wal), state_(state), connections_(std::move(connections)),
      sql_slots_(std::move(sql_slots)), removed_(std::move(removed)) {}

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
  std::vector<Slot*> slots = sql_slots_;
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
