#include "sim/engine/stream.hpp"

#include <cmath>
#include <utility>

namespace replisim::engine {

StreamCore::StreamCore(World& world, StreamOptions options)
    : world_(world), options_(std::move(options)), readable_(world, options_.name + " (input)"),
      writable_(world, options_.name + " (window)"), to_pump_(world, options_.name + " (network)") {
  REPLISIM_REQUIRE(options_.window_bytes > 0, "stream {} has a window of {} bytes", options_.name,
                   options_.window_bytes);
}

void StreamCore::cross_link(HostId from, HostId to) {
  crosses_link_ = true;
  world_.spawn(options_.name + " network", from, [this, to](Process& process) { pump(process, to); });
}

StreamCore::Piece& StreamCore::piece(Ticket ticket) {
  REPLISIM_REQUIRE(not pieces_.empty() and ticket >= pieces_.front().ticket and ticket < next_,
                   "stream {} has no piece {}", options_.name, ticket);
  return pieces_[ticket - pieces_.front().ticket];
}

bool StreamCore::has(Ticket ticket) const {
  return not pieces_.empty() and ticket >= pieces_.front().ticket and ticket < next_;
}

void StreamCore::disconnect() {
  connected_ = false;
  ++connection_;
  pieces_.clear();
  deferred_.clear();
  outstanding_bytes_ = 0;
  next_to_read_ = next_to_pump_ = next_;
  readable_.notify();
  writable_.notify();
}

void StreamCore::deliver(std::function<void()> what) {
  if (held_)
    deferred_.push_back(std::move(what));
  else
    what();
}

void StreamCore::hold(bool on) {
  held_ = on;
  if (on)
    return;
  const auto arrivals = std::exchange(deferred_, {});
  for (const auto& arrival : arrivals)
    arrival();
  to_pump_.notify();
}

StreamCore::Ticket StreamCore::open(const Flow& flow) {
  REPLISIM_REQUIRE(flow.messages > 0 and flow.bytes >= 0 and flow.bursts > 0,
                   "stream {}: a piece of {} messages, {} bytes, {} bursts", options_.name, flow.messages,
                   flow.bytes, flow.bursts);
  if (not connected_)
    return no_piece;
  Piece piece;
  piece.ticket = next_++;
  piece.flow = flow;
  piece.occupied = flow.bytes + flow.messages * options_.message_overhead_bytes;
  const double scaled = static_cast<double>(options_.window_bytes) * static_cast<double>(flow.bursts);
  piece.window = std::max(options_.window_bytes,
                          static_cast<Bytes>(std::min(scaled, static_cast<double>(piece.occupied))));
  piece.transferred = not crosses_link_;
  piece.on_link_s = piece.visible_s = world_.now();
  outstanding_bytes_ += piece.occupied;
  pieces_.push_back(piece);
  if (crosses_link_) {
    to_pump_.notify();
  } else {
    pieces_.back().visible = true;
    readable_.notify();
  }
  return piece.ticket;
}

void StreamCore::close(Process& sender, Ticket ticket) {
  if (not has(ticket))
    return;
  Piece& closing = piece(ticket);
  closing.closed = true;
  const Bytes window = closing.window;
  arrive_if_complete(closing);
  const auto connection = connection_;
  while (outstanding_bytes_ > window and connection == connection_)
    sender.wait(writable_, Activity::Blocked);
}

Rows StreamCore::close_or_take_back(Process& sender, Ticket ticket,
                                    const std::function<double()>& gives_up_s) {
  if (not has(ticket))
    return 0;
  piece(ticket).closed = true;
  arrive_if_complete(piece(ticket));
  const auto connection = connection_;
  while (outstanding_bytes_ > options_.window_bytes and connection == connection_) {
    const double until_s = gives_up_s();
    if (world_.now() >= until_s)
      return take_back(piece(ticket));
    wake_sender_at(until_s);
    sender.wait(writable_, Activity::Blocked);
  }
  return 0;
}

/// A full window holds earlier pieces, which the reader has not finished: this one it has not begun.
Rows StreamCore::take_back(Piece& last) {
  REPLISIM_REQUIRE(last.ticket + 1 == next_ and last.parts_taken == 0,
                   "stream {}: messages of piece {} are taken back when they are gone", options_.name,
                   last.ticket);
  const Bytes room = std::max<Bytes>(0, options_.window_bytes - (outstanding_bytes_ - last.occupied));
  const double fitting = static_cast<double>(room) / static_cast<double>(last.occupied);
  const auto kept = static_cast<Rows>(fitting * static_cast<double>(last.flow.messages));
  const Rows back = last.flow.messages - kept;
  const auto kept_bytes = static_cast<Bytes>(static_cast<double>(last.occupied) * static_cast<double>(kept) /
                                             static_cast<double>(last.flow.messages));
  outstanding_bytes_ -= last.occupied - kept_bytes;
  last.occupied = kept_bytes;
  last.flow.messages = kept;
  return back;
}

void StreamCore::wake_sender_at(double date_s) {
  if (alarm_pending_)
    return;
  alarm_pending_ = true;
  world_.at(date_s, [this] {
    alarm_pending_ = false;
    writable_.notify();
  });
}

void StreamCore::arrive_if_complete(Piece& done) {
  if (not done.closed or not done.transferred)
    return;
  const auto arrives = [this, ticket = done.ticket] {
    if (not has(ticket))
      return;
    piece(ticket).arrived = true;
    readable_.notify();
  };
  if (options_.latency_s == 0)
    deliver(arrives);
  else
    world_.at(world_.now() + options_.latency_s, [this, arrives] { deliver(arrives); });
}

void StreamCore::pump(Process& process, HostId to) {
  while (true) {
    while (next_to_pump_ == next_ or held_)
      process.wait(to_pump_, Activity::Starved);
    const Ticket ticket = next_to_pump_++;
    if (has(ticket)) {
      piece(ticket).on_link_s = process.now();
      piece(ticket).visible_s = process.now() + options_.latency_s;
    }
    world_.at(process.now() + options_.latency_s, [this, ticket] {
      deliver([this, ticket] {
        if (not has(ticket))
          return;
        piece(ticket).visible = true;
        readable_.notify();
      });
    });
    const Bytes bytes = piece(ticket).flow.bytes;
    if (bytes > 0)
      world_.transfer(process, to, bytes);
    if (not has(ticket))
      continue; // the connection broke meanwhile
    piece(ticket).transferred = true;
    arrive_if_complete(piece(ticket));
  }
}

void StreamCore::finish() {
  finished_ = true;
  readable_.notify();
}

bool StreamCore::readable() const {
  return next_to_read_ < next_ and pieces_[next_to_read_ - pieces_.front().ticket].visible;
}

bool StreamCore::sent(const CorePart& part) const {
  return not part.last or not has(part.ticket) or pieces_[part.ticket - pieces_.front().ticket].arrived;
}

std::optional<StreamCore::CorePart> StreamCore::receive(Process& reader) {
  while (true) {
    if (next_to_read_ < next_ and piece(next_to_read_).visible)
      break;
    if ((finished_ and next_to_read_ == next_) or not connected_)
      return std::nullopt;
    reader.wait(readable_, Activity::Starved);
  }
  Piece& next = piece(next_to_read_);
  CorePart part;
  part.ticket = next.ticket;
  part.messages = next.flow.messages;
  part.occupied = next.occupied;
  part.on_link_s = next.on_link_s;
  part.visible_s = next.visible_s;
  const bool split = next.occupied > next.window and next.flow.messages > 1;
  if (split) {
    const double head_share =
        static_cast<double>(next.occupied - next.window) / static_cast<double>(next.occupied);
    const Rows head = std::clamp<Rows>(std::llround(head_share * static_cast<double>(next.flow.messages)), 1,
                                       next.flow.messages - 1);
    if (next.parts_taken == 0) {
      part.messages = head;
      part.share = head_share;
      part.occupied = next.occupied - next.window;
      part.last = false;
    } else {
      part.first = false;
      part.first_message = head;
      part.messages = next.flow.messages - head;
      part.share = 1 - head_share;
      part.occupied = next.window;
    }
  }
  ++next.parts_taken;
  if (part.last)
    ++next_to_read_;
  return part;
}

bool StreamCore::await_sent(Process& reader, const CorePart& part) {
  while (part.last and has(part.ticket) and not piece(part.ticket).arrived)
    reader.wait(readable_, Activity::Starved);
  return has(part.ticket);
}

void StreamCore::release(const CorePart& part) {
  if (not has(part.ticket))
    return;
  if (part.last) {
    REPLISIM_REQUIRE(pieces_.front().ticket == part.ticket, "stream {}: piece {} released out of order",
                     options_.name, part.ticket);
    pieces_.pop_front();
  }
  if (options_.latency_s == 0)
    give_back(part.occupied);
  else
    world_.at(world_.now() + options_.latency_s, [this, bytes = part.occupied, connection = connection_] {
      deliver([this, bytes, connection] {
        if (connection == connection_)
          give_back(bytes);
      });
    });
}

void StreamCore::give_back(Bytes bytes) {
  outstanding_bytes_ -= bytes;
  REPLISIM_REQUIRE(outstanding_bytes_ >= 0, "stream {} has {} bytes outstanding", options_.name,
                   outstanding_bytes_);
  writable_.notify();
}

} // namespace replisim::engine
