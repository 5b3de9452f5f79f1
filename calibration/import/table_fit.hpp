// Tables that give the sizes the WAL shows.
#pragma once

#include "calibration/import/recorded_workload.hpp"
#include "models/workload.hpp"

#include <string>
#include <vector>

namespace replisim {

/// A table of the scenario, and how it was found.
struct FittedTable {
  Table table;
  bool columns_known = false;   ///< from a map file; otherwise a key and one text of the right width
  bool rows_known = false;      ///< from a map file; otherwise from the highest block seen
  bool can_be_published = true; ///< false: rows are updated or deleted that nothing identifies
  int wide_column = -1;         ///< the one that is stored out of line
};

/// Key, widths, indexes, share of HOT updates and number of rows from the lengths of the records. The tuple
/// is as long as the mean of the recorded ones, to the byte where the columns allow it.
FittedTable fit_table(const RecordedTable& recorded);

/// WAL that a replay of one transaction writes, page images left out. `tables` by index of the recorded ones.
double fitted_wal_bytes(const RecordedSteps& steps, const std::vector<FittedTable>& tables);

/// Of a step that changes rows.
Operation operation_of(const RecordedStep& step);
/// The same as a statement on the fitted table.
StatementStep statement_of(const RecordedStep& step, const FittedTable& table);

/// "int4", "text(32)": as a scenario spells it.
std::string column_type_text(const Column& column);

} // namespace replisim
