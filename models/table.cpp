// Tables: tuple lengths, change sizes and message sizes from column definitions.
#include "models/table.hpp"

#include "models/base/check.hpp"

#include <algorithm>

namespace replisim {

namespace {

constexpr Bytes tuple_header_bytes = 23; // SizeofHeapTupleHeader
constexpr Bytes page_bytes = 8192;
constexpr Bytes page_header_bytes = 24;
constexpr Bytes item_pointer_bytes = 4;
constexpr Bytes max_short_varlena_bytes = 126; // longer values get a 4-byte header
constexpr Bytes toast_target_bytes = 2032;     // TOAST_TUPLE_THRESHOLD and TOAST_TUPLE_TARGET
constexpr Bytes toast_pointer_bytes = 18;      // varattrib_1b_e with a varatt_external

constexpr Bytes align(Bytes offset, Bytes alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

constexpr Bytes max_align(Bytes offset) { return align(offset, 8); }

struct TypeLayout {
  Bytes length; // 0: variable width
  Bytes alignment;
};

// typlen and typalign of pg_type.
TypeLayout layout_of(ColumnType type) {
  switch (type) {
  case ColumnType::Bool:
    return {1, 1};
  case ColumnType::Int2:
    return {2, 2};
  case ColumnType::Int4:
  case ColumnType::Float4:
  case ColumnType::Date:
    return {4, 4};
  case ColumnType::Int8:
  case ColumnType::Float8:
  case ColumnType::Timestamp:
  case ColumnType::Timestamptz:
    return {8, 8};
  case ColumnType::Uuid:
    return {16, 1};
  case ColumnType::Text:
  case ColumnType::Bytea:
  case ColumnType::Numeric:
  case ColumnType::Jsonb:
    return {0, 4};
  }
  REPLISIM_REQUIRE(false, "column type {}", static_cast<int>(type));
  return {};
}

// Offset after `column`'s value when the row's data have reached `offset` (heap_compute_data_size).
Bytes end_of_value(const Column& column, Bytes offset) {
  const TypeLayout layout = layout_of(column.type);
  if (layout.length > 0)
    return align(offset, layout.alignment) + layout.length;
  if (column.width_bytes <= max_short_varlena_bytes)
    return offset + 1 + column.width_bytes;
  return align(offset, layout.alignment) + 4 + column.width_bytes;
}

// Length of a tuple, header included, whose `out_of_line` columns are pointers.
Bytes length_with(const Table& table, const std::vector<int>& out_of_line) {
  Bytes data = 0;
  for (int i = 0; i < std::ssize(table.columns); ++i) {
    const bool pointer = std::find(out_of_line.begin(), out_of_line.end(), i) != out_of_line.end();
    data =
        pointer ? data + toast_pointer_bytes : end_of_value(table.columns[static_cast<std::size_t>(i)], data);
  }
  return max_align(tuple_header_bytes) + data;
}

// Sum of the decimal digits' count over 1..n, modulo 2^64: every power of ten adds a digit to all numbers
// from it on. The difference of two such sums is right where it fits itself.
std::uint64_t digits_up_to(std::int64_t n) {
  std::uint64_t sum = 0;
  for (std::int64_t power = 1; power <= n; power *= 10) {
    sum += static_cast<std::uint64_t>(n - power + 1);
    if (power > n / 10)
      break;
  }
  return sum;
}

bool in_primary_key(const Table& table, int column) {
  return std::find(table.primary_key.begin(), table.primary_key.end(), column) != table.primary_key.end();
}

// 1 byte of kind, then for a value 4 bytes of length and its text (proto.c: logicalrep_write_tuple).
constexpr Bytes null_column_bytes = 1;
constexpr Bytes column_header_bytes = 5;
constexpr Bytes message_header_bytes = 8;   // type, relation oid, tuple kind, column count
constexpr Bytes old_tuple_header_bytes = 3; // tuple kind, column count

Bytes column_body_bytes(const Column& column, RowRange rows, bool binary) {
  return column_header_bytes * rows.count +
         (binary ? binary_bytes(column) * rows.count : column_text_bytes(column, rows));
}

// All columns of a row, or its key with nulls in the other columns' places.
Bytes tuple_body_bytes(const Table& table, RowRange rows, bool key_only) {
  Bytes sum = 0;
  for (int i = 0; i < std::ssize(table.columns); ++i)
    if (is_published(table, i))
      sum += key_only and not in_primary_key(table, i)
                 ? null_column_bytes * rows.count
                 : column_body_bytes(table.columns[static_cast<std::size_t>(i)], rows, table.binary);
  return sum;
}

// What is saved by values out of line that the UPDATE leaves as they are.
Bytes unchanged_body_bytes(const Table& table, RowRange rows, const std::vector<Assignment>& assignments) {
  Bytes saved = 0;
  for (const int column : out_of_line_columns(table)) {
    const bool changed = std::any_of(assignments.begin(), assignments.end(),
                                     [&](const Assignment& one) { return one.column == column; });
    if (is_published(table, column) and not changed)
      saved += column_body_bytes(table.columns[static_cast<std::size_t>(column)], rows, table.binary) -
               null_column_bytes * rows.count;
  }
  return saved;
}

Bytes update_body_bytes(const Table& table, RowRange rows, const std::vector<Assignment>& assignments) {
  Table updated = table;
  bool key_assigned = false;
  for (const Assignment& assignment : assignments) {
    REPLISIM_REQUIRE(assignment.column >= 0 and assignment.column < std::ssize(table.columns),
                     "column {} of {} columns", assignment.column, table.columns.size());
    updated.columns[static_cast<std::size_t>(assignment.column)].value = assignment.value;
    key_assigned = key_assigned or in_primary_key(table, assignment.column);
  }
  Bytes sum = message_header_bytes * rows.count + tuple_body_bytes(updated, rows, false) -
              unchanged_body_bytes(table, rows, assignments);
  if (table.replica_identity == ReplicaIdentity::Full)
    sum += old_tuple_header_bytes * rows.count + tuple_body_bytes(table, rows, false);
  else if (table.replica_identity == ReplicaIdentity::Default and key_assigned)
    sum += old_tuple_header_bytes * rows.count + tuple_body_bytes(table, rows, true);
  return sum;
}

} // namespace

std::string_view to_string(Operation operation) {
  switch (operation) {
  case Operation::Insert:
    return "insert";
  case Operation::Update:
    return "update";
  case Operation::Delete:
    return "delete";
  }
  return "";
}

std::vector<int> out_of_line_columns(const Table& table) {
  std::vector<int> moved;
  const auto movable = [&](int i) {
    const Column& column = table.columns[static_cast<std::size_t>(i)];
    return layout_of(column.type).length == 0 and column.width_bytes > max_align(toast_pointer_bytes) and
           std::find(moved.begin(), moved.end(), i) == moved.end();
  };
  while (length_with(table, moved) > toast_target_bytes) {
    int largest = -1;
    for (int i = 0; i < std::ssize(table.columns); ++i)
      if (movable(i) and (largest < 0 or table.columns[static_cast<std::size_t>(i)].width_bytes >
                                             table.columns[static_cast<std::size_t>(largest)].width_bytes))
        largest = i;
    if (largest < 0)
      break;
    moved.push_back(largest);
  }
  return moved;
}

Bytes tuple_len(const Table& table) { return length_with(table, out_of_line_columns(table)); }

Bytes key_data_bytes(const Table& table) {
  std::vector<int> positions = table.primary_key;
  std::sort(positions.begin(), positions.end());
  Bytes data = 0;
  for (int position : positions)
    data = end_of_value(table.columns.at(static_cast<std::size_t>(position)), data);
  return data;
}

Bytes key_tuple_len(const Table& table) {
  // The other columns are null, which takes a bitmap of one bit per column unless there are none.
  const Bytes bitmap =
      table.primary_key.size() < table.columns.size() ? (std::ssize(table.columns) + 7) / 8 : Bytes{0};
  return max_align(tuple_header_bytes + bitmap) + key_data_bytes(table);
}

Bytes old_tuple_len(const Table& table, Operation operation) {
  if (operation == Operation::Insert)
    return 0;
  if (table.replica_identity == ReplicaIdentity::Full)
    return length_with(table, {}); // the old row is logged whole
  const bool has_key = table.replica_identity == ReplicaIdentity::Default and not table.primary_key.empty();
  return operation == Operation::Delete and has_key ? key_tuple_len(table) : 0;
}

Bytes change_bytes(const Table& table, Operation operation) {
  constexpr Bytes change_struct_bytes = 80; // sizeof(ReorderBufferChange)
  constexpr Bytes tuple_struct_bytes = 24;  // sizeof(HeapTupleData)
  Bytes bytes = change_struct_bytes;
  if (operation != Operation::Delete)
    bytes += tuple_struct_bytes + tuple_len(table);
  if (const Bytes old = old_tuple_len(table, operation); old > 0)
    bytes += tuple_struct_bytes + old;
  return bytes;
}

Bytes typical_text_bytes(const Column& column) {
  switch (column.type) {
  case ColumnType::Bool:
    return 1; // t or f
  case ColumnType::Int2:
    return 4; // counts and keys of a table at work: thousands,
  case ColumnType::Int4:
    return 7; // millions,
  case ColumnType::Int8:
    return 10; // billions
  case ColumnType::Float4:
    return 10; // 9 digits that round-trip, and a point
  case ColumnType::Float8:
    return 18; // 17 and a point
  case ColumnType::Date:
    return 10; // 2026-11-30
  case ColumnType::Timestamp:
    return 26; // 2026-11-30 10:43:46.123456; one time in ten a digit less
  case ColumnType::Timestamptz:
    return 29; // and +00
  case ColumnType::Uuid:
    return 36;
  case ColumnType::Bytea:
    return 2 + 2 * Bytes{column.width_bytes}; // bytea_output = hex
  case ColumnType::Numeric:
    // A 2-byte header, then four decimal digits per 2 bytes; one place for the point.
    return column.width_bytes > 2 ? 2 * (Bytes{column.width_bytes} - 2) + 1 : 1;
  case ColumnType::Text:
  case ColumnType::Jsonb: // its 4-byte entries weigh about what quotes, colons and commas do in text
    return column.width_bytes;
  }
  REPLISIM_REQUIRE(false, "column type {}", static_cast<int>(column.type));
  return 0;
}

Bytes column_text_bytes(const Column& column, RowRange rows) {
  REPLISIM_REQUIRE(rows.first >= 1 and rows.count >= 0, "rows from {}, {} of them", rows.first, rows.count);
  switch (column.value.kind) {
  case ColumnValue::Kind::Typical:
    return typical_text_bytes(column) * rows.count;
  case ColumnValue::Kind::Sequence:
    return static_cast<Bytes>(digits_up_to(rows.first + rows.count - 1) - digits_up_to(rows.first - 1));
  case ColumnValue::Kind::Constant:
    return std::ssize(std::to_string(column.value.constant)) * rows.count;
  }
  return 0;
}

Bytes message_body_bytes(const Table& table, Operation operation, RowRange rows,
                         const std::vector<Assignment>& assignments) {
  switch (operation) {
  case Operation::Insert:
    return message_header_bytes * rows.count + tuple_body_bytes(table, rows, false);
  case Operation::Update:
    return update_body_bytes(table, rows, assignments);
  case Operation::Delete:
    return message_header_bytes * rows.count +
           tuple_body_bytes(table, rows, table.replica_identity != ReplicaIdentity::Full);
  }
  return 0;
}

Bytes relation_message_bytes(const Table& table) {
  // type, oid, schema and name each with a terminator, replica identity, column count
  Bytes bytes = 1 + 4 + std::ssize(table.schema) + 1 + std::ssize(table.name) + 1 + 1 + 2;
  for (int i = 0; i < std::ssize(table.columns); ++i)
    if (is_published(table, i)) // flags, name with terminator, type, typmod
      bytes += 1 + std::ssize(table.columns[static_cast<std::size_t>(i)].name) + 1 + 4 + 4;
  return bytes;
}

bool is_published(const Table& table, int column) {
  return table.published_columns.empty() or table.published_columns.at(static_cast<std::size_t>(column));
}

Bytes binary_bytes(const Column& column) {
  const TypeLayout layout = layout_of(column.type);
  if (layout.length > 0)
    return layout.length;
  if (column.type == ColumnType::Numeric) // digits count, weight, sign, scale; then the digits by fours
    return 8 + std::max<Bytes>(0, column.width_bytes - 2);
  return column.width_bytes + (column.type == ColumnType::Jsonb ? 1 : 0); // its version
}

int columns_sent(const Table& table, Operation operation) {
  int all = 0;
  for (int i = 0; i < std::ssize(table.columns); ++i)
    all += is_published(table, i) ? 1 : 0;
  const bool full = table.replica_identity == ReplicaIdentity::Full;
  if (operation == Operation::Update)
    return full ? 2 * all : all;
  if (operation == Operation::Insert or full)
    return all;
  return table.replica_identity == ReplicaIdentity::Default ? static_cast<int>(table.primary_key.size()) : 0;
}

int rows_per_heap_page(const Table& table) {
  const Bytes rows = (page_bytes - page_header_bytes) / (item_pointer_bytes + max_align(tuple_len(table)));
  // A row that fits no page has its long values moved out of line until it does.
  return static_cast<int>(std::max(rows, Bytes{1}));
}

} // namespace replisim
