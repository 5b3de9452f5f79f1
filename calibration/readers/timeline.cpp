#include "calibration/readers/timeline.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace replisim::readers {

namespace {

std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t end = line.find(separator);
    cells.push_back(line.substr(0, end));
    if (end == std::string_view::npos)
      return cells;
    line.remove_prefix(end + 1);
  }
}

/// The separator of a timeline's header line; nothing when the line is none.
std::optional<char> separator_of(std::string_view header) {
  for (const char separator : {',', ';', '\t'})
    if (header.starts_with(std::string("t_s") + separator))
      return separator;
  return {};
}

bool is_counter(std::string_view column) { return column.starts_with("cpu_"); }

class TimelineRows {
public:
  TimelineRows(LineInput& input, ReadContext& context, std::string_view header)
      : input_(input), context_(context), header_(header), separator_(separator_of(header).value_or(',')) {
    for (const std::string_view name : cells_of(header_, separator_)) {
      const auto same = std::find(columns_.begin(), columns_.end(), name);
      if (same != columns_.end())
        input_.report("repeated_column",
                      fmt::format("column '{}' appears twice; the second one was left out", name));
      columns_.emplace_back(same == columns_.end() ? name : std::string_view());
    }
    series_.resize(columns_.size(), nullptr);
  }

  void add(std::string_view line) {
    if (line.empty())
      return input_.report("empty_line", "an empty line between the rows; it was left out");
    if (line == header_)
      return input_.report("repeated_header", "the header line stands here again; it was left out");
    const auto cells = cells_of(line, separator_);
    if (cells.size() != columns_.size())
      return input_.report("cell_count",
                           fmt::format("the row has {} cells, the header {} columns; it was left out",
                                       cells.size(), columns_.size()));
    const std::optional<double> t_s = number(cells[0], 0);
    if (not t_s)
      return;
    const auto at_us = static_cast<TimeUs>(std::llround(*t_s * 1e6));
    if (rows_ > 0 and at_us < last_us_)
      return input_.report("clock_back",
                           fmt::format("t_s goes back from {:.6f} to {:.6f}; the row was left out",
                                       static_cast<double>(last_us_) * 1e-6, *t_s));
    last_us_ = at_us;
    ++rows_;
    context_.info().see(at_us);
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (not cells[i].empty() and not columns_[i].empty())
        if (const auto value = number(cells[i], i))
          series_at(i).add({at_us, *value, input_.line_number()});
  }

  std::uint64_t rows() const { return rows_; }

private:
  Series& series_at(std::size_t column) {
    if (series_[column] == nullptr)
      series_[column] =
          &context_.observation.series(columns_[column], context_.source, {}, is_counter(columns_[column]));
    return *series_[column];
  }

  /// The cell as a number; with ';' or a tab between cells a decimal comma is one, too.
  std::optional<double> number(std::string_view cell, std::size_t column) {
    if (auto value = parse_number(cell))
      return value;
    if (separator_ != ',' and std::count(cell.begin(), cell.end(), ',') == 1) {
      std::string with_point(cell);
      std::replace(with_point.begin(), with_point.end(), ',', '.');
      if (auto value = parse_number(with_point)) {
        if (not std::exchange(said_decimal_comma_, true))
          input_.report("decimal_comma", fmt::format("column '{}': '{}' was read as {}, here and below",
                                                     columns_[column], cell, with_point));
        return value;
      }
    }
    input_.report("no_number",
                  fmt::format("column '{}': '{}' is no number; it was left out", columns_[column], cell));
    return {};
  }

  LineInput& input_;
  ReadContext& context_;
  std::string header_;
  char separator_;
  std::vector<std::string> columns_; ///< empty name: left out
  std::vector<Series*> series_;
  TimeUs last_us_ = 0;
  std::uint64_t rows_ = 0;
  bool said_decimal_comma_ = false;
};

class TimelineReader final : public Reader {
public:
  std::string_view name() const override { return "timeline"; }
  std::string_view reads() const override { return "sampled timelines (CSV that starts with t_s)"; }

  Match recognises(const FileHead& head) const override {
    const auto lines = head.lines(1);
    if (lines.empty() or not separator_of(lines[0]))
      return Match::No;
    const bool is_known =
        lines[0].find("_lsn") != std::string_view::npos or lines[0].find("cpu_") != std::string_view::npos;
    return is_known ? Match::Certain : Match::Perhaps;
  }

  void read(LineInput& input, ReadContext& context) const override {
    std::string_view line;
    if (not input.next(line))
      return;
    context.info().format = "one row a sample";
    context.info().time_base = TimeBase::Start;
    TimelineRows rows(input, context, line);
    while (input.next(line))
      rows.add(line);
    if (rows.rows() == 0)
      input.report_file("no_rows", "holds no row below its header");
  }
};

} // namespace

std::unique_ptr<Reader> make_timeline_reader() { return std::make_unique<TimelineReader>(); }

} // namespace replisim::readers
