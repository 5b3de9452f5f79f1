// What a run says about initial synchronisations, faults and cut-overs.
#pragma once

#include "models/base/units.hpp"

#include <cstdint>
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

/// A table of a subscriber that retains dead rows, in the terms of pg_stat_all_tables.
struct DeadTuples {
  std::string table;
  double n_dead_tup = 0;        ///< at the end of the run: dead versions that nobody may remove yet
  double most_dead_tup = 0;     ///< at once
  double mean_dead_tup = 0;     ///< over the run
  double most_per_row = 0;      ///< that a look-up of one row passes, in the mean over the rows
  double n_tup_upd = 0;         ///< rows updated
  double n_tup_newpage_upd = 0; ///< ... which left their page because what was dead on it had to stay
};

/// What retain_dead_tuples did on one subscriber.
struct RetentionResult {
  std::string server;
  std::map<std::string, bool> active;      ///< subretentionactive at the end, by subscription
  std::int64_t advances = 0;               ///< of oldest_nonremovable_xid
  std::int64_t stops = 0, resumptions = 0; ///< by max_retention_duration
  double longest_s = 0;                    ///< the longest time for which dead rows were kept
  std::vector<DeadTuples> tables;
};

struct Upheaval {
  std::vector<TableSyncResult> tables;
  std::map<std::string, std::string> sync_words; ///< by subscription
  std::vector<FaultResult> faults;
  std::vector<RetentionResult> retention; ///< by server
  bool empty() const { return tables.empty() and faults.empty() and retention.empty(); }
};

} // namespace replisim
