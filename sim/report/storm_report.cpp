#include "sim/report/storm_report.hpp"

#include "sim/report/text.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>

#include <cmath>

namespace replisim {

namespace {

std::string fault_lines(const std::vector<Event>& faults) {
  TextTable table({"  from", "for", "fault"}, 0);
  for (const Event& event : faults)
    table.add_with_note({"  " + seconds_text(event.at_s), event.for_s > 0 ? seconds_text(event.for_s) : "-"},
                        describe(event));
  return table.render(0);
}

std::string strain_text(double strain) {
  return std::isfinite(strain) ? fmt::format("{:.3g} times its limit", strain) : "broken outright";
}

nlohmann::json faults_json(const std::vector<Event>& faults) {
  nlohmann::json out = nlohmann::json::array();
  for (const Event& event : faults)
    out.push_back({{"kind", to_string(event.kind)},
                   {"text", describe(event)},
                   {"at_s", number_json(event.at_s)},
                   {"for_s", number_json(event.for_s)}});
  return out;
}

} // namespace

std::string storm_text(const Scenario& scenario, const StormRequest& request, const Storm& storm,
                       const std::string& saved) {
  const StormBounds& bounds = request.bounds;
  std::string out = fmt::format("{}\n", scenario.name);
  out += wrapped(
      "", fmt::format("{} random combinations of 1 to {} faults, each within {} to {} of the run and of {} "
                      "to {} where it lasts, seed {}",
                      format_count(storm.tried), bounds.most_faults, seconds_text(bounds.from_s),
                      seconds_text(bounds.until_s), seconds_text(bounds.shortest_s),
                      seconds_text(bounds.longest_s), request.seed));
  out += fmt::format("{} of them break a promise\n\n", format_count(storm.broke));
  if (storm.worst.broken.empty()) {
    out += fmt::format("every promise is kept; the combination nearest to a limit reaches {}:\n",
                       strain_text(storm.worst.strain));
    return out + fault_lines(storm.worst.faults);
  }
  out += wrapped("worst: ", fmt::format("{} ({})", storm.worst.broken, strain_text(storm.worst.strain)));
  out += fault_lines(storm.worst.faults);
  out += "\n" + wrapped("smallest that still breaks: ",
                        fmt::format("{} ({}), after {} more runs", storm.smallest.broken,
                                    strain_text(storm.smallest.strain), storm.shrinking_runs));
  out += fault_lines(storm.smallest.faults);
  if (not saved.empty())
    out += fmt::format("\nsaved as {}\n", saved);
  return out;
}

std::string storm_json(const Scenario& scenario, const StormRequest& request, const Storm& storm) {
  nlohmann::json promises = nlohmann::json::array();
  for (const StormPromise& promise : request.promises)
    promises.push_back(promise.text);
  nlohmann::json out = {{"scenario", scenario.name},
                        {"seed", request.seed},
                        {"promises", promises},
                        {"tried", storm.tried},
                        {"broke", storm.broke},
                        {"worst",
                         {{"broken", storm.worst.broken},
                          {"strain", number_json(storm.worst.strain)},
                          {"faults", faults_json(storm.worst.faults)}}}};
  if (not storm.worst.broken.empty())
    out["smallest"] = {{"broken", storm.smallest.broken},
                       {"strain", number_json(storm.smallest.strain)},
                       {"faults", faults_json(storm.smallest.faults)},
                       {"runs", storm.shrinking_runs}};
  return json_text(out);
}

} // namespace replisim
