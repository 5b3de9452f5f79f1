// From cells to predictions: each distinct run is loaded once and simulated once, however many cells
// read it; costs can be changed between predictions without reading a file again.
#pragma once

#include "calibration/suites/suite.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/result.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace replisim {

/// Runs scenarios and returns their metrics, in order.
using Simulator = std::function<std::vector<Metrics>(const std::vector<Scenario>&)>;

/// The real one: simulate() in forked children, with seed 1 as `replisim run` uses it. Throws the
/// error of the first run that failed.
Simulator forked_simulator(PoolOptions options = {});

/// Cost parameters by name (cost_parameters(), and "cpu_speed") and their new values, as
/// CostProfile stores them: seconds before the division by cpu_speed.
using CostChanges = std::map<std::string, double, std::less<>>;

/// Changes `profile`; throws UsageError with the nearest name for a parameter that does not exist.
void apply_cost_changes(CostProfile& profile, const CostChanges& changes);

class Predictor {
public:
  /// Loads each distinct (scenario, overrides) of `cells`. Throws what load_scenario() throws.
  Predictor(const std::vector<Cell>& cells, const Library& library);

  /// One value per cell, in order of the cells: its metric, NaN where the run does not report it.
  std::vector<double> predict(const Simulator& simulator, const CostChanges& changes = {}) const;

  /// The distinct runs.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

private:
  struct Read {
    std::size_t scenario = 0; ///< index into scenarios_
    std::string metric;
  };

  std::vector<Scenario> scenarios_;
  std::vector<Read> reads_;
};

} // namespace replisim
