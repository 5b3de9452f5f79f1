// The walsender and small transactions in bulk: what they cost, how they travel, when each was where.
#include "sim/actors/walsender.hpp"

#include "sim/actors/batch_observer.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

const DeliveredShape& Walsender::shape_of(const FlowLoad& flow) {
  auto known = shapes_.find(&flow);
  if (known == shapes_.end())
    known = shapes_
                .emplace(&flow, delivered_shape(
                                    flow, filter_.tables(), *params_.costs,
                                    [this](const std::string& table) {
                                      return publishing_of(*params_.publication, table);
                                    },
                                    params_.traits.skips_empty_transactions))
                .first;
  return known->second;
}

/// Small transactions, one after the other: they travel in one piece and keep their commit times.
void Walsender::send_flow(engine::Process& process, const DecodeStep& step) {
  const FlowLoad* flow = step.flow.flow;
  const DeliveredShape& shape = shape_of(*flow);
  const double filter_s = static_cast<double>(step.flow.transactions) * shape.filter_s;
  record_.walsender.filter_s += filter_s;
  record_.walsender.send_s -= filter_s; // counted in with the sending below
  const double count = static_cast<double>(step.flow.transactions);
  Rows written = 0;
  for (const auto& statement : flow->transaction)
    written += statement.rows * step.flow.transactions;
  double& remainder = flow_remainders_[flow];
  remainder += count * shape.rows;
  SmallTransactions message{step.flow, step.top, std::min(written, static_cast<Rows>(remainder + 1e-9)),
                            shape, step.lsn};
  remainder -= static_cast<double>(message.rows);
  auto& delivery = record_.counted(step.top);
  delivery.filtered += written - message.rows;
  if (shape.messages == 0) {
    send_work(process, count * shape.send_s);
    return;
  }
  FlowStation::Batch batch;
  lag_of(process, step, batch, message);
  message.opened_s = process.now();
  delivery.sent += message.rows;
  const Bytes bytes = std::llround(count * shape.bytes) + announce_again(step);
  record_.sent_bytes += bytes;
  const double opened_s = message.opened_s;
  // It decodes a transaction, sends it, decodes the next: a round each.
  const engine::Flow piece{std::max<Rows>(1, std::llround(count * shape.messages)), bytes,
                           step.flow.transactions};
  if (record_.observer != nullptr)
    record_.observer->moved(process, record_, Hop::Sent, step.lsn);
  const auto ticket = out_.open(std::move(message), piece);
  // It is woken by each flush, and by each answer of the client, that finds it asleep.
  const double waking = step.flow.commit_groups + connection_.client_wakeups_per_s() * step.flow.span_s;
  const double work_s = count * shape.send_s;
  const double cpu_s =
      work_s + params_.costs->sender_wakeup_s *
                   wakeups_.count({step.top.value, waking, step.flow.span_s, read_cpu_s_ + work_s},
                                  process.now(), params_.costs->sender_wakeup_s);
  const double begun_s = process.now();
  send_work(process, cpu_s);
  wakeups_.observe(process.now() - begun_s, cpu_s);
  connection_.commit_sent(step.lsn); // the client may report it as soon as it is sent
  close(process, ticket);
  flow_station_.done(batch, process.now() - opened_s, process.now());
}

/// The way of the single transactions up to the sending of the first message.
void Walsender::lag_of(const engine::Process& process, const DecodeStep& step, FlowStation::Batch& batch,
                       SmallTransactions& message) {
  const FlowCommitted& flow = step.flow;
  LagSpan& lag = message.lag;
  lag.transactions = flow.transactions;
  lag.first.begin(flow.first_begin_s, flow.first_commit_s);
  lag.last.begin(flow.last_begin_s, flow.last_commit_s);
  const double flush_s =
      flow.flush_wait_s + std::max(0.0, step.flushed_s - step.inserted_s - flow.flush_excess_s);
  const SpreadDates flushed{flow.first_commit_s + flush_s, flow.last_commit_s + flush_s};
  lag.spend(LagStage::CommitFlush, flushed.first_s, flushed.last_s);
  batch = {step.top.value, flow.transactions, flow.gathered_s,
           step.flushed_s, read_s_,           process.now() - read_s_};
  const auto served = flow_station_.serve(flushed, batch);
  lag.spend(LagStage::WaitingToBeRead, served.started.first_s, served.started.last_s);
  lag.spend(LagStage::Decode, served.ended.first_s, served.ended.last_s);
  message.read_wait_s = served.not_own_s;
  message.read_not_before_s = served.not_before_s;
}

/// Entries of the relation-sync cache that were built again: each announces its table anew.
Bytes Walsender::announce_again(const DecodeStep& step) {
  Bytes bytes = 0;
  for (const auto& statement : step.flow.flow->transaction) {
    const Table& table = params_.tables->at(statement.table);
    const auto built = step.built.find(&table);
    if (built == step.built.end() or not publishing_of(*params_.publication, table.name).published)
      continue;
    const std::int64_t again = built->second - (announced_.insert(&table).second ? 1 : 0);
    bytes += again * (relation_message_bytes(filter_.tables().at(table.name)) + protocol::frame_bytes);
  }
  return bytes;
}

} // namespace replisim
