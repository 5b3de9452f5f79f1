#include "sim/report/results_report.hpp"

#include "models/base/errors.hpp"
#include "sim/report/text.hpp"
#include "sim/run/json_reading.hpp"
#include "sim/run/replications.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace replisim {

using nlohmann::json;

namespace {

constexpr std::size_t flush_bytes = 65536;

std::string short_name(const std::string& path) { return path.substr(path.find_last_of('.') + 1); }

std::string metric_text(const std::string& name, double value) {
  return name.ends_with("_s") ? seconds_text(value) : whole_text(value);
}

std::vector<std::string> key_metrics(ResultsFile& file) {
  std::vector<std::string> out;
  const auto known = metric_names(file);
  for (const char* name : {"total_s", "lock_hold_s", "spill_count", "stream_count", "commit_s"})
    if (std::find(known.begin(), known.end(), name) != known.end())
      out.emplace_back(name);
  return out;
}

TextTable table_of(const std::vector<StoredRun>& runs, const SweepIdentity& identity,
                   const std::vector<std::string>& metrics) {
  std::vector<std::string> header = {"point"};
  for (const auto& column : identity.columns)
    header.push_back(short_name(column));
  if (identity.replications > 1)
    header.emplace_back("replication");
  const std::size_t left = header.size();
  header.insert(header.end(), metrics.begin(), metrics.end());
  header.emplace_back("bottleneck");
  TextTable table(header, left);
  for (const auto& run : runs) {
    std::vector<std::string> cells = {std::to_string(run.point)};
    cells.insert(cells.end(), run.labels.begin(), run.labels.end());
    if (identity.replications > 1)
      cells.push_back(std::to_string(run.replication));
    if (run.failed) {
      table.add_with_note(std::move(cells), fmt::format("failed, seed {}: {}", run.seed,
                                                        run.reason.substr(0, run.reason.find('\n'))));
      continue;
    }
    for (const auto& metric : metrics) {
      const auto found = run.metrics.find(metric);
      cells.push_back(found == run.metrics.end() ? "-" : metric_text(metric, found->second));
    }
    cells.push_back(run.bottleneck);
    table.add(std::move(cells));
  }
  return table;
}

/// Collects text and hands it on in large pieces.
class Buffer {
public:
  explicit Buffer(const TextSink& sink) : sink_(sink) {}
  Buffer& operator<<(std::string_view text) {
    text_ += text;
    if (text_.size() >= flush_bytes)
      flush();
    return *this;
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

private:
  const TextSink& sink_;
  std::string text_;
};

json sweep_header(const SweepIdentity& identity) {
  return {{"scenario", identity.scenario},   {"scenario_hash", identity.scenario_hash},
          {"program", identity.program},     {"seed", identity.seed},
          {"points", identity.points},       {"replications", identity.replications},
          {"overrides", identity.overrides}, {"axes", identity.axes},
          {"sample", identity.sample},       {"guesses", identity.guesses}};
}

json run_object(const StoredRun& run, const SweepIdentity& identity) {
  json axes = json::object();
  for (std::size_t i = 0; i < run.labels.size() and i < identity.columns.size(); ++i)
    axes[identity.columns[i]] = run.labels[i];
  json out = {{"point", run.point},
              {"replication", run.replication},
              {"seed", parse_json(run.seed)},
              {"axes", std::move(axes)},
              {"status", run.failed ? "failed" : "done"},
              {"warnings", run.warnings},
              {"reason", nullptr},
              {"metrics", nullptr},
              {"bottleneck", nullptr},
              {"scenario_hash", nullptr},
              {"fingerprint", nullptr}};
  if (run.failed) {
    out["reason"] = run.reason;
    return out;
  }
  out["metrics"] = metrics_json(run.metrics);
  out["bottleneck"] = run.bottleneck;
  out["scenario_hash"] = run.scenario_hash;
  out["fingerprint"] = run.fingerprint;
  return out;
}

std::string compact(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace

std::string results_heading(ResultsFile& file) {
  const auto& identity = file.identity();
  const auto done = file.count(false);
  const auto failed = file.count(true);
  const std::uint64_t all = identity.points * static_cast<std::uint64_t>(identity.replications);
  const auto& shard = file.shard();
  const std::uint64_t wanted =
      all / shard.of + (shard.number <= all % shard.of ? std::uint64_t{1} : std::uint64_t{0});
  std::string out = wrapped("", identity.scenario);
  out += fmt::format("  {} points x {} replication{}, seed {}; {}\n",
                     format_count(static_cast<std::int64_t>(identity.points)), identity.replications,
                     identity.replications == 1 ? "" : "s", identity.seed, identity.program);
  if (shard.of > 1)
    out += fmt::format("  shard {}/{}: {} runs\n", shard.number, shard.of,
                       format_count(static_cast<std::int64_t>(wanted)));
  out += fmt::format("  {} runs done, {} failed, {} missing\n", format_count(static_cast<std::int64_t>(done)),
                     format_count(static_cast<std::int64_t>(failed)),
                     format_count(static_cast<std::int64_t>(wanted - std::min(wanted, done + failed))));
  return out;
}

std::string results_table(ResultsFile& file, const ResultsQuery& query, std::vector<std::string> metrics) {
  const bool chosen = not metrics.empty();
  if (not chosen)
    metrics = key_metrics(file);
  std::vector<StoredRun> runs;
  for_each_run(file, query, [&](const StoredRun& run) { runs.push_back(run); });
  while (not chosen and metrics.size() > 1 and
         table_of(runs, file.identity(), metrics).width() + 2 > report_columns)
    metrics.pop_back();
  std::string out = table_of(runs, file.identity(), metrics).render(2);
  const auto all = count_runs(file, query);
  if (all > runs.size())
    out += fmt::format("  ... {} of {} rows; --limit shows more, 0 all\n", runs.size(),
                       format_count(static_cast<std::int64_t>(all)));
  return out;
}

std::string results_point(ResultsFile& file, std::uint64_t point) {
  const auto runs = runs_of_point(file, point);
  const auto& identity = file.identity();
  if (runs.empty())
    throw UsageError(fmt::format("'{}' has no row of point {}; the sweep's points are 0 to {}",
                                 file.database().file(), point, identity.points - 1));
  std::string out = fmt::format("point {}\n", point);
  for (std::size_t i = 0; i < identity.columns.size() and i < runs.front().labels.size(); ++i)
    out += fmt::format("  {} = {}\n", identity.columns[i], runs.front().labels[i]);
  std::map<std::string, std::vector<double>> values;
  for (const auto& run : runs) {
    if (run.failed)
      out += fmt::format("  replication {}, seed {}: failed: {}\n", run.replication, run.seed, run.reason);
    else
      out += fmt::format("  replication {}, seed {}: bottleneck {}, scenario {}, fingerprint {}\n",
                         run.replication, run.seed, run.bottleneck, run.scenario_hash, run.fingerprint);
    for (const auto& warning : run.warnings)
      out += wrapped("    warning: ", warning);
    for (const auto& [name, value] : run.metrics)
      values[name].push_back(value);
  }
  TextTable table({"", "mean", "+- (95 %)"}, 1);
  for (const auto& [name, list] : values) {
    const Interval interval = interval_95(list);
    table.add({name, metric_text(name, interval.mean),
               list.size() > 1 ? metric_text(name, interval.half_width) : "-"});
  }
  return out + table.render(2);
}

std::string results_summary_table(const std::vector<MetricSummary>& summary, const std::string& by) {
  std::vector<std::string> header = {"metric"};
  if (not by.empty())
    header.push_back(short_name(by));
  const std::size_t left = header.size();
  for (const char* name : {"runs", "minimum", "mean", "maximum"})
    header.emplace_back(name);
  TextTable table(header, left);
  for (const auto& line : summary) {
    std::vector<std::string> cells = {line.name};
    if (not by.empty())
      cells.push_back(line.group);
    cells.push_back(format_count(static_cast<std::int64_t>(line.count)));
    for (const double value : {line.minimum, line.mean, line.maximum})
      cells.push_back(metric_text(line.name, value));
    table.add(std::move(cells));
  }
  return table.render(2);
}

json results_summary_json(const std::vector<MetricSummary>& summary, const std::string& by) {
  json out = json::array();
  for (const auto& line : summary) {
    json entry = {{"metric", line.name},
                  {"runs", line.count},
                  {"minimum", number_json(line.minimum)},
                  {"mean", number_json(line.mean)},
                  {"maximum", number_json(line.maximum)}};
    if (not by.empty())
      entry[by] = line.group;
    out.push_back(std::move(entry));
  }
  return out;
}

void export_csv(ResultsFile& file, const ResultsQuery& query, const TextSink& sink) {
  const auto metrics = metric_names(file);
  Buffer out(sink);
  out << "point,replication,seed";
  for (const auto& column : file.identity().columns)
    out << "," << csv_field(column);
  for (const auto& metric : metrics)
    out << "," << csv_field(metric);
  out << ",bottleneck,status,reason\n";
  for_each_run(file, query, [&](const StoredRun& run) {
    out << fmt::format("{},{},{}", run.point, run.replication, run.seed);
    for (const auto& label : run.labels)
      out << "," << csv_field(label);
    for (const auto& metric : metrics) {
      const auto found = run.metrics.find(metric);
      out << "," << (found == run.metrics.end() ? "" : csv_number(found->second));
    }
    out << "," << csv_field(run.bottleneck) << "," << (run.failed ? "failed" : "done") << ","
        << csv_field(run.reason) << "\n";
  });
  out.flush();
}

void export_json(ResultsFile& file, const ResultsQuery& query, const TextSink& sink) {
  Buffer out(sink);
  out << "{\"sweep\": " << compact(sweep_header(file.identity())) << ",\n\"runs\": [";
  bool first = true;
  for_each_run(file, query, [&](const StoredRun& run) {
    out << (first ? "\n" : ",\n") << compact(run_object(run, file.identity()));
    first = false;
  });
  out << "\n]}\n";
  out.flush();
}

} // namespace replisim
