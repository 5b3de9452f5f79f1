#include "tests/reference/subscriber_part.hpp"

#include <algorithm>

namespace reference {

namespace {
constexpr std::int64_t frame_bytes = 30; // CopyData 5, 'w', two LSNs and a time
constexpr std::int64_t xid_bytes = 4;
} // namespace

double Subscriber::arrival(std::int64_t bytes, double sent_s) {
  if (not input_.crosses_link)
    return sent_s;
  link_free_s_ = std::max(link_free_s_, sent_s) + static_cast<double>(bytes) / input_.link_bytes_per_s;
  return link_free_s_ + input_.link_latency_s;
}

double Subscriber::deliver(const Message& message, double sent_s) {
  const bool carries_xid =
      message.streamed and (message.kind == Message::Kind::Row or message.kind == Message::Kind::Relation);
  const std::int64_t bytes = frame_bytes + message.body_bytes + (carries_xid ? xid_bytes : 0);
  out_.sent_bytes += bytes;
  free_s_ = std::max(free_s_, arrival(bytes, sent_s));
  take(message);
  const std::int64_t occupied = bytes + input_.message_overhead_bytes;
  outstanding_bytes_ += occupied;
  taken_.emplace_back(free_s_ + (input_.crosses_link ? input_.link_latency_s : 0), occupied);
  double now_s = sent_s;
  while (not taken_.empty() and (taken_.front().first <= now_s or outstanding_bytes_ > input_.window_bytes)) {
    now_s = std::max(now_s, taken_.front().first);
    outstanding_bytes_ -= taken_.front().second;
    taken_.pop_front();
  }
  return now_s;
}

/// The leader, from the moment at which it has the message and is free.
void Subscriber::take(const Message& message) {
  switch (message.kind) {
  case Message::Kind::Relation: // has no price of its own
    return;
  case Message::Kind::Begin:
    free_s_ += input_.receive_s;
    return;
  case Message::Kind::Commit:
    free_s_ += input_.receive_s;
    committed(message, free_s_);
    return;
  case Message::Kind::Row:
    if (message.streamed) {
      take_streamed(message);
      return;
    }
    begin_applying(message, free_s_);
    free_s_ += input_.receive_s + static_cast<double>(message.body_bytes) * input_.receive_byte_s;
    free_s_ += message.row->apply_s;
    ++out_.transactions[message.transaction].rows_applied;
    return;
  default:
    take_streamed(message);
  }
}

void Subscriber::take_streamed(const Message& message) {
  if (message.kind == Message::Kind::StreamStop)
    return;
  if (message.kind == Message::Kind::StreamStart) {
    if (not streamed_.contains(message.top))
      first_chunk(message);
    free_s_ += input_.chunk_dispatch_s;
    return;
  }
  free_s_ += input_.receive_s;
  const auto known = streamed_.find(message.top);
  if (known == streamed_.end()) { // no chunk ever came: nothing to commit or undo
    if (message.kind == Message::Kind::StreamCommit)
      committed(message, free_s_);
    return;
  }
  Streamed& streamed = known->second;
  Worker* worker = streamed.worker < 0 ? nullptr : &workers_[static_cast<std::size_t>(streamed.worker)];
  std::int64_t& applied = out_.transactions[message.transaction].rows_applied;
  if (message.kind == Message::Kind::Row) {
    free_s_ += static_cast<double>(message.body_bytes) * input_.receive_byte_s;
    if (worker == nullptr) {
      free_s_ += input_.file_write_s;
      streamed.file.emplace_back(message.xid, message.row);
      return;
    }
    free_s_ += input_.forward_s;
    worker->free_s = std::max(worker->free_s, free_s_);
    begin_applying(message, worker->free_s);
    worker->free_s += input_.ring_read_s + message.row->apply_s;
    ++streamed.applied[message.xid];
    ++applied;
    return;
  }
  const bool whole = message.kind == Message::Kind::StreamCommit or message.xid == message.top;
  if (message.kind == Message::Kind::StreamAbort) {
    if (whole)
      applied = 0;
    else
      applied -= streamed.applied[message.xid];
    streamed.applied.erase(message.xid);
    cut_file(streamed, message.xid);
  } else if (worker == nullptr) {
    apply_file(message, streamed);
  }
  if (not whole)
    return;
  if (worker != nullptr) { // the leader waits for it
    free_s_ = std::max(free_s_, worker->free_s);
    release(streamed);
  }
  if (message.kind == Message::Kind::StreamCommit)
    committed(message, free_s_);
  streamed_.erase(known);
}

/// All of it, and nothing is read meanwhile.
void Subscriber::apply_file(const Message& message, Streamed& streamed) {
  for (const auto& [xid, row] : streamed.file) {
    begin_applying(message, free_s_);
    free_s_ += input_.file_read_s + row->apply_s;
    ++out_.transactions[message.transaction].rows_applied;
  }
}

/// The file ends where the subtransaction began.
void Subscriber::cut_file(Streamed& streamed, int xid) {
  const auto begin = std::find_if(streamed.file.begin(), streamed.file.end(),
                                  [&](const auto& entry) { return entry.first == xid; });
  streamed.file.erase(begin, streamed.file.end());
}

int Subscriber::alive() const {
  return static_cast<int>(std::count_if(workers_.begin(), workers_.end(), [](const Worker& worker) {
    return worker.state != Worker::State::Absent;
  }));
}

/// Assigned once and for all: an idle worker, a new one if there may be one more, or none.
void Subscriber::first_chunk(const Message& message) {
  Streamed streamed;
  if (input_.mode == Mode::Workers) {
    workers_.resize(static_cast<std::size_t>(input_.pool));
    for (const Worker::State wanted : {Worker::State::Idle, Worker::State::Absent}) {
      const auto found = std::find_if(workers_.begin(), workers_.end(),
                                      [&](const Worker& worker) { return worker.state == wanted; });
      if (found == workers_.end() or (wanted == Worker::State::Absent and alive() >= input_.places))
        continue;
      found->state = Worker::State::Busy;
      free_s_ += wanted == Worker::State::Absent ? input_.start_s : 0;
      streamed.worker = static_cast<int>(found - workers_.begin());
      break;
    }
    out_.without_worker += streamed.worker < 0 ? 1 : 0;
  }
  streamed_[message.top] = streamed;
}

/// More than half of the pool alive, this one included: it ends.
void Subscriber::release(Streamed& streamed) {
  Worker& worker = workers_[static_cast<std::size_t>(streamed.worker)];
  worker.state = alive() > input_.pool / 2 ? Worker::State::Absent : Worker::State::Idle;
}

void Subscriber::begin_applying(const Message& message, double at_s) {
  double& first_s = out_.transactions[message.transaction].first_applied_s;
  if (first_s < 0)
    first_s = at_s;
}

void Subscriber::committed(const Message& message, double at_s) {
  out_.transactions[message.transaction].applied_s = at_s;
}

} // namespace reference
