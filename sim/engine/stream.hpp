// A byte-windowed FIFO connection between two processes: a socket, or a shared-memory queue.
//
// Flow travels in *pieces*: many messages that the sender produces over a stretch of time. A piece is
// opened before the sender spends the CPU time of producing it and closed afterwards, and the reader
// may work on it meanwhile, as the real processes overlap message by message: the pair takes the
// longer of the two times, not their sum. The reader cannot end before the sender has.
//
// The *window* (kernel buffers, ring size) bounds what is sent and not yet taken: close() blocks while
// more is outstanding. So that a sender is released as soon as all but a window's worth of its piece is
// taken, a piece larger than the window reaches the reader in two parts.
//
// A piece may stand for several *bursts*: rounds in which the sender first does something else (decodes
// a chunk, restores 4,096 changes) and then sends. What the window decouples in one round, it decouples
// in each: a piece of k bursts sees a window k times as wide, at most the piece itself (a uniform
// system in which everything between two points is k times as large behaves alike).
#pragma once

#include "models/base/check.hpp"
#include "sim/engine/world.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

namespace replisim::engine {

/// How much a piece carries.
struct Flow {
  Rows messages = 1;
  Bytes bytes = 0;
  std::int64_t bursts = 1;
};

struct StreamOptions {
  std::string name;
  Bytes window_bytes = 0;
  Bytes message_overhead_bytes = 0; ///< what a message occupies in the window beyond its bytes
  double latency_s = 0;             ///< one way; also delays the return of window space
};

/// The book-keeping of a Stream, independent of what is carried.
class StreamCore {
public:
  using Ticket = std::uint64_t;
  static constexpr Ticket no_piece = 0; ///< of a broken connection

  StreamCore(World& world, StreamOptions options);

  /// Makes bytes cross a link to host `to`: spawns the connection's pump on host `from`.
  void cross_link(HostId from, HostId to);

  Ticket open(const Flow& flow);
  /// The connection breaks: what is under way is lost, both ends are woken, open() and close() do nothing
  /// and receive() gives nothing until connect().
  void disconnect();
  void connect() { connected_ = true; }
  /// While held nothing arrives at either end; both go on as soon as it is let go.
  void hold(bool on);
  /// One way, from now on.
  void set_latency(double seconds) { options_.latency_s = seconds; }
  bool connected() const { return connected_; }
  /// The ticket the next open() will return.
  Ticket next_ticket() const { return next_; }
  void close(Process& sender, Ticket ticket);
  /// The same for a piece that is no larger than the window and of one burst, with an impatient sender:
  /// `gives_up_s`, asked when there is no room and whenever some is returned, says until when it waits. The
  /// messages that found no room until then are taken back and counted in the answer.
  Rows close_or_take_back(Process& sender, Ticket ticket, const std::function<double()>& gives_up_s);
  void finish();

  struct CorePart {
    Ticket ticket = 0;
    Rows first_message = 0;
    Rows messages = 0;
    double share = 1; ///< of the piece
    Bytes occupied = 0;
    bool first = true;
    bool last = true;
    double on_link_s = 0; ///< when its piece began to cross the link (opened, where there is none)
    double visible_s = 0; ///< when the reader could begin with it
  };
  /// The next part, once its piece has been opened; nothing after finish().
  std::optional<CorePart> receive(Process& reader);
  /// Whether receive would find something at once.
  bool readable() const;
  /// Whether await_sent would not wait.
  bool sent(const CorePart& part) const;
  /// For the last part of a piece: waits until all of it has been sent (and has arrived). False when the
  /// connection broke while the part was in hand: the piece is lost.
  bool await_sent(Process& reader, const CorePart& part);
  void release(const CorePart& part);

  Bytes outstanding_bytes() const { return outstanding_bytes_; }
  bool crosses_link() const { return crosses_link_; }

private:
  struct Piece {
    Ticket ticket;
    Flow flow;
    Bytes occupied;
    Bytes window; ///< as this piece sees it
    bool visible = false;
    bool closed = false;
    bool transferred = true;
    bool arrived = false;
    double on_link_s = 0, visible_s = 0;
    int parts_taken = 0;
  };
  Piece& piece(Ticket ticket);
  bool has(Ticket ticket) const;
  void arrive_if_complete(Piece& piece);
  void give_back(Bytes bytes);
  Rows take_back(Piece& piece);
  void wake_sender_at(double date_s);
  void pump(Process& process, HostId to);
  void deliver(std::function<void()> what);

  World& world_;
  StreamOptions options_;
  Signal readable_, writable_, to_pump_;
  std::deque<Piece> pieces_; ///< front: the oldest not completely released
  Ticket next_ = 1;
  Ticket next_to_read_ = 1;
  Ticket next_to_pump_ = 1;
  Bytes outstanding_bytes_ = 0;
  bool crosses_link_ = false;
  bool finished_ = false;
  bool alarm_pending_ = false; ///< one timer at a time wakes an impatient sender
  bool connected_ = true;
  bool held_ = false;
  std::vector<std::function<void()>> deferred_; ///< arrivals, in order
  std::uint64_t connection_ = 0;                ///< counts disconnections
};

/// A Stream of payloads of type T, one per piece.
template <class T>
class Stream {
public:
  struct Part : StreamCore::CorePart {
    T* payload = nullptr; ///< valid until the last part is released
  };

  Stream(World& world, StreamOptions options) : core_(world, std::move(options)) {}
  void cross_link(HostId from, HostId to) { core_.cross_link(from, to); }

  /// Announces a piece; the caller then spends the time of producing it and calls close().
  StreamCore::Ticket open(T payload, const Flow& flow) {
    if (not core_.connected())
      return StreamCore::no_piece;
    // Waking the reader lets it run at once: the payload must be there first.
    payloads_.push_back({core_.next_ticket(), std::move(payload)});
    return core_.open(flow);
  }
  /// The piece has been produced; blocks while more than the window is outstanding.
  void close(Process& sender, StreamCore::Ticket ticket) { core_.close(sender, ticket); }
  /// See StreamCore. The payload of the piece stays as it is: a reader goes by its part's messages.
  Rows close_or_take_back(Process& sender, StreamCore::Ticket ticket,
                          const std::function<double()>& gives_up_s) {
    return core_.close_or_take_back(sender, ticket, gives_up_s);
  }
  /// A message that costs no time of its own.
  void send(Process& sender, T payload, const Flow& flow) { close(sender, open(std::move(payload), flow)); }
  void disconnect() { core_.disconnect(); }
  void connect() { core_.connect(); }
  bool connected() const { return core_.connected(); }
  void hold(bool on) { core_.hold(on); }
  void set_latency(double seconds) { core_.set_latency(seconds); }
  /// No more pieces will come.
  void finish() { core_.finish(); }

  std::optional<Part> receive(Process& reader) {
    const auto core = core_.receive(reader);
    if (not core)
      return std::nullopt;
    while (payloads_.front().first != core->ticket)
      payloads_.pop_front();
    Part part;
    static_cast<StreamCore::CorePart&>(part) = *core;
    part.payload = &payloads_.front().second;
    return part;
  }
  bool readable() const { return core_.readable(); }
  bool sent(const Part& part) const { return core_.sent(part); }
  bool await_sent(Process& reader, const Part& part) { return core_.await_sent(reader, part); }
  /// Gives the part's share of the window back.
  void release(const Part& part) { core_.release(part); }

  Bytes outstanding_bytes() const { return core_.outstanding_bytes(); }
  bool crosses_link() const { return core_.crosses_link(); }

private:
  StreamCore core_;
  std::deque<std::pair<StreamCore::Ticket, T>> payloads_;
};

} // namespace replisim::engine
