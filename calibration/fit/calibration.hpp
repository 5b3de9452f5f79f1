// Fitting a profile's costs to the figures that a spec names.
//
// The fit moves cpu_speed and factors. A factor stands on what the extended profile says of a cost, at the
// fitted cpu_speed, or, in a profile that extends none, on the cost's start; so a prior around 1 says that
// the other machine is faster or slower as a whole.
//
// CPU seconds per process speak of costs alone, wall times of costs, queues and whatever else shared the
// machine. Where a spec has both, a first fit to CPU seconds pins the costs as well as it can, and its
// result, uncertainty included, is the prior of the fit to wall times.
//
// Every prediction is a run with the same seed, so that what is drawn at random is the same on both sides of
// a difference.
#pragma once

#include "calibration/fit/identifiability.hpp"
#include "calibration/fit/spec.hpp"
#include "calibration/suites/predictor.hpp"
#include "sim/scenario/envelope.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

/// The name of the one parameter that is a ratio and no cost.
inline constexpr const char* cpu_speed_parameter = "cpu_speed";

/// One fitted parameter, stated as profile files state it: on the profile's own machine.
struct FittedCost {
  std::string name;
  double start = 0;
  double value = 0;
  double spread = 0; ///< standard deviation of the logarithm; infinite where nothing determines it
  std::string determined = {};
  int together = 0; ///< 1, 2, ...: the common factor that moves it; 0: none

  double low() const;  ///< of the 95 % interval; 0 where nothing determines it
  double high() const; ///< infinite where nothing determines it
};

/// A figure beside its prediction with the fitted costs.
struct FittedFigure {
  std::string id; ///< with the suite's name before it
  double measured = 0;
  double predicted = 0;
  double relative_error = 0; ///< what the fit took it to be known to
};

struct CalibrationResult {
  CalibrationSpec spec;
  std::vector<FittedCost> costs;
  std::vector<FittedFigure> cells;
  std::vector<FittedFigure> ratios; ///< second figure of an improvement over the first
  std::size_t left_out = 0;         ///< cells with too short a time to fit to
  bool pinned_by_cpu = false;       ///< the fit to wall times began with one to CPU seconds
  FitSummary summary;
  Identifiability identifiability;
  Envelope envelope;   ///< of the runs of the cells
  CostProfile profile; ///< with the fitted costs

  double mape_pct() const;      ///< over `cells`
  double max_error_pct() const; ///< largest absolute error of `cells`
};

/// A suite by its name.
using SuiteMaker = std::function<Suite(const std::string& name)>;

class Calibration {
public:
  /// Builds the suites (make_suite() unless `suites` is given) and loads the runs of the spec's figures.
  /// Throws UsageError with a sentence for a spec that its suites cannot serve, and what loading throws.
  Calibration(CalibrationSpec spec, const Library& library, Simulator simulator,
              const SuiteMaker& suites = {});
  Calibration(const Calibration&) = delete; // the problem's model looks at this object
  Calibration& operator=(const Calibration&) = delete;

  /// Fits, from the spec's starts or from `values` on. Throws what the simulator throws. `progress` of the
  /// options is called in every stage.
  CalibrationResult fit(const FitOptions& options, const std::vector<double>* values = nullptr) const;

  /// The fit behind it, to the observations that `is_held` does not hold out.
  FitSummary fit_without(const std::vector<bool>& is_held, const FitOptions& options,
                         const FitBegin* begin = nullptr) const;

  FitOptions options() const; ///< those of the spec
  const CalibrationSpec& spec() const { return spec_; }
  const FitProblem& problem() const { return problem_; }
  /// The cells fitted to, in the order of the observations; ratios of two of them follow there.
  const std::vector<Cell>& cells() const { return cells_; }
  /// Per ratio: positions of its cells.
  const std::vector<std::pair<std::size_t, std::size_t>>& ratio_cells() const { return ratio_cells_; }
  CostProfile profile_at(const std::vector<double>& values) const;
  /// The parameters' values at which profile_at() gives the fitted costs of `profile`.
  std::vector<double> values_of(const CostProfile& profile) const;
  /// The ratio of the profile's core to that of the extended one.
  double cpu_speed_of(const CostProfile& profile) const { return profile.cpu_speed / base_.cpu_speed; }

private:
  void add_parameters();
  void add_relations();
  std::vector<std::vector<double>> predict(const std::vector<std::vector<double>>& points) const;
  std::vector<FittedCost> stated_costs(const FitSummary& summary, const Identifiability& known) const;
  bool is_cpu_time(std::size_t observation) const;

  CalibrationSpec spec_;
  Simulator simulator_;
  CostProfile base_; ///< what factors multiply, `stated` costs included
  std::vector<Cell> cells_;
  std::vector<std::pair<std::size_t, std::size_t>> ratio_cells_;
  std::size_t left_out_ = 0;
  std::shared_ptr<const Predictor> predictor_;
  FitProblem problem_;
};

} // namespace replisim
