#include "calibration/import/table_fit.hpp"

#include "models/replay_plan.hpp"
#include "models/row_shape.hpp"
#include "models/wal_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

constexpr Bytes tuple_header = 24; ///< MAXALIGN(23)

bool is_variable(ColumnType type) {
  return type == ColumnType::Text or type == ColumnType::Bytea or type == ColumnType::Numeric or
         type == ColumnType::Jsonb;
}

Column column_of(std::string name, ColumnType type, int width_bytes = 0) {
  Column column;
  column.name = std::move(name);
  column.type = type;
  column.width_bytes = width_bytes;
  return column;
}

/// The most frequent length where there is one, else the mean.
Bytes typical(const LengthStatistics& lengths) {
  return lengths.usual() > 0 ? lengths.usual() : std::llround(lengths.mean());
}

/// The key whose tuple is as long as what DELETE records carry; without them what fits the index entries.
Column key_column(const RecordedTable& recorded) {
  Bytes data = 4;
  if (recorded.with_key > 0 and recorded.old_tuple.count() > 0)
    data = typical(recorded.old_tuple) - tuple_header;
  else if (recorded.index_entry.count() > 0 and recorded.index_entry.mean() > 16)
    data = typical(recorded.index_entry) - 8;
  if (data <= 4)
    return column_of("id", ColumnType::Int4);
  if (data <= 8)
    return column_of("id", ColumnType::Int8);
  if (data == 16)
    return column_of("id", ColumnType::Uuid);
  return column_of("id", ColumnType::Text, static_cast<int>(data <= 127 ? data - 1 : data - 4));
}

/// What rows of a table carry out of line: a column of that width, and what the others have to be.
struct Wide {
  Bytes width = 0; ///< mean over the rows that are inserted, or updated there; 0: all fits in line
  std::string column = {};
};

bool stays_in_line(const Table& table, const Wide& wide) {
  const auto moved = out_of_line_columns(table);
  return std::all_of(moved.begin(), moved.end(), [&](int column) {
    return wide.width > 0 and table.columns[static_cast<std::size_t>(column)].name == wide.column;
  });
}

/// Widens the variable columns, all by the same, until the tuple is as near to `target` bytes as it gets
/// while everything but the wide one stays in line: what lies out of line has records of its own.
void widen(Table& table, Bytes target, const Wide& wide) {
  std::vector<Column*> variable;
  for (Column& column : table.columns)
    if (wide.width > 0 and column.name == wide.column)
      column.width_bytes = static_cast<int>(wide.width);
    else if (is_variable(column.type))
      variable.push_back(&column);
  if (variable.empty())
    return;
  const Bytes columns = std::ssize(variable);
  const auto length_at = [&](Bytes total) {
    for (Bytes i = 0; i < columns; ++i)
      variable[static_cast<std::size_t>(i)]->width_bytes =
          static_cast<int>(total / columns + (i < total % columns ? 1 : 0));
    return tuple_len(table);
  };
  Bytes best = columns;
  Bytes previous = length_at(best);
  Bytes nearest = std::abs(previous - target);
  for (Bytes total = best + 1; previous < target and stays_in_line(table, wide); ++total) {
    previous = length_at(total);
    if (const Bytes off = std::abs(previous - target); off < nearest and stays_in_line(table, wide)) {
      nearest = off;
      best = total;
    }
  }
  length_at(best);
}

/// A key, a text, and up to three flags where no width of the text gives the length by itself: the fewest
/// columns that come nearest.
void make_columns(Table& table, const RecordedTable& recorded, bool keyed, Bytes target, const Wide& wide) {
  std::vector<Column> key;
  if (keyed) {
    key.push_back(key_column(recorded));
    table.primary_key = {0};
  }
  std::vector<Column> best;
  Bytes nearest = 0;
  for (const bool with_text : {true, false})
    for (int flags = 0; flags <= 3; ++flags) {
      table.columns = key;
      for (int flag = 1; flag <= flags; ++flag)
        table.columns.push_back(column_of(fmt::format("flag{}", flag), ColumnType::Bool));
      if (with_text)
        table.columns.push_back(column_of("data", ColumnType::Text, 1));
      if (wide.width > 0)
        table.columns.push_back(column_of(wide.column, ColumnType::Text, 1));
      if (table.columns.empty())
        continue;
      widen(table, target, wide);
      const Bytes off = std::abs(tuple_len(table) - target);
      if (best.empty() or off < nearest) {
        best = table.columns;
        nearest = off;
      }
    }
  table.columns = best;
}

bool is_narrowest(const Table& table) {
  return std::all_of(table.columns.begin(), table.columns.end(), [](const Column& column) {
    return not is_variable(column.type) or column.width_bytes == 1;
  });
}

void take_key(Table& table, const std::vector<std::string>& key) {
  table.primary_key.clear();
  for (const std::string& name : key)
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      if (table.columns[i].name == name)
        table.primary_key.push_back(static_cast<int>(i));
}

/// The columns of the map file. Where they are longer than the tuples, the last ones are mostly null, which
/// takes no room: without them.
void take_columns(Table& table, const RecordedTable& recorded, Bytes target, const Wide& wide) {
  table.columns = recorded.columns;
  take_key(table, recorded.key);
  if (recorded.new_tuple.count() == 0)
    return;
  widen(table, target, wide);
  std::vector<Column> best = table.columns;
  Bytes nearest = std::abs(tuple_len(table) - target);
  // Alignment alone makes up to half of 8 bytes.
  const auto too_long = [&] { return nearest >= 4 or (nearest > 0 and is_narrowest(table)); };
  while (too_long() and table.columns.size() > 1) {
    const std::string last = table.columns.back().name;
    if (std::find(recorded.key.begin(), recorded.key.end(), last) != recorded.key.end() or
        (wide.width > 0 and last == wide.column))
      break;
    table.columns.pop_back();
    widen(table, target, wide);
    if (const Bytes off = std::abs(tuple_len(table) - target); off < nearest) {
      nearest = off;
      best = table.columns;
    }
  }
  table.columns = best;
}

/// The column that holds the values out of line: the last variable one outside of the key.
std::string wide_column_of(const RecordedTable& recorded) {
  for (auto column = recorded.columns.rbegin(); column != recorded.columns.rend(); ++column)
    if (is_variable(column->type) and
        std::find(recorded.key.begin(), recorded.key.end(), column->name) == recorded.key.end())
      return column->name;
  return recorded.columns.empty() ? "wide" : "";
}

/// The values out of line, evenly over the rows that may have brought some, and the length of the tuple
/// beside them. Where so little comes to one row that the model would keep it in line, it makes the tuple
/// longer.
Wide wide_of(const RecordedTable& recorded, Bytes& target) {
  constexpr Bytes pointer = 18, most_in_line = 2032, widest = (Bytes{1} << 30) - 1;
  Wide wide;
  const Rows writers = recorded.inserts + recorded.wide_updates;
  if (recorded.wide_bytes == 0 or writers == 0)
    return wide;
  const Bytes mean = std::llround(static_cast<double>(recorded.wide_bytes) / static_cast<double>(writers));
  const std::string column = wide_column_of(recorded);
  if (column.empty() or target - pointer + mean <= most_in_line)
    target = std::min(most_in_line, target - pointer + mean);
  else
    wide = {std::min(mean, widest), column};
  return wide;
}

/// WAL of `rows` rows of a statement, as a run has it: small ones at the mean of a longer one.
double statement_bytes(const Table& table, const StatementStep& statement) {
  constexpr Rows sample_rows = 10'000;
  const Rows rows = statement.rows;
  Rows sample = rows;
  if (rows <= small_transaction_rows)
    sample = statement.operation != Operation::Insert and table.initial_rows > 0
                 ? std::min(sample_rows, table.initial_rows)
                 : sample_rows;
  return static_cast<double>(statement_wal(table, statement, sample, false).bytes) *
         static_cast<double>(rows) / static_cast<double>(sample);
}

} // namespace

FittedTable fit_table(const RecordedTable& recorded) {
  FittedTable out;
  Table& table = out.table;
  table.name = recorded.name;
  if (const auto dot = recorded.name.find('.'); dot != std::string::npos) {
    table.schema = recorded.name.substr(0, dot);
    table.name = recorded.name.substr(dot + 1);
  }
  const bool changes_old_rows = recorded.updates + recorded.deletes > 0;
  const bool full = recorded.with_old_row > 0;
  const bool unidentified = recorded.without_identity > 0;
  const bool keyed = not unidentified and not full and (changes_old_rows or not recorded.indexes.empty());
  out.columns_known = not recorded.columns.empty();
  Bytes target = std::max<Bytes>(tuple_header, std::llround(recorded.new_tuple.mean()));
  const Wide wide = wide_of(recorded, target);
  if (out.columns_known)
    take_columns(table, recorded, target, wide);
  else
    make_columns(table, recorded, keyed, target, wide);
  if (const auto moved = out_of_line_columns(table); wide.width > 0 and not moved.empty())
    out.wide_column = moved.front();
  if (full)
    table.replica_identity = ReplicaIdentity::Full;
  else if (unidentified)
    table.replica_identity = ReplicaIdentity::Nothing;
  out.can_be_published = not changes_old_rows or full or not table.primary_key.empty();
  const int key_index = table.primary_key.empty() ? 0 : 1;
  table.secondary_indexes = std::max(0, static_cast<int>(recorded.indexes.size()) - key_index);
  if (recorded.updates > 0)
    table.hot_updates = static_cast<double>(recorded.hot_updates) / static_cast<double>(recorded.updates);
  out.rows_known = recorded.rows_before >= 0;
  const Rows held = static_cast<Rows>(recorded.last_block + 1) * rows_per_heap_page(table);
  table.initial_rows = out.rows_known ? recorded.rows_before : std::max<Rows>(0, held - recorded.inserts);
  return out;
}

double fitted_wal_bytes(const RecordedSteps& steps, const std::vector<FittedTable>& tables) {
  auto bytes = static_cast<double>(commit_record_bytes());
  for (const RecordedStep& step : steps)
    if (step.changes_rows())
      bytes += statement_bytes(tables[step.table].table, statement_of(step, tables[step.table]));
  return bytes;
}

Operation operation_of(const RecordedStep& step) {
  if (step.kind == RecordedStep::Kind::Insert)
    return Operation::Insert;
  return step.kind == RecordedStep::Kind::Update ? Operation::Update : Operation::Delete;
}

StatementStep statement_of(const RecordedStep& step, const FittedTable& table) {
  StatementStep statement{operation_of(step), table.table.name, step.rows, {}};
  if (step.writes_wide and table.wide_column >= 0)
    statement.assignments.push_back({table.wide_column, {}});
  return statement;
}

std::string column_type_text(const Column& column) {
  static constexpr const char* names[] = {"bool",   "int2",  "int4",      "int8",        "float4",
                                          "float8", "date",  "timestamp", "timestamptz", "uuid",
                                          "text",   "bytea", "numeric",   "jsonb"};
  const std::string name = names[static_cast<std::size_t>(column.type)];
  return is_variable(column.type) ? fmt::format("{}({})", name, column.width_bytes) : name;
}

} // namespace replisim
