// A scenario together with what only plans look at.
#pragma once

#include "sim/scenario/loader.hpp"
#include "sim/scenario/plan_question.hpp"

#include <map>
#include <memory>
#include <string>

namespace replisim {

struct PlannedScenario {
  Scenario scenario;
  std::shared_ptr<const PlanQuestion> plan; ///< null: the file has no `plan:` block
  std::map<std::string, double> prices;     ///< of the machines that state one, by host
};

/// As load_scenario(). Without `with_questions` sweep, break-even and plan are left out: they may not fit a
/// scenario that the plan itself has changed.
PlannedScenario load_planned(const std::filesystem::path& file, const std::vector<Override>& overrides,
                             const Library& library, bool with_questions);

} // namespace replisim
