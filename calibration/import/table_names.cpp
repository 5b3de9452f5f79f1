// The file that gives tables their names.
#include "calibration/import/import_files.hpp"
#include "models/base/errors.hpp"
#include "sim/scenario/field_value.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>

namespace replisim {

namespace {

constexpr std::size_t most_mistakes = 20;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

template <typename Number>
bool whole(std::string_view text, Number& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() and stop == text.data() + text.size();
}

/// A type of fixed width by its name; every other one is taken as text, its width found from the records.
Column column_of(std::string_view description) {
  const auto blank = std::min(description.find(' '), description.size());
  Column column;
  column.name = std::string(description.substr(0, blank));
  std::string problem;
  const auto type = parse_column_type(trimmed(description.substr(blank)), problem);
  column.type = type ? type->type : ColumnType::Text;
  column.width_bytes = type ? type->width_bytes : 1;
  return column;
}

/// The reason why the line is none; empty when it is.
std::string read_line(std::string_view line, TableNames& out) {
  const auto cells = split(line, '|');
  std::uint32_t node = 0;
  if (cells.size() < 2)
    return fmt::format("found '{}'; a line is relfilenode|table, and then may follow columns, key and rows",
                       line.substr(0, 60));
  if (not whole(cells[0], node))
    return fmt::format("relfilenode: found '{}'; allowed is a whole number", cells[0]);
  if (cells[1].empty())
    return "the table has no name";
  RecordedTable table;
  table.name = std::string(cells[1]);
  table.toast = table.ignored = table.name.starts_with("pg_toast.") or table.name.starts_with("pg_catalog.");
  if (cells.size() > 2 and not cells[2].empty())
    for (const std::string_view column : split(cells[2], ','))
      table.columns.push_back(column_of(column));
  if (cells.size() > 3 and not cells[3].empty())
    for (const std::string_view name : split(cells[3], ','))
      table.key.emplace_back(name);
  if (cells.size() > 4 and not cells[4].empty() and not whole(cells[4], table.rows_before))
    return fmt::format("rows: found '{}'; allowed is a whole number", cells[4]);
  if (not out.emplace(node, std::move(table)).second)
    return fmt::format("relfilenode {} stands here for the second time", node);
  return {};
}

} // namespace

TableNames read_table_names(const std::filesystem::path& file) {
  std::ifstream in;
  if (not std::filesystem::is_directory(file))
    in.open(file, std::ios::binary);
  if (not in.is_open())
    throw UsageError(fmt::format("the file of table names {} cannot be read", file.string()));
  TableNames out;
  std::vector<Diagnostic> mistakes;
  std::string line;
  for (int number = 1; std::getline(in, line) and mistakes.size() < most_mistakes; ++number) {
    if (trimmed(line).empty())
      continue;
    if (std::string reason = read_line(line, out); not reason.empty())
      mistakes.push_back({file.string(), number, 1, {}, std::move(reason)});
  }
  if (not mistakes.empty())
    throw ScenarioError(std::move(mistakes));
  if (out.empty())
    throw UsageError(fmt::format("the file of table names {} is empty", file.string()));
  return out;
}

} // namespace replisim
