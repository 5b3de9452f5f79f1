// Plain tables of results: a header, then one row a run or a moment; commas, semicolons, tabs or pipes
// between cells. Which column is which metric follows from its name, or from a column map.
#pragma once

#include "calibration/readers/reader.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

std::unique_ptr<Reader> make_tables_reader();

/// The cells of a line without blanks around them. Quotes are honoured where commas, semicolons or tabs
/// separate; the bars at both ends of a row of pipes are none.
std::vector<std::string> table_cells(std::string_view line, char separator);

/// What stands between separators, trimmed; quotes are honoured unless the separator is '|'. An empty cell at
/// either end counts, as psql's aligned rows have them.
std::vector<std::string> split_cells(std::string_view line, char separator);

} // namespace replisim::readers
