// What one run says about the steady state of its load: plain data, part of its result.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace replisim {

/// A metric in the steady state, the warm-up removed.
struct MetricEstimate {
  double value = 0;
  double half_width = 0;    ///< of the 95 % interval; 0 where it is refused
  std::int64_t batches = 0; ///< the interval is of so many batch means ...
  double batch_s = 0;       ///< ... each over so long
  double von_neumann = 0;   ///< ratio of neighbouring batches; 2: independent
  std::string refused;      ///< why there is no interval; empty: there is one
};

/// The 95 % interval of a percentile, between order statistics.
struct QuantileInterval {
  double low = 0, high = 0;
  double independent = 0; ///< values of the sample, its correlation taken off
};

struct RunStatistics {
  bool steady = false; ///< else terminating
  std::string why;     ///< declared, or how it was detected
  double warmup_s = 0; ///< removed from the estimates
  double asked_s = 0;  ///< end of the observation; 0: when all is applied
  double run_s = 0;    ///< simulated
  bool shortened = false;
  std::map<std::string, MetricEstimate> estimates;
  std::map<std::string, QuantileInterval> quantiles;
  std::map<std::string, std::string> refused; ///< percentiles the sample does not support, with the reason
};

} // namespace replisim
