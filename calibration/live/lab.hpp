// `replisim lab`: a machine measured from nothing. Servers, a plan of runs, a fit, and how well it predicts.
#pragma once

#include "calibration/fit/calibration.hpp"
#include "calibration/live/machine_probe.hpp"
#include "calibration/live/plan.hpp"
#include "calibration/suites/runner.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace replisim::live {

struct LabOptions {
  std::filesystem::path binaries; ///< folder of the programs; empty: Debian's newest
  std::filesystem::path work;     ///< where the throwaway folder is made
  std::filesystem::path out;      ///< what stays
  std::filesystem::path plan;
  std::string name;                                     ///< of the profile and the machine
  std::string user;                                     ///< --as
  int port = 0;                                         ///< 0: sockets alone
  int repeats = 0;                                      ///< 0: the plan's
  bool fits = true;                                     ///< else the plan is run and nothing is fitted
  std::function<void(const std::string& sentence)> say; ///< progress, one sentence a time
};

/// The repeats of one experiment.
struct ExperimentFigures {
  Experiment experiment;
  bool exact_counters = false; ///< one transaction alone, nothing rolled back: timing has no part in them
  std::map<std::string, std::vector<double>> repeats; ///< by metric
  double sampler_cores = 0;                           ///< mean of the repeats
  double session_cores = 0;
  int rows_differ = 0; ///< repeats after which both sides did not hold the same rows
};

struct LabResult {
  std::string server_version;
  Plan plan;
  std::vector<ExperimentFigures> measured;
  int rounds = 0; ///< complete ones
  std::vector<std::string> notes;
  std::optional<CalibrationResult> fit;
  std::optional<SuiteReport> report; ///< predictions of everything, judged on what was not fitted
  std::vector<std::filesystem::path> files;
};

/// Runs the plan, fits and predicts. `simulator` runs the twins. What is finished stays in options.out even
/// when it throws: UsageError with a sentence and a next step, Interrupted.
LabResult run_lab(const LabOptions& options, const Library& library, const Simulator& simulator);

/// What was measured as a suite: the fitted experiments' cells do not count.
Suite lab_suite(const std::vector<ExperimentFigures>& measured, const std::filesystem::path& twins);

/// The spec by which the profile is fitted, as a file beside the artefacts.
std::string lab_spec_text(const LabOptions& options, const std::vector<ExperimentFigures>& measured,
                          int rounds, const std::string& version);

/// Predicted beside measured for what was not fitted, with the noise floor.
std::string lab_table(const LabResult& result);

/// One row a figure: experiment,use,metric,measured,low,high,floor_pct,predicted,error_pct.
std::string lab_csv(const LabResult& result);

} // namespace replisim::live
