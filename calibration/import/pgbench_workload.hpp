// A log of pgbench as a workload: times from the log, statements from the builtin script it ran.
#pragma once

#include "calibration/import/recorded_workload.hpp"
#include "calibration/readers/pgbench.hpp"

#include <string>
#include <vector>

namespace replisim {

/// Names of the builtin scripts.
const std::vector<std::string>& pgbench_scripts();

class PgbenchWorkload {
public:
  /// `scripts`: the builtin that script 0, 1, ... of the log is; `scale`: of the tables (pgbench -i -s).
  PgbenchWorkload(const std::vector<std::string>& scripts, std::int64_t scale);

  bool knows(std::int64_t script) const { return script >= 0 and script < std::ssize(script_steps_); }
  void add(const readers::PgbenchTransaction& transaction);
  RecordedWorkload finish();

private:
  struct Ended {
    readers::TimeUs end_us = 0;
    std::int64_t latency_us = 0;
    std::size_t steps = 0;
  };
  RecordedWorkload out_;
  std::vector<std::size_t> script_steps_; ///< index into out_.distinct
  std::vector<Ended> ended_;
};

} // namespace replisim
