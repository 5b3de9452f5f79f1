#include "sim/report/lag_section.hpp"

#include "sim/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace replisim {

namespace {

constexpr std::size_t slots_shown = 4;
constexpr std::size_t executing = 0, feedback = lag_stages - 1;

std::string stage_text(std::size_t stage) {
  std::string name(lag_stage_names[stage]);
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::vector<std::string> cells(const std::string& name, const DelaySummary& delay, double whole_s) {
  return {name,
          seconds_text(delay.mean_s),
          whole_s > 0 ? fmt::format("{:.0f} %", 100 * delay.mean_s / whole_s) : "",
          seconds_text(delay.p50_s),
          seconds_text(delay.p95_s),
          seconds_text(delay.p99_s)};
}

std::string slot_table(const std::string& name, const LagSummary& lags) {
  TextTable table({"  stage", "mean", "share", "p50", "p95", "p99"}, 1);
  for (std::size_t i = executing + 1; i < feedback; ++i)
    if (lags.stages[i].mean_s > 0)
      table.add(cells("  " + stage_text(i), lags.stages[i], lags.lag.mean_s));
  table.add(cells("  all", lags.lag, lags.lag.mean_s));
  if (lags.stages[feedback].mean_s > 0)
    table.add(cells("  then feedback", lags.stages[feedback], 0));
  return fmt::format("\nLag of {}, commit to applied, {} transaction{}\n", name,
                     whole_text(static_cast<double>(lags.transactions)), lags.transactions == 1 ? "" : "s") +
         table.render(0);
}

} // namespace

std::string lag_section(const RunResult& run) {
  std::string out;
  std::size_t shown = 0;
  for (const auto& [name, lags] : run.lag_anatomies) {
    if (shown++ == slots_shown)
      return out + fmt::format("  and {} more slots; --format json has them all\n",
                               run.lag_anatomies.size() - slots_shown);
    out += slot_table(name, lags);
  }
  return out;
}

} // namespace replisim
