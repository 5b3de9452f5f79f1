#include "sim/report/openmetrics.hpp"

#include "models/base/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

namespace replisim {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Where a metric of a slot stands in PostgreSQL.
struct ViewColumn {
  const char* metric;
  const char* family; ///< view and column
  const char* label;  ///< by which the view names its row
};

constexpr std::array slot_columns = {
    ViewColumn{"spill_txns", "pg_stat_replication_slots_spill_txns", "slot_name"},
    ViewColumn{"spill_count", "pg_stat_replication_slots_spill_count", "slot_name"},
    ViewColumn{"spill_bytes", "pg_stat_replication_slots_spill_bytes", "slot_name"},
    ViewColumn{"stream_txns", "pg_stat_replication_slots_stream_txns", "slot_name"},
    ViewColumn{"stream_count", "pg_stat_replication_slots_stream_count", "slot_name"},
    ViewColumn{"stream_bytes", "pg_stat_replication_slots_stream_bytes", "slot_name"},
    ViewColumn{"total_txns", "pg_stat_replication_slots_total_txns", "slot_name"},
    ViewColumn{"total_bytes", "pg_stat_replication_slots_total_bytes", "slot_name"},
    ViewColumn{"confirmed_flush_lsn", "pg_replication_slots_confirmed_flush_lsn", "slot_name"},
    ViewColumn{"restart_lsn", "pg_replication_slots_restart_lsn", "slot_name"},
    ViewColumn{"write_lag_s", "pg_stat_replication_write_lag", "application_name"},
    ViewColumn{"flush_lag_s", "pg_stat_replication_flush_lag", "application_name"},
    ViewColumn{"replay_lag_s", "pg_stat_replication_replay_lag", "application_name"},
    ViewColumn{"apply_error_count", "pg_stat_subscription_stats_apply_error_count", "subname"},
};

constexpr std::array timeline_columns = {
    ViewColumn{"wal_lsn", "pg_current_wal_lsn", nullptr},
    ViewColumn{"sent_lsn", "pg_stat_replication_sent_lsn", "application_name"},
    ViewColumn{"replay_lsn", "pg_stat_replication_replay_lsn", "application_name"},
    ViewColumn{"confirmed_flush_lsn", "pg_replication_slots_confirmed_flush_lsn", "slot_name"},
    ViewColumn{"restart_lsn", "pg_replication_slots_restart_lsn", "slot_name"},
};

/// The column of a metric, if it has one.
template <std::size_t N>
const ViewColumn* column_of(const std::array<ViewColumn, N>& columns, std::string_view metric) {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const ViewColumn& column) { return metric == column.metric; });
  return found == columns.end() ? nullptr : &*found;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c == '\n')
      out += "\\n";
    else if (c == '\\' or c == '"')
      out.append(1, '\\').append(1, c);
    else
      out.append(1, c);
  return out;
}

std::string label_text(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "{" : ",", name, escaped(value));
  return out.empty() ? out : fmt::format("{}}}", out);
}

/// cpu_pub.walsender_s is one of a family of processes; others keep their names.
std::pair<std::string, Labels> own_family(const std::string& metric) {
  const auto dot = metric.find('.');
  if (metric.starts_with("cpu_") and dot != std::string::npos and metric.ends_with("_s"))
    return {"replisim_cpu_seconds",
            {{"server", metric.substr(4, dot - 4)},
             {"process", metric.substr(dot + 1, metric.size() - dot - 3)}}};
  std::string name = fmt::format("replisim_{}", metric);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0)
      c = '_';
  return {name, {}};
}

class Exposition {
public:
  /// A value of a family, with its date where it has one. What is not known (null in the view) is left out.
  void add(const std::string& family, const Labels& labels, double value, std::optional<double> at_s) {
    if (not std::isfinite(value))
      return;
    auto& series = families_[family][label_text(labels)];
    if (not series.empty() and (not at_s or *at_s <= series.back().second))
      return;
    series.emplace_back(value, at_s.value_or(0));
  }

  std::string text(bool dated) const {
    std::string out;
    for (const auto& [family, all] : families_) {
      out += fmt::format("# TYPE {} {}\n", family, family.starts_with("pg_") ? "unknown" : "gauge");
      if (const char* unit = unit_of(family); unit != nullptr)
        out += fmt::format("# UNIT {} {}\n", family, unit);
      out += fmt::format("# HELP {} {}\n", family, help(family));
      for (const auto& [labels, series] : all)
        for (const auto& [value, at_s] : series) {
          out += fmt::format("{}{} {}", family, labels, value);
          if (dated)
            out += fmt::format(" {:.6f}", at_s);
          out += "\n";
        }
    }
    return out + "# EOF\n";
  }

private:
  /// The format knows the unit of a family by the end of its name.
  static const char* unit_of(const std::string& family) {
    return family.ends_with("_bytes") ? "bytes" : family.ends_with("_seconds") ? "seconds" : nullptr;
  }

  static std::string help(const std::string& family) {
    if (family == "pg_current_wal_lsn")
      return "pg_current_wal_lsn() in bytes, simulated";
    if (family.ends_with("_lag"))
      return "As the column of the view, in seconds; simulated";
    if (family.ends_with("_lsn"))
      return "As the column of the view, in bytes; simulated";
    if (family.starts_with("pg_"))
      return "As the column of the view; simulated";
    const bool seconds = family.ends_with("_s") or
                         (family.find("_s_") != std::string::npos and not family.ends_with("_count"));
    return seconds ? "A metric of replisim, in seconds; simulated" : "A metric of replisim; simulated";
  }
  std::map<std::string, std::map<std::string, std::vector<std::pair<double, double>>>> families_;
};

/// Of several slots a timeline has the least advanced one's positions.
std::string slot_label(const RunResult& run) {
  return run.subscriptions.size() == 1 ? run.subscriptions.begin()->first : "least advanced";
}

void add_timeline(const RunResult& run, double start_s, Exposition& out) {
  const auto& columns = run.timeline.columns;
  for (std::size_t i = 1; i < columns.size(); ++i) {
    const ViewColumn* column = column_of(timeline_columns, columns[i]);
    auto [family, labels] = own_family(columns[i]);
    if (column != nullptr) {
      family = column->family;
      if (column->label != nullptr)
        labels = {{column->label, slot_label(run)}};
    }
    for (const auto& row : run.timeline.rows)
      out.add(family, labels, row[i], start_s + row[0]);
  }
}

} // namespace

std::string run_openmetrics(const Replications& replications, std::optional<double> start_s) {
  const RunResult& run = replications.runs.front();
  Exposition out;
  if (start_s)
    add_timeline(run, *start_s, out);
  std::optional<double> end_s;
  if (start_s)
    end_s = *start_s + run.simulated_s;
  for (const auto& [slot, metrics] : run.subscriptions)
    for (const auto& [metric, value] : metrics) {
      const ViewColumn* column = column_of(slot_columns, metric);
      if (column != nullptr)
        out.add(column->family, {{column->label, slot}}, value, end_s);
      else
        out.add(fmt::format("replisim_slot_{}", metric), {{"slot_name", slot}}, value, end_s);
    }
  for (const auto& [metric, interval] : replications.metrics)
    if (column_of(slot_columns, metric) == nullptr) {
      const auto [family, labels] = own_family(metric);
      out.add(family, labels, interval.mean, end_s);
    }
  for (const auto& [stage, shares] : run.stages)
    for (const auto& [state, share] : {std::pair("busy", shares.busy), std::pair("starved", shares.starved),
                                       std::pair("blocked", shares.blocked)})
      out.add("replisim_stage_share", {{"stage", stage}, {"state", state}}, share, end_s);
  out.add("replisim_run_info",
          {{"scenario", run.scenario}, {"version", run.version}, {"seed", std::to_string(run.seed)}}, 1,
          end_s);
  return out.text(start_s.has_value());
}

double parse_epoch(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} and end == text.data() + text.size() and std::isfinite(number) and number >= 0)
    return number;
  std::tm date{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &date);
  if (rest == nullptr or *rest != '\0')
    throw UsageError(
        fmt::format("'{}' is no date; allowed: seconds since 1970, or 2026-05-01T12:00:00Z", text));
  return static_cast<double>(::timegm(&date));
}

} // namespace replisim
