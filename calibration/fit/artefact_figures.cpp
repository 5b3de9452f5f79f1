#include "calibration/fit/artefact_figures.hpp"

#include "calibration/observe/observe.hpp"
#include "calibration/repeats.hpp"
#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace replisim {

namespace {
namespace fs = std::filesystem;
using readers::GroupReport;
using readers::ObserveReport;

fs::path resolved(const std::string& path, const fs::path& spec, const Library& library) {
  const fs::path in_library = library.root / path;
  return fs::exists(in_library) ? in_library : spec.parent_path() / path;
}

const GroupReport& group_of(const std::string& run, const ObserveReport& report, const std::string& folder) {
  std::vector<std::string> names;
  for (const GroupReport& group : report.groups) {
    if (group.group.name == run)
      return group;
    names.push_back(group.group.name);
  }
  throw UsageError(fmt::format("{} holds no files of a run '{}'{}", folder, run, suggestion(run, names)));
}

/// Versions are compared by major: a profile is made for one, and the table of versions knows the rest.
void check_versions(const std::string& run, const GroupReport& group, const ObserveReport& report,
                    const Scenario& scenario) {
  for (const readers::Event& event : report.read.observation.events()) {
    const auto& sources = group.group.sources;
    if (event.type != "server_start" or
        std::find(sources.begin(), sources.end(), event.place.source) == sources.end())
      continue;
    const auto server = scenario.servers.find(report.read.observation.sources[event.place.source].node);
    Version logged;
    std::string problem;
    if (server == scenario.servers.end() or not parse_version(event.text("server_version"), logged, problem))
      continue;
    if (logged.major != server->second.version.major)
      throw UsageError(fmt::format("run '{}': the log of '{}' is of version {}, scenario {} says {}", run,
                                   server->first, to_string(logged), scenario.file,
                                   to_string(server->second.version)));
  }
}

void check_streaming(const std::string& run, const GroupReport& group, const Scenario& scenario) {
  std::set<std::string> stated;
  for (const auto& [name, subscription] : scenario.subscriptions)
    stated.insert(to_string(subscription.streaming));
  if (group.streaming.empty() or stated.empty() or
      group.streaming == fmt::format("{}", fmt::join(stated, ", ")))
    return;
  throw UsageError(fmt::format("run '{}': its log shows streaming {}, scenario {} says {}", run,
                               group.streaming, scenario.file, fmt::join(stated, ", ")));
}

std::string unit_of(const std::string& metric) {
  if (metric.ends_with("_s"))
    return "s";
  return metric.ends_with("_bytes") ? "bytes" : "count";
}

/// One figure of a run, of each of its repeats.
struct Repeats {
  std::vector<double> values;
  double uncertainty = 0;
};

void add_cells(const ArtefactRun& run, const Cell& start, const ObserveReport& report, Suite& suite) {
  std::map<std::string, Repeats> figures;
  for (const readers::Figure& figure : report.read.observation.figures) {
    const auto label = figure.labels.find("run");
    if (label == figure.labels.end() or
        std::find(run.files.begin(), run.files.end(), label->second) == run.files.end())
      continue;
    Repeats& repeats = figures[figure.metric];
    repeats.values.push_back(figure.value);
    repeats.uncertainty = std::max(repeats.uncertainty, figure.uncertainty.value_or(0));
  }
  for (const auto& [metric, repeats] : figures) {
    const auto [low, high] = std::minmax_element(repeats.values.begin(), repeats.values.end());
    Cell cell = start;
    cell.id = run.files.front() + "/" + metric;
    cell.measured = median(repeats.values);
    cell.measured_low = *low;
    cell.measured_high = *high;
    cell.unit = unit_of(metric);
    cell.metric = metric;
    cell.repeats = repeats.values;
    cell.uncertainty = repeats.uncertainty;
    suite.cells.push_back(std::move(cell));
  }
}

} // namespace

Suite artefact_suite(const CalibrationData& data, const fs::path& spec, const Library& library) {
  const fs::path folder = resolved(data.artefacts, spec, library);
  const ObserveReport report = readers::make_report(readers::read_paths({folder}, {}));
  Suite suite;
  suite.name = data.artefacts;
  for (const ArtefactRun& run : data.runs) {
    Cell start;
    start.scenario = resolved(run.scenario, spec, library).string();
    start.overrides = run.overrides;
    const Scenario scenario = load_cell(start, library);
    for (const std::string& file : run.files) {
      const GroupReport& group = group_of(file, report, data.artefacts);
      check_versions(file, group, report, scenario);
      check_streaming(file, group, scenario);
    }
    add_cells(run, start, report, suite);
  }
  return suite;
}

} // namespace replisim
