#include "calibration/observe/observe.hpp"

#include "calibration/observe/timeline_figures.hpp"
#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <utility>

namespace replisim::readers {

ObserveReport make_report(ReadResult read) {
  Observation& observation = read.observation;
  if (observation.empty()) {
    std::string why = "nothing could be read";
    for (const ProblemGroup& problem : read.problems.groups())
      why += "\n  " + problem.to_string();
    throw UsageError(why);
  }
  ObserveReport report;
  for (Source& source : observation.sources)
    if (source.node.empty())
      source.node = node_in_name(source.file);
  for (SourceGroup& group : group_sources(observation.sources)) {
    for (const std::size_t source : group.sources)
      if (observation.sources[source].reader == "timeline")
        add_timeline_figures(observation, source, group.name);
    GroupReport each;
    each.streaming = streaming_of(observation, group);
    each.transport = transport_of(observation, group);
    each.findings = find_findings(observation, group);
    each.clock_offset = estimate_clock_offset(observation, group);
    each.group = std::move(group);
    report.groups.push_back(std::move(each));
  }
  report.parameters = identify_parameters(observation);
  report.read = std::move(read);
  return report;
}

} // namespace replisim::readers
