// A recorded workload as a scenario: a YAML file and the list of transactions beside it.
#pragma once

#include "calibration/import/mix.hpp"
#include "calibration/import/recorded_workload.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace replisim {

struct ImportOptions {
  std::filesystem::path file; ///< of the scenario; the list is beside it, with .csv in place of .yaml
  bool as_mix = false;
  std::string name = {};
  std::string profile = "lab-2core";
  std::string machine = "lab-2core";
  std::string version = "17"; ///< of both servers
  std::string streaming = {}; ///< of the subscription; empty: that of the version
};

/// What import found, in figures and sentences: for the terminal, for JSON, and for the comment on top of the
/// file.
struct ImportReport {
  std::vector<std::pair<std::string, double>> figures; ///< names stable
  std::vector<std::string> lines;                      ///< sentences
};

struct WrittenScenario {
  std::string yaml;
  std::string list; ///< empty when nothing is replayed one by one
  ImportReport report;
};

WrittenScenario write_scenario(const RecordedWorkload& workload, const ImportOptions& options);

} // namespace replisim
