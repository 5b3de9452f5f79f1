// A line on the terminal while one simulation runs: how far its clock has come.
#pragma once

#include <atomic>
#include <string>
#include <thread>

namespace replisim::cli {

/// From its second second on, a running simulation shows its simulated time on standard error, with a bar
/// where the end is known (`until_s` > 0). Nothing is shown for an empty label, or where standard error is no
/// terminal. One at a time; the line is wiped in the end.
class RunningClock {
public:
  RunningClock(const std::string& label, double until_s);
  ~RunningClock();
  RunningClock(const RunningClock&) = delete;
  RunningClock& operator=(const RunningClock&) = delete;

private:
  void show(const std::string& label, double until_s) const;

  double* shared_ = nullptr; ///< memory that the simulating child writes to
  std::atomic<bool> over_{false};
  std::thread thread_;
};

} // namespace replisim::cli
