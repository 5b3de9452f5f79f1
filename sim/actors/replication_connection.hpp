// A replication connection between a walsender and its client, with the slot behind it: who is connected,
// when the client last answered, and what it has confirmed.
//
// Counterpart: walsender.c (ProcessStandbyMessage, WalSndCheckTimeOut, WalSndKeepaliveIfNecessary) and
// worker.c (LogicalRepApplyLoop: wal_receiver_timeout).
// The server asks for an answer after half of wal_sender_timeout; the client gives it when it reaches the
// request in its input; without one for the whole time-out the walsender ends and the slot is free.
#pragma once

#include "models/lag_tracker.hpp"
#include "models/slot.hpp"
#include "sim/actors/replication_messages.hpp"

#include <utility>
#include <vector>

namespace replisim {

class ReplicationConnection {
public:
  struct Params {
    double sender_timeout_s = 60;     ///< wal_sender_timeout; 0: never
    double receiver_timeout_s = 0;    ///< wal_receiver_timeout of the client; 0: never
    double latency_s = 0;             ///< one way, of what the client sends
    bool confirms_keepalives = true;  ///< the client confirms the position of one when nothing is pending
    bool lag_overflow_entries = true; ///< VersionTraits::lag_overflow_entries of the publisher
  };
  ReplicationConnection(engine::World& world, Params params, engine::StreamOptions stream, Slot& slot);

  ReplicationStream& stream() { return stream_; }
  Slot& slot() { return slot_; }

  // Client's side.
  /// START_REPLICATION; the client has everything before `from`. False when the slot is lost.
  bool start(Lsn from = Lsn{0});
  /// The client leaves.
  void stop();
  /// Waits while nobody is connected; for the walsender.
  engine::Signal& started() { return started_; }
  /// What the client says: it has everything up to `lsn` safely. Takes the link's latency to arrive.
  void confirm(Lsn lsn);
  /// An answer that confirms nothing new.
  void answer();
  /// While true the client answers nothing (it works on a transaction and does not look at its input).
  void set_client_deaf(bool deaf) { deaf_ = deaf; }
  /// Positions of a status message.
  struct Positions {
    Lsn received; ///< write_lsn
    Lsn flushed;
    Lsn applied; ///< replay_lsn
    auto operator<=>(const Positions&) const = default;
  };
  /// A status message of an apply worker. With commits `unflushed` it does not confirm keepalives.
  void report(const Positions& positions, bool unflushed);
  void set_unflushed(bool unflushed) { unflushed_ = unflushed; }
  /// The client has received and applied up to `lsn` (write_lsn and replay_lsn of its next message).
  void applied(Lsn lsn);

  /// How often the client goes to sleep and answers, while small transactions come.
  void set_client_wakeups(double per_s) { client_wakeups_per_s_ = per_s; }
  double client_wakeups_per_s() const { return client_wakeups_per_s_; }

  /// Asks the walsender for the publisher's status; `answered` is called with the flushed WAL position when
  /// the answer is there.
  void request_status(std::function<void(Lsn)> answered);
  /// One way, of what the client says.
  double latency_s() const { return params_.latency_s; }

  // Faults.
  /// While cut off nothing passes in either direction, and each end finds out by its own time-out.
  void set_cut(bool cut);
  bool cut() const { return cut_; }
  /// Another latency, one way.
  void set_latency(double seconds);
  void set_sender_timeout(double seconds);
  void set_receiver_timeout(double seconds) { params_.receiver_timeout_s = seconds; }

  // Server's side.
  /// Requests for the publisher's status that have arrived: the walsender owes an answer to each.
  int take_status_requests() { return std::exchange(status_requests_, 0); }
  void answer_status(Lsn flushed);
  /// Called when a request arrives: the walsender may be asleep.
  void on_status_request(std::function<void()> callback) { on_status_request_ = std::move(callback); }
  std::int64_t status_requests() const { return all_status_requests_; }
  bool connected() const { return connected_; }
  /// What commits up to here is not sent: the client has confirmed it or asked to start after it.
  Lsn starts_after() const { return std::max(slot_.confirmed_flush_lsn(), from_); }
  /// A walsender serves the slot, perhaps still on a connection that is broken already: until it has noticed,
  /// nobody else can start ("replication slot is active").
  bool in_use() const { return in_use_; }
  void set_in_use(bool in_use) { in_use_ = in_use; }
  /// While true the walsender neither sends nor reads answers: a client with wal_receiver_timeout leaves when
  /// that lasts.
  void set_silent(bool silent);
  /// The walsender has sent all there is: the client, when it has nothing pending, confirms `sent`.
  void caught_up(Lsn sent);
  /// Called when the client has heard that there is nothing beyond `sent`, and has everything before.
  void on_caught_up(std::function<void(Lsn)> callback) { on_caught_up_.push_back(std::move(callback)); }
  /// Somebody on the client's side waits to hear that it has everything.
  bool tells_positions() const { return not on_caught_up_.empty(); }
  /// A commit is handed to the socket.
  void commit_sent(Lsn lsn) { lag_.sent(lsn, world_.now()); }
  /// write_lag, flush_lag and replay_lag of pg_stat_replication.
  const LagTracker& lag_columns() const { return lag_; }
  bool idle() const { return idle_; }
  void set_idle(bool idle) { idle_ = idle; }

  /// How often the server ended the connection because nobody answered, and when last.
  std::int64_t timeouts() const { return timeouts_; }
  double last_timeout_s() const { return last_timeout_s_; }
  double ended_s() const { return ended_s_; } ///< when the last connection ended
  std::int64_t connections() const { return connection_; }
  /// Called with the positions of each message that arrives, for those who wait for them.
  void on_positions(std::function<void(const Positions&)> callback) { on_positions_ = std::move(callback); }
  /// Called when the connection ends: the walsender may be waiting for WAL, commits for a standby.
  void on_end(std::function<void()> callback) { on_end_.push_back(std::move(callback)); }
  /// Called when the server ends it because nobody answered.
  void on_timeout(std::function<void()> callback) { on_timeout_ = std::move(callback); }
  /// How often the client left because it heard nothing, and whom to tell.
  std::int64_t receiver_timeouts() const { return receiver_timeouts_; }
  void on_receiver_timeout(std::function<void()> callback) { on_receiver_timeout_ = std::move(callback); }

private:
  void end();
  void watch_until(double date_s);
  void check_timeout(std::int64_t connection);
  void arrive(Lsn lsn, std::int64_t connection);
  void ask_status(std::int64_t connection);
  void tell_status(Lsn flushed, std::int64_t connection);
  void note_applied(Lsn lsn);
  void arrive(const Positions& positions, std::int64_t connection);
  void tell_client(Lsn sent);
  bool hold_back(std::function<void()> what);
  void give_up_listening(std::int64_t connection);

  engine::World& world_;
  Params params_;
  Slot& slot_;
  ReplicationStream stream_;
  engine::Signal started_;
  std::vector<std::function<void()>> on_end_;
  std::function<void()> on_timeout_, on_receiver_timeout_;
  LagTracker lag_;
  bool connected_ = false;
  bool deaf_ = false;
  bool idle_ = false;
  bool in_use_ = false;
  Lsn from_;
  std::int64_t silence_ = 0; ///< counts the spells of silence; odd: within one
  std::int64_t receiver_timeouts_ = 0;
  std::function<void(const Positions&)> on_positions_;
  Positions reported_; ///< last message of an apply worker
  bool unflushed_ = false;
  std::int64_t connection_ = 0;
  double last_answer_s_ = 0;
  std::int64_t timeouts_ = 0;
  double last_timeout_s_ = 0;
  double ended_s_ = 0;
  double client_wakeups_per_s_ = 0;
  std::function<void()> on_status_request_;
  std::function<void(Lsn)> status_answered_;
  std::vector<std::function<void(Lsn)>> on_caught_up_;
  bool cut_ = false;
  std::vector<std::function<void()>> held_; ///< what the client said while it was cut off
  int status_requests_ = 0;
  std::int64_t all_status_requests_ = 0;
};

} // namespace replisim
