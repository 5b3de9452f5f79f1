// What the reference model needs to know of a case: every size and every price as a number.
#include "models/backend_cost.hpp"
#include "models/flow_shape.hpp"
#include "models/protocol.hpp"
#include "models/wal_volume.hpp"
#include "sim/actors/publishing.hpp"
#include "sim/scenario/subscriber_memory.hpp"
#include "tests/reference/random_case.hpp"
#include "tests/support/scenario_builder.hpp"

namespace replisim::test {

namespace {

/// The rows of a statement: all alike, but for their WAL, which has a page header or an index split now and
/// then.
class RowMaker {
public:
  RowMaker(const Case& from, const Scenario& scenario)
      : from_(from), scenario_(scenario),
        price_(apply_cost_of(scenario, scenario.subscriptions.at("s"), from.costs)) {}

  void add(const StatementStep& statement, reference::Transaction& out) const {
    const Table& table = scenario_.tables.at(statement.table);
    const CostParameters& costs = from_.costs;
    reference::Row row;
    while (from_.tables.at(static_cast<std::size_t>(row.table)).table.name != statement.table)
      ++row.table;
    row.published = from_.tables[static_cast<std::size_t>(row.table)].published;
    row.memory_bytes = change_bytes(table, statement.operation);
    row.body_bytes = message_body_bytes(table, statement.operation, {1, 1}, {});
    row.execute_s = backend_row_seconds(costs, table, statement);
    row.send_s = costs.send_change_s + columns_sent_seconds(costs, table, statement.operation) +
                 static_cast<double>(row.body_bytes) * costs.send_byte_s;
    if (not from_.link)
      row.send_s += costs.loopback_message_s;
    const ApplyTime applying = price_.row(table, statement.operation, RowOrder::Table);
    row.apply_s = applying.cpu_s + applying.read_s;
    WalVolume before;
    for (Rows done = 1; done <= statement.rows; ++done) {
      const WalVolume after = statement_wal(table, statement, done, false);
      row.wal_bytes = after.bytes - before.bytes;
      row.wal_records = after.records - before.records;
      before = after;
      out.acts.emplace_back(row);
    }
  }

private:
  const Case& from_;
  const Scenario& scenario_;
  ApplyCost price_;
};

std::vector<reference::Transaction> transactions_of(const Case& from, const Scenario& scenario) {
  const RowMaker rows(from, scenario);
  std::vector<reference::Transaction> out;
  for (const BatchLoad& load : from.transactions) {
    reference::Transaction transaction{load.name, load.at_s, load.rolls_back, {}};
    for (const auto& step : load.transaction) {
      if (const auto* statement = std::get_if<StatementStep>(&step))
        rows.add(*statement, transaction);
      else if (const auto* savepoint = std::get_if<SavepointStep>(&step))
        transaction.acts.emplace_back(reference::Savepoint{savepoint->name});
      else if (const auto* rollback = std::get_if<RollbackToStep>(&step))
        transaction.acts.emplace_back(reference::RollbackTo{rollback->savepoint});
      else if (const auto* release = std::get_if<ReleaseStep>(&step))
        transaction.acts.emplace_back(reference::Release{release->savepoint});
      else
        transaction.acts.emplace_back(reference::Pause{std::get<PauseStep>(step).seconds});
    }
    out.push_back(std::move(transaction));
  }
  return out;
}

void add_connection(const Case& from, reference::Input& input) {
  input.crosses_link = from.link.has_value();
  if (from.link) {
    input.window_bytes = from.link->window_bytes;
    input.link_latency_s = from.link->latency_s;
    input.link_bytes_per_s = from.link->bandwidth_bytes_per_s;
  } else { // a Unix-domain socket: MODEL.md, The socket between walsender and leader
    input.window_bytes = 212'992;
    input.message_overhead_bytes = 640;
  }
}

void add_costs(const CostParameters& costs, reference::Input& input) {
  input.wakeup_s = costs.wakeup_latency_s;
  input.read_byte_s = costs.wal_read_byte_s;
  input.read_record_s = costs.wal_read_record_s;
  input.decode_s = costs.decode_change_s;
  input.discard_s = costs.discard_change_s;
  input.spill_s = costs.spill_change_s;
  input.restore_s = costs.restore_change_s;
  input.spill_file_s = costs.spill_file_s;
  input.send_transaction_s = costs.send_transaction_s;
  input.send_control_s = costs.send_change_s + (input.crosses_link ? 0 : costs.loopback_message_s);
  input.stream_chunk_s = costs.stream_chunk_s;
  input.start_s = costs.worker_start_s;
  input.receive_s = costs.receive_change_s;
  input.receive_byte_s = costs.receive_byte_s;
  input.forward_s = costs.forward_change_s;
  input.file_write_s = costs.file_write_change_s;
  input.file_read_s = costs.file_read_change_s;
  input.chunk_dispatch_s = costs.chunk_dispatch_s;
  input.ring_read_s = costs.ring_read_change_s;
}

} // namespace

reference::Input reference_input(const Case& from) {
  const Scenario scenario = scenario_of(from);
  const VersionTraits traits = traits_of(scenario.servers.at("pub").version);
  reference::Input input;
  input.commit_record_bytes = commit_record_bytes();
  constexpr std::size_t most_released = 20;
  for (std::size_t released = 0; released <= most_released; ++released)
    input.abort_record_bytes.push_back(abort_record_bytes(released));
  input.assignment_bytes = top_xid_bytes();
  input.flushes = from.fsync;
  input.commit_waits = from.commit_waits;
  input.flush_latency_s = from.fsync_latency_s;
  input.flush_bytes_per_s = scenario.hosts.at("db").disks.front().write_bandwidth_bytes_per_s;
  input.wal_writer_delay_s = from.wal_writer_delay_ms * ms;
  input.work_mem_bytes = Bytes{from.work_mem_kb} * 1024;
  input.mode = from.streaming == Streaming::Off  ? reference::Mode::Off
               : from.streaming == Streaming::On ? reference::Mode::File
                                                 : reference::Mode::Workers;
  input.looks_up_aborted = traits.drops_aborted_at_eviction;
  input.search_s = traits.eviction_uses_heap ? 0 : from.costs.search_transaction_s;
  input.brackets_empty_chunks = false;
  input.skips_empty = traits.skips_empty_transactions;
  add_connection(from, input);
  add_costs(from.costs, input);
  input.pool = from.pool;
  input.places = from.workers - 1; // the leader has one
  for (const CaseTable& made : from.tables)
    input.relation_bytes.push_back(relation_message_bytes(made.table));
  input.transactions = transactions_of(from, scenario);
  return input;
}

} // namespace replisim::test
