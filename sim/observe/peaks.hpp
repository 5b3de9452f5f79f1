// The largest values of what comes and goes during a run: WAL held back, disks filled.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/run/result.hpp"

#include <map>
#include <string>

namespace replisim {

/// Looks as often as the timeline does, and once more at the end.
class PeakWatch {
public:
  PeakWatch(const Scenario& scenario, Pipeline& pipeline);

  /// Adds peak_retained_wal_bytes, and for each disk of a publisher that has a capacity
  /// peak_disk_used_SERVER.DISK, its fullness as a fraction, what other files take included.
  void collect(RunResult& result);

private:
  struct WatchedDisk {
    std::string server;
    std::string name;
    double used_bytes = 0; ///< by others
    double capacity_bytes = 0;
    double peak = 0;
  };
  void look();

  const Scenario& scenario_;
  const Pipeline& pipeline_;
  std::map<std::string, WatchedDisk> disks_; ///< by metric
  double retained_bytes_ = 0;
};

} // namespace replisim
