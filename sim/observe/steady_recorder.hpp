// Samples what loads and slots have got through, so that rates and mean lags can be told over any part of a
// run.
#pragma once

#include "sim/actors/pipeline.hpp"

#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Values at equal distances in time, by metric; all of them begin with the first distance of the run.
struct SteadySeries {
  double bin_s = 0;
  std::map<std::string, std::vector<double>>
      metrics; ///< tps, apply_tps, lag_s_mean, latency_s: where they exist
};

class SteadyRecorder {
public:
  /// Calls `sampled(now)` after each sample.
  SteadyRecorder(Pipeline& pipeline, double interval_s, std::function<void(double)> sampled = {});

  /// Bins of so many samples each.
  SteadySeries series(std::size_t merged = 1) const;
  std::size_t samples() const { return readings_.size(); }

  /// Transactions committed and not yet applied on a slot: the mean of the samples from `from_s` on.
  double mean_behind(const std::string& slot, double from_s) const;
  /// Applied per second, and the mean lag of what was applied, from `from_s` on.
  struct Passage {
    double per_s = 0, lag_s = 0;
  };
  Passage passage(const std::string& slot, double from_s) const;
  /// The same of all commits on the server, per second.
  double committed_per_s(double from_s) const;

private:
  /// Sums since the start of the run. By load of clients: transactions, and the date up to which they count.
  struct SlotReading {
    double committed = 0, applied = 0, lag_s = 0;
  };
  struct Reading {
    double t_s = 0, flow_transactions = 0, responses = 0, response_s = 0;
    std::vector<std::pair<double, double>> clients;
    std::vector<SlotReading> slots;
  };
  void sample(double now_s);
  std::size_t first_from(double from_s) const;
  std::size_t slot_index(const std::string& slot) const;

  static constexpr std::size_t max_readings = 4096;
  Pipeline& pipeline_;
  double interval_s_;
  std::function<void(double)> sampled_;
  std::vector<std::string> slots_;
  std::vector<Reading> readings_;
  std::int64_t ticks_ = 0, stride_ = 1;
};

} // namespace replisim
