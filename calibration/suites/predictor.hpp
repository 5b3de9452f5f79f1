// From cells to predictions: each distinct run is loaded once and simulated once, however many cells
// read it; profiles can be exchanged between predictions without reading a file again.
#pragma once

#include "calibration/suites/suite.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/result.hpp"

#include <functional>
#include <string>
#include <vector>

namespace replisim {

/// Runs scenarios and returns their metrics, in order.
using Simulator = std::function<std::vector<Metrics>(const std::vector<Scenario>&)>;

/// The real one: simulate() in forked children, with seed 1 as `replisim run` uses it. Throws the
/// error of the first run that failed.
Simulator forked_simulator(PoolOptions options = {});

class Predictor {
public:
  /// Loads each distinct (scenario, overrides) of `cells`. Throws what load_scenario() throws.
  Predictor(const std::vector<Cell>& cells, const Library& library);

  /// One value per cell, in order of the cells: its metric, NaN where the run does not report it.
  std::vector<double> predict(const Simulator& simulator) const;

  /// The same for each of several profiles, which take the place of the runs' own; all runs of all profiles
  /// are simulated side by side.
  std::vector<std::vector<double>> predict_profiles(const Simulator& simulator,
                                                    const std::vector<CostProfile>& profiles) const;

  /// The distinct runs.
  const std::vector<Scenario>& scenarios() const { return scenarios_; }

private:
  struct Read {
    std::size_t scenario = 0; ///< index into scenarios_
    std::string metric;
  };

  std::vector<double> read(const Metrics* results) const;

  std::vector<Scenario> scenarios_;
  std::vector<Read> reads_;
};

} // namespace replisim
