// What `replisim run --analytic-only` prints.
#include "sim/report/run_report.hpp"
#include "sim/report/statistics_section.hpp"
#include "sim/report/text.hpp"
#include "sim/run/analytic_json.hpp"
#include "sim/run/result_json.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>

#include <cmath>

namespace replisim {

using nlohmann::json;

std::string analytic_table(const Scenario& scenario, const AnalyticAnswer& answer) {
  std::string out = wrapped("", scenario.name);
  out += "  nothing was simulated\n";
  for (const auto& [name, value] : answer.metrics)
    if (value > 0)
      out += fmt::format("  {} {}\n", name,
                         name.ends_with("_s") ? seconds_text(value) : fmt::format("{:.1f} /s", value));
  const std::string laws = analytic_section(answer);
  out += laws.empty() ? "\nThe laws of queueing theory say nothing about this scenario.\n" : laws;
  if (not scenario.warnings.empty())
    out += "\nWarnings\n";
  for (const std::string& warning : scenario.warnings)
    out += wrapped("  - ", warning);
  return out;
}

json analytic_only_json(const Scenario& scenario, const AnalyticAnswer& answer) {
  return {{"scenario", scenario.name},     {"scenario_hash", scenario.hash},
          {"version", program_version()},  {"analytic", analytic_json(answer)},
          {"warnings", scenario.warnings}, {"guesses", guesses_json(scenario.guesses)}};
}

std::string analytic_csv(const AnalyticAnswer& answer) {
  std::string out = "metric,value\n";
  const auto add = [&](const std::string& name, double value) {
    if (std::isfinite(value))
      out += csv_field(name) + "," + csv_number(value) + "\n";
  };
  for (const auto& [name, value] : answer.metrics)
    add(name, value);
  for (const AnalyticStation& at : answer.stations) {
    add(fmt::format("stations.{}.utilisation", at.station.name), at.laws.utilisation);
    add(fmt::format("stations.{}.limit_per_s", at.station.name), at.laws.limit_per_s);
  }
  for (const auto& [name, bound] : answer.bounds) {
    add(fmt::format("bounds.{}.low", name), bound.low);
    add(fmt::format("bounds.{}.high", name), bound.high);
  }
  return out;
}

} // namespace replisim
