#include "sim/report/sweep_report.hpp"

#include "sim/report/side_by_side.hpp"
#include "sim/report/text.hpp"
#include "sim/run/result_json.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>

namespace replisim {

using nlohmann::json;

namespace {

constexpr std::size_t header_line_columns = 17;

/// Columns after the axes, most important first: those that do not fit any more are left out.
struct Column {
  std::string_view header;
  std::function<std::string(const RunResult&)> cell;
};

std::string metric_cell(const RunResult& run, const std::string& metric, std::string (*format)(double)) {
  const auto found = run.metrics.find(metric);
  return found == run.metrics.end() ? "-" : format(found->second);
}

const std::vector<Column>& columns() {
  const auto metric = [](std::string name, std::string (*format)(double)) {
    return [name = std::move(name), format](const RunResult& run) { return metric_cell(run, name, format); };
  };
  static const std::vector<Column> all{
      {"total", metric("total_s", seconds_text)},
      {"bottleneck", [](const RunResult& run) { return run.bottleneck.empty() ? "-" : run.bottleneck; }},
      {"lock hold", metric("lock_hold_s", seconds_text)},
      {"spill_count", metric("spill_count", whole_text)},
      {"stream_count", metric("stream_count", whole_text)},
      {"commit", metric("commit_s", seconds_text)},
  };
  return all;
}

/// The last name of a path, broken at underscores into short lines.
std::string axis_header(const std::string& path) {
  const std::string name = path.substr(path.find_last_of('.') + 1);
  std::string out;
  std::size_t line = 0;
  for (std::size_t at = 0; at < name.size();) {
    const auto next = std::min(name.find('_', at), name.size() - 1) + 1;
    if (line > 0 and line + (next - at) > header_line_columns) {
      out += '\n';
      line = 0;
    }
    out += name.substr(at, next - at);
    line += next - at;
    at = next;
  }
  return out;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<std::string> label_cells(const std::vector<std::pair<std::string, std::string>>& labels) {
  std::vector<std::string> out;
  for (const auto& [path, label] : labels)
    out.push_back(label);
  return out;
}

TextTable point_table(const Sweep& sweep, std::size_t column_count) {
  std::vector<std::string> header;
  for (const auto& column : PointSpace(sweep.axes, sweep.sample).columns())
    header.push_back(axis_header(column));
  const std::size_t label_count = header.size();
  for (std::size_t i = 0; i < column_count; ++i)
    header.emplace_back(columns()[i].header);
  TextTable table(header, label_count);
  for (const auto& row : sweep.rows) {
    auto cells = label_cells(row.point.labels);
    if (not row.outcome.result) {
      table.add_with_note(std::move(cells), "error: " + first_line(row.outcome.error));
      continue;
    }
    for (std::size_t i = 0; i < column_count; ++i)
      cells.push_back(columns()[i].cell(*row.outcome.result));
    table.add(std::move(cells));
  }
  return table;
}

/// Each different error once, in full, with the number of points it hit.
std::string error_section(const Sweep& sweep) {
  std::vector<std::pair<std::string, int>> errors;
  for (const auto& row : sweep.rows) {
    if (row.outcome.result or row.outcome.exit_code == ExitCode::Interrupted)
      continue;
    const auto known = std::find_if(errors.begin(), errors.end(),
                                    [&](const auto& e) { return e.first == row.outcome.error; });
    if (known == errors.end())
      errors.emplace_back(row.outcome.error, 1);
    else
      ++known->second;
  }
  std::string out;
  for (const auto& [text, count] : errors)
    out += fmt::format("\nerror of {} point{}:\n{}\n", count, count == 1 ? "" : "s", text);
  return out;
}

std::string question_text(const BreakEven& q) {
  return fmt::format("Break-even of {} between {} = {} and {}, over {}", q.metric, q.path, q.first, q.second,
                     q.over);
}

/// Each question once, with a table of its answers.
std::string break_even_section(const Sweep& sweep) {
  std::string out;
  const auto& rows = sweep.break_even;
  for (std::size_t from = 0, to = 0; from < rows.size(); from = to) {
    const std::string question = question_text(rows[from].question);
    std::vector<std::string> header;
    for (const auto& [path, label] : rows[from].labels)
      header.push_back(axis_header(path));
    TextTable table(header, header.size());
    for (; to < rows.size() and question_text(rows[to].question) == question; ++to)
      table.add_with_note(label_cells(rows[to].labels),
                          rows[to].error.empty() ? rows[to].verdict : "error: " + first_line(rows[to].error));
    out.append("\n").append(wrapped("", question)).append(table.render(2));
  }
  return out;
}

json labels_json(const std::vector<std::pair<std::string, std::string>>& labels) {
  json out = json::object();
  for (const auto& [path, label] : labels)
    out[path] = label;
  return out;
}

json point_json(const SweepRow& row) {
  json overrides = json::array();
  for (const auto& o : row.point.overrides)
    overrides.push_back(o.path + "=" + o.value);
  json out = {{"axes", labels_json(row.point.labels)},
              {"overrides", std::move(overrides)},
              {"metrics", nullptr},
              {"bottleneck", nullptr},
              {"scenario_hash", nullptr},
              {"fingerprint", nullptr},
              {"warnings", json::array()},
              {"error", nullptr}};
  if (row.outcome.result) {
    const RunResult& run = *row.outcome.result;
    out["metrics"] = metrics_json(run.metrics);
    out["bottleneck"] = run.bottleneck;
    out["scenario_hash"] = run.scenario_hash;
    out["fingerprint"] = hex64(run.fingerprint);
    out["warnings"] = run.warnings;
    if (not row.half_width.empty())
      out["half_width_95"] = metrics_json(row.half_width);
  } else {
    out["error"] = row.outcome.error;
  }
  return out;
}

json break_even_json(const BreakEvenRow& row) {
  const auto& q = row.question;
  return {{"metric", q.metric},
          {"path", q.path},
          {"first", q.first},
          {"second", q.second},
          {"over", q.over},
          {"unit", q.over_unit == "%" ? "fraction" : q.over_unit},
          {"axes", labels_json(row.labels)},
          {"value", row.value ? number_json(*row.value) : json(nullptr)},
          {"crossings", row.crossings},
          {"verdict", row.error.empty() ? json(row.verdict) : json(nullptr)},
          {"error", row.error.empty() ? json(nullptr) : json(row.error)}};
}

} // namespace

std::string sweep_table(const Sweep& sweep) {
  std::string out = wrapped("", sweep.scenario);
  for (const auto& note : sweep.notes)
    out += wrapped("  note: ", note);
  if (sweep.replications > 1)
    out += fmt::format("  means of {} replications, seeds from {} on\n", sweep.replications, sweep.seed);
  std::size_t count = columns().size();
  while (count > 1 and point_table(sweep, count).width() + 2 > report_columns)
    --count;
  out.append("\n").append(point_table(sweep, count).render(2));
  out += side_by_side(sweep);
  out += error_section(sweep);
  out += break_even_section(sweep);
  if (sweep.interrupted)
    out += "\ninterrupted: the rows without an error are complete\n";
  return out;
}

json sweep_json(const Sweep& sweep) {
  json points = json::array();
  for (const auto& row : sweep.rows)
    points.push_back(point_json(row));
  json break_even = json::array();
  for (const auto& row : sweep.break_even)
    break_even.push_back(break_even_json(row));
  return {{"scenario", sweep.scenario},
          {"version", program_version()},
          {"seed", sweep.seed},
          {"replications", sweep.replications},
          {"axes", axes_json(sweep.axes)},
          {"sample", sample_json(sweep.sample)},
          {"points", std::move(points)},
          {"break_even", std::move(break_even)},
          {"notes", sweep.notes},
          {"guesses", guesses_json(sweep.guesses)},
          {"interrupted", sweep.interrupted}};
}

std::string sweep_csv(const Sweep& sweep) {
  std::set<std::string> metrics;
  for (const auto& row : sweep.rows)
    if (row.outcome.result)
      for (const auto& [name, value] : row.outcome.result->metrics)
        metrics.insert(name);
  std::string out;
  for (const auto& column : PointSpace(sweep.axes, sweep.sample).columns())
    out += csv_field(column) + ",";
  for (const auto& name : metrics)
    out += csv_field(name) + ",";
  out += "bottleneck,error\n";
  for (const auto& row : sweep.rows) {
    for (const auto& [path, label] : row.point.labels)
      out += csv_field(label) + ",";
    const auto& result = row.outcome.result;
    for (const auto& name : metrics) {
      const bool has = result and result->metrics.contains(name);
      out += (has ? csv_number(result->metrics.at(name)) : "") + ",";
    }
    out += csv_field(result ? result->bottleneck : "") + "," + csv_field(row.outcome.error) + "\n";
  }
  return out;
}

} // namespace replisim
