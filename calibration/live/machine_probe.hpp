// The machine we run on as a machine file: cores, memory, the disk's flushes and bandwidths as measured.
#pragma once

#include <filesystem>
#include <string>

namespace replisim::live {

struct MachineProbe {
  int cpus = 1;
  double memory_bytes = 0;
  double fsync_s = 0;           ///< median of many flushes of one page
  double write_bytes_per_s = 0; ///< sequential, flushed at the end
  double read_bytes_per_s = 0;  ///< sequential, behind the cache; 0: it could not be measured
  double random_read_s = 0;     ///< one page at random; 0: the same
};

/// Measures in `folder`, for a few seconds. Throws UsageError with a sentence when the disk is full.
MachineProbe probe_machine(const std::filesystem::path& folder);

/// One flush of one page of a file that is there already, median of `count`; seconds. `folder` is what
/// `option` of the command line named. Throws UsageError with a sentence when the disk is full.
double flush_latency_s(const std::filesystem::path& folder, int count, const char* option);

/// The text of a machine file.
std::string machine_text(const MachineProbe& probe, const std::string& name);

} // namespace replisim::live
