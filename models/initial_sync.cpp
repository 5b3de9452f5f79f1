#include "models/initial_sync.hpp"

#include "models/flow_shape.hpp"
#include "models/protocol.hpp"

#include <algorithm>

namespace replisim {

std::string to_string(SyncState state) {
  switch (state) {
  case SyncState::Init:
    return "init";
  case SyncState::DataSync:
    return "copying";
  case SyncState::SyncWait:
    return "waiting for the leader";
  case SyncState::Catchup:
    return "catching up";
  case SyncState::SyncDone:
    return "synchronised";
  case SyncState::Ready:
    break;
  }
  return "ready";
}

CopyCost copy_cost(const Table& table, const ApplyCost& applying, double rate_bytes_per_s, double speed) {
  const CostParameters& costs = applying.costs();
  const double columns = columns_sent(table, Operation::Insert);
  // A row of text: a tab or a newline after each value, in place of the five bytes before it and the header.
  constexpr double insert_header_bytes = 8, column_header_bytes = 5;
  const double row_bytes = static_cast<double>(message_body_bytes(table, Operation::Insert, {1, 1}, {})) -
                           insert_header_bytes - (column_header_bytes - 1) * columns;
  CopyCost cost;
  constexpr double copy_data_header_bytes = 5;
  cost.wire_bytes = row_bytes + copy_data_header_bytes;
  cost.heap_bytes = static_cast<double>(heap_page_bytes) / rows_per_heap_page(table);
  cost.publisher_s = columns_sent_seconds(costs, table, Operation::Insert) + row_bytes * costs.send_byte_s;
  const ApplyTime insert = applying.row(table, Operation::Insert, RowOrder::Table);
  cost.wal_bytes = insert.wal_bytes;
  cost.subscriber_s = rate_bytes_per_s > 0
                          ? cost.heap_bytes / rate_bytes_per_s * speed
                          : row_bytes * costs.receive_byte_s +
                                std::max(0.0, insert.cpu_s - shared_row_seconds(costs)) + insert.read_s;
  return cost;
}

double SyncLaunches::earliest_s(std::size_t table) const {
  return started_s_[table] ? *started_s_[table] + retry_s_ : 0;
}

void SyncLaunches::started(std::size_t table, double now_s) {
  started_s_[table] = now_s;
  ++running_;
}

std::optional<double> catch_up_seconds(double backlog_bytes, double rate, double capacity) {
  if (backlog_bytes <= 0)
    return 0;
  if (capacity <= rate)
    return std::nullopt;
  return backlog_bytes / (capacity - rate);
}

} // namespace replisim
