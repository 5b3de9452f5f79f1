// What a run says about initial synchronisations, faults and cut-overs.
#pragma once

#include "models/base/units.hpp"

#include <map>
#include <string>
#include <vector>

namespace replisim {

/// One table's way to READY; dates in s of the run, negative: not reached.
struct TableSyncResult {
  std::string subscription, table;
  std::string state; ///< at the end of the run
  int attempts = 0;
  double launched_s = -1, snapshot_s = -1, copied_s = -1, catchup_s = -1, done_s = -1, ready_s = -1;
  Rows rows = 0;
  Bytes bytes = 0;
  Bytes bloat_bytes = 0; ///< dead rows of failed attempts
  std::string failure;
};

struct FaultResult {
  std::string event, slot;
  double begun_s = 0, ended_s = -1, caught_up_s = -1, cap_passed_s = -1;
  Bytes backlog_bytes = 0, retained_at_end_bytes = 0, most_retained_bytes = 0;
};

struct Upheaval {
  std::vector<TableSyncResult> tables;
  std::map<std::string, std::string> sync_words; ///< by subscription
  std::vector<FaultResult> faults;
  bool empty() const { return tables.empty() and faults.empty(); }
};

} // namespace replisim
