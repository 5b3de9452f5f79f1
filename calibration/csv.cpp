// The strict CSV reader.
#include "calibration/csv.hpp"

#include "models/base/check.hpp"
#include "models/base/suggest.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>

namespace replisim {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = text.find(separator, start);
    parts.emplace_back(text.substr(start, end == std::string_view::npos ? end : end - start));
    if (end == std::string_view::npos)
      return parts;
    start = end + 1;
  }
}

/// 1-based character position of a cell in its line.
int position_of(const std::vector<std::string>& cells, std::size_t cell) {
  std::size_t position = 1;
  for (std::size_t i = 0; i < cell; ++i)
    position += cells[i].size() + 1;
  return static_cast<int>(position);
}

Diagnostic mistake(const std::string& file, std::size_t line, int position, std::string message) {
  return {.file = file,
          .line = static_cast<int>(line),
          .column = position,
          .path = {},
          .message = std::move(message)};
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Compares the header with what the caller expects; returns one mistake for each difference.
std::vector<Diagnostic> check_header(const std::string& file, const std::vector<std::string>& header,
                                     const std::vector<std::string>& columns) {
  std::vector<Diagnostic> mistakes;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i];
    const auto first = std::find(header.begin(), header.end(), name);
    const int position = position_of(header, i);
    if (first < header.begin() + static_cast<std::ptrdiff_t>(i))
      mistakes.push_back(mistake(file, 1, position, fmt::format("column '{}' appears twice", name)));
    else if (!contains(columns, name))
      mistakes.push_back(
          mistake(file, 1, position, fmt::format("unknown column '{}'{}", name, suggestion(name, columns))));
  }
  for (const std::string& name : columns)
    if (!contains(header, name))
      mistakes.push_back(mistake(file, 1, 1, fmt::format("column '{}' is missing", name)));
  return mistakes;
}

} // namespace

CsvTable::CsvTable(std::string file, std::string_view text, const std::vector<std::string>& columns)
    : file_(std::move(file)) {
  if (text.ends_with('\n'))
    text.remove_suffix(1);
  const std::vector<std::string> lines = split(text, '\n');
  const std::vector<std::string> header = split(lines.front(), ',');
  std::vector<Diagnostic> mistakes = check_header(file_, header, columns);
  for (std::size_t i = 0; i < header.size(); ++i)
    column_index_.emplace(header[i], i);
  for (std::size_t line = 1; line < lines.size(); ++line) {
    if (lines[line].empty()) {
      mistakes.push_back(mistake(file_, line + 1, 1, "empty line"));
      continue;
    }
    const std::size_t forbidden = lines[line].find_first_of("\"\r");
    if (forbidden != std::string::npos)
      mistakes.push_back(mistake(file_, line + 1, static_cast<int>(forbidden) + 1,
                                 "quotes and carriage returns are not part of this format"));
    rows_.push_back(split(lines[line], ','));
    if (rows_.back().size() != header.size())
      mistakes.push_back(mistake(
          file_, line + 1, 1,
          fmt::format("found {} cells; the header names {} columns", rows_.back().size(), header.size())));
  }
  if (rows_.empty() && mistakes.empty())
    mistakes.push_back(mistake(file_, 1, 1, "no rows below the header"));
  if (!mistakes.empty())
    throw ScenarioError(std::move(mistakes));
}

const std::string& CsvTable::text(std::size_t row, std::string_view column) const {
  const auto found = column_index_.find(column);
  REPLISIM_REQUIRE(found != column_index_.end(), "{} has no column '{}'", file_, column);
  REPLISIM_REQUIRE(row < rows_.size(), "{} has {} rows, asked for row {}", file_, rows_.size(), row);
  return rows_[row][found->second];
}

double CsvTable::number(std::size_t row, std::string_view column) const {
  const std::string& cell = text(row, column);
  double value = 0;
  const char* end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  // Empty lines are errors, so that a row's line is its number plus the header.
  if (error != std::errc() || stop != end || !std::isfinite(value))
    throw ScenarioError({mistake(file_, row + 2, position_of(rows_[row], column_index_.find(column)->second),
                                 fmt::format("{}: found '{}'; allowed is a number", column, cell))});
  return value;
}

CsvTable read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns) {
  std::ifstream in;
  if (!std::filesystem::is_directory(file)) // reading a folder fails only after it was opened
    in.open(file, std::ios::binary);
  if (!in.is_open())
    throw UsageError(fmt::format("cannot read the table {}", file.string()));
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return CsvTable(file.string(), text, columns);
}

CsvTable read_measured(const std::filesystem::path& library_root, const std::string& table,
                       const std::vector<std::string>& columns) {
  return read_csv(library_root / "calibration" / "data" / table, columns);
}

} // namespace replisim
