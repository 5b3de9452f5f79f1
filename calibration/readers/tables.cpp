#include "calibration/readers/tables.hpp"

#include "calibration/readers/table_columns.hpp"
#include "calibration/readers/zones.hpp"
#include "models/base/suggest.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace replisim::readers {

namespace {

using Role = TableColumn::Role;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool is_rule(std::string_view line) { return line.find_first_not_of("-+|:= \t") == std::string_view::npos; }

bool is_name(std::string_view cell) {
  return not cell.empty() and
         (std::isalpha(static_cast<unsigned char>(cell.front())) != 0 or cell.front() == '_');
}

/// The separator of a header line: the cells are names, and two or more of them.
std::optional<char> separator_of(std::string_view header) {
  for (const char separator : {'\t', ';', '|', ','}) {
    const auto cells = table_cells(header, separator);
    if (cells.size() >= 2 and std::all_of(cells.begin(), cells.end(), is_name))
      return separator;
  }
  return std::nullopt;
}

/// "12,345,678" and "1,234.5": commas between thousands, beyond doubt.
bool has_thousands(std::string_view text) {
  const auto point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  std::size_t groups = 0;
  std::size_t digits = 0;
  for (const char c : whole) {
    if (c == ',') {
      if (digits == 0 or digits > 3 or (groups > 0 and digits != 3))
        return false;
      ++groups;
      digits = 0;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      ++digits;
    } else {
      return false;
    }
  }
  return groups > 0 and digits == 3 and (groups > 1 or point != std::string_view::npos);
}

class TableRows {
public:
  TableRows(LineInput& input, ReadContext& context, std::string_view header, char separator)
      : input_(input), context_(context), header_(header), separator_(separator) {
    if (not context.options.column_map.empty())
      map_ = read_column_map(context.options.column_map);
    std::set<std::string> seen;
    for (const std::string& name : table_cells(header, separator)) {
      columns_.push_back(column_of(name));
      names_.push_back(name);
      if (not seen.insert(name).second) {
        columns_.back().role = Role::Ignored;
        input_.report("repeated_column",
                      fmt::format("column '{}' appears twice; the second one was left out", name));
      }
    }
    for (const TableColumn& column : columns_)
      has_time_ = has_time_ or column.role == Role::SinceStart or column.role == Role::Wall;
    complain(seen);
  }

  bool has_metrics() const {
    return std::any_of(columns_.begin(), columns_.end(),
                       [](const auto& c) { return c.role == Role::Metric; });
  }

  void add(std::string_view line) {
    if (is_rule(line)) // an empty one as well
      return;
    if (line == header_)
      return input_.report("repeated_header", "the header line stands here again; it was left out");
    const auto cells = table_cells(line, separator_);
    if (cells.size() != columns_.size())
      return input_.report("cell_count",
                           fmt::format("the row has {} cells, the header {} columns; it was left out{}",
                                       cells.size(), columns_.size(),
                                       separator_ == ',' and cells.size() > columns_.size()
                                           ? " (decimal commas in a file with commas between cells?)"
                                           : ""));
    if (++rows_ > most_rows and not has_time_)
      return;
    take(cells);
  }

  void finish() {
    if (rows_ == 0)
      return input_.report_file("no_rows", "holds no row below its header");
    if (not has_time_ and rows_ > most_rows)
      input_.report_file(
          "too_many_rows",
          fmt::format("has {} rows, each a run of its own; the first {} were kept. A column map "
                      "(`COLUMN = time s`) makes a series of them",
                      format_count(rows_), format_count(most_rows)));
    context_.info().format = fmt::format("table, {}", describe());
  }

private:
  static constexpr std::int64_t most_rows = 2000;

  TableColumn column_of(const std::string& name) const {
    const auto mapped = map_.find(name);
    return mapped != map_.end() ? mapped->second : column_by_name(name);
  }

  /// What of the map is not there, and what no one can tell.
  void complain(const std::set<std::string>& seen) {
    const std::vector<std::string> names(seen.begin(), seen.end());
    for (const auto& [name, column] : map_)
      if (not seen.contains(name))
        input_.report("missing_column", fmt::format("the column map names '{}', the header does not{}", name,
                                                    suggestion(name, names)));
    std::vector<std::string> unclear;
    for (const TableColumn& column : columns_)
      if (column.role == Role::Unclear)
        unclear.push_back(column.name);
    if (not unclear.empty())
      input_.report("unclear_unit",
                    fmt::format("{}: 10^6 or 2^20 bytes in an MB? left out; a column map says it "
                                "(`{} = METRIC MB` for 2^20, `{} = METRIC 1e6`)",
                                fmt::join(unclear, ", "), unclear.front(), unclear.front()));
  }

  std::string describe() const {
    std::vector<std::string> metrics, labels;
    for (const TableColumn& column : columns_) {
      if (column.role == Role::Metric)
        metrics.push_back(column.name);
      if (column.role == Role::Label)
        labels.push_back(column.name);
    }
    std::string text = fmt::format("{} rows; metrics {}", format_count(rows_), fmt::join(metrics, ", "));
    if (not labels.empty())
      text += fmt::format("; told apart by {}", fmt::join(labels, ", "));
    return text;
  }

  void take(const std::vector<std::string>& cells) {
    Labels labels;
    std::optional<TimeUs> at;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].role == Role::Label and not cells[i].empty())
        labels[columns_[i].name] = cells[i];
      if (columns_[i].role == Role::SinceStart or columns_[i].role == Role::Wall)
        at = time(cells[i], columns_[i], i);
    }
    if (has_time_ and not at)
      return;
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (columns_[i].role == Role::Metric and not cells[i].empty())
        if (const auto value = number(cells[i], i))
          store(columns_[i], *value * columns_[i].factor, labels, at);
  }

  void store(const TableColumn& column, double value, const Labels& labels, std::optional<TimeUs> at) {
    const std::uint64_t line = input_.line_number();
    if (not at) {
      context_.observation.figures.push_back(
          {column.name, value, {}, labels, "a row of the table", context_.place(line, line)});
      return;
    }
    const bool is_counter = column.name.starts_with("cpu_") or column.name.ends_with("_lsn");
    context_.observation.series(column.name, context_.source, labels, is_counter).add({*at, value, line});
  }

  std::optional<TimeUs> time(const std::string& cell, const TableColumn& column, std::size_t index) {
    std::optional<TimeUs> at;
    TimeUs read_us = 0;
    if (column.role == Role::Wall and clock_.read(cell, read_us) > 0)
      at = read_us;
    else if (const auto value = parse_number(cell))
      at = static_cast<TimeUs>(std::llround(*value * column.factor * 1e6));
    if (not at) {
      input_.report("no_time",
                    fmt::format("column '{}': '{}' is no time; the row was left out", names_[index], cell));
      return at;
    }
    if (context_.info().time_base != TimeBase::None and *at < last_us_) {
      input_.report("clock_back",
                    fmt::format("column '{}' goes back to '{}'; the row was left out", names_[index], cell));
      return std::nullopt;
    }
    last_us_ = *at;
    context_.info().time_base = column.role == Role::Wall ? TimeBase::Wall : TimeBase::Start;
    context_.info().see(*at);
    return at;
  }

  /// Where commas do not separate cells they stand between thousands, or for a decimal point.
  std::optional<double> number(const std::string& cell, std::size_t index) {
    if (const auto value = parse_number(cell))
      return value;
    std::string plain = cell;
    if (has_thousands(cell)) {
      plain.erase(std::remove(plain.begin(), plain.end(), ','), plain.end());
      return parse_number(plain);
    }
    if (std::count(cell.begin(), cell.end(), ',') == 1) {
      const auto comma = plain.find(',');
      plain[comma] = '.';
      const auto value = parse_number(plain);
      if (value and plain.size() - comma == 4) {
        input_.report("ambiguous_comma",
                      fmt::format("column '{}': '{}' may be {} or have thousands; it was left out",
                                  names_[index], cell, plain));
        return std::nullopt;
      }
      if (value) {
        input_.report("decimal_comma",
                      fmt::format("column '{}': '{}' was read as {}", names_[index], cell, plain));
        return value;
      }
    }
    input_.report("no_number",
                  fmt::format("column '{}': '{}' is no number; it was left out", names_[index], cell));
    return std::nullopt;
  }

  LineInput& input_;
  ReadContext& context_;
  std::string header_;
  char separator_;
  ColumnMap map_;
  std::vector<TableColumn> columns_;
  std::vector<std::string> names_;
  bool has_time_ = false;
  std::int64_t rows_ = 0;
  TimeUs last_us_ = 0;
  LogClock clock_{zone_offset(context_.options)};
};

class TablesReader final : public Reader {
public:
  std::string_view name() const override { return "table"; }
  std::string_view reads() const override { return "tables of results with a header"; }

  Match recognises(const FileHead& head) const override {
    const auto lines = head.lines(3);
    if (lines.empty())
      return Match::No;
    const auto separator = separator_of(lines.front());
    if (not separator)
      return Match::No;
    if (lines.size() < 2) // a header alone
      return std::any_of(lines.begin(), lines.end(), has_metric) ? Match::Perhaps : Match::No;
    const std::string_view row = is_rule(lines[1]) and lines.size() > 2 ? lines[2] : lines[1];
    const auto cells = table_cells(row, *separator);
    const auto columns = table_cells(lines.front(), *separator).size();
    const bool has_number = std::any_of(cells.begin(), cells.end(), [](const auto& cell) {
      return not cell.empty() and
             (std::isdigit(static_cast<unsigned char>(cell.front())) != 0 or parse_number(cell).has_value());
    });
    // A first row of another length may be the broken one of many.
    return has_number and cells.size() * 2 > columns ? Match::Perhaps : Match::No;
  }

  void read(LineInput& input, ReadContext& context) const override {
    std::string_view line;
    if (not input.next(line))
      return;
    TableRows rows(input, context, line, separator_of(line).value_or(','));
    if (not rows.has_metrics())
      return input.report_file("no_metric",
                               "none of its columns is known as a metric; a column map (--columns) says "
                               "which is: COLUMN = METRIC [UNIT]");
    while (input.next(line))
      rows.add(line);
    rows.finish();
  }

private:
  static bool has_metric(std::string_view header) {
    const auto cells = table_cells(header, separator_of(header).value_or(','));
    return std::any_of(cells.begin(), cells.end(),
                       [](const auto& cell) { return column_by_name(cell).role == Role::Metric; });
  }
};

} // namespace

std::vector<std::string> split_cells(std::string_view line, char separator) {
  std::vector<std::string> cells(1);
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (separator != '|' and c == '"') {
      if (in_quotes and i + 1 < line.size() and line[i + 1] == '"')
        cells.back() += line[++i];
      else
        in_quotes = not in_quotes;
    } else if (c == separator and not in_quotes) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells)
    cell = std::string(trimmed(cell));
  return cells;
}

std::vector<std::string> table_cells(std::string_view line, char separator) {
  if (separator == '|') {
    line = trimmed(line);
    if (line.starts_with('|'))
      line.remove_prefix(1);
    if (line.ends_with('|'))
      line.remove_suffix(1);
  }
  return split_cells(line, separator);
}

std::unique_ptr<Reader> make_tables_reader() { return std::make_unique<TablesReader>(); }

} // namespace replisim::readers
