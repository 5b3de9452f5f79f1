#include "models/hardware.hpp"

#include <algorithm>

namespace replisim {

double Machine::capacity(int running) const {
  const int on_cores = std::clamp(running, 0, cores());
  const int on_second_threads = std::clamp(running - cores(), 0, cpus() - cores());
  if (on_second_threads == 0)
    return on_cores;
  // Each thread beyond a core's first adds the same share of the gain: a core with all its threads
  // busy does `smt_gain`.
  const double gain_per_thread = (smt_gain - 1) / (threads_per_core - 1);
  return on_cores + on_second_threads * gain_per_thread;
}

} // namespace replisim
