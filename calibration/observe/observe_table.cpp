// The table of `replisim observe`.
#include "calibration/observe/observe.hpp"
#include "calibration/readers/log_time.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace replisim::readers {

namespace {

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string span_of(const Source& source) {
  if (not source.first_us or not source.last_us)
    return "no times";
  const double length_s = static_cast<double>(*source.last_us - *source.first_us) * 1e-6;
  if (source.time_base == TimeBase::Wall)
    return fmt::format("{} to {} ({:.3f} s)", format_time(*source.first_us), format_time(*source.last_us),
                       length_s);
  return fmt::format("{:.3f} s", length_s);
}

void add_sources(const ObserveReport& report, const SourceGroup& group, std::string& text) {
  for (const std::size_t index : group.sources) {
    const Source& source = report.read.observation.sources[index];
    text += fmt::format("  {}{}: {}; {} lines; {}\n", file_name(source.file),
                        source.node.empty() ? "" : fmt::format(" ({})", source.node), source.format,
                        format_count(static_cast<std::int64_t>(source.lines)), span_of(source));
  }
}

void add_figures(const ObserveReport& report, const SourceGroup& group, std::string& text) {
  for (const Figure& figure : report.read.observation.figures) {
    if (std::find(group.sources.begin(), group.sources.end(), figure.place.source) == group.sources.end())
      continue;
    const bool is_time = figure.metric.ends_with("_s");
    const bool is_size = figure.metric.ends_with("_bytes");
    std::string value = is_time   ? fmt::format("{:.3f} s", figure.value)
                        : is_size ? fmt::format("{} B", format_count(static_cast<std::int64_t>(figure.value)))
                                  : fmt::format("{:.6g}", figure.value);
    if (figure.uncertainty)
      value += fmt::format(" +-{:.3f}", *figure.uncertainty);
    text += fmt::format("  {:<34} {:>20}  {}\n", figure.metric, value, figure.how);
  }
}

/// Which series there are, how many values, and their range.
void add_series(const ObserveReport& report, const SourceGroup& group, std::string& text) {
  struct Sum {
    std::uint64_t series = 0;
    std::uint64_t count = 0;
    double smallest = 0;
    double largest = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& [key, series] : report.read.observation.all_series()) {
    if (std::find(group.sources.begin(), group.sources.end(), series.source()) == group.sources.end())
      continue;
    Sum& sum = sums[key.first];
    sum.smallest = sum.series == 0 ? series.smallest() : std::min(sum.smallest, series.smallest());
    sum.largest = sum.series == 0 ? series.largest() : std::max(sum.largest, series.largest());
    ++sum.series;
    sum.count += series.count();
  }
  for (const auto& [metric, sum] : sums)
    text += fmt::format("  {:<42} {:>9} values, {:.6g} to {:.6g}\n", metric,
                        format_count(static_cast<std::int64_t>(sum.count)), sum.smallest, sum.largest);
}

void add_events(const ObserveReport& report, const SourceGroup& group, std::string& text) {
  std::set<std::string> types;
  for (const Event& event : report.read.observation.events())
    types.insert(event.type);
  std::string list;
  for (const std::string& type : types) {
    std::uint64_t count = 0;
    for (const std::size_t source : group.sources)
      count += report.read.observation.event_count(type, source);
    if (count > 0)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, type);
  }
  if (not list.empty())
    text += fmt::format("  events: {}\n", list);
}

void add_clock(const ObserveReport& report, const ClockOffset& offset, std::string& text) {
  const auto& sources = report.read.observation.sources;
  const std::string bounds =
      offset.uncertainty_s()
          ? fmt::format("{:+.3f} s +-{:.3f}", *offset.estimate_s(), *offset.uncertainty_s())
          : fmt::format("at most {:+.3f} s, as no event bounds it from below", offset.at_most_s.value_or(0));
  text += fmt::format("  clock of {} against {}: {} ({} apply worker starts matched)\n",
                      file_name(sources[offset.pub_source].file), file_name(sources[offset.sub_source].file),
                      bounds, offset.starts);
  if (not offset.remark.empty())
    text += fmt::format("    {}\n", offset.remark);
}

void add_parameters(const ObserveReport& report, std::string& text) {
  text += "\nThe model's inputs these files identify\n";
  for (const bool wanted : {true, false}) {
    if (not wanted)
      text += "\nNot identified; to collect\n";
    for (const Identification& row : report.parameters)
      if (row.is_identified == wanted)
        text += fmt::format("  {:<34} {}\n", row.parameter, row.how);
  }
}

void add_problems(const ObserveReport& report, std::string& text) {
  const Problems& problems = report.read.problems;
  if (problems.empty())
    return;
  text += fmt::format("\nProblems ({})\n", format_count(static_cast<std::int64_t>(problems.count())));
  for (const ProblemGroup& group : problems.groups())
    text += fmt::format("  {}\n", group.to_string());
}

} // namespace

std::string observe_table(const ObserveReport& report) {
  std::string text;
  for (const GroupReport& each : report.groups) {
    text += each.group.name.empty() ? std::string("Files\n") : fmt::format("{}\n", each.group.name);
    add_sources(report, each.group, text);
    if (not each.streaming.empty())
      text += fmt::format("  streaming = {}\n", each.streaming);
    if (not each.transport.empty())
      text += fmt::format("  large transactions: {}\n", each.transport);
    if (each.clock_offset)
      add_clock(report, *each.clock_offset, text);
    add_figures(report, each.group, text);
    add_events(report, each.group, text);
    if (each.group.name.empty() or report.groups.size() == 1)
      add_series(report, each.group, text);
    if (not each.findings.empty())
      text += "  stands out\n";
    for (const Finding& finding : each.findings) {
      const Source& source = report.read.observation.sources[finding.place.source];
      text += fmt::format("    {} [{}:{}]\n", finding.text, file_name(source.file), finding.place.first_line);
    }
    text += "\n";
  }
  text.pop_back();
  add_parameters(report, text);
  add_problems(report, text);
  return text;
}

} // namespace replisim::readers
