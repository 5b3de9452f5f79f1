// `statistics` from the checked tree.
#include "sim/scenario/scenario_parts.hpp"

namespace replisim {

void build_statistics(Building& building) {
  const Fields top(building.root, object_of("scenario"));
  if (top.given("statistics") == nullptr)
    return;
  const Fields fields = top.child("statistics");
  Statistics& out = building.scenario.statistics;
  const std::string study = fields.text("study");
  out.study = study == "steady"        ? Statistics::Study::Steady
              : study == "terminating" ? Statistics::Study::Terminating
                                       : Statistics::Study::Auto;
  if (fields.given("precision") != nullptr)
    out.precision = fields.number("precision");
  if (fields.given("metrics") != nullptr)
    out.metrics = names_in(fields, "metrics");
  if (fields.given("budget") != nullptr) {
    const Fields budget = fields.child("budget");
    out.most_replications = static_cast<int>(budget.integer("replications"));
    out.most_wall_s = budget.number("wall_time");
  }
  if (out.study == Statistics::Study::Steady and not run_has_end(building.root))
    building.problems.add(fields.at("study"), "statistics.study",
                          "a steady state is observed over a time; give `observe.until` a duration");
}

} // namespace replisim
