// The study one run is part of: of a load's steady state, whose estimates may end the run before its time, or
// of a run to its end.
#pragma once

#include "sim/observe/steady_recorder.hpp"
#include "sim/run/result.hpp"

#include <memory>

namespace replisim {

struct StudyKind {
  bool steady = false;
  std::string why; ///< declared, or what the scenario shows
};

/// Steady where it is declared so, or where `observe.until` is a duration and nothing but flows and clients
/// of constant load run from the beginning to the end of it.
StudyKind study_of(const Scenario& scenario);

/// Watches a run of a steady study; does nothing in another one.
class Study {
public:
  Study(const Scenario& scenario, Pipeline& pipeline);
  /// The run is over: estimates, intervals, and what its sample does not support. A run that ended before its
  /// time has its totals carried on to the end.
  void conclude(double end_s, RunResult& result) const;
  /// Null where the study is not steady.
  const SteadyRecorder* recorder() const { return recorder_.get(); }

private:
  bool may_end() const;
  void consider(double now_s);
  double fewest_s(double now_s) const;
  double precision() const;
  bool retention_grows() const;
  void judge_percentiles(RunResult& result) const;

  const Scenario& scenario_;
  Pipeline& pipeline_;
  StudyKind kind_;
  double asked_s_ = 0;
  double next_look_s_ = 0;
  bool shortened_ = false;
  std::unique_ptr<SteadyRecorder> recorder_;
};

} // namespace replisim
