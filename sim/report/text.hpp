// Plain text for people: widths, wrapping, tables; and the fields of CSV files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// Widest line a report prints, in columns; the program sets it to the width of a terminal's window.
inline std::size_t report_columns = 100;

/// Columns that UTF-8 text takes, one a code point.
std::size_t display_width(std::string_view text);

/// The text, cut to `width` columns with "..." at the end where it is longer.
std::string clipped(std::string_view text, std::size_t width);

/// Words of `text` in lines of at most report_columns; the first line starts with `first`, the others with
/// as many spaces. Each line ends with a newline. A longer word gets a line of its own.
std::string wrapped(std::string_view first, std::string_view text);

/// One field of a CSV line, quoted where it must be (RFC 4180).
std::string csv_field(std::string_view text);

/// A number as CSV files carry it: the shortest text that reads back exactly; whole numbers without a
/// fraction.
std::string csv_number(double value);

std::string seconds_text(double seconds); ///< "37.304 s", "12.100 ms", "85.0 us", "0 s"
std::string size_text(double bytes);      ///< "877.4 MB"; below 1 kB "512 B"
std::string setting_size(double bytes);   ///< as postgresql.conf writes it: "64kB", "64MB", "1000B"
std::string whole_text(double value);     ///< "5,000,000"; with a fraction where there is one

/// Columns aligned by their widest cell: the first `left_columns` to the left, the others to the right.
/// Header cells may have several lines, separated by '\n'; a header of empty cells is not printed. Where the
/// whole is wider than report_columns, cells of the left columns are cut, and what still does not fit goes
/// below, each part with the left columns again.
class TextTable {
public:
  TextTable(std::vector<std::string> header, std::size_t left_columns);
  void add(std::vector<std::string> cells);
  /// A row of which only the first cells are columns and the rest is one text to the end of the line.
  void add_with_note(std::vector<std::string> cells, std::string note);
  /// Width of the widest line, indentation not included.
  std::size_t width() const;
  std::string render(std::size_t indent) const;

private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;
  };
  std::vector<std::size_t> widths() const;
  /// Left columns narrowed as far as it takes.
  std::vector<std::size_t> fitting_widths(std::size_t indent) const;
  /// Columns side by side, so that each part fits.
  std::vector<std::vector<std::size_t>> parts(const std::vector<std::size_t>& widths,
                                              std::size_t indent) const;
  std::string line(const Row& row, const std::vector<std::size_t>& columns,
                   const std::vector<std::size_t>& widths, std::size_t indent) const;

  std::vector<Row> header_; ///< one row a header line
  std::vector<Row> rows_;
  std::size_t columns_;
  std::size_t left_columns_;
};

} // namespace replisim
