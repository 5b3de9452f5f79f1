// A validation suite: measured figures, the runs that predict them, and what counts as good enough.
#pragma once

#include "sim/run/fork_pool.hpp"
#include "sim/scenario/loader.hpp"

#include <cstddef>
#include <functional>
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
  std::vector<double> repeats = {};    ///< the single measurements, where there are several
  double uncertainty = 0;              ///< half width of what a sampled figure leaves open, in its unit
};

/// A percentage that follows from two cells: by how much `after` lies below `before`.
struct DerivedFigure {
  std::string id;
  double measured = 0;    ///< as posted, or computed from the measured cells
  std::size_t before = 0; ///< index into Suite::cells
  std::size_t after = 0;
};

/// A figure computed from several cells, from their predictions as from their measurements, and judged by a
/// rule.
struct CombinedFigure {
  std::string id;
  double measured = 0;                                                   ///< NaN where nobody measured it
  std::string unit;                                                      ///< "us", "%" or "ratio"
  std::function<double(const std::vector<double>& predictions)> compute; ///< one prediction a cell, in order
  std::string rule;
  std::vector<Accepted> accepted; ///< what that rule accepts: any one of these
};

/// Figures of a whole suite that may not exceed a limit.
enum class LimitKind {
  MapePct,           ///< mean of the cells' absolute errors, percent
  MedianErrorPct,    ///< median of the cells' absolute errors, percent
  RepeatErrorRatio,  ///< that median over the median error of one repeat predicted by the others
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
  double at_most_pct = 0;     ///< what the model's mean error may be, or 1.3 times the floor; 0: not judged
};

/// What one cell is of the sum of several, as one process's CPU seconds of those of its run.
struct Share {
  std::string metric; ///< "share of cpu_pub.walsender_s"
  double measured = 0;
  std::size_t part = 0; ///< index into Suite::cells
  std::vector<std::size_t> whole;
};

/// Two cells of which one was measured larger beyond what the repeats leave in doubt.
struct Order {
  std::size_t larger = 0; ///< index into Suite::cells
  std::size_t smaller = 0;
};

/// Cells that cross-validation leaves out at once, besides those that share a part of their ids.
struct Fold {
  std::string name;
  std::vector<std::string> prefixes; ///< beginnings of the cells' ids
};

/// What a figure of a cross-validation may be at most.
struct FoldLimit {
  enum class Kind {
    InSampleMapePct, ///< of all cells, nothing left out
    InSampleMaxPct,  ///< largest error of a cell, nothing left out
    EachMapePct,     ///< mean absolute error of every fold named
    MeanMapePct,     ///< mean of those
    MeasuredInside,  ///< cells outside of the 90 % interval of the folds named
    CoveragePct      ///< distance of the 90 % intervals' coverage from 89 %, over all folds
  } kind;
  double at_most = 0;
  std::vector<std::string> folds = {}; ///< by name
};

/// A fitted cost over that of another profile, both on the same core: 1 where one ratio of speeds explains
/// it.
struct CostRatio {
  std::string name;
  double ratio = 0;
};

struct SuiteReport;

struct Suite {
  std::string name;
  std::string description; ///< one sentence
  std::vector<Cell> cells;
  std::vector<DerivedFigure> derived = {};
  std::vector<CombinedFigure> combined = {};
  std::vector<Limit> limits = {};
  std::vector<Rule> rules = {};
  std::vector<MetricNoise> noise = {};
  std::vector<Share> shares = {};
  std::vector<Order> orders = {};
  std::vector<CostRatio> cost_ratios = {};
  double repeat_error_pct = 0;  ///< of RepeatErrorRatio: median error of one repeat predicted by the others
  bool depends_on_costs = true; ///< false: fitted parameters have no meaning for it
  /// What the suite finds out besides, with runs of its own: it may replace predictions by means over several
  /// seeds, and adds figures, notes and bars. `extra` are overrides of every run.
  void (*study)(SuiteReport& report, const Library& library, const std::vector<std::string>& extra,
                const PoolOptions& options) = nullptr;
  std::vector<Fold> folds = {};
  std::vector<FoldLimit> fold_limits = {};

  /// A suite without limits, rules and other bars informs and passes no judgement.
  bool judged() const;
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
Suite make_lab_pgbench(const Library& library);
Suite make_seed_publisher_tps(const Library& library);
Suite make_seed_invalidation(const Library& library);
Suite make_lab_invalidation(const Library& library);
Suite make_public_invalidation(const Library& library);
Suite make_lab_17_vs_18(const Library& library);
Suite make_seed_transfer(const Library& library);
Suite make_lab_locks(const Library& library);

} // namespace replisim
