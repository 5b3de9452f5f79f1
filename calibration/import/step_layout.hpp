// The steps of one recorded transaction: rows of a transaction and its subtransactions in the order of the
// WAL.
#pragma once

#include "calibration/import/recorded_workload.hpp"

namespace replisim {

/// Rows that one (sub)transaction wrote in a row, or the moment it was rolled back.
struct RecordedRun {
  std::uint64_t sequence = 0; ///< of the first record
  std::uint64_t last = 0;     ///< of the last one
  std::uint32_t xid = 0;
  RecordedStep step;
  bool undone = false; ///< rolled back here; `step` means nothing
};

/// Puts savepoints around the rows of subtransactions of `top`. Those nest when the outer one goes on after
/// the inner one; a savepoint that nothing is left to do under is released.
RecordedSteps lay_out_steps(std::vector<RecordedRun> runs, std::uint32_t top);

/// The steps without those of ignored tables, and without savepoints that then hold nothing.
RecordedSteps without_ignored(const RecordedSteps& steps, const std::vector<RecordedTable>& tables);

/// Rows changed, those after a savepoint that is rolled back left out.
Rows rows_kept(const RecordedSteps& steps);

} // namespace replisim
