// How a worker spends the time of applying rows.
#pragma once

#include "models/apply_cost.hpp"
#include "sim/engine/world.hpp"

namespace replisim {

/// `other_cpu_s` and the CPU time of `time`, then its reads, for which the worker waits one after the other.
inline void spend(engine::Process& process, double other_cpu_s, const ApplyTime& time) {
  process.cpu(other_cpu_s + time.cpu_s);
  if (time.read_s > 0)
    process.sleep(time.read_s);
}

} // namespace replisim
