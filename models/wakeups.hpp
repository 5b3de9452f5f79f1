// How often a process that works on what arrives goes to sleep and is woken again.
#pragma once

#include <algorithm>

namespace replisim {

/// Of a stream of arrivals those that find the process asleep wake it: with u the share of time it is busy,
/// an arrival does so with chance 1 - u. Being woken costs time itself, so u = a + b (1 - u), where a is the
/// share that the work takes and b the one it would take were each arrival a wake-up.
class WakeUps {
public:
  /// The time the CPU work of the last batch really took, and what it would have taken by itself.
  void observe(double elapsed_s, double cpu_s) {
    if (cpu_s > 0)
      stretch_ += weight * (std::max(1.0, elapsed_s / cpu_s) - stretch_);
  }

  /// Wake-ups among `arrivals` over `span_s` that bring `work_s` of CPU, each wake-up costing `wakeup_s`.
  double count(double arrivals, double span_s, double work_s, double wakeup_s) const {
    if (span_s <= 0 or arrivals <= 0)
      return 0;
    const double work = work_s * stretch_ / span_s;
    const double waking = arrivals * wakeup_s * stretch_ / span_s;
    return arrivals * std::max(0.0, 1 - work) / (1 + waking);
  }

private:
  static constexpr double weight = 0.1; ///< of the last batch in the mean
  double stretch_ = 1;
};

} // namespace replisim
