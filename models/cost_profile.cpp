#include "models/cost_profile.hpp"

#include <algorithm>
#include <array>

namespace replisim {

namespace {

constexpr double ns = 1e-9;
constexpr double us = 1e-6;
constexpr double ms = 1e-3;

constexpr std::string_view per_row = "s per row";
constexpr std::string_view per_entry = "s per index entry";
constexpr std::string_view per_change = "s per change";
constexpr std::string_view per_byte = "s per byte";
constexpr std::string_view per_column = "s per column";
constexpr std::string_view per_chunk = "s per chunk";
constexpr std::string_view plain = "s";

using C = CostParameters;

// Whole acts (a row inserted, a change decoded) take time on any machine; parts that add to another
// act may be zero where a measurement cannot tell them apart.
constexpr std::array rows = {
    CostParameter{"backend.insert_row", &C::backend_insert_row_s, per_row, 0.2 * us, 40 * us,
                  "Executing INSERT for one row, WAL and primary key included: INSERT ... SELECT "
                  "generate_series on an idle server, time by rows."},
    CostParameter{"backend.update_row", &C::backend_update_row_s, per_row, 0.2 * us, 60 * us,
                  "Executing UPDATE for one row, WAL included: one UPDATE of a whole table, time by rows."},
    CostParameter{"backend.delete_row", &C::backend_delete_row_s, per_row, 0.1 * us, 40 * us,
                  "Executing DELETE for one row, WAL included: one DELETE of a whole table, time by rows."},
    CostParameter{"backend.transaction", &C::backend_transaction_s, "s per transaction", 0, 500 * us,
                  "Begin, commit and client handling of one transaction without its rows and without the "
                  "flush: single-row transactions against rows of one transaction, difference."},
    CostParameter{"backend.index_entry", &C::backend_index_entry_s, per_entry, 0, 20 * us,
                  "One entry in a secondary index: the same INSERT with one more index, difference by rows."},

    CostParameter{"walsender.wal_read_byte", &C::wal_read_byte_s, per_byte, 0.1 * ns, 20 * ns,
                  "Reading and checking one byte of WAL: CPU of a walsender over WAL of another database, "
                  "full-page images against none, by bytes."},
    CostParameter{"walsender.wal_read_record", &C::wal_read_record_s, "s per record", 0.05 * us, 5 * us,
                  "Finding, assembling and dispatching one WAL record of any kind: CPU of a walsender over "
                  "WAL of another database, by records."},
    CostParameter{"walsender.decode_change", &C::decode_change_s, per_change, 0.05 * us, 10 * us,
                  "Decoding one row change and queueing it: decoding of a table outside the publication, "
                  "WAL reading taken off."},
    CostParameter{
        "walsender.discard_change", &C::discard_change_s, per_change, 0, 5 * us,
        "Freeing one queued change of a transaction rolled back: CPU at the abort record, by changes."},
    CostParameter{"walsender.spill_change", &C::spill_change_s, per_change, 0.2 * us, 20 * us,
                  "Writing one change to a spill file: decoding of a transaction rolled back, "
                  "logical_decoding_work_mem 64kB against 1GB, difference by changes."},
    CostParameter{"walsender.restore_change", &C::restore_change_s, per_change, 0.2 * us, 20 * us,
                  "Reading one change back from a spill file: the same with COMMIT, spilling taken off."},
    CostParameter{
        "walsender.send_change", &C::send_change_s, per_change, 0.2 * us, 30 * us,
        "Publication lookup, message frame and send() of one change: CPU of a walsender with a reader "
        "that discards, by changes."},
    CostParameter{
        "walsender.send_column", &C::send_column_s, per_column, 0, 5 * us,
        "Output function and copy of one column: the same with more columns, difference by columns."},
    CostParameter{"walsender.send_byte", &C::send_byte_s, per_byte, 0, 20 * ns,
                  "One byte of a message: the same with wider columns, difference by bytes."},
    CostParameter{"walsender.send_transaction", &C::send_transaction_s, "s per transaction", 0, 200 * us,
                  "Replaying one committed transaction without its rows: CPU of a walsender over single-row "
                  "transactions against rows of one transaction, difference."},
    CostParameter{
        "walsender.stream_chunk", &C::stream_chunk_s, per_chunk, 0, 2 * ms,
        "Opening and closing one streamed chunk: CPU of a walsender by stream_count, at equal rows and "
        "several logical_decoding_work_mem."},

    CostParameter{"leader.receive_change", &C::receive_change_s, per_change, 0.1 * us, 30 * us,
                  "Receiving and dispatching one message: CPU of a leader apply worker that discards rows of "
                  "tables not yet ready, by messages."},
    CostParameter{"leader.receive_byte", &C::receive_byte_s, per_byte, 0, 20 * ns,
                  "One byte received: the same with wider columns, difference by bytes."},
    CostParameter{"leader.forward_change", &C::forward_change_s, per_change, 0, 10 * us,
                  "Copying one message into the ring of a parallel apply worker: CPU of the leader with "
                  "streaming = parallel, receiving taken off."},
    CostParameter{
        "leader.file_write_change", &C::file_write_change_s, per_change, 0, 20 * us,
        "Appending one message to the file of streamed changes: CPU of the leader with streaming = on "
        "before the commit, receiving taken off."},
    CostParameter{
        "leader.file_read_change", &C::file_read_change_s, per_change, 0, 20 * us,
        "Reading one message back from that file: CPU of the leader after the commit, applying taken "
        "off."},
    CostParameter{
        "leader.chunk_dispatch", &C::chunk_dispatch_s, per_chunk, 0, 2 * ms,
        "Start and stop of one chunk in the leader (locks, files): its CPU by stream_count, at equal "
        "rows."},

    CostParameter{"apply.ring_read_change", &C::ring_read_change_s, per_change, 0, 10 * us,
                  "Taking one message from the ring: CPU of a parallel apply worker, applying taken off."},
    CostParameter{"apply.insert_row", &C::apply_insert_row_s, per_row, 1 * us, 60 * us,
                  "Applying one INSERT, primary key included: CPU of an apply worker by rows."},
    CostParameter{"apply.update_row", &C::apply_update_row_s, per_row, 1 * us, 80 * us,
                  "Finding a row by its key and applying one UPDATE: CPU of an apply worker by rows."},
    CostParameter{"apply.delete_row", &C::apply_delete_row_s, per_row, 1 * us, 60 * us,
                  "Finding a row by its key and applying one DELETE: CPU of an apply worker by rows."},
    CostParameter{
        "apply.index_entry", &C::apply_index_entry_s, per_entry, 0, 20 * us,
        "One entry in a secondary index of the subscriber: the same with one more index, difference by "
        "rows."},
    CostParameter{"apply.transaction", &C::apply_transaction_s, "s per transaction", 0, 500 * us,
                  "Begin and local commit of one transaction: CPU of an apply worker over single-row "
                  "transactions against rows of one transaction, difference."},

    CostParameter{
        "latency.wakeup", &C::wakeup_latency_s, plain, 0, 1 * ms,
        "From a latch or socket event until the sleeping process runs: round trips of a ping between "
        "two processes, halved."},
    CostParameter{
        "latency.worker_start", &C::worker_start_s, plain, 0.1 * ms, 1,
        "From the request for a parallel apply worker until it is attached: time between the two log "
        "lines."},
};

static_assert(rows.size() == sizeof(CostParameters) / sizeof(double),
              "every field of CostParameters has one row, and all of them are doubles");

} // namespace

const std::vector<CostParameter>& cost_parameters() {
  static const std::vector<CostParameter> table(rows.begin(), rows.end());
  return table;
}

const CostParameter* find_cost_parameter(std::string_view name) {
  const auto& table = cost_parameters();
  const auto row = std::find_if(table.begin(), table.end(),
                                [&](const CostParameter& candidate) { return candidate.name == name; });
  return row == table.end() ? nullptr : &*row;
}

} // namespace replisim
