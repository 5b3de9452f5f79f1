// The table of `replisim observe`.
#include "calibration/observe/observe.hpp"
#include "calibration/readers/log_time.hpp"
#include "models/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

std::string value_text(const std::string& metric, double value) {
  if (metric.ends_with("_per_s"))
    return fmt::format("{:.6g}/s", value);
  if (metric.ends_with("_s"))
    return value != 0 and std::abs(value) < 0.1 ? fmt::format("{:.6f} s", value)
                                                : fmt::format("{:.3f} s", value);
  if (metric.ends_with("_bytes"))
    return fmt::format("{} B", format_count(static_cast<std::int64_t>(value)));
  return std::abs(value) < 1e15 and value == std::floor(value)
             ? format_count(static_cast<std::int64_t>(value))
             : fmt::format("{:.6g}", value);
}

/// " {slot=a, stat=mean}"; the run is the group's name.
std::string labels_text(const Labels& labels) {
  std::string list;
  for (const auto& [name, value] : labels)
    if (name != "run")
      list += fmt::format("{}{}={}", list.empty() ? "" : ", ", name, value);
  return list.empty() ? list : fmt::format(" {{{}}}", list);
}

void add_figure(const Figure& figure, std::string& text) {
  std::string value = value_text(figure.metric, figure.value);
  if (figure.uncertainty)
    value += fmt::format(" +-{:.3f}", *figure.uncertainty);
  text += fmt::format("  {:<34} {:>20}  {}\n", figure.metric + labels_text(figure.labels), value, figure.how);
}

/// Many figures of one metric in one file: how many, from where to where, and the largest.
void add_figure_range(const std::vector<const Figure*>& figures, std::string& text) {
  const auto [low, high] = std::minmax_element(
      figures.begin(), figures.end(), [](const Figure* a, const Figure* b) { return a->value < b->value; });
  const std::string& metric = figures.front()->metric;
  text += fmt::format("  {:<34} {} of them, {} to {}; the largest{} in line {}\n", metric, figures.size(),
                      value_text(metric, (*low)->value), value_text(metric, (*high)->value),
                      labels_text((*high)->labels), (*high)->place.first_line);
}

void add_figures(const ObserveReport& report, const SourceGroup& group, std::string& text) {
  constexpr std::size_t most_single = 6;
  using Key = std::pair<std::size_t, std::string>;
  std::map<Key, std::vector<const Figure*>> same;
  const auto is_wanted = [&](const Figure& figure) {
    return std::find(group.sources.begin(), group.sources.end(), figure.place.source) != group.sources.end();
  };
  for (const Figure& figure : report.read.observation.figures)
    if (is_wanted(figure) and not figure.labels.empty())
      same[{figure.place.source, figure.metric}].push_back(&figure);
  for (const Figure& figure : report.read.observation.figures) {
    if (not is_wanted(figure) or (figure.value == 0 and figure.metric.ends_with("_per_s")))
      continue; // most counters of a view stand still
    const auto found = same.find({figure.place.source, figure.metric});
    if (figure.labels.empty() or found == same.end() or found->second.size() <= most_single)
      add_figure(figure, text);
    else if (found->second.front() == &figure)
      add_figure_range(found->second, text);
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
      : offset.at_most_s
          ? fmt::format("at most {:+.3f} s, as no event bounds it from below", *offset.at_most_s)
          : fmt::format("at least {:+.3f} s, as nothing bounds it from above", offset.at_least_s.value_or(0));
  const std::string from = offset.starts > 0 ? fmt::format("{} apply worker starts matched", offset.starts)
                                             : std::string("from times in views");
  text += fmt::format("  clock of {} against {}: {} ({})\n", file_name(sources[offset.pub_source].file),
                      file_name(sources[offset.sub_source].file), bounds, from);
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
