#include "sim/plan/plan_looks.hpp"

#include "sim/plan/plan_settings.hpp"
#include "sim/run/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace replisim {

PlanLooks::PlanLooks(const PlannedScenario& base, const PlanEngine& engine, const PlanOptions& options)
    : question_(*base.plan), engine_(engine), options_(options), steady_(study_of(base.scenario).steady) {}

std::vector<Looked>
PlanLooks::look(const std::vector<std::vector<std::pair<std::string, std::string>>>& sets) {
  std::vector<Looked> out(sets.size());
  std::vector<Arm*> all;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    out[i].arm.engine = engine_.sweep;
    out[i].arm.overrides = overrides_of(options_, sets[i]);
    all.push_back(&out[i].arm);
  }
  run_arms(all, 2, options_.arms);
  std::vector<Arm*> random;
  for (Arm* arm : all)
    if (not arm->repeats_itself())
      random.push_back(arm);
  run_arms(random, question_.replications, options_.arms);
  if (not checked_) {
    std::vector<const Arm*> known(all.begin(), all.end());
    for (const Arm* arm : known)
      if (arm->exit_code == ExitCode::Internal)
        throw std::runtime_error(arm->error);
    require_metrics(question_.promises, question_.objectives, question_.where, known);
    checked_ = true;
  }
  judge_all(out);
  for (int replications = question_.replications; replications < question_.most_replications;) {
    std::vector<Arm*> close;
    for (Looked& looked : out)
      if (looked.judgement.keeps == Keeps::Unknown)
        close.push_back(&looked.arm);
    if (close.empty())
      break;
    replications = std::min(2 * replications, question_.most_replications);
    run_arms(close, replications, options_.arms);
    judge_all(out);
  }
  for (const Looked& looked : out)
    simulations_ += looked.arm.runs.size();
  return out;
}

void PlanLooks::judge_all(std::vector<Looked>& looked) const {
  for (Looked& one : looked)
    one.judgement = judge(one.arm, question_.promises, steady_);
}

} // namespace replisim
