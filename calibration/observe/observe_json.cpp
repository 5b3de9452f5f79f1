// `replisim observe` for programs: JSON and CSV.
#include "calibration/observe/observe.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace replisim::readers {

namespace {

using Json = nlohmann::ordered_json;

Json seconds(TimeUs us) { return static_cast<double>(us) * 1e-6; }
Json optional_seconds(const std::optional<TimeUs>& us) { return us ? seconds(*us) : Json(); }
Json optional_number(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

const char* name_of(TimeBase base) {
  return base == TimeBase::Wall ? "wall" : base == TimeBase::Start ? "start" : "none";
}

Json place_of(const Place& place) {
  return {{"source", place.source}, {"first_line", place.first_line}, {"last_line", place.last_line}};
}

Json sources_of(const Observation& observation) {
  Json list = Json::array();
  for (const Source& source : observation.sources)
    list.push_back({{"file", source.file},
                    {"reader", source.reader},
                    {"format", source.format},
                    {"node", source.node},
                    {"time_base", name_of(source.time_base)},
                    {"lines", source.lines},
                    {"bytes", source.bytes},
                    {"first_s", optional_seconds(source.first_us)},
                    {"last_s", optional_seconds(source.last_us)}});
  return list;
}

Json groups_of(const ObserveReport& report) {
  Json list = Json::array();
  for (const GroupReport& each : report.groups) {
    Json findings = Json::array();
    for (const Finding& finding : each.findings)
      findings.push_back({{"kind", finding.kind},
                          {"text", finding.text},
                          {"count", finding.count},
                          {"place", place_of(finding.place)}});
    Json group = {{"name", each.group.name},         {"sources", each.group.sources},
                  {"streaming", each.streaming},     {"transport", each.transport},
                  {"findings", std::move(findings)}, {"clock_offset", Json()}};
    if (each.clock_offset)
      group["clock_offset"] = {{"pub_source", each.clock_offset->pub_source},
                               {"sub_source", each.clock_offset->sub_source},
                               {"estimate_s", optional_number(each.clock_offset->estimate_s())},
                               {"uncertainty_s", optional_number(each.clock_offset->uncertainty_s())},
                               {"at_least_s", optional_number(each.clock_offset->at_least_s)},
                               {"at_most_s", optional_number(each.clock_offset->at_most_s)},
                               {"starts", each.clock_offset->starts},
                               {"remark", each.clock_offset->remark}};
    list.push_back(std::move(group));
  }
  return list;
}

Json figures_of(const Observation& observation) {
  Json list = Json::array();
  for (const Figure& figure : observation.figures)
    list.push_back({{"metric", figure.metric},
                    {"value", figure.value},
                    {"uncertainty", optional_number(figure.uncertainty)},
                    {"labels", figure.labels},
                    {"how", figure.how},
                    {"place", place_of(figure.place)}});
  return list;
}

Json events_of(const Observation& observation) {
  Json list = Json::array();
  for (const Event& event : observation.events()) {
    Json attributes = Json::object();
    for (const auto& [name, value] : event.attributes)
      std::visit([&, &key = name](const auto& v) { attributes[key] = v; }, value);
    list.push_back({{"type", event.type},
                    {"begin_s", seconds(event.begin_us)},
                    {"end_s", optional_seconds(event.end_us)},
                    {"attributes", std::move(attributes)},
                    {"place", place_of(event.place)}});
  }
  return list;
}

Json series_of(const Observation& observation) {
  Json list = Json::array();
  for (const auto& [key, series] : observation.all_series()) {
    Json samples = Json::array();
    for (const Sample& sample : series.samples())
      samples.push_back({seconds(sample.at_us), sample.value, sample.line});
    list.push_back({{"metric", series.metric()},
                    {"labels", series.labels()},
                    {"source", series.source()},
                    {"counter", series.is_counter()},
                    {"count", series.count()},
                    {"sum", series.sum()},
                    {"smallest", series.smallest()},
                    {"largest", series.largest()},
                    {"stride", series.stride()},
                    {"columns", {"t_s", "value", "line"}},
                    {"samples", std::move(samples)}});
  }
  return list;
}

Json problems_of(const Problems& problems) {
  Json list = Json::array();
  for (const ProblemGroup& group : problems.groups()) {
    Json examples = Json::array();
    for (const Problem& problem : group.examples)
      examples.push_back({{"line", problem.line}, {"message", problem.message}});
    list.push_back({{"file", group.file},
                    {"kind", group.kind},
                    {"count", group.count},
                    {"examples", std::move(examples)}});
  }
  return list;
}

/// A CSV cell, in quotes where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (const char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string labels_cell(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels)
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", name, value);
  return cell(text);
}

} // namespace

std::string observe_json(const ObserveReport& report) {
  const Observation& observation = report.read.observation;
  Json parameters = Json::array();
  for (const Identification& row : report.parameters)
    parameters.push_back({{"parameter", row.parameter}, {"identified", row.is_identified}, {"how", row.how}});
  const Json all = {{"sources", sources_of(observation)},
                    {"groups", groups_of(report)},
                    {"figures", figures_of(observation)},
                    {"events", events_of(observation)},
                    {"series", series_of(observation)},
                    {"parameters", std::move(parameters)},
                    {"problems", problems_of(report.read.problems)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string observe_csv(const ObserveReport& report) {
  const Observation& observation = report.read.observation;
  std::string text = "source,metric,labels,t_s,value,line\n";
  for (const Figure& figure : observation.figures)
    text += fmt::format("{},{},{},,{},{}\n", cell(observation.sources[figure.place.source].file),
                        figure.metric, labels_cell(figure.labels), figure.value, figure.place.first_line);
  for (const auto& [key, series] : observation.all_series()) {
    const std::string begin = fmt::format("{},{},{}", cell(observation.sources[series.source()].file),
                                          series.metric(), labels_cell(series.labels()));
    for (const Sample& sample : series.samples())
      text += fmt::format("{},{:.6f},{},{}\n", begin, static_cast<double>(sample.at_us) * 1e-6, sample.value,
                          sample.line);
  }
  return text;
}

} // namespace replisim::readers
