#include "sim/report/compare_report.hpp"

#include "sim/report/text.hpp"
#include "sim/run/result_json.hpp"
#include "sim/scenario/promise.hpp"
#include "sim/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace replisim {

using nlohmann::json;

namespace {

/// Metrics of the short table, besides CPU seconds.
constexpr std::array<std::string_view, 30> short_list = {"total_s",
                                                         "commit_s",
                                                         "tps",
                                                         "apply_tps",
                                                         "latency_s",
                                                         "latency_s_p99",
                                                         "lag_s_mean",
                                                         "lag_s_p50",
                                                         "lag_s_p95",
                                                         "lag_s_p99",
                                                         "lag_s_max",
                                                         "lag_bytes",
                                                         "catch_up_s",
                                                         "lock_hold_s",
                                                         "snapshot_horizon_s",
                                                         "blocked_s_count",
                                                         "blocked_s_p50",
                                                         "blocked_s_p99",
                                                         "blocked_s_max",
                                                         "blocked_s_total",
                                                         "apply_lock_wait_s_total",
                                                         "deadlocks",
                                                         "spill_bytes",
                                                         "stream_bytes",
                                                         "peak_spill_file_bytes",
                                                         "peak_sub_tmp_file_bytes",
                                                         "peak_retained_wal_bytes",
                                                         "wal_bytes",
                                                         "sent_bytes",
                                                         "decode_s"};

bool is_short(const MetricDifference& difference) {
  const std::string_view metric = difference.metric;
  const bool listed = std::find(short_list.begin(), short_list.end(), metric) != short_list.end() or
                      metric.starts_with("cpu_") or metric.starts_with("peak_disk_used_");
  return listed and difference.belief != Belief::Same;
}

std::string signed_figure(std::string_view metric, double value) {
  const std::string text = figure_text(metric, std::abs(value));
  return value < 0 ? "-" + text : value > 0 ? "+" + text : text;
}

std::string relative_text(const PairedDifference& d) {
  if (d.difference.mean == 0)
    return "";
  if (d.first == 0)
    return "from 0";
  const double share = d.difference.mean / std::abs(d.first);
  return std::abs(share) > 10 ? fmt::format("{:.3g} times", d.second / d.first)
                              : fmt::format("{:+.1f} %", 100 * share);
}

std::string factor_text(double factor) {
  return factor == 0 ? std::string("exact differences") : fmt::format("{:.1f}", factor);
}

std::string section(const Comparison& comparison, const ArmDifference& difference, bool all) {
  const Arm& first = comparison.arms.front();
  const Arm& other = comparison.arms[difference.arm];
  TextTable table({fmt::format("{} against {}", other.label, first.label), first.label, other.label,
                   "difference", comparison.deterministic ? "" : "95 % interval", "", ""},
                  1);
  std::size_t shown = 0, equal = 0;
  for (const MetricDifference& d : difference.metrics) {
    equal += d.belief == Belief::Same ? 1 : 0;
    if (not all and not is_short(d))
      continue;
    ++shown;
    const std::string half_width =
        comparison.deterministic ? "" : "+-" + figure_text(d.metric, d.paired.difference.half_width);
    table.add({"  " + d.metric, figure_text(d.metric, d.paired.first), figure_text(d.metric, d.paired.second),
               signed_figure(d.metric, d.paired.difference.mean), half_width, relative_text(d.paired),
               to_string(d.belief)});
  }
  std::string out = "\n" + table.render(0);
  const std::size_t others = difference.metrics.size() - shown - (all ? 0 : equal);
  if (not all)
    out += fmt::format("  {} metrics are exactly equal, {} more differ: --all shows them\n", equal, others);
  for (const auto& [list, arm] :
       {std::pair(&difference.only_first, &first), std::pair(&difference.only_other, &other)})
    if (not list->empty())
      out +=
          wrapped(fmt::format("  only {} reports ", arm->label), fmt::format("{}", fmt::join(*list, ", ")));
  if (not comparison.deterministic)
    out += difference.variance_factor == 0
               ? "  common random numbers make the differences exact\n"
               : fmt::format(
                     "  variance of the differences: {} times smaller than between independent runs (median "
                     "of the metrics)\n",
                     factor_text(difference.variance_factor));
  return out;
}

json interval_json(const Interval& interval) {
  return {{"mean", number_json(interval.mean)}, {"half_width_95", number_json(interval.half_width)}};
}

json arm_json(const Arm& arm) {
  json overrides = json::array();
  for (const Override& change : arm.overrides)
    overrides.push_back(change.path + "=" + change.value);
  json metrics = json::object();
  for (const auto& [name, value] : arm.runs.front().metrics)
    metrics[name] = interval_json(interval_95(arm.values(name, std::nan(""))));
  const RunResult& run = arm.runs.front();
  return {{"label", arm.label},
          {"scenario", run.scenario},
          {"scenario_hash", run.scenario_hash},
          {"overrides", overrides},
          {"bottleneck", run.bottleneck},
          {"metrics", metrics},
          {"warnings", run.warnings},
          {"fingerprint", hex64(run.fingerprint)}};
}

json difference_json(const Comparison& comparison, const ArmDifference& difference) {
  json metrics = json::object();
  for (const MetricDifference& d : difference.metrics)
    metrics[d.metric] = {
        {"first", number_json(d.paired.first)},
        {"other", number_json(d.paired.second)},
        {"difference", number_json(d.paired.difference.mean)},
        {"half_width_95", number_json(d.paired.difference.half_width)},
        {"relative",
         d.paired.first == 0 ? json() : number_json(d.paired.difference.mean / std::abs(d.paired.first))},
        {"belief", to_string(d.belief)},
        {"p", number_json(d.paired.p)},
        {"variance_factor", d.paired.variance_factor == 0 ? json() : number_json(d.paired.variance_factor)}};
  return {
      {"arm", comparison.arms[difference.arm].label},
      {"against", comparison.arms.front().label},
      {"variance_factor", difference.variance_factor == 0 ? json() : number_json(difference.variance_factor)},
      {"metrics", metrics},
      {"only_first", difference.only_first},
      {"only_other", difference.only_other}};
}

} // namespace

std::string figure_text(std::string_view metric, double value) {
  const std::string plain = metric_text(metric, value);
  if (not std::isfinite(value))
    return plain;
  const std::string probe = metric_text(metric, 1); // tells the kind of the metric
  if (probe == "1 B")
    return size_text(value);
  return probe == "1.0 s" or probe == "1 s" ? seconds_text(value) : plain;
}

std::string compare_table(const Comparison& comparison, bool all) {
  std::vector<std::string> labels;
  for (const Arm& arm : comparison.arms)
    labels.push_back(arm.label);
  std::string out =
      fmt::format("{}: {}\n", comparison.arms.front().runs.front().scenario, fmt::join(labels, ", "));
  if (comparison.deterministic)
    out += "  nothing in these scenarios is random: the differences are exact\n";
  else
    out += fmt::format(
        "  {} replications of each, seeds {} to {}, the same ones everywhere; half widths of 95 % "
        "intervals\n  real: not by chance, all metrics taken together; perhaps: by itself it would "
        "be; not seen: the interval holds 0\n",
        comparison.replications, comparison.seed,
        comparison.seed + static_cast<std::uint64_t>(comparison.replications) - 1);
  for (const ArmDifference& difference : comparison.differences)
    out += section(comparison, difference, all);
  out += "\n";
  for (const std::string& sentence : comparison.recommendation)
    out += wrapped("", sentence);
  return out;
}

json compare_json(const Comparison& comparison) {
  json arms = json::array();
  for (const Arm& arm : comparison.arms)
    arms.push_back(arm_json(arm));
  json differences = json::array();
  for (const ArmDifference& difference : comparison.differences)
    differences.push_back(difference_json(comparison, difference));
  return {{"version", program_version()},
          {"seed", comparison.seed},
          {"replications", comparison.replications},
          {"deterministic", comparison.deterministic},
          {"arms", arms},
          {"differences", differences},
          {"recommendation", comparison.recommendation}};
}

std::string compare_csv(const Comparison& comparison) {
  std::string out = "arm,against,metric,first,other,difference,half_width_95,belief\n";
  for (const ArmDifference& difference : comparison.differences)
    for (const MetricDifference& d : difference.metrics)
      out += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(comparison.arms[difference.arm].label),
                         csv_field(comparison.arms.front().label), csv_field(d.metric),
                         csv_number(d.paired.first), csv_number(d.paired.second),
                         csv_number(d.paired.difference.mean), csv_number(d.paired.difference.half_width),
                         to_string(d.belief));
  return out;
}

} // namespace replisim
