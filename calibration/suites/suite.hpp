// A validation suite: measured figures, the runs that predict them, and what counts as good enough.
#pragma once

#include "sim/scenario/loader.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace replisim {

/// A closed range of predictions a rule accepts.
struct Accepted {
  double low = 0;
  double high = 0;
};

/// One measured figure and the run that predicts it.
struct Cell {
  std::string id;                      ///< key columns of the table joined by '/', then the metric
  double measured = 0;                 ///< the table's number; the median where runs were repeated
  double measured_low = 0;             ///< smallest repeat, equal to `measured` without repeats
  double measured_high = 0;            ///< largest repeat
  std::string unit;                    ///< "s", "bytes" or "count"
  std::string metric;                  ///< key of RunResult::metrics
  std::string scenario;                ///< file, relative to the library's root
  std::vector<std::string> overrides;  ///< "path=value", as `--set` takes them
  bool counted = true;                 ///< part of the suite's MAPE and maximum
  std::string rule = {};               ///< name of the suite's rule that judges it; empty: none
  std::vector<Accepted> accepted = {}; ///< what that rule accepts: any one of these
};

/// A percentage that follows from two cells: by how much `after` lies below `before`.
struct DerivedFigure {
  std::string id;
  double measured = 0;    ///< as posted, or computed from the measured cells
  std::size_t before = 0; ///< index into Suite::cells
  std::size_t after = 0;
};

/// Figures of a whole suite that may not exceed a limit.
enum class LimitKind {
  MapePct,           ///< mean of the cells' absolute errors, percent
  MaxErrorPct,       ///< largest absolute error of a cell, percent
  ImprovementPoints, ///< largest distance of a derived percentage from the measured one, points
  FittedParameters   ///< number of parameters fitted for the suite's profile
};

struct Limit {
  LimitKind kind;
  double at_most = 0;
};

/// Name of a limit in reports: "mape_pct", ...
std::string to_string(LimitKind kind);

/// A rule for single cells; holds when every cell that names it is accepted.
struct Rule {
  std::string name;
  std::string sentence;
};

/// How well repeats of a metric predict each other: no model can be asked for more.
struct MetricNoise {
  std::string metric;
  double noise_floor_pct = 0; ///< mean error of one repeat predicted by the median of the others
};

struct Suite {
  std::string name;
  std::string description; ///< one sentence
  std::vector<Cell> cells;
  std::vector<DerivedFigure> derived = {};
  std::vector<Limit> limits = {};
  std::vector<Rule> rules = {};
  std::vector<MetricNoise> noise = {};
  bool depends_on_costs = true; ///< false: fitted parameters have no meaning for it

  /// A suite without limits and rules informs and passes no judgement.
  bool judged() const { return !limits.empty() || !rules.empty(); }
};

/// The run of a cell; throws what load_scenario() throws.
Scenario load_cell(const Cell& cell, const Library& library);

/// A suite by name, built from the tables in the library.
struct SuiteEntry {
  std::string name;
  std::string description;
  Suite (*make)(const Library& library);
};

/// All suites, in the order of lists.
const std::vector<SuiteEntry>& suite_catalogue();

/// Builds a suite; throws UsageError with the nearest name when there is none of that name.
Suite make_suite(const std::string& name, const Library& library);

// The suites, one file each; see the descriptions in suite_catalogue().
Suite make_seed_streaming(const Library& library);
Suite make_lab_counters(const Library& library);
Suite make_lab_streaming(const Library& library);

} // namespace replisim
