// A calibration spec: which figures a profile is fitted to, what is free and what is known beforehand.
#pragma once

#include "models/cost_profile.hpp"
#include "sim/scenario/loader.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replisim {

/// A run of which files are left.
struct ArtefactRun {
  std::vector<std::string> files; ///< their names up to the first dot; several are repeats
  std::string scenario;
  std::vector<std::string> overrides = {};
};

/// Figures of one suite, or of a folder of artefacts, that are fitted to.
struct CalibrationData {
  std::string suite;
  std::vector<std::string> metrics;
  std::vector<std::string> only = {};    ///< beginnings of cell ids; empty: all
  std::vector<std::string> exclude = {}; ///< beginnings of cell ids
  double error = 0;                      ///< relative, of model and measurement besides the spread of repeats
  double ratio_error =
      0; ///< relative error of the suite's improvements as ratios of two figures; 0: not used
  std::string artefacts = {};         ///< folder; empty: of a suite
  std::vector<ArtefactRun> runs = {}; ///< of the artefacts

  const std::string& name() const { return artefacts.empty() ? suite : artefacts; }
};

/// Costs that one factor moves: on what the extended profile says of them, or else on `start_s`.
struct FreeCosts {
  std::vector<std::string> names;
  std::optional<double> start_s = {}; ///< of one cost: where the fit starts, and its prior
  double start_factor = 1;
  double prior_spread = 0; ///< standard deviation of the factor's logarithm
};

/// Two costs whose ratio is that of the extended profile (or of their starts) up to a spread.
struct CostRelation {
  std::string cost;
  std::string to;
  double spread = 0;
};

/// A cost that is the sum of others.
struct DerivedCost {
  std::string name;
  std::vector<std::string> sum_of;
  std::string source; ///< why
};

/// A cost that is not fitted.
struct StatedCost {
  double value_s = 0;
  ParameterOrigin origin;
};

struct CalibrationSpec {
  std::string file; ///< as given
  std::string name; ///< of the profile, and what heads it:
  std::string extends;
  std::string machine;
  std::string server_version;
  std::string about;
  std::vector<CalibrationData> data;
  std::optional<FreeCosts> cpu_speed; ///< `names` is empty
  std::vector<FreeCosts> costs;
  std::vector<CostRelation> relations;
  std::vector<DerivedCost> derived;
  std::map<std::string, StatedCost, std::less<>> stated;
  double robust_limit = 0;
  int max_iterations = 0;
};

/// Reads and checks a spec. Throws ScenarioError with every mistake, UsageError when the file cannot be read.
CalibrationSpec read_calibration_spec(const std::filesystem::path& file, const Library& library);

/// calibration/specs/NAME.yaml of the library.
std::filesystem::path spec_file(const std::string& profile, const Library& library);

} // namespace replisim
