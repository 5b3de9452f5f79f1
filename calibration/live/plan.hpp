// The plan of a lab: which scenarios are run for real, how often, and what each is for.
#pragma once

#include "calibration/live/experiment.hpp"
#include "sim/scenario/loader.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace replisim::live {

struct Experiment {
  std::string name; ///< of its files: no dots, no blanks
  std::filesystem::path scenario;
  std::vector<Override> overrides; ///< of the plan, then its own
  bool is_fitted = false;          ///< the profile is fitted to it; else it is predicted
};

struct Plan {
  std::string file;
  std::string name;
  int repeats = 1;
  double most_s = 0; ///< no round begins that would end later; 0: no limit
  std::vector<Experiment> experiments;
  std::vector<std::string> skipped; ///< sentences: what this version cannot run
};

/// Reads a plan for servers of one version. Paths of scenarios are relative to the library, or, where nothing
/// is there, to the plan. Throws ScenarioError with every mistake, UsageError when the file cannot be read.
Plan read_plan(const std::filesystem::path& file, const Library& library, const Version& version);

/// calibration/lab/NAME.yaml of the library.
std::filesystem::path shipped_plan(const std::string& name, const Library& library);

} // namespace replisim::live
