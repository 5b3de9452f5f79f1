#include "sim/report/statistics_section.hpp"

#include "sim/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace replisim {

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string time_text(double seconds) {
  return std::isfinite(seconds) ? seconds_text(seconds) : "without bound";
}

std::string estimates_text(const RunStatistics& statistics) {
  std::vector<std::string> parts;
  for (const auto& [name, estimate] : statistics.estimates)
    if (estimate.refused.empty())
      parts.push_back(
          fmt::format("{} by {} batches of {}", name, estimate.batches, seconds_text(estimate.batch_s)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string station_text(const AnalyticStation& at) {
  const StationLaws& laws = at.laws;
  const bool range = laws.utilisation_most > laws.utilisation * 1.02 and laws.stable;
  std::string text = percent(laws.utilisation);
  if (range)
    text += " to " + percent(std::min(1.0, laws.utilisation_most));
  if (at.measured >= 0)
    text += fmt::format(" (simulated {})", percent(at.measured / at.station.servers));
  text += laws.stable ? fmt::format(", stable up to {} /s", whole_text(std::round(laws.limit_per_s)))
                      : fmt::format(", OVERLOADED: {} /s come, {} /s are possible",
                                    whole_text(std::round(at.station.arrivals_per_s)),
                                    whole_text(std::round(laws.limit_per_s)));
  if (at.station.servers == 1 and laws.stable)
    text += fmt::format("; waits M/D/1 {}, M/M/1 {}, Kingman at most {}", time_text(laws.md1_wait_s),
                        time_text(laws.mm1_wait_s), time_text(laws.kingman_wait_s));
  return text;
}

} // namespace

std::string statistics_section(const Replications& replications) {
  const RunStatistics& run = replications.runs.front().statistics;
  const Precision& precision = replications.precision;
  if (not run.steady and precision.asked <= 0 and run.refused.empty())
    return "";
  std::string out = "\nStatistics\n";
  std::string study = fmt::format("{} ({})", run.steady ? "steady state" : "terminating", run.why);
  if (run.steady)
    study += fmt::format("; warm-up of {} removed (MSER-5)", seconds_text(run.warmup_s));
  if (run.shortened)
    study += fmt::format("; estimated from {} of {}", seconds_text(run.run_s), seconds_text(run.asked_s));
  out += wrapped("  study        ", study);
  if (const std::string batches = estimates_text(run); not batches.empty() and replications.runs.size() == 1)
    out += wrapped("  intervals    ", "95 %: " + batches);
  if (precision.asked > 0)
    out +=
        wrapped("  precision    ", fmt::format("{:.3g} % asked; {}{}", 100 * precision.asked, precision.text,
                                               precision.met            ? ""
                                               : precision.stop.empty() ? "; not met"
                                                                        : "; not met: " + precision.stop));
  for (const auto& [name, interval] : run.quantiles)
    out += wrapped("  percentile   ", fmt::format("{} between {} and {}", name, seconds_text(interval.low),
                                                  seconds_text(interval.high)));
  for (const auto& [name, estimate] : run.estimates)
    if (not estimate.refused.empty())
      out += wrapped("  no interval  ", name + ": " + estimate.refused);
  for (const auto& [name, reason] : run.refused)
    out += wrapped("  refused      ", name + ": " + reason);
  return out;
}

std::string analytic_section(const AnalyticAnswer& answer) {
  if (answer.stations.empty() and answer.bounds.empty())
    return "";
  std::string out = "\nBy the laws of queueing theory\n";
  for (const AnalyticStation& at : answer.stations)
    out += wrapped("  " + at.station.name + ": ", station_text(at));
  for (const auto& [name, bound] : answer.bounds) {
    std::string text = fmt::format("{} to {}", seconds_text(bound.low), time_text(bound.high));
    if (not bound.skipped.empty())
      text += fmt::format(" (not compared: {})", bound.skipped);
    else if (bound.measured >= 0)
      text += fmt::format(" (simulated {})", seconds_text(bound.measured));
    out += wrapped("  " + name + ": ", text);
  }
  for (const auto& [name, little] : answer.little)
    if (little.skipped.empty())
      out += wrapped("  Little's law: ",
                     fmt::format("{:.4g} transactions on the way to {} when sampled, rate times lag {:.4g} "
                                 "(ticks bring up to {:.0f} more)",
                                 little.number, name, little.rate_per_s * little.lag_s, little.tolerance));
  if (not answer.left_out.empty())
    out += wrapped("  left out: ", fmt::format("{}", fmt::join(answer.left_out, ", ")));
  return out;
}

} // namespace replisim
