#include "sim/actors/consumer.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// How often a client that comes by a timetable looks whether it has everything.
constexpr double drained_check_s = 1;
/// The least time until it tries again after it was told that the slot is active.
constexpr double busy_slot_retry_s = 0.1;
} // namespace

ConsumerClient::ConsumerClient(engine::World& world, const Consumer& params,
                               ReplicationConnection& connection, SubscriptionRecord& record,
                               std::function<void()> progressed)
    : world_(world), params_(params), connection_(connection), record_(record),
      progressed_(std::move(progressed)) {
  if (params_.confirms == Consumer::Confirms::Interval)
    world_.every(params_.confirm_interval_s, [this](double now_s) { confirm_by_interval(now_s); });
  if (params_.connects_every_s > 0)
    world_.every(drained_check_s, [this](double) { leave_when_drained(); });
  if (params_.connected_until_s > 0)
    world_.at(params_.connected_until_s, [this] { connection_.stop(); });
}

void ConsumerClient::run(engine::Process& process) {
  process.sleep(params_.connected_from_s, engine::Activity::Starved);
  while (params_.connected_until_s <= 0 or process.now() < params_.connected_until_s) {
    while (connection_.in_use() or connection_.cut())
      process.sleep(std::max(busy_slot_retry_s, params_.reconnect_delay_s), engine::Activity::Starved);
    if (not connection_.start())
      return; // the slot is lost: there is nothing to come back to
    drain(process);
    wait_for_next_connection(process);
  }
}

void ConsumerClient::wait_for_next_connection(engine::Process& process) {
  if (params_.connects_every_s > 0) {
    ++visits_;
    const double next_s = params_.connected_from_s + static_cast<double>(visits_) * params_.connects_every_s;
    process.sleep(std::max(0.0, next_s - process.now()), engine::Activity::Starved);
  } else {
    // Counted from the break, which may have found the client at work.
    const double next_s = connection_.ended_s() + params_.reconnect_delay_s;
    process.sleep(std::max(1e-6, next_s - process.now()), engine::Activity::Starved);
  }
}

void ConsumerClient::leave_when_drained() {
  if (connection_.connected() and connection_.idle() and connection_.stream().outstanding_bytes() == 0)
    connection_.stop();
}

void ConsumerClient::drain(engine::Process& process) {
  auto& in = connection_.stream();
  while (auto part = in.receive(process))
    take(process, *part);
  connection_.set_client_deaf(false);
  flow_clock_.forget();
  taken_rows_.clear();
}

void ConsumerClient::take(engine::Process& process, const Part& part) {
  auto& in = connection_.stream();
  const ReplicationMessage& message = *part.payload;
  const double begun_s = process.now();
  if (const auto* end = std::get_if<CommitTransaction>(&message))
    record_.taken(end->top, part.on_link_s, part.visible_s, begun_s);
  record_.client_work.start(top_of(message).value, begun_s);
  if (const auto* batch = std::get_if<RowChanges>(&message)) {
    connection_.set_client_deaf(not params_.feedback_in_transaction);
    record_.counted(batch->top).received += part.messages;
    process.cpu(static_cast<double>(part.messages) * params_.cost_per_change_s);
  } else if (const auto* flow = std::get_if<SmallTransactions>(&message)) {
    process.cpu(part.share * static_cast<double>(flow->rows) * params_.cost_per_change_s);
  } else if (std::holds_alternative<BeginTransaction>(message)) {
    connection_.set_client_deaf(not params_.feedback_in_transaction);
  }
  const double waited_from_s = process.now();
  const bool arrived = in.await_sent(process, part);
  record_.client_work.stop(process.now());
  if (not std::holds_alternative<SmallTransactions>(message))
    flow_clock_.other_work(part, begun_s, process.now());
  if (not arrived)
    return; // what was in hand is lost with the connection
  if (const auto* batch = std::get_if<RowChanges>(&message)) {
    record_.counted(batch->top).applied += part.messages;
    for (const auto& run : part_of(batch->runs, part.first_message, part.messages))
      taken_rows_[run.xid] += run.rows.count;
    if (params_.feedback_in_transaction)
      connection_.answer();
  } else if (const auto* flow = std::get_if<SmallTransactions>(&message)) {
    flow_clock_.work(part, begun_s, waited_from_s, process.now());
    if (part.last) {
      auto& delivery = record_.counted(flow->top);
      delivery.received += flow->rows;
      delivery.applied += flow->rows;
      record_.flow_transactions += flow->flow.transactions;
      flow_clock_.finish(
          *flow,
          {in.crosses_link(), 0, process.now(), [this](double taken_s) { return confirmed_s(taken_s); }},
          record_);
      committed(flow->end);
    }
  } else if (const auto* undone = std::get_if<AbortSubtransaction>(&message)) {
    auto& delivery = record_.counted(undone->top);
    const bool whole = undone->subxid == undone->top;
    const Rows rows = whole ? delivery.applied : taken_rows_[undone->subxid];
    delivery.applied -= rows;
    delivery.undone += rows;
    taken_rows_.erase(undone->subxid);
    if (whole)
      connection_.set_client_deaf(false);
  } else if (const auto* end = std::get_if<CommitTransaction>(&message)) {
    auto& delivery = record_.counted(end->top);
    delivery.path.spend(LagStage::Transfer, process.now());
    record_.arrived(delivery, process.now(), confirmed_s(process.now()));
    connection_.set_client_deaf(false);
    committed(end->end);
  }
  in.release(part);
}

void ConsumerClient::committed(Lsn end) {
  taken_ = end;
  record_.replayed(end, world_.now());
  connection_.applied(end);
  if (params_.confirms == Consumer::Confirms::EachCommit)
    connection_.confirm(end);
  progressed_();
}

/// When the server will know of a commit taken at `taken_s`; negative: never.
double ConsumerClient::confirmed_s(double taken_s) const {
  switch (params_.confirms) {
  case Consumer::Confirms::EachCommit:
    return taken_s + connection_.latency_s();
  case Consumer::Confirms::Interval:
    return (std::floor(taken_s / params_.confirm_interval_s) + 1) * params_.confirm_interval_s +
           connection_.latency_s();
  case Consumer::Confirms::Never:
    break;
  }
  return -1;
}

void ConsumerClient::confirm_by_interval(double) {
  if (connection_.connected() and taken_ > connection_.slot().confirmed_flush_lsn())
    connection_.confirm(taken_);
}

} // namespace replisim
