#include "models/row_shape.hpp"

#include "models/wal_record.hpp"

#include <algorithm>
#include <numeric>

namespace replisim {

namespace {

constexpr Bytes change_struct_bytes = 80;      // sizeof(ReorderBufferChange)
constexpr Bytes tuple_struct_bytes = 24;       // sizeof(HeapTupleData)
constexpr Bytes toast_row_overhead_bytes = 36; // tuple header 24, chunk_id 4, chunk_seq 4, varlena header 4
constexpr Bytes confirm_main_bytes = 2;        // xl_heap_confirm

bool assigned(const StatementStep& statement, int column) {
  return std::any_of(statement.assignments.begin(), statement.assignments.end(),
                     [&](const Assignment& assignment) { return assignment.column == column; });
}

/// Lengths of the chunks of the values that the statement writes out of line, row by row.
std::vector<Bytes> written_chunks(const Table& table, const StatementStep& statement) {
  std::vector<Bytes> lengths;
  if (statement.operation == Operation::Delete)
    return lengths;
  for (const int column : out_of_line_columns(table)) {
    if (statement.operation == Operation::Update and not assigned(statement, column))
      continue;
    Bytes left = table.columns.at(static_cast<std::size_t>(column)).width_bytes;
    for (; left > 0; left -= std::min(left, toast_chunk_bytes))
      lengths.push_back(std::min(left, toast_chunk_bytes));
  }
  return lengths;
}

/// Chunks of the values that the statement's row leaves behind.
Rows deleted_chunks(const Table& table, const StatementStep& statement) {
  if (statement.operation == Operation::Insert)
    return 0;
  Rows chunks = 0;
  for (const int column : out_of_line_columns(table)) {
    if (statement.operation == Operation::Update and not assigned(statement, column))
      continue;
    const Bytes width = table.columns.at(static_cast<std::size_t>(column)).width_bytes;
    chunks += (width + toast_chunk_bytes - 1) / toast_chunk_bytes;
  }
  return chunks;
}

/// A TOAST table whose chunks have `length` bytes of data.
Table toast_table(Bytes length) {
  Table toast;
  toast.name = "pg_toast";
  toast.columns = {{"chunk_id", ColumnType::Int4, 0, {ColumnValue::Kind::Sequence}},
                   {"chunk_seq", ColumnType::Int4, 0, {}},
                   {"chunk_data", ColumnType::Bytea, static_cast<int>(length), {}}};
  toast.primary_key = {0, 1};
  toast.replica_identity = ReplicaIdentity::Nothing;
  return toast;
}

void add(WalVolume& sum, const WalVolume& more) {
  sum.bytes += more.bytes;
  sum.records += more.records;
}

} // namespace

Bytes RowShape::bytes() const { return std::accumulate(before.begin(), before.end(), last); }

RowShape row_shape(const Table& table, const StatementStep& statement) {
  RowShape shape;
  shape.last = change_bytes(table, statement.operation);
  for (const Bytes length : written_chunks(table, statement))
    shape.before.push_back(change_struct_bytes + tuple_struct_bytes + toast_row_overhead_bytes + length);
  shape.incomplete = not shape.before.empty();
  // Chunks of a toast table have no replica identity: their deletes are queued without a tuple.
  const auto deleted = static_cast<std::size_t>(deleted_chunks(table, statement));
  if (statement.operation == Operation::Update)
    shape.before.insert(shape.before.end(), deleted, change_struct_bytes);
  if (statement.operation == Operation::Delete and deleted > 0) { // the row goes first
    shape.before.push_back(shape.last);
    shape.before.insert(shape.before.end(), deleted - 1, change_struct_bytes);
    shape.last = change_struct_bytes;
  }
  if (statement.speculative) { // the insertion, and a change without a tuple that confirms it
    shape.before.push_back(shape.last);
    shape.last = change_struct_bytes;
    shape.incomplete = true;
  }
  return shape;
}

ToastWork toast_work(const Table& table, const StatementStep& statement) {
  return {std::ssize(written_chunks(table, statement)), deleted_chunks(table, statement)};
}

WalVolume statement_wal(const Table& table, const StatementStep& statement, Rows rows,
                        bool full_page_images) {
  WalVolume sum = statement_wal(table, statement.operation, rows, full_page_images);
  for (const int column : out_of_line_columns(table)) {
    if (statement.operation == Operation::Update and not assigned(statement, column))
      continue;
    const Bytes width = table.columns.at(static_cast<std::size_t>(column)).width_bytes;
    const Rows full = width / toast_chunk_bytes;
    const Bytes rest = width % toast_chunk_bytes;
    if (statement.operation != Operation::Delete) {
      add(sum, statement_wal(toast_table(toast_chunk_bytes), Operation::Insert, rows * full, false));
      if (rest > 0)
        add(sum, statement_wal(toast_table(rest), Operation::Insert, rows, false));
    }
    if (statement.operation != Operation::Insert)
      add(sum, statement_wal(toast_table(toast_chunk_bytes), Operation::Delete,
                             rows * (full + (rest > 0 ? 1 : 0)), false));
  }
  if (statement.speculative) {
    sum.bytes += rows * wal::max_align(wal::record_length(confirm_main_bytes, 0));
    sum.records += rows;
  }
  return sum;
}

} // namespace replisim
