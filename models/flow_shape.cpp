#include "models/flow_shape.hpp"

#include "models/backend_cost.hpp"
#include "models/protocol.hpp"
#include "models/row_shape.hpp"
#include "models/wal_volume.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// Sizes of a mean row are taken over this many rows.
constexpr Rows sample_rows = 10000;

Rows sample_of(const Table& table, Operation operation) {
  const bool bounded = operation != Operation::Insert and table.initial_rows > 0;
  return bounded ? std::min(sample_rows, table.initial_rows) : sample_rows;
}

double mean_body_bytes(const Table& table, const StatementStep& step) {
  const Rows sample = sample_of(table, step.operation);
  return static_cast<double>(message_body_bytes(table, step.operation, {1, sample}, step.assignments)) /
         static_cast<double>(sample);
}
} // namespace

double columns_sent_seconds(const CostParameters& costs, const Table& table, Operation operation) {
  return columns_sent(table, operation) * (table.binary ? costs.send_column_binary_s : costs.send_column_s);
}

FlowShape flow_shape(const FlowLoad& flow, const std::map<std::string, Table>& tables,
                     const CostParameters& costs) {
  FlowShape shape;
  shape.wal_bytes = static_cast<double>(commit_record_bytes());
  shape.wal_records = 1;
  shape.backend_s = costs.backend_transaction_s;
  for (const auto& step : flow.transaction) {
    const Table& table = tables.at(step.table);
    const Rows sample = sample_of(table, step.operation);
    const WalVolume volume = statement_wal(table, step, sample, false);
    const double rows = static_cast<double>(step.rows);
    shape.rows += rows;
    shape.wal_bytes += rows * static_cast<double>(volume.bytes) / static_cast<double>(sample);
    shape.wal_records += rows * static_cast<double>(volume.records) / static_cast<double>(sample);
    shape.queued_bytes += rows * static_cast<double>(row_shape(table, step).bytes());
    shape.backend_s += rows * backend_row_seconds(costs, table, step);
  }
  return shape;
}

DeliveredShape delivered_shape(const FlowLoad& flow, const std::map<std::string, Table>& tables,
                               const CostParameters& costs, const PublishingOf& publishing,
                               bool skips_empty) {
  DeliveredShape shape;
  shape.send_s = costs.send_transaction_s;
  for (const auto& step : flow.transaction) {
    const Table& table = tables.at(step.table);
    const Publishing rules = publishing(step.table);
    const double rows = static_cast<double>(step.rows);
    const bool asked = rules.sends(step.operation);
    const double sent = asked ? rows * rules.passes : 0;
    const double body = mean_body_bytes(table, step);
    shape.rows += sent;
    shape.filtered += rows - sent;
    shape.filter_s += rows * (rules.published ? rules.filter_cost_s : 0);
    shape.bytes += sent * (body + static_cast<double>(protocol::frame_bytes));
    shape.send_s += rows * (asked ? rules.filter_cost_s : 0) +
                    sent * (costs.send_change_s + columns_sent_seconds(costs, table, step.operation) +
                            body * costs.send_byte_s);
    shape.receive_s += sent * (costs.receive_change_s + body * costs.receive_byte_s);
    shape.sent.push_back(sent);
  }
  if (shape.rows == 0 and skips_empty)
    return shape;
  shape.messages = shape.rows + 2;
  shape.bytes += static_cast<double>(2 * protocol::frame_bytes + protocol::begin_body_bytes +
                                     protocol::commit_body_bytes);
  shape.receive_s += 2 * costs.receive_change_s;
  return shape;
}

ApplyTime apply_time(const FlowLoad& flow, const std::map<std::string, Table>& tables,
                     const DeliveredShape& shape, const ApplyCost& cost) {
  ApplyTime time;
  if (shape.rows == 0)
    return time;
  time.cpu_s = cost.costs().apply_transaction_s;
  time.wal_bytes = static_cast<double>(commit_record_bytes());
  for (std::size_t i = 0; i < flow.transaction.size(); ++i) {
    const StatementStep& step = flow.transaction[i];
    time += shape.sent[i] * cost.row(tables.at(step.table), step.operation, RowOrder::Random);
  }
  return time;
}

double page_image_bytes(const Table& table, double before, double more) {
  if (table.initial_rows == 0)
    return 0;
  const double pages =
      std::max(1.0, static_cast<double>(table.initial_rows) / static_cast<double>(rows_per_heap_page(table)));
  auto touched = [&](double times) {
    return pages <= 1 ? std::min(1.0, times) : pages * -std::expm1(times * std::log1p(-1 / pages));
  };
  constexpr double page_bytes = 8192;
  return page_bytes * (touched(before + more) - touched(before));
}

double curve_factor(const FlowLoad& flow, double t_s) {
  const double t = flow.curve_period_s > 0 ? std::fmod(t_s, flow.curve_period_s) : t_s;
  double factor = 1;
  for (const auto& point : flow.curve)
    if (point.at_s <= t)
      factor = point.factor;
  return factor;
}

double curve_integral(const FlowLoad& flow, double t_s) {
  auto within = [&](double end) {
    double sum = 0, from = 0, factor = 1;
    for (const auto& point : flow.curve) {
      if (point.at_s >= end)
        break;
      sum += factor * (point.at_s - from);
      from = point.at_s;
      factor = point.factor;
    }
    return sum + factor * (end - from);
  };
  if (flow.curve_period_s <= 0)
    return within(t_s);
  const double periods = std::floor(t_s / flow.curve_period_s);
  return periods * within(flow.curve_period_s) + within(t_s - periods * flow.curve_period_s);
}

} // namespace replisim
