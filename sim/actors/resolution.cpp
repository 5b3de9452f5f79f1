#include "sim/actors/resolution.hpp"

#include "models/apply_cost.hpp"
#include "models/backend_cost.hpp"
#include "models/reorder_buffer.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {
/// Automatic resolution: this fraction of the estimated time (the sum of all stages).
constexpr double automatic_fraction = 1.0 / 1200;
/// Flows are gathered at most this often, and not more than so many times in a run with an end.
constexpr double shortest_tick_s = 0.01;
constexpr double most_ticks = 50000;

/// CPU seconds of one row through all stages, one after the other: an upper bound of the run's pace.
double seconds_through_all_stages(const CostParameters& costs, const Table& table,
                                  const StatementStep& step) {
  const ChangeRun run{{}, &table, &step, {1, 1}, 0};
  return std::max(costs.backend_insert_row_s, costs.backend_update_row_s) + costs.decode_change_s +
         costs.spill_change_s + costs.restore_change_s + costs.send_change_s + costs.receive_change_s +
         ApplyCost(costs).rows({run}).cpu_s;
}
} // namespace

CostParameters effective_costs(const CostProfile& profile) {
  CostParameters costs = profile.costs;
  for (const auto& parameter : cost_parameters())
    if (not parameter.name.starts_with("latency."))
      costs.*parameter.field /= profile.cpu_speed;
  return costs;
}

Resolution resolution_of(const Scenario& scenario, const CostParameters& costs) {
  double rows = 0, seconds = 0;
  const auto add = [&](const std::vector<TransactionStep>& steps, double sessions) {
    for (const auto& step : steps)
      if (const auto* statement = std::get_if<StatementStep>(&step)) {
        const auto count = static_cast<double>(statement->rows) * sessions;
        rows += count;
        seconds +=
            count * seconds_through_all_stages(costs, scenario.tables.at(statement->table), *statement);
      }
  };
  for (const auto& load : scenario.batches)
    add(load.transaction, static_cast<double>(load.sessions));
  for (const auto& load : scenario.replays)
    for (const auto& transaction : load.transactions)
      add(load.distinct[transaction.steps], 1);
  Resolution resolution;
  const bool stated = scenario.time_resolution_s > 0;
  resolution.time_s = stated ? scenario.time_resolution_s : seconds * automatic_fraction;
  if (seconds > 0)
    resolution.batch_rows =
        std::max<Rows>(1, std::llround(rows * std::min(1.0, resolution.time_s / seconds)));
  resolution.tick_s =
      stated ? scenario.time_resolution_s : std::max(shortest_tick_s, scenario.observe.until_s / most_ticks);
  return resolution;
}

} // namespace replisim
