#include "calibration/live/clock.hpp"

#include "sim/run/fork_pool.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace replisim::live {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double wall_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void check_interrupt() {
  if (InterruptScope::interrupted())
    throw Interrupted("interrupted");
}

void wait_s(double seconds) {
  const double until = now_s() + seconds;
  while (true) {
    check_interrupt();
    const double left = until - now_s();
    if (left <= 0)
      return;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.02)));
  }
}

} // namespace replisim::live
