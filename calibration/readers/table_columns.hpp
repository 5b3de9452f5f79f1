// What the columns of a plain table are: metrics in some unit, labels, times, or nothing that is wanted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

struct TableColumn {
  enum class Role {
    Metric,     ///< a figure of the row, or a value of a series where the table has times
    Label,      ///< tells rows apart
    SinceStart, ///< time since the table's own beginning
    Wall,       ///< "2026-11-30 15:17:57+00", or seconds since 1970
    Ignored,
    Unclear, ///< a size in a unit that people read in two ways
  };
  Role role = Role::Label;
  std::string name;  ///< of the metric or the label
  double factor = 1; ///< base units in one of the column's
};

/// By the header's names; what a user's file says of some.
using ColumnMap = std::map<std::string, TableColumn, std::less<>>;

/// Lines `COLUMN = METRIC [UNIT]`, `COLUMN = label [NAME]`, `COLUMN = time [UNIT]`, `COLUMN = -`; `#` begins
/// a remark. A unit is s, ms, us, ns, min, h, B, kB, MB, GB, TB (1,024 each, as PostgreSQL's) or a factor
/// such as 1e6. Throws ScenarioError with all mistakes, UsageError when the file cannot be read.
ColumnMap read_column_map(const std::filesystem::path& file);

/// By its name alone: known metrics (those of results, and what ends in _s, _ms, _us, _bytes, _per_s); sizes
/// in kB, MB, GB are unclear; all else is a label.
TableColumn column_by_name(std::string_view name);

} // namespace replisim::readers
