#include "sim/actors/replication_connection.hpp"

#include <algorithm>
#include <utility>

namespace replisim {

ReplicationConnection::ReplicationConnection(engine::World& world, Params params,
                                             engine::StreamOptions stream, Slot& slot)
    : world_(world), params_(params), slot_(slot), stream_(world, stream),
      started_(world, stream.name + " (start)"), lag_(params.lag_overflow_entries) {
  stream_.disconnect();
}

bool ReplicationConnection::start(Lsn from) {
  if (slot_.lost())
    return false;
  from_ = from;
  connected_ = true;
  deaf_ = idle_ = false;
  unflushed_ = false;
  reported_ = {};
  ++connection_;
  last_answer_s_ = world_.now();
  slot_.set_active(true, world_.now());
  stream_.connect();
  if (params_.sender_timeout_s > 0)
    watch_until(last_answer_s_ + params_.sender_timeout_s);
  if (on_positions_)
    on_positions_({}); // known from now on, at no position yet
  started_.notify();
  return true;
}

void ReplicationConnection::stop() {
  if (connected_)
    end();
}

void ReplicationConnection::end() {
  connected_ = false;
  ended_s_ = world_.now();
  slot_.set_active(false, world_.now());
  stream_.disconnect();
  for (const auto& callback : on_end_)
    callback();
}

void ReplicationConnection::watch_until(double date_s) {
  world_.at(
      date_s, [this, connection = connection_] { check_timeout(connection); }, not deaf_);
}

void ReplicationConnection::check_timeout(std::int64_t connection) {
  if (not connected_ or connection != connection_)
    return;
  if (params_.sender_timeout_s <= 0)
    return; // switched off meanwhile
  const double now = world_.now();
  if (not deaf_ and not cut_)
    last_answer_s_ = std::max(last_answer_s_, now - params_.sender_timeout_s / 2); // answered when asked
  const double deadline = last_answer_s_ + params_.sender_timeout_s;
  if (deadline > now + 1e-9) {
    watch_until(deadline);
    return;
  }
  ++timeouts_;
  last_timeout_s_ = now;
  if (on_timeout_)
    on_timeout_();
  end();
}

void ReplicationConnection::set_silent(bool silent) {
  if (silent == (silence_ % 2 == 1))
    return;
  ++silence_;
  if (not silent or params_.receiver_timeout_s <= 0 or not connected_)
    return;
  world_.at(
      world_.now() + params_.receiver_timeout_s,
      [this, silence = silence_, connection = connection_] {
        if (not connected_ or connection != connection_ or silence != silence_)
          return;
        ++receiver_timeouts_;
        if (on_receiver_timeout_)
          on_receiver_timeout_();
        end();
      },
      true);
}

/// True while the client is cut off: `what` waits until it no longer is.
bool ReplicationConnection::hold_back(std::function<void()> what) {
  if (cut_)
    held_.push_back(std::move(what));
  return cut_;
}

void ReplicationConnection::set_cut(bool cut) {
  if (cut == cut_)
    return;
  cut_ = cut;
  stream_.hold(cut);
  if (not cut) {
    for (const auto& message : std::exchange(held_, {}))
      message();
    return;
  }
  if (not deaf_)
    last_answer_s_ = world_.now();
  if (params_.receiver_timeout_s > 0 and connected_)
    world_.at(world_.now() + params_.receiver_timeout_s,
              [this, connection = connection_] { give_up_listening(connection); });
}

void ReplicationConnection::give_up_listening(std::int64_t connection) {
  if (not cut_ or not connected_ or connection != connection_)
    return;
  ++receiver_timeouts_;
  if (on_receiver_timeout_)
    on_receiver_timeout_();
  end();
}

void ReplicationConnection::set_latency(double seconds) {
  params_.latency_s = seconds;
  stream_.set_latency(seconds);
}

void ReplicationConnection::set_sender_timeout(double seconds) {
  const bool watched = params_.sender_timeout_s > 0;
  params_.sender_timeout_s = seconds;
  if (connected_ and seconds > 0 and not watched)
    watch_until(world_.now() + seconds);
}

void ReplicationConnection::arrive(Lsn lsn, std::int64_t connection) {
  if (hold_back([this, lsn, connection] { arrive(lsn, connection); }))
    return;
  if (not connected_ or connection != connection_)
    return;
  last_answer_s_ = world_.now();
  slot_.confirm(lsn);
  lag_.reported(LagColumn::Flush, lsn, world_.now());
}

void ReplicationConnection::confirm(Lsn lsn) {
  if (params_.latency_s == 0)
    arrive(lsn, connection_);
  else
    world_.at(world_.now() + params_.latency_s,
              [this, lsn, connection = connection_] { arrive(lsn, connection); });
}

void ReplicationConnection::answer() { confirm(Lsn{0}); }

void ReplicationConnection::request_status(std::function<void(Lsn)> answered) {
  status_answered_ = std::move(answered);
  world_.at(world_.now() + params_.latency_s, [this, connection = connection_] { ask_status(connection); });
}

void ReplicationConnection::ask_status(std::int64_t connection) {
  if (hold_back([this, connection] { ask_status(connection); }))
    return;
  if (not connected_ or connection != connection_)
    return;
  ++status_requests_;
  ++all_status_requests_;
  if (on_status_request_)
    on_status_request_();
}

void ReplicationConnection::answer_status(Lsn flushed) {
  world_.at(world_.now() + params_.latency_s,
            [this, flushed, connection = connection_] { tell_status(flushed, connection); });
}

void ReplicationConnection::tell_status(Lsn flushed, std::int64_t connection) {
  if (hold_back([this, flushed, connection] { tell_status(flushed, connection); }))
    return;
  if (connected_ and connection == connection_)
    status_answered_(flushed);
}

void ReplicationConnection::applied(Lsn lsn) {
  if (params_.latency_s == 0)
    note_applied(lsn);
  else
    world_.at(world_.now() + params_.latency_s, [this, lsn] { note_applied(lsn); });
}

void ReplicationConnection::note_applied(Lsn lsn) {
  if (hold_back([this, lsn] { note_applied(lsn); }))
    return;
  lag_.reported(LagColumn::Write, lsn, world_.now());
  lag_.reported(LagColumn::Replay, lsn, world_.now());
}

void ReplicationConnection::report(const Positions& positions, bool unflushed) {
  unflushed_ = unflushed;
  if (positions == reported_)
    return;
  reported_ = positions;
  if (params_.latency_s == 0)
    arrive(positions, connection_);
  else
    world_.at(world_.now() + params_.latency_s,
              [this, positions, connection = connection_] { arrive(positions, connection); });
}

void ReplicationConnection::arrive(const Positions& positions, std::int64_t connection) {
  if (hold_back([this, positions, connection] { arrive(positions, connection); }))
    return;
  arrive(positions.flushed, connection);
  if (connection != connection_ or not connected_)
    return;
  lag_.reported(LagColumn::Write, positions.received, world_.now());
  lag_.reported(LagColumn::Replay, positions.applied, world_.now());
  if (on_positions_)
    on_positions_(positions);
}

void ReplicationConnection::tell_client(Lsn sent) {
  if (on_caught_up_.empty() or stream_.outstanding_bytes() > 0)
    return;
  if (hold_back([this, sent] { tell_client(sent); }))
    return;
  const auto tell = [this, sent, connection = connection_] {
    if (not connected_ or connection != connection_)
      return;
    for (const auto& callback : on_caught_up_)
      callback(sent);
  };
  if (params_.latency_s == 0)
    tell();
  else
    world_.at(world_.now() + params_.latency_s, tell);
}

void ReplicationConnection::caught_up(Lsn sent) {
  idle_ = true;
  tell_client(sent);
  if (deaf_ or not params_.confirms_keepalives or unflushed_ or stream_.outstanding_bytes() > 0)
    return;
  // There and back: the keepalive carries the position, the answer confirms it.
  if (params_.latency_s == 0)
    arrive({sent, sent, sent}, connection_);
  else
    world_.at(world_.now() + 2 * params_.latency_s, [this, sent, connection = connection_] {
      arrive({sent, sent, sent}, connection);
    });
}

} // namespace replisim
