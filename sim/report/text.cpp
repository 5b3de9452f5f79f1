#include "sim/report/text.hpp"

#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace replisim {

namespace {

constexpr std::string_view column_gap = "  ";

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  return lines;
}

} // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return not is_continuation(c); }));
}

std::string clipped(std::string_view text, std::size_t width) {
  if (display_width(text) <= width)
    return std::string(text);
  const std::size_t kept = width > 3 ? width - 3 : 0;
  std::string out;
  std::size_t columns = 0;
  for (const char c : text) {
    if (not is_continuation(c) and ++columns > kept)
      break;
    out += c;
  }
  return out + std::string("...").substr(0, width);
}

std::string wrapped(std::string_view first, std::string_view text) {
  const std::string indent(display_width(first), ' ');
  std::string out;
  std::string line(first);
  bool line_has_words = false;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto start = text.find_first_not_of(" \n\t", at);
    if (start == std::string_view::npos)
      break;
    at = std::min(text.find_first_of(" \n\t", start), text.size());
    const auto word = text.substr(start, at - start);
    if (line_has_words and display_width(line) + 1 + display_width(word) > report_columns) {
      out += line + "\n";
      line = indent;
      line_has_words = false;
    }
    line.append(line_has_words ? " " : "").append(word);
    line_has_words = true;
  }
  return out + line + "\n";
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos)
    return std::string(text);
  std::string out = "\"";
  for (const char c : text)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_number(double value) {
  if (std::abs(value) < 9007199254740992.0 and value == std::trunc(value))
    return fmt::format("{}", static_cast<std::int64_t>(value));
  return fmt::format("{}", value);
}

std::string seconds_text(double seconds) {
  const double size = std::abs(seconds);
  if (size == 0)
    return "0 s";
  if (size >= 1)
    return fmt::format("{:.3f} s", seconds);
  if (size >= 1e-3)
    return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

std::string size_text(double bytes) { return format_bytes(bytes); }

std::string setting_size(double bytes) {
  constexpr std::string_view units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(units) and bytes >= 1024 and std::fmod(bytes, 1024) == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.0f}{}", bytes, units[unit]);
}

std::string whole_text(double value) {
  return value == std::trunc(value) and std::abs(value) < 9e15
             ? format_count(static_cast<std::int64_t>(value))
             : fmt::format("{:.4g}", value);
}

TextTable::TextTable(std::vector<std::string> header, std::size_t left_columns)
    : columns_(header.size()), left_columns_(left_columns) {
  std::vector<std::vector<std::string>> cells;
  std::size_t lines = 1;
  for (const auto& cell : header) {
    cells.push_back(split_lines(cell));
    lines = std::max(lines, cells.back().size());
  }
  for (std::size_t l = 0; l < lines; ++l) {
    auto& row = header_.emplace_back();
    for (const auto& cell : cells) // shorter headers stand on the lowest line
      row.cells.push_back(l + cell.size() >= lines ? cell[l + cell.size() - lines] : "");
  }
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(columns_);
  rows_.push_back({std::move(cells), {}});
}

void TextTable::add_with_note(std::vector<std::string> cells, std::string note) {
  rows_.push_back({std::move(cells), std::move(note)});
}

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> out(columns_, 0);
  for (const auto* rows : {&header_, &rows_})
    for (const auto& row : *rows)
      for (std::size_t i = 0; i < row.cells.size(); ++i)
        out[i] = std::max(out[i], display_width(row.cells[i]));
  return out;
}

std::size_t TextTable::width() const {
  std::size_t sum = columns_ > 0 ? column_gap.size() * (columns_ - 1) : 0;
  for (const auto w : widths())
    sum += w;
  return sum;
}

std::vector<std::size_t> TextTable::fitting_widths(std::size_t indent) const {
  constexpr std::size_t narrowest = 12;
  std::vector<std::size_t> out = widths();
  std::size_t sum = indent + width();
  while (sum > report_columns) {
    const auto left_end = out.begin() + static_cast<std::ptrdiff_t>(std::min(left_columns_, columns_));
    const auto widest = std::max_element(out.begin(), left_end);
    if (widest == left_end or *widest <= narrowest)
      break;
    const std::size_t cut = std::min(sum - report_columns, *widest - narrowest);
    *widest -= cut;
    sum -= cut;
  }
  return out;
}

std::vector<std::vector<std::size_t>> TextTable::parts(const std::vector<std::size_t>& widths,
                                                       std::size_t indent) const {
  std::vector<std::size_t> left;
  std::size_t left_width = indent;
  for (std::size_t i = 0; i < std::min(left_columns_, columns_); ++i) {
    left.push_back(i);
    left_width += widths[i] + column_gap.size();
  }
  std::vector<std::vector<std::size_t>> out = {left};
  std::size_t used = left_width;
  for (std::size_t i = left.size(); i < columns_; ++i) {
    if (used + widths[i] > report_columns and out.back().size() > left.size()) {
      out.push_back(left);
      used = left_width;
    }
    out.back().push_back(i);
    used += widths[i] + column_gap.size();
  }
  return out;
}

std::string TextTable::line(const Row& row, const std::vector<std::size_t>& columns,
                            const std::vector<std::size_t>& widths, std::size_t indent) const {
  std::string out(indent, ' ');
  bool first = true;
  for (const std::size_t i : columns) {
    if (i >= row.cells.size())
      continue;
    const std::string cell = i < left_columns_ ? clipped(row.cells[i], widths[i]) : row.cells[i];
    const std::string padding(widths[i] - std::min(widths[i], display_width(cell)), ' ');
    out += first ? "" : column_gap;
    out += i < left_columns_ ? cell + padding : padding + cell;
    first = false;
  }
  if (not row.note.empty() and (columns.empty() or columns.front() == 0)) {
    out += row.cells.empty() ? "" : column_gap;
    out += clipped(row.note, report_columns - std::min(report_columns, display_width(out)));
  }
  out.erase(out.find_last_not_of(' ') + 1);
  return out + "\n";
}

std::string TextTable::render(std::size_t indent) const {
  const auto w = fitting_widths(indent);
  std::string out;
  const bool has_header = std::any_of(header_.begin(), header_.end(), [](const Row& row) {
    return std::any_of(row.cells.begin(), row.cells.end(), [](const auto& cell) { return not cell.empty(); });
  });
  for (const auto& columns : parts(w, indent)) {
    out += out.empty() ? "" : "\n";
    if (has_header)
      for (const auto& row : header_)
        out += line(row, columns, w, indent);
    for (const auto& row : rows_)
      out += line(row, columns, w, indent);
  }
  return out;
}

} // namespace replisim
