// Looks at settings of a plan: simulates and judges them, with more replications where it is close.
#pragma once

#include "sim/plan/plan.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

struct Looked {
  Arm arm;
  Judgement judgement;
};

class PlanLooks {
public:
  PlanLooks(const PlannedScenario& base, const PlanEngine& engine, const PlanOptions& options);

  /// One for each list of paths and values, in order. The first call checks that the promised metrics exist.
  std::vector<Looked> look(const std::vector<std::vector<std::pair<std::string, std::string>>>& sets);
  std::size_t simulations() const { return simulations_; }

private:
  void judge_all(std::vector<Looked>& looked) const;

  const PlanQuestion& question_;
  const PlanEngine& engine_;
  const PlanOptions& options_;
  bool steady_;
  bool checked_ = false;
  std::size_t simulations_ = 0;
};

} // namespace replisim
