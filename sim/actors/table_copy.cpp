#include "sim/actors/table_copy.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace replisim {

namespace {
/// Rows travel in so many pieces: both halves work at the same time, but for one of them.
constexpr Rows pieces_of_a_copy = 500;
} // namespace

TableCopy::TableCopy(engine::World& world, Params params, engine::StreamOptions stream)
    : world_(world), params_(params), stream_(world, stream), asked_(world, stream.name + " (COPY)") {
  stream_.disconnect();
}

void TableCopy::serve(engine::Process& process) {
  while (true) {
    while (asked_rows_ < 0)
      process.wait(asked_, engine::Activity::Starved);
    const Rows rows = std::exchange(asked_rows_, -1);
    const Rows piece = std::max<Rows>(1, rows / pieces_of_a_copy);
    const std::int64_t copy = copies_;
    const auto goes_on = [&] { return copy == copies_ and stream_.connected(); };
    for (Rows sent = 0; sent < rows and goes_on();) {
      const Rows count = std::min(piece, rows - sent);
      const auto bytes = std::llround(static_cast<double>(count) * params_.cost.wire_bytes);
      const auto ticket = stream_.open({}, {count, bytes, 1});
      process.cpu(static_cast<double>(count) * params_.cost.publisher_s);
      stream_.close(process, ticket);
      sent += count;
    }
    if (goes_on())
      stream_.send(process, {true}, {1, 1, 1});
  }
}

void TableCopy::cancel(const std::string& why) {
  if (not stream_.connected())
    return;
  failure_ = why;
  stream_.disconnect();
}

TableCopy::Result TableCopy::run(engine::Process& process, Rows rows, SubscriberWal& wal) {
  process.sleep(params_.latency_s, engine::Activity::Starved);
  const std::int64_t copy = ++copies_;
  failure_.clear();
  stream_.connect();
  asked_rows_ = rows;
  asked_.notify();
  if (params_.statement_timeout_s > 0)
    world_.at(
        world_.now() + params_.statement_timeout_s,
        [this, copy] {
          if (copy == copies_)
            cancel("canceling statement due to statement timeout");
        },
        true);
  Result result;
  while (auto part = stream_.receive(process)) {
    if (part->payload->last) {
      if (not stream_.await_sent(process, *part))
        break;
      stream_.release(*part);
      stream_.disconnect();
      ++copies_; // nothing is left for the time-out
      return result;
    }
    const double count = static_cast<double>(part->messages);
    spend(process, 0, {count * params_.cost.subscriber_s, 0, count * params_.cost.wal_bytes}, wal);
    result.rows += part->messages;
    if (not stream_.await_sent(process, *part))
      break;
    stream_.release(*part);
  }
  ++copies_;
  result.failure = failure_.empty() ? "the connection is lost" : failure_;
  return result;
}

} // namespace replisim
