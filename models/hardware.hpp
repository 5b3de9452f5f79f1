// What a machine, a disk and a link are: plain descriptions, no behaviour of their own.
#pragma once

#include "models/base/units.hpp"

#include <algorithm>
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
  double baseline = 1; ///< share of its CPUs a burstable instance earns; 1: it may use all of them for ever
  double cpu_credits_s = 0; ///< CPU time in stock at the start, on top of what it earns
  Bytes memory_bytes = 0;
  std::vector<Disk> disks; ///< the first one holds data directory and WAL

  int cores() const { return sockets * cores_per_socket; }
  int cpus() const { return cores() * threads_per_core; }
  /// Capacity in units of one undisturbed core when `running` threads want a CPU: full cores first,
  /// then what second threads add. Never above cores() * smt_gain (or cores() without SMT).
  double capacity(int running) const;
  bool bursts() const { return baseline < 1; }
};

/// The CPU credits of a burstable instance: earned at its baseline, spent by what runs, and when none are
/// left all CPUs together do no more than the baseline (Amazon EC2, "CPU credits and baseline utilization for
/// burstable performance instances").
class CpuCredits {
public:
  explicit CpuCredits(const Machine& machine);

  /// `running` threads want a CPU from `now_s` on.
  void demand(int running, double now_s);
  /// Up to `now_s`; then `throttled` and `changes_s` are those of that date.
  void pass(double now_s);
  /// What is in stock is gone.
  void use_up() { stock_s_ = 0; }
  bool throttled() const { return throttled_; }
  /// When `throttled` will change if the demand stays as it is; infinite: not at all.
  double changes_s() const;
  /// Capacity in undisturbed cores.
  double capacity() const { return throttled_ ? std::min(wanted_, earned_) : wanted_; }
  double stock_s() const { return stock_s_; }

private:
  double net() const { return earned_ - capacity(); } ///< growth of the stock

  const Machine machine_;
  double earned_; ///< cores
  double most_s_; ///< what is earned in a day
  double stock_s_;
  double wanted_ = 0;
  double at_s_ = 0;
  bool throttled_ = false;
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
