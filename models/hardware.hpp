// What a machine, a disk and a link are: plain descriptions, no behaviour of their own.
#pragma once

#include "models/base/units.hpp"

#include <string>
#include <vector>

namespace replisim {

/// A storage device as WAL sees it: requests are served in order, each fsync pays a latency.
struct Disk {
  std::string name;
  double fsync_latency_s = 0; ///< one flush of an almost empty write queue
  double write_bandwidth_bytes_per_s = 0;
  double read_bandwidth_bytes_per_s = 0;
  Bytes capacity_bytes = 0;  ///< of the file system on it; 0: never fills
  Bytes used_bytes = 0;      ///< by what the run does not write
  double read_latency_s = 0; ///< one page picked at random, nothing else under way
};

/// A machine. `speed` scales every CPU cost of a profile: 1 means "as fast as the core on which the
/// profile was measured".
struct Machine {
  std::string name;
  int sockets = 1;
  int cores_per_socket = 1;
  int threads_per_core = 1;
  double smt_gain = 1.25; ///< throughput of a core with all its threads busy, one thread being 1
  double speed = 1.0;
  Bytes memory_bytes = 0;
  std::vector<Disk> disks; ///< the first one holds data directory and WAL

  int cores() const { return sockets * cores_per_socket; }
  int cpus() const { return cores() * threads_per_core; }
  /// Capacity in units of one undisturbed core when `running` threads want a CPU: full cores first,
  /// then what second threads add. Never above cores() * smt_gain (or cores() without SMT).
  double capacity(int running) const;
};

/// A network link between two hosts, the same in both directions (full duplex).
struct Link {
  std::string from; ///< host name
  std::string to;   ///< host name
  double bandwidth_bytes_per_s = 0;
  double latency_s = 0;   ///< one way
  Bytes window_bytes = 0; ///< sender plus receiver kernel buffers of one TCP connection
};

} // namespace replisim
