// User reports: real troubles as scenarios, and the right answers as checks.
//
// A report names one scenario under scenarios/reports and several runs of it, told apart by their overrides:
// the trouble itself, variations of its size, and a contrast in which its cause is removed. Its checks are
// computed from all of them together.
#pragma once

#include "sim/run/fork_pool.hpp"
#include "sim/run/result.hpp"
#include "sim/scenario/loader.hpp"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace replisim {

/// What `validate` calls them all together.
inline constexpr const char* reports_suite = "reports";

/// One number of a right answer and the closed range it must lie in; NaN never does.
struct ReportCheck {
  std::string quantity;
  double value = 0;
  std::string unit; ///< "s", "min", "GB" (2^30 bytes), "MB", "MB/s", "rows", "count", "ratio", ...
  double low = 0;
  double high = 0;
  bool ok() const { return value >= low and value <= high; }
};

using ReportChecks = std::vector<ReportCheck>;

/// One run of a report's scenario.
struct ReportRun {
  std::string name;
  std::vector<std::string> overrides; ///< "path=value", as `--set` takes them
};

/// The results of a report's runs, by name.
using ReportResults = std::map<std::string, RunResult>;

struct Report {
  std::string id;       ///< "U01"
  std::string sentence; ///< the right answer in short
  std::string scenario; ///< file, relative to the library's root
  std::vector<ReportRun> runs;
  std::function<ReportChecks(const ReportResults&)> checks;
};

/// All reports, in order of their numbers.
std::vector<Report> report_catalogue();

/// What became of a report. A run that ended with an error makes it fail, whatever its checks.
struct ReportResult {
  std::string id;
  std::string sentence;
  std::string scenario;
  ReportChecks checks;
  std::string error; ///< one sentence; empty when all runs ended well
  bool ok() const;
};

/// Runs scenarios; a run that fails gives an error text in the place of its result.
struct ReportRunOutcome {
  RunResult result;
  std::string error;
};
using ReportSimulator = std::function<std::vector<ReportRunOutcome>(const std::vector<Scenario>&)>;

/// simulate() in forked children, seed 1. Throws Interrupted on Ctrl-C.
ReportSimulator forked_report_simulator(PoolOptions options = {});

/// Runs and judges `reports`; `extra` ("path=value") is appended to the overrides of every run. Throws what
/// loading throws.
std::vector<ReportResult> judge_reports(const std::vector<Report>& reports, const Library& library,
                                        const std::vector<std::string>& extra,
                                        const ReportSimulator& simulator);

bool all_ok(const std::vector<ReportResult>& results);

/// The object of `validate reports --format json`: reports[] {id, scenario, checks[] {quantity, value, unit,
/// low, high, ok}, error where there is one}, pass.
nlohmann::ordered_json reports_json(const std::vector<ReportResult>& results);

/// One line a report with what its checks gave; a check that fails gets a line of its own.
std::string reports_table(const std::vector<ReportResult>& results);

/// id,quantity,value,unit,low,high,ok
std::string reports_csv(const std::vector<ReportResult>& results);

} // namespace replisim
