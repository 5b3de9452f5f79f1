// The answer to a `plan:` block: the most that keeps its promises, the cheapest setting that does, or what
// can be had of two figures.
#pragma once

#include "sim/plan/judgement.hpp"
#include "sim/plan/statements.hpp"
#include "sim/scenario/planned_scenario.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

/// One position of all knobs.
struct PlanSetting {
  std::vector<std::pair<std::string, std::string>> knobs; ///< name and label
  std::vector<std::pair<std::string, std::string>> sets;  ///< paths and values that lead there
  double cost = 0;
  std::string excluded; ///< why it cannot be: the scenario's own checks; empty: it can

  std::string label() const;
};

/// A setting and what became of it.
struct PlanPoint {
  PlanSetting setting;
  std::vector<std::pair<double, Judgement>> looks; ///< of a search: by value of the quantity; else one, at 0
  std::optional<double> keeps, breaks;             ///< of a search, see EdgeAnswer
  std::vector<std::pair<double, double>> elsewhere;
  bool easy_end_breaks = false;
  Judgement judgement;              ///< at the answer; of a search with none, at the easy end
  std::vector<double> objectives;   ///< of a front
  std::string bottleneck;           ///< in words, at what breaks first or at the answer
  std::string bottleneck_at;        ///< "at 1240/s"
  std::vector<std::string> binding; ///< promises that break next, in words
  std::vector<std::string> notes;
  int replications = 0; ///< of the answer's runs
};

struct PlanAnswer {
  std::string scenario;
  std::string file;
  std::uint64_t seed = 1;
  std::shared_ptr<const PlanQuestion> question;
  std::vector<PlanPoint> points; ///< in order of cost, then as the knobs stand in the file
  std::optional<std::size_t> best;
  std::vector<std::size_t> front;   ///< in order of the first objective
  std::vector<std::string> reasons; ///< why nothing is feasible
  std::vector<std::string> notes;
  std::vector<Statement> statements; ///< of the best
  std::vector<std::string> check;    ///< --set options that lead to the answer
  std::vector<Guess> guesses;
  std::size_t simulations = 0;

  bool feasible() const { return best.has_value() or not front.empty(); }
};

/// Where scenarios, results and the machines' prices come from.
struct PlanEngine {
  SweepEngine sweep;
  std::function<PlannedScenario(const std::vector<Override>&)> load; ///< without questions; in the parent
};

struct PlanOptions {
  std::vector<Override> overrides; ///< of the command line
  ArmsOptions arms;
};

/// Most settings that all knobs together may make.
inline constexpr std::size_t plan_settings_max = 2'000;

/// Answers the plan of `base`, which must have one. Throws UsageError with a sentence where the question is
/// mistaken in a way that only loading or running shows: an unknown metric, a value that no scenario can
/// have, a price missing.
PlanAnswer answer_plan(const PlannedScenario& base, const PlanEngine& engine, const PlanOptions& options);

/// Values of the searched quantity as people write them: "1240/s", "64MB", "factor 1.5".
std::string quantity_text(const PlanQuestion& question, double value);
/// The overrides that set it.
std::vector<std::pair<std::string, std::string>> quantity_sets(const PlanQuestion& question,
                                                               const Scenario& base, double value);

} // namespace replisim
