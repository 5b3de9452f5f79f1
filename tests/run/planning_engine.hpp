// Scenario texts as engines of comparisons, plans and explanations: loaded for real, simulated for real or by
// a formula.
#pragma once

#include "sim/plan/plan.hpp"
#include "sim/run/simulate.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <functional>
#include <memory>

namespace replisim::test {

class PlanningFile {
public:
  using Run = std::function<RunResult(const Scenario&, std::uint64_t)>;
  explicit PlanningFile(const std::string& text, Run run = simulate)
      : file_(folder_.write("s.yaml", text)), library_(cached(shipped_library())),
        source_(std::make_shared<const ScenarioSource>(file_, library_)), run_(std::move(run)) {}

  PlannedScenario planned(const std::vector<Override>& overrides = {}) const {
    return load_planned(file_, overrides, library_, true);
  }
  SweepEngine sweep() const {
    return {
        [source = source_](const std::vector<Override>& overrides) { return source->load_point(overrides); },
        run_};
  }
  PlanEngine engine() const {
    return {sweep(), [this](const std::vector<Override>& overrides) {
              return load_planned(file_, overrides, library_, false);
            }};
  }
  PlanAnswer answer(const std::vector<Override>& overrides = {}) const {
    return answer_plan(planned(overrides), engine(), {overrides, {}});
  }

private:
  Folder folder_;
  std::filesystem::path file_;
  Library library_;
  std::shared_ptr<const ScenarioSource> source_;
  Run run_;
};

} // namespace replisim::test
