// How often a process that works on what arrives goes to sleep and is woken again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace replisim {

/// Of streams of arrivals those that find the process asleep wake it: with u the share of time it is busy,
/// an arrival does so with chance 1 - u. Being woken costs time itself, so u = a + b (1 - u), where a is the
/// share that the work of all streams takes and b the one it would take were each arrival a wake-up.
class WakeUps {
public:
  /// The time the CPU work of the last batch really took, and what it would have taken by itself.
  void observe(double elapsed_s, double cpu_s) {
    if (cpu_s > 0)
      stretch_ += weight * (std::max(1.0, elapsed_s / cpu_s) - stretch_);
  }

  /// What one stream brought: `arrivals` over `span_s`, with `work_s` of CPU.
  struct Arrivals {
    std::uint32_t stream = 0;
    double count = 0, span_s = 0, work_s = 0;
  };

  /// Wake-ups among `batch`, worked on at `now_s`, each costing `wakeup_s`. Other streams are busy with what
  /// their last batch brought, until that is a few times as long ago as it was long.
  double count(const Arrivals& batch, double now_s, double wakeup_s) {
    if (batch.span_s <= 0 or batch.count <= 0)
      return 0;
    Share& own = shares_[batch.stream];
    own = {batch.work_s / batch.span_s, batch.count * wakeup_s / batch.span_s,
           now_s + lasting * (batch.span_s + stretch_ * batch.work_s)};
    double work = 0, waking = 0;
    for (auto it = shares_.begin(); it != shares_.end();) {
      if (it->second.until_s < now_s) {
        it = shares_.erase(it);
        continue;
      }
      work += it->second.work;
      waking += it->second.waking;
      ++it;
    }
    return batch.count * std::max(0.0, 1 - work * stretch_) / (1 + waking * stretch_);
  }

private:
  struct Share {
    double work = 0, waking = 0; ///< CPU seconds a second
    double until_s = 0;
  };
  static constexpr double weight = 0.1; ///< of the last batch in the mean
  static constexpr double lasting = 4;
  std::map<std::uint32_t, Share> shares_; ///< by stream
  double stretch_ = 1;
};

} // namespace replisim
