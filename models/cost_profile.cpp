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
    CostParameter{
        "backend.statement", &C::backend_statement_s, "s per statement", 0, 500 * us,
        "Parsing, planning, starting and answering one statement, without its rows: CPU of a backend "
        "under pgbench with transactions of two lengths, difference by statements."},
    CostParameter{"backend.index_entry", &C::backend_index_entry_s, per_entry, 0, 20 * us,
                  "One entry in a secondary index: the same INSERT with one more index, difference by rows."},
    CostParameter{
        "backend.foreign_key_check", &C::foreign_key_check_s, "s per check", 0, 100 * us,
        "Checking one foreign key of one row, its lock on the referenced row included: the same INSERT "
        "with and without the constraint, difference by rows."},

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
        "walsender.loopback_message", &C::loopback_message_s, "s per message", 0, 20 * us,
        "The receiving side's protocol work for one message, which on one host the sender's kernel does: CPU "
        "of a "
        "walsender with its client beside it less that with the client on another host, by messages."},
    CostParameter{
        "walsender.send_column", &C::send_column_s, per_column, 0, 5 * us,
        "Output function and copy of one column: the same with more columns, difference by columns."},
    CostParameter{
        "walsender.send_column_binary", &C::send_column_binary_s, per_column, 0, 5 * us,
        "Send function and copy of one column, with binary = true: as send_column, with binary output."},
    CostParameter{
        "walsender.spill_file", &C::spill_file_s, "s per file", 0, 2 * ms,
        "Creating, opening, closing, reopening and removing one spill file: decoding of many one-row "
        "savepoints at 64kB, by files."},
    CostParameter{
        "walsender.search_transaction", &C::search_transaction_s, "s per (sub)transaction", 0, 1 * us,
        "Looking at one (sub)transaction while the largest is searched: the same on a server before "
        "17, growth with the square of the savepoints."},
    CostParameter{"walsender.send_byte", &C::send_byte_s, per_byte, 0, 20 * ns,
                  "One byte of a message: the same with wider columns, difference by bytes."},
    CostParameter{"walsender.send_transaction", &C::send_transaction_s, "s per transaction", 0, 200 * us,
                  "Replaying one committed transaction without its rows: CPU of a walsender over single-row "
                  "transactions against rows of one transaction, difference."},
    CostParameter{"walsender.status_request", &C::status_request_s, "s per request", 0, 1 * ms,
                  "Answering one request for the publisher's status, a look at all running transactions: CPU "
                  "samples of a walsender in it, by requests."},
    CostParameter{
        "walsender.wakeup", &C::sender_wakeup_s, "s per wake-up", 0, 300 * us,
        "One sleep and wake-up of a walsender that has sent all there is, keepalive and the client's "
        "answer included: CPU of a walsender by transactions at one client and at many."},
    CostParameter{
        "walsender.stream_chunk", &C::stream_chunk_s, per_chunk, 0, 2 * ms,
        "Opening and closing one streamed chunk: CPU of a walsender by stream_count, at equal rows and "
        "several logical_decoding_work_mem."},

    CostParameter{
        "decoding.start", &C::decoding_start_s, "s per call", 0, 1,
        "Starting to decode from a slot through SQL: pg_logical_slot_peek_binary_changes() over few "
        "changes, by number of changes, intercept."},
    CostParameter{"invalidation.message", &C::invalidation_message_s, "s per message", 1 * ns, 20 * us,
                  "Executing one invalidation message, callbacks included: decoding of one GRANT on many "
                  "tables by messages (before 14 by messages times commands)."},
    CostParameter{"invalidation.change", &C::invalidation_change_s, "s per change", 0, 50 * us,
                  "Queueing a committed transaction's messages in one open transaction: decoding of open "
                  "transactions with DDL on an unrelated table against none, by open transactions."},
    CostParameter{"invalidation.rebuild_entry", &C::invalidation_rebuild_entry_s, "s per entry", 0, 200 * us,
                  "Building one entry of pgoutput's relation-sync cache: the same with ALTER PUBLICATION on "
                  "another table before 18, half of the difference (it happens twice)."},
    CostParameter{"invalidation.rebuild_relation", &C::invalidation_rebuild_relation_s, "s per relation", 0,
                  200 * us,
                  "Reading one relation's catalog rows into the relcache: the same with ALTER PUBLICATION on "
                  "the table itself, half of the difference, rebuild_entry taken off."},
    CostParameter{"invalidation.map_entry", &C::invalidation_map_entry_s, "s per relation and message", 0,
                  1 * us,
                  "Looking at one cached relation when a relcache message arrives: decoding of ALTER TABLE "
                  "on each of many cached tables, by the square of their number."},

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
    CostParameter{"leader.wakeup", &C::receiver_wakeup_s, "s per wake-up", 0, 400 * us,
                  "One sleep and wake-up of a leader apply worker that has applied all there is, its status "
                  "message included: CPU of an apply worker by transactions at one client and at many."},
    CostParameter{
        "leader.chunk_dispatch", &C::chunk_dispatch_s, per_chunk, 0, 2 * ms,
        "Start and stop of one chunk in the leader (locks, files): its CPU by stream_count, at equal "
        "rows."},

    CostParameter{"apply.ring_read_change", &C::ring_read_change_s, per_change, 0, 10 * us,
                  "Taking one message from the ring: CPU of a parallel apply worker, applying taken off."},
    CostParameter{"apply.insert_row", &C::apply_insert_row_s, per_row, 1 * us, 60 * us,
                  "Applying one INSERT, primary key included: CPU of an apply worker by rows."},
    CostParameter{"apply.delete_row", &C::apply_delete_row_s, per_row, 1 * us, 60 * us,
                  "Finding a row by its key and applying one DELETE: CPU of an apply worker by rows."},
    CostParameter{
        "apply.row_overhead", &C::apply_row_overhead_s, per_row, 0, 30 * us,
        "The part of applying that every operation shares (executor state, snapshot, relation map, "
        "slot filling): a profiler's time of an apply worker outside the table access calls, by rows."},
    CostParameter{
        "apply.update_extra", &C::apply_update_extra_s, per_row, 0, 60 * us,
        "What an UPDATE does beyond deleting one version and inserting another (its own lock record, a "
        "second page, older versions of the key in the index): CPU of an apply worker by rows, less an "
        "INSERT, less a DELETE, plus the overhead that both contain."},
    CostParameter{
        "apply.scan_row", &C::apply_scan_row_s, per_row, 0, 5 * us,
        "Fetching one row of a sequential scan and comparing it: CPU of an apply worker over REPLICA "
        "IDENTITY FULL without a usable index, by rows passed."},
    CostParameter{
        "apply.index_entry", &C::apply_index_entry_s, per_entry, 0, 20 * us,
        "One entry in a secondary index of the subscriber: the same with one more index, difference by "
        "rows."},
    CostParameter{"apply.transaction", &C::apply_transaction_s, "s per transaction", 0, 500 * us,
                  "Begin and local commit of one transaction: CPU of an apply worker over single-row "
                  "transactions against rows of one transaction, difference."},

    CostParameter{"heap.dead_version", &C::dead_version_s, "s per version", 0, 5 * us,
                  "Passing one dead version of a row on the way to the live one (fetch, visibility check), "
                  "in backends and "
                  "workers: one row updated again and again while an old snapshot is held, time of an index "
                  "scan for it by "
                  "versions."},

    CostParameter{"launcher.slot_update", &C::slot_update_s, "s per update", 0, 1 * ms,
                  "Advancing slot pg_conflict_detection and writing its file: CPU of the logical replication "
                  "launcher by advances of the slot's xmin."},

    CostParameter{"client.statement", &C::client_statement_s, "s per statement", 0, 500 * us,
                  "The client program's work for one statement: CPU of pgbench by statements sent."},

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
