// Suite lab-17-vs-18: the same runs on pairs of PostgreSQL 17 and 18. Nothing but the version differs between
// two cells, so what differs between their predictions comes from the version table: 18 looks up, before it
// evicts a transaction, whether that was rolled back.
#include "calibration/suites/abort_bounds.hpp"
#include "calibration/suites/streaming_cells.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace replisim {

namespace {

constexpr const char* exact_rule = "counters_exact";
constexpr const char* dropped_rule = "version_18_drops_aborts";

/// Every value the repeats showed.
std::vector<Accepted> one_of(const std::vector<double>& repeats) {
  std::vector<Accepted> accepted;
  for (const double value : repeats)
    accepted.push_back({value, value});
  return accepted;
}

Cell version_cell(const CsvTable& table, const RepeatedRun& run, int version, const std::string& metric) {
  Cell cell = lab_cell(table, run, metric, metric.ends_with("_count") ? "count" : "bytes");
  cell.id = fmt::format("{}/{}", version, cell.id);
  for (const char* server : {"pub", "sub"})
    cell.overrides.push_back(fmt::format("servers.{}.version={}", server, version));
  return cell;
}

/// Exact, but for what 18 spills of a rolled back transaction: how much of it depends on when the abort is
/// seen.
void judge(Cell& cell, const RepeatedRun& run, int version, const Library& library) {
  const bool may_drop = version == 18 && run.rolls_back() && run.streaming == "off";
  if (!may_drop || !cell.metric.starts_with("spill_")) {
    cell.rule = exact_rule;
    cell.accepted = one_of(cell.repeats);
    return;
  }
  const AbortBounds bounds = abort_bounds(load_cell(cell, library));
  const bool counts = cell.metric == "spill_count";
  cell.rule = dropped_rule;
  cell.accepted = {{static_cast<double>(counts ? bounds.seen.spill_count : bounds.seen.spill_bytes),
                    static_cast<double>(counts ? bounds.unseen.spill_count : bounds.unseen.spill_bytes)}};
}

} // namespace

Suite make_lab_17_vs_18(const Library& library) {
  const CsvTable on_17 = read_lab_streaming(library, "lab/streaming_pg17_500k.csv");
  const CsvTable on_18 = read_lab_streaming(library, "lab/streaming_pg18_500k.csv");
  Suite suite;
  suite.depends_on_costs = false;
  suite.rules = {{exact_rule, "spill and stream counters of both versions exact where timing plays no part"},
                 {dropped_rule, "18, rolled back: spill between \"abort seen in time\" and \"not seen\""}};
  const std::vector<RepeatedRun> newer = group_repeats(on_18);
  for (const RepeatedRun& run : group_repeats(on_17)) {
    const auto same = std::find_if(newer.begin(), newer.end(),
                                   [&](const RepeatedRun& other) { return other.key() == run.key(); });
    if (same == newer.end())
      continue;
    for (const std::string metric : {"spill_count", "spill_bytes", "stream_count", "stream_bytes"}) {
      Cell older = version_cell(on_17, run, 17, metric);
      Cell later = version_cell(on_18, *same, 18, metric);
      judge(older, run, 17, library);
      judge(later, *same, 18, library);
      const std::size_t at = suite.cells.size();
      if (older.measured_low > later.measured_high)
        suite.orders.push_back({at, at + 1});
      if (later.measured_low > older.measured_high)
        suite.orders.push_back({at + 1, at});
      suite.cells.push_back(std::move(older));
      suite.cells.push_back(std::move(later));
    }
  }
  return suite;
}

} // namespace replisim
