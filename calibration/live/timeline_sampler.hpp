// The sampled timeline of one measured run, as `replisim observe` reads it: LSNs, locks, files, CPU seconds.
#pragma once

#include "calibration/live/process_cpu.hpp"
#include "calibration/live/server.hpp"

#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace replisim::live {

/// One look: seconds since the sampler's start and values by column.
struct TimelineRow {
  double t_s = 0;
  std::map<std::string, double> values;
};

class TimelineSampler {
public:
  /// Connects; begins with start().
  TimelineSampler(const ThrowawayServer& pub, const ThrowawayServer& sub, double interval_s);
  ~TimelineSampler();

  /// Sessions of the lab that measure: their CPU is none of the backends'.
  void exclude(const std::string& node, pid_t pid);
  void start();
  /// Ends; throws what ended the sampling, if something did.
  void stop();

  const std::vector<TimelineRow>& rows() const { return rows_; }
  /// Growth of a column over the rows, 0 where it is missing.
  double growth(const std::string& column) const;
  double largest(const std::string& column) const;
  /// From the first to the last look at which the column was above 0.
  double span_above_zero_s(const std::string& column) const;
  /// Seconds of CPU a second that sampling itself took: this thread, and its sessions on both servers.
  double own_cores() const { return own_cores_; }
  double session_cores() const { return session_cores_; }
  std::string csv() const;

private:
  void loop();
  TimelineRow look();

  const ThrowawayServer& pub_;
  const ThrowawayServer& sub_;
  double interval_s_;
  Connection pub_session_;
  Connection sub_session_;
  ServerCpu pub_cpu_;
  ServerCpu sub_cpu_;
  std::vector<TimelineRow> rows_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
  std::exception_ptr error_;
  double started_s_ = 0;
  double own_cores_ = 0;
  double session_cores_ = 0;
};

} // namespace replisim::live
