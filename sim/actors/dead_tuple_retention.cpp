#include "sim/actors/dead_tuple_retention.hpp"

#include <algorithm>

namespace replisim {

namespace {
constexpr double shortest_interval_s = 0.1; // MIN_XID_ADVANCE_INTERVAL
constexpr double longest_interval_s = 180;  // MAX_XID_ADVANCE_INTERVAL
constexpr double look_for_connection_s = 0.1;
constexpr double nap_s = 1; // NAPTIME_PER_CYCLE
} // namespace

DeadTupleRetention::DeadTupleRetention(engine::World& world, Params params, ReplicationConnection& connection)
    : world_(world), params_(std::move(params)), connection_(connection),
      answered_(world, params_.subscription + " (publisher's status)") {
  connection_.on_end([this] { answered_.notify(); });
}

DeadTupleRetention::Candidate DeadTupleRetention::oldest_in_use() const {
  const double open_since_s = params_.oldest_open_s();
  return open_since_s >= 0 ? Candidate{open_since_s, 0} : Candidate{-1, params_.xids_assigned()};
}

bool DeadTupleRetention::too_long(double begun_s) const {
  return params_.max_retention_s > 0 and world_.now() - begun_s > params_.max_retention_s;
}

/// adjust_xid_advance_interval. While retention is stopped it grows whatever is found.
double DeadTupleRetention::next_interval(double interval_s, bool new_id) const {
  const double cap_s = params_.status_interval_s > 0 ? params_.status_interval_s : longest_interval_s;
  double next_s = shortest_interval_s;
  if (not new_id)
    next_s = std::min(2 * interval_s, std::max(cap_s, shortest_interval_s));
  else if (not active_)
    next_s = std::min(2 * interval_s, longest_interval_s);
  if (active_ and params_.max_retention_s > 0)
    next_s = std::min(next_s, params_.max_retention_s);
  return next_s;
}

DeadTupleRetention::Outcome DeadTupleRetention::ask_publisher(engine::Process& process, double begun_s,
                                                              Lsn& needed) {
  waiting_ = true;
  connection_.request_status([this, request = ++requests_](Lsn flushed) {
    if (request != requests_)
      return; // of a connection that has ended, or of a cycle that was given up
    answer_ = flushed;
    waiting_ = false;
    answered_.notify();
  });
  if (params_.max_retention_s > 0 and active_)
    world_.at(begun_s + params_.max_retention_s + 1e-9, [this] { answered_.notify(); });
  while (waiting_) {
    process.wait(answered_, engine::Activity::Starved);
    if (waiting_ and not connection_.connected())
      return Outcome::Disconnected;
    if (waiting_ and active_ and too_long(begun_s))
      return Outcome::TooLong;
  }
  needed = answer_;
  return Outcome::Done;
}

DeadTupleRetention::Outcome DeadTupleRetention::await_flush(engine::Process& process, double begun_s,
                                                            Lsn needed) {
  while (params_.flushed() < needed or not params_.tables_ready()) {
    if (too_long(begun_s))
      return Outcome::TooLong;
    process.sleep(params_.flush_poll_s, engine::Activity::Starved);
    if (not connection_.connected())
      return Outcome::Disconnected;
  }
  return too_long(begun_s) ? Outcome::TooLong : Outcome::Done;
}

DeadTupleRetention::Outcome DeadTupleRetention::cycle(engine::Process& process, double begun_s) {
  Lsn needed;
  for (int i = 0; i < (params_.commits_under_way ? 2 : 1); ++i)
    if (const Outcome asked = ask_publisher(process, begun_s, needed); asked != Outcome::Done)
      return asked;
  return await_flush(process, begun_s, needed);
}

/// The candidate may go; or, after a stop, retention goes on from now.
void DeadTupleRetention::finish(engine::Process& process, const Candidate& candidate, double begun_s) {
  oldest_nonremovable_ = candidate;
  double horizon_s = candidate.open_since_s >= 0 ? candidate.open_since_s : begun_s;
  if (not active_) {
    active_ = true;
    ++resumptions_;
    oldest_nonremovable_ = oldest_in_use();
    horizon_s = process.now();
    params_.turned(true);
  }
  process.cpu(params_.costs->slot_update_s);
  process.sleep(params_.slot_flush_s);
  ++slot_updates_;
  params_.dead->hold(params_.subscription, horizon_s, process.now());
}

void DeadTupleRetention::stop() {
  if (not active_)
    return;
  active_ = false;
  ++stops_;
  params_.dead->release(params_.subscription, world_.now());
  params_.turned(false);
}

/// False when there is no worker, or another one, after it.
bool DeadTupleRetention::rest(engine::Process& process, double seconds) {
  const std::int64_t life = connection_.connections();
  const double until_s = process.now() + seconds;
  if (not connection_.connected()) {
    process.sleep(look_for_connection_s, engine::Activity::Starved);
    return false;
  }
  while (process.now() < until_s and connection_.connected())
    process.sleep(std::min(nap_s, until_s - process.now()), engine::Activity::Starved);
  return connection_.connected() and connection_.connections() == life;
}

void DeadTupleRetention::run(engine::Process& process) {
  process.set_housekeeping();
  params_.dead->hold(params_.subscription, process.now(), process.now());
  oldest_nonremovable_ = oldest_in_use();
  double interval_s = shortest_interval_s, wait_s = interval_s;
  if (params_.after_quiet) {
    interval_s = next_interval(longest_interval_s, false);
    wait_s = interval_s / 2;
  }
  while (true) {
    if (not rest(process, wait_s)) {
      interval_s = wait_s = shortest_interval_s; // of the worker that comes next
      continue;
    }
    const double begun_s = process.now();
    const Candidate candidate = oldest_in_use();
    const bool new_id = candidate != oldest_nonremovable_;
    interval_s = wait_s = next_interval(interval_s, new_id);
    if (not new_id)
      continue;
    const Outcome outcome = cycle(process, begun_s);
    ++requests_; // a late answer counts no more
    if (outcome == Outcome::Done)
      finish(process, candidate, begun_s);
    else if (outcome == Outcome::TooLong)
      stop();
    // The next look is due an interval after this one.
    wait_s = std::max(1e-3, begun_s + interval_s - process.now());
  }
}

} // namespace replisim
