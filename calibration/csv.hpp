// A small, strict reader for the measured tables: one header line, commas, no quotes. Anything else is an
// error with file, line and column, because a table misread is worse than a table refused.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace replisim {

/// A table of text cells with named columns; every row has as many cells as the header has names.
class CsvTable {
public:
  /// Parses `text`; `file` names it in errors. The header must hold exactly the names of `columns`, in
  /// any order. Throws ScenarioError with all mistakes: missing, unknown or repeated column, a row with
  /// too few or too many cells, a quote, an empty line, no rows at all.
  CsvTable(std::string file, std::string_view text, const std::vector<std::string>& columns);

  std::size_t row_count() const { return rows_.size(); }
  /// The cell's text. Requires a row below row_count() and a column of the header.
  const std::string& text(std::size_t row, std::string_view column) const;
  /// The cell as a number; throws ScenarioError naming file, line and column when it is none (empty
  /// cells, trailing characters, infinities and NaN are none).
  double number(std::size_t row, std::string_view column) const;

private:
  std::string file_;
  std::map<std::string, std::size_t, std::less<>> column_index_;
  std::vector<std::vector<std::string>> rows_;
};

/// Reads a file; throws UsageError when it cannot be read, else as CsvTable's constructor.
CsvTable read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns);

/// The measured tables that ship with the program, by their path below calibration/data.
CsvTable read_measured(const std::filesystem::path& library_root, const std::string& table,
                       const std::vector<std::string>& columns);

} // namespace replisim
