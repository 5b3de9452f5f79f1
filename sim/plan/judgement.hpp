// Whether a setting keeps its promises, as far as its replications can tell.
#pragma once

#include "models/edge_search.hpp"
#include "models/statistics.hpp"
#include "sim/plan/arms.hpp"
#include "sim/scenario/plan_question.hpp"

#include <optional>
#include <string>
#include <vector>

namespace replisim {

struct PromiseOutcome {
  Keeps keeps = Keeps::Unknown;
  Interval value;   ///< of the figure promised about
  double slack = 0; ///< room to the limit, relative to it; negative: beyond it
  std::string why;  ///< a phrase where the figure alone does not say it
};

/// What a setting does to all promises.
struct Judgement {
  Keeps keeps = Keeps::Unknown;
  std::vector<PromiseOutcome> promises;
  std::string trouble; ///< what gave way: a full disk, a lost slot, a run that failed; empty: nothing did

  /// The promise with the least slack, those that are broken first; nothing: there are none.
  std::optional<std::size_t> tightest() const;
};

/// Judges by all runs of `arm`, of which there are at least two. The mean of a figure is below its limit when
/// all of its 95 % interval is. A disk that fills and a slot that is lost break every plan; in a steady study
/// a slot that falls behind breaks what is promised about lag and WAL held back, however short the run.
Judgement judge(const Arm& arm, const std::vector<Promise>& promises, bool steady);

/// The figure of one run that a promise is about; nothing: the run does not report it. A bound on
/// `retained_wal_bytes` is about its peak, one on `disk` about the fullest one.
std::optional<double> promised_figure(const RunResult& run, const Promise& promise);

/// "lag_s p99 < 5s: 7.3 s +- 0.1 s".
std::string promise_text(const Promise& promise, const PromiseOutcome& outcome);

/// Who holds up the pipeline in this run, in words: "sub.apply_worker, busy 97 % of the run".
std::string bottleneck_text(const RunResult& run);
/// The stage alone.
std::string bottleneck_stage(const RunResult& run);

/// Throws UsageError with the place of the promise and the nearest name unless some arm reports its figure.
void require_metrics(const std::vector<Promise>& promises, const std::vector<PlanObjective>& objectives,
                     const std::string& where, const std::vector<const Arm*>& arms);

} // namespace replisim
