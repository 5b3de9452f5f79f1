#include "sim/actors/sql_decoding.hpp"

#include "models/base/check.hpp"
#include "models/protocol.hpp"
#include "sim/actors/replication_messages.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// CPU is spent in portions of about this size: a call is one thread, and nobody sees its parts.
constexpr double portion_s = 1e-3;
} // namespace

SqlDecoding::SqlDecoding(engine::World& world, Params params, Decoder& decoder, WalLog& wal,
                         WalLog::Reader& reader, Slot& slot, DecodeRecord& record)
    : params_(std::move(params)), decoder_(decoder), wal_(wal), reader_(reader), slot_(slot), record_(record),
      filter_(*params_.publication, *params_.tables, false),
      ended_(world, params_.calls->name + " (end of the workload)") {}

void SqlDecoding::run(engine::Process& process) {
  const DecodeCalls& calls = *params_.calls;
  if (calls.at_s < 0)
    while (not params_.loads_over())
      process.wait(ended_, engine::Activity::Starved);
  const double first_s = std::max(calls.at_s, process.now());
  for (std::int64_t i = 0; i < calls.times and not slot_.lost(); ++i) {
    const double start_s = first_s + static_cast<double>(i) * calls.every_s;
    process.sleep(std::max(0.0, start_s - process.now()), engine::Activity::Starved);
    call(process);
  }
  finished_ = true;
}

void SqlDecoding::call(engine::Process& process) {
  const double begun_s = process.now();
  slot_.set_active(true, begun_s);
  decoder_.start(slot_.restart_lsn(), slot_.confirmed_flush_lsn());
  reader_.seek(slot_.restart_lsn());
  announced_.clear();
  messages_ = 0;
  read_ = sent_ = filtered_ = dropped_ = 0;
  const Lsn end = wal_.flushed();
  double due_s = params_.costs->decoding_start_s;
  while (reader_.position() < end) {
    const auto entry = reader_.try_next();
    if (not entry)
      break;
    auto decoded = decoder_.decode(*entry);
    if (not decoded.failure.empty())
      params_.failed(decoded.failure);
    if (not decoded.discarded)
      read_ += decoded.read;
    dropped_ += decoded.discarded_rows;
    for (const auto& [top, rows] : decoded.dropped)
      dropped_ += rows;
    for (const auto& step : decoded.steps)
      due_s += perform(step);
    if (decoded.restart_candidate and not params_.calls->peeks) {
      slot_.propose_restart(*decoded.restart_candidate, entry->start);
      slot_.propose_xmin(decoded.oldest_xid, entry->start);
    }
    if (due_s >= portion_s) {
      process.cpu(due_s);
      due_s = 0;
    }
  }
  process.cpu(due_s);
  const Rows left = read_ - sent_ - filtered_ - dropped_;
  REPLISIM_REQUIRE(left >= 0 and (left == 0 or decoder_.buffer().spill_file_bytes() > 0 or
                                  decoder_.buffer().memory_bytes() > 0),
                   "a call read {} changes, returned {}, filtered {} and dropped {}", read_, sent_, filtered_,
                   dropped_);
  if (not params_.calls->peeks)
    slot_.confirm(end);
  slot_.set_active(false, process.now());
  record_.seconds.push_back(process.now() - begun_s);
  record_.messages = messages_;
}

double SqlDecoding::perform(const DecodeStep& step) {
  const auto& costs = *params_.costs;
  double cpu_s = step.cpu_s + static_cast<double>(step.restored) * costs.restore_change_s;
  switch (step.kind) {
  case DecodeStep::Kind::Work:
    break;
  case DecodeStep::Kind::Chunk:
  case DecodeStep::Kind::StreamAbort:
  case DecodeStep::Kind::FinishPrepared:
  case DecodeStep::Kind::LastChunk:
    REPLISIM_REQUIRE(false, "{} streams, which it does not ask for", params_.calls->name);
  case DecodeStep::Kind::Replay:
    cpu_s += costs.send_transaction_s + rows_s(step);
    decoder_.finished(step.top);
    break;
  case DecodeStep::Kind::Flow:
    cpu_s += flow_s(step);
    break;
  }
  return cpu_s;
}

/// Begin, the rows, commit, and a Relation message for each table that is new or was built again.
double SqlDecoding::rows_s(const DecodeStep& step) {
  const auto& costs = *params_.costs;
  const auto passed = filter_.pass(step.runs);
  const Rows rows = rows_of(passed.runs);
  filtered_ += passed.filtered;
  sent_ += rows;
  double cpu_s = passed.cpu_s;
  if (rows == 0 and params_.traits.skips_empty_transactions)
    return cpu_s;
  std::int64_t messages = rows + 2;
  auto built = step.built;
  for (const auto& run : passed.runs) {
    const auto again = built.extract(run.table);
    const bool first = announced_.insert(run.table).second;
    messages += std::max<std::int64_t>(first ? 1 : 0, again.empty() ? 0 : again.mapped());
    cpu_s += static_cast<double>(run.rows.count) *
             columns_sent_seconds(costs, run.wire_table(), run.statement->operation);
  }
  messages_ += messages;
  return cpu_s + static_cast<double>(messages) * costs.send_change_s +
         static_cast<double>(body_bytes_of(passed.runs)) * costs.send_byte_s;
}

double SqlDecoding::flow_s(const DecodeStep& step) {
  const auto shape = delivered_shape(
      *step.flow.flow, filter_.tables(), *params_.costs,
      [this](const std::string& table) { return publishing_of(*params_.publication, table); },
      params_.traits.skips_empty_transactions);
  const auto count = static_cast<double>(step.flow.transactions);
  Rows written = 0;
  for (const auto& statement : step.flow.flow->transaction)
    written += statement.rows * step.flow.transactions;
  const Rows sent = std::min(written, static_cast<Rows>(std::llround(count * shape.rows)));
  sent_ += sent;
  filtered_ += written - sent;
  messages_ += std::llround(count * shape.messages);
  return count * shape.send_s;
}

} // namespace replisim
