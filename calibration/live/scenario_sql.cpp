#include "calibration/live/scenario_sql.hpp"

#include "calibration/live/connection.hpp"
#include "models/base/errors.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace replisim::live {

namespace {

constexpr int digest = 32; ///< characters of md5()

std::string type_sql(const Column& column) {
  switch (column.type) {
  case ColumnType::Bool:
    return "bool";
  case ColumnType::Int2:
    return "int2";
  case ColumnType::Int4:
    return "int4";
  case ColumnType::Int8:
    return "int8";
  case ColumnType::Float4:
    return "float4";
  case ColumnType::Float8:
    return "float8";
  case ColumnType::Date:
    return "date";
  case ColumnType::Timestamp:
    return "timestamp";
  case ColumnType::Timestamptz:
    return "timestamptz";
  case ColumnType::Uuid:
    return "uuid";
  case ColumnType::Text:
    return "text";
  case ColumnType::Bytea:
    return "bytea";
  case ColumnType::Numeric:
    return "numeric";
  case ColumnType::Jsonb:
    return "jsonb";
  }
  return "text";
}

/// A column whose values could be compressed.
bool is_wide(const Column& column) {
  const bool varies =
      column.type == ColumnType::Text or column.type == ColumnType::Bytea or column.type == ColumnType::Jsonb;
  return varies and column.width_bytes > digest;
}

/// Text of a width, from the row's number: no two rows alike, and made for next to nothing, as the time that
/// takes is the backend's. It could be compressed, which wide columns do not do (create_table_sql).
std::string text_sql(int width) {
  const int whole = width / digest, rest = width % digest;
  const std::string part = fmt::format("left(md5(i::text), {})", rest);
  if (whole == 0)
    return part;
  const std::string times = whole == 1 ? "md5(i::text)" : fmt::format("repeat(md5(i::text), {})", whole);
  return rest == 0 ? times : fmt::format("({} || {})", times, part);
}

/// An integer of so many digits.
std::string digits_sql(int digits, const char* type) {
  const auto low = static_cast<std::int64_t>(std::pow(10, digits - 1));
  return fmt::format("({} + i % {})::{}", low, 8 * low, type);
}

std::string typical_sql(const Column& column) {
  const int digits = static_cast<int>(typical_text_bytes(column));
  switch (column.type) {
  case ColumnType::Bool:
    return "(i % 2 = 0)";
  case ColumnType::Int2:
  case ColumnType::Int4:
  case ColumnType::Int8:
    return digits_sql(digits, column.type == ColumnType::Int2   ? "int2"
                              : column.type == ColumnType::Int4 ? "int4"
                                                                : "int8");
  case ColumnType::Float4:
    return "(1 + i % 1000 / 7.0)::float4";
  case ColumnType::Float8:
    return "(1 + i % 1000 / 7.0)::float8";
  case ColumnType::Date:
    return "date '2026-01-01'";
  case ColumnType::Timestamp:
    return "timestamp '2026-11-30 10:43:46.123456'";
  case ColumnType::Timestamptz:
    return "timestamptz '2026-11-30 10:43:46.123456+00'";
  case ColumnType::Uuid:
    return "md5(i::text)::uuid";
  case ColumnType::Text:
    return text_sql(column.width_bytes);
  case ColumnType::Bytea:
    return fmt::format("decode({}, 'hex')", text_sql(2 * column.width_bytes));
  case ColumnType::Numeric: {
    const int places = std::max(4, 2 * (column.width_bytes - 2));
    return fmt::format("('1' || lpad((i % 9999)::text, {}, '7') || '.5')::numeric", places - 5);
  }
  case ColumnType::Jsonb:
    return fmt::format("to_jsonb({})", text_sql(std::max(1, column.width_bytes - 8)));
  }
  return "null";
}

std::string value_sql(const Column& column, const ColumnValue& value) {
  switch (value.kind) {
  case ColumnValue::Kind::Sequence:
    return "i";
  case ColumnValue::Kind::Constant:
    return fmt::format("{}", value.constant);
  case ColumnValue::Kind::Typical:
    break;
  }
  return typical_sql(column);
}

std::string table_name(const Table& table) {
  return fmt::format("{}.{}", quoted_name(table.schema), quoted_name(table.name));
}

/// The column by which rows are picked; empty when the key is no running number.
std::string key_column(const Table& table) {
  if (table.primary_key.size() != 1)
    return {};
  const Column& key = table.columns[static_cast<std::size_t>(table.primary_key.front())];
  return key.value.kind == ColumnValue::Kind::Sequence ? quoted_name(key.name) : std::string();
}

std::string range_sql(const Table& table, Rows first, Rows last) {
  const std::string key = key_column(table);
  if (key.empty())
    throw UsageError(
        fmt::format("the lab cannot pick rows of table '{}': its key is no single integer column with "
                    "value: sequence",
                    table.name));
  return first == last ? fmt::format(" where {} = {}", key, first)
                       : fmt::format(" where {} between {} and {}", key, first, last);
}

/// What an UPDATE without stated values sets: a column to itself, which writes a new version all the same.
std::string assignments_sql(const Table& table, const std::vector<Assignment>& assignments) {
  std::vector<std::string> parts;
  for (const Assignment& assignment : assignments) {
    const Column& column = table.columns[static_cast<std::size_t>(assignment.column)];
    std::string value = value_sql(column, assignment.value);
    // Expressions over the row's number use the key instead.
    if (assignment.value.kind != ColumnValue::Kind::Constant)
      value = fmt::format("(select {} from (select {}::int8 as i) numbered)", value,
                          key_column(table).empty() ? "1" : key_column(table));
    parts.push_back(fmt::format("{} = {}", quoted_name(column.name), value));
  }
  if (not parts.empty())
    return fmt::format("{}", fmt::join(parts, ", "));
  const std::vector<int>& key = table.primary_key;
  for (int i = static_cast<int>(table.columns.size()) - 1; i >= 0; --i)
    if (std::find(key.begin(), key.end(), i) == key.end()) {
      const std::string name = quoted_name(table.columns[static_cast<std::size_t>(i)].name);
      return fmt::format("{0} = {0}", name);
    }
  throw UsageError(fmt::format("the lab cannot update table '{}': all its columns are its key", table.name));
}

std::string indexes_sql(const Table& table) {
  std::string out;
  for (int i = 0; i < table.secondary_indexes; ++i) {
    const auto& column = table.columns[static_cast<std::size_t>(i) % table.columns.size()];
    out += fmt::format("create index on {} ({});\n", table_name(table), quoted_name(column.name));
  }
  return out;
}

std::string triggers_sql(const Table& table) {
  std::string out;
  for (int i = 0; i < table.triggers; ++i) {
    const std::string name = quoted_name(fmt::format("t{}", i));
    out +=
        fmt::format("create or replace function replisim_trigger() returns trigger language plpgsql as "
                    "$$begin return coalesce(new, old); end$$;\n"
                    "create trigger {} before insert or update or delete on {} for each row execute function "
                    "replisim_trigger();\n",
                    name, table_name(table));
    if (table.triggers_enabled != TriggerEnabled::Origin)
      out += fmt::format("alter table {} enable {} trigger {};\n", table_name(table),
                         table.triggers_enabled == TriggerEnabled::Always ? "always" : "replica", name);
  }
  return out;
}

} // namespace

bool is_pgbench_table(const std::string& name) { return name.starts_with("pgbench_"); }

std::string create_table_sql(const Table& table) {
  if (table.foreign_keys > 0 or table.copies > 1)
    throw UsageError(
        fmt::format("the lab cannot make table '{}': foreign_keys and copies are not for it; leave them "
                    "out of its scenario",
                    table.name));
  std::vector<std::string> parts;
  for (const Column& column : table.columns)
    parts.push_back(fmt::format("{} {}", quoted_name(column.name), type_sql(column)));
  std::vector<std::string> key;
  for (const int position : table.primary_key)
    key.push_back(quoted_name(table.columns[static_cast<std::size_t>(position)].name));
  if (not key.empty())
    parts.push_back(fmt::format("primary key ({})", fmt::join(key, ", ")));
  std::string out = fmt::format("create schema if not exists {};\ncreate table {} ({});\n",
                                quoted_name(table.schema), table_name(table), fmt::join(parts, ", "));
  if (table.replica_identity != ReplicaIdentity::Default)
    out += fmt::format("alter table {} replica identity {};\n", table_name(table),
                       table.replica_identity == ReplicaIdentity::Full ? "full" : "nothing");
  // A width is that of the stored value.
  for (const Column& column : table.columns)
    if (is_wide(column))
      out += fmt::format("alter table {} alter column {} set storage external;\n", table_name(table),
                         quoted_name(column.name));
  return out + indexes_sql(table) + triggers_sql(table);
}

std::string insert_sql(const Table& table, RowRange rows) {
  std::vector<std::string> values;
  for (const Column& column : table.columns)
    values.push_back(value_sql(column, column.value));
  return fmt::format("insert into {} select {} from generate_series({}, {}) i", table_name(table),
                     fmt::join(values, ", "), rows.first, rows.first + rows.count - 1);
}

RowBook::RowBook(const Scenario& scenario) : scenario_(scenario) {
  for (const auto& [name, table] : scenario.tables)
    rows_[name] = {1, table.initial_rows};
}

const Table& RowBook::table(const std::string& name) const { return scenario_.tables.at(name); }

std::string RowBook::statement(const StatementStep& step) {
  const Table& table = this->table(step.table);
  RowRange& there = rows_[step.table];
  if (step.operation == Operation::Insert) {
    const RowRange added{there.first + there.count, step.rows};
    there.count += step.rows;
    return insert_sql(table, added) + (step.speculative ? " on conflict do nothing" : "");
  }
  const bool is_all = step.rows >= there.count;
  const std::string where = is_all ? "" : range_sql(table, there.first, there.first + step.rows - 1);
  if (step.operation == Operation::Update)
    return fmt::format("update {} set {}{}", table_name(table), assignments_sql(table, step.assignments),
                       where);
  there.first += std::min(step.rows, there.count);
  there.count -= std::min(step.rows, there.count);
  return fmt::format("delete from {}{}", table_name(table), where);
}

std::string session_sql(const SessionStep& step, const Table& table, Rows row) {
  const std::string where =
      step.kind == SessionStep::Kind::Pause ? "" : range_sql(table, row, row + step.rows - 1);
  switch (step.kind) {
  case SessionStep::Kind::Select:
    return fmt::format("select count(*) from {}{}", table_name(table), where);
  case SessionStep::Kind::Update:
    return fmt::format("update {} set {}{}", table_name(table), assignments_sql(table, {}), where);
  case SessionStep::Kind::Delete:
    return fmt::format("delete from {}{}", table_name(table), where);
  case SessionStep::Kind::Pause:
    return {};
  case SessionStep::Kind::Insert:
  case SessionStep::Kind::Lock:
  case SessionStep::Kind::Vacuum:
    break;
  }
  throw UsageError(fmt::format(
      "the lab cannot run the session step '{}'; select, update, delete and pause it can", step.verb));
}

std::string ddl_sql(const DdlLoad& load, const Scenario& scenario, std::int64_t run) {
  const std::string publication = quoted_name(load.publication.empty() and not scenario.publications.empty()
                                                  ? scenario.publications.begin()->first
                                                  : load.publication);
  const std::string other = quoted_name(fmt::format("unrelated{}", run));
  const std::string name =
      load.table.empty() ? fmt::format("public.{}", other) : table_name(scenario.tables.at(load.table));
  switch (load.kind) {
  case DdlKind::AddTable:
    return fmt::format("alter publication {} add table {}", publication, name);
  case DdlKind::DropMember:
    return fmt::format("alter publication {} drop table {}", publication, name);
  case DdlKind::AddColumn:
    return fmt::format("alter table {} add column extra{} int", name, run);
  case DdlKind::CreateIndex:
    return fmt::format("create index on {} ({})", name,
                       load.table.empty() ? "a"
                                          : quoted_name(scenario.tables.at(load.table).columns.front().name));
  case DdlKind::Grant:
    return fmt::format("grant select on {} to public", name);
  case DdlKind::Analyze:
    return fmt::format("analyze {}", name);
  case DdlKind::CreateTable:
    return fmt::format("create table {} (a int primary key, b text)",
                       quoted_name(fmt::format("made{}", run)));
  case DdlKind::TemporaryTable:
    return "create temporary table scratch (a int primary key, b text); drop table scratch";
  default:
    break;
  }
  throw UsageError(
      "the lab cannot run this kind of `ddl`; add table, drop member, add column, create index, grant, "
      "analyze, create table and temporary table it can");
}

std::string setting_text(const GucDescriptor& guc, const GucValue& value) {
  if (guc.type == GucType::Enum or guc.type == GucType::Text)
    return value.text;
  if (guc.type == GucType::Bool)
    return value.number != 0 ? "on" : "off";
  if (value.number == -1)
    return "-1";
  if (guc.type == GucType::Size) {
    constexpr double kilobyte = 1024;
    return guc.unit == "B" ? fmt::format("{:.0f}B", value.number)
                           : fmt::format("{:.0f}kB", value.number / kilobyte);
  }
  if (guc.type == GucType::Duration)
    return guc.unit == "us" ? fmt::format("{:.0f}us", value.number * 1e6)
                            : fmt::format("{:.0f}ms", value.number * 1e3);
  return guc.type == GucType::Integer ? fmt::format("{:.0f}", value.number) : fmt::format("{}", value.number);
}

} // namespace replisim::live
