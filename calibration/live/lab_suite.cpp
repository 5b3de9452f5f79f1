// What the lab measured as a suite and as a calibration spec.
#include "calibration/live/lab.hpp"

#include "calibration/repeats.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

namespace replisim::live {

namespace {

const std::vector<std::string>& counters() {
  static const std::vector<std::string> names = {"spill_count", "spill_bytes", "stream_count",
                                                 "stream_bytes"};
  return names;
}

/// CPU seconds that are compared and fitted: those of the pipeline's processes.
bool is_cpu(const std::string& metric) {
  static const std::set<std::string> names = {"cpu_pub.backend_s", "cpu_pub.walsender_s",
                                              "cpu_sub.apply_worker_s", "cpu_sub.parallel_apply_worker_s"};
  return names.contains(metric);
}

bool is_wall(const std::string& metric) {
  static const std::set<std::string> names = {"total_s", "lock_hold_s", "latency_s", "decode_s",
                                              "session_latency_s_max"};
  return names.contains(metric);
}

/// The simulator's name of a figure of a run.
std::string simulated_name(const std::string& metric) {
  return metric == "session_latency_s_max" ? "blocked_s_max" : metric;
}

std::string unit_of(const std::string& metric) {
  if (metric == "tps")
    return "1/s";
  if (metric.ends_with("_bytes"))
    return "bytes";
  return metric.find("_s") != std::string::npos and not metric.ends_with("_count") ? "s" : "count";
}

bool is_compared(const ExperimentFigures& figures, const std::string& metric) {
  if (std::find(counters().begin(), counters().end(), metric) != counters().end())
    return figures.exact_counters;
  return is_cpu(metric) or is_wall(metric) or metric == "tps" or metric == "wal_bytes";
}

double mean(const std::vector<double>& values) {
  return values.empty()
             ? 0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

using Noise = std::map<std::string, std::vector<double>>;

void add_cells(Suite& suite, const ExperimentFigures& figures, const std::filesystem::path& twin,
               Noise& noise) {
  for (const auto& [metric, repeats] : figures.repeats) {
    const auto [low, high] = std::minmax_element(repeats.begin(), repeats.end());
    const bool is_counter = std::find(counters().begin(), counters().end(), metric) != counters().end();
    constexpr double least_cpu_s = 0.02; // a process that took next to no part
    if (not is_compared(figures, metric) or (is_cpu(metric) and *high < least_cpu_s) or
        (is_wall(metric) and *high <= 0))
      continue;
    Cell cell;
    cell.id = fmt::format("{}/{}", figures.experiment.name, metric);
    cell.measured = median(repeats);
    cell.measured_low = *low;
    cell.measured_high = *high;
    cell.unit = unit_of(metric);
    cell.metric = simulated_name(metric);
    cell.scenario = twin.string();
    cell.counted = not figures.experiment.is_fitted;
    cell.repeats = repeats;
    if (is_counter) {
      cell.rule = "counters";
      cell.accepted = {{cell.measured, cell.measured}};
    } else {
      for (const double error : leave_one_out_errors_pct(repeats))
        noise[cell.metric].push_back(error);
    }
    suite.cells.push_back(std::move(cell));
  }
}

void add_shares(Suite& suite, const ExperimentFigures& figures, Noise& noise) {
  std::vector<std::size_t> whole;
  for (std::size_t i = 0; i < suite.cells.size(); ++i)
    if (suite.cells[i].id.starts_with(figures.experiment.name + "/") and is_cpu(suite.cells[i].metric))
      whole.push_back(i);
  if (whole.size() < 2)
    return;
  std::vector<double> sums(suite.cells[whole.front()].repeats.size(), 0.0);
  for (const std::size_t i : whole)
    for (std::size_t k = 0; k < sums.size(); ++k)
      sums[k] += suite.cells[i].repeats[k];
  for (const std::size_t part : whole) {
    std::vector<double> shares = suite.cells[part].repeats;
    for (std::size_t k = 0; k < shares.size(); ++k)
      shares[k] /= sums[k];
    const std::string metric = fmt::format("share of {}", suite.cells[part].metric);
    suite.shares.push_back({metric, median(shares), part, whole});
    for (const double error : leave_one_out_errors_pct(shares))
      noise[metric].push_back(error);
  }
}

constexpr double share_bar_pct = 12;
constexpr double wall_bar_pct = 20;

double bar_of(const std::string& metric) {
  if (metric.starts_with("share of "))
    return share_bar_pct;
  return metric == "total_s" or metric == "tps" ? wall_bar_pct : 0;
}

} // namespace

Suite lab_suite(const std::vector<ExperimentFigures>& measured, const std::filesystem::path& twins) {
  Suite suite;
  suite.name = "lab";
  suite.description = "what this machine's servers did, predicted from the experiments that were fitted to";
  Noise noise;
  for (const ExperimentFigures& figures : measured) {
    add_cells(suite, figures, twins / fmt::format("{}.yaml", figures.experiment.name), noise);
    add_shares(suite, figures, noise);
  }
  const bool has_counters = std::any_of(suite.cells.begin(), suite.cells.end(),
                                        [](const Cell& cell) { return cell.rule == "counters"; });
  if (has_counters)
    suite.rules.push_back({"counters",
                           "spill_count, spill_bytes, stream_count and stream_bytes of single transactions "
                           "without a rollback are exact"});
  std::set<std::string> counted;
  for (const Cell& cell : suite.cells)
    if (cell.counted)
      counted.insert(cell.metric);
  for (const Share& share : suite.shares)
    if (suite.cells[share.part].counted)
      counted.insert(share.metric);
  for (const std::string& metric : counted)
    if (std::none_of(counters().begin(), counters().end(),
                     [&](const std::string& name) { return name == metric; }))
      suite.noise.push_back({metric, mean(noise[metric]), bar_of(metric)});
  return suite;
}

std::string lab_spec_text(const LabOptions& options, const std::vector<ExperimentFigures>& measured,
                          int rounds, const std::string& version) {
  std::set<std::string> metrics;
  bool has_clients = false;
  std::string runs;
  for (const ExperimentFigures& figures : measured) {
    if (not figures.experiment.is_fitted)
      continue;
    has_clients = has_clients or figures.repeats.contains("tps");
    std::vector<std::string> files;
    for (int round = 1; round <= rounds; ++round)
      files.push_back(fmt::format("{}-r{}", figures.experiment.name, round));
    for (const auto& [metric, repeats] : figures.repeats)
      if (is_cpu(metric) and median(repeats) > 0)
        metrics.insert(metric);
    runs += fmt::format("      - {{files: [{}], scenario: ../scenarios/{}.yaml}}\n", fmt::join(files, ", "),
                        figures.experiment.name);
  }
  std::string out = fmt::format(
      "# What the experiments of `replisim lab` that say `use: fit` tell of this machine's costs. Priors are "
      "the\n"
      "# extended profile's values on a core of another speed; what the runs do not determine stays there.\n"
      "replisim_calibration: 1\nname: {0}\nextends: lab-2core\nmachine: ../hardware/{0}.yaml\n"
      "server_version: {1}\nabout: Costs on this machine as `replisim lab` measured them.\ndata:\n"
      "  - artefacts: ../artefacts\n    runs:\n{2}    metrics: [{3}]\n    error: 5% # the model's own\n",
      options.name, version.substr(0, version.find('.')), runs, fmt::join(metrics, ", "));
  out += "cpu_speed: {prior: 50%}\nparameters:\n"
         "  backend:\n    insert_row: {prior: 40%}\n    update_row: {prior: 40%}\n    delete_row: {prior: "
         "40%}\n";
  if (has_clients)
    out += "    statement: {prior: 40%}\n";
  out += "  walsender:\n    wal_read_record: {prior: 20%}\n    decode_change: {prior: 20%}\n"
         "    spill_change: {prior: 20%}\n    restore_change: {prior: 20%}\n    send_change: {prior: 20%}\n"
         "    send_column: {prior: 20%}\n";
  if (has_clients)
    out += "    send_transaction: {prior: 40%}\n    wakeup: {prior: 40%}\n";
  out += "  leader:\n    receive_change: {prior: 30%}\n    forward_change: {prior: 30%}\n"
         "    file_write_change: {prior: 30%}\n    file_read_change: {prior: 30%}\n";
  if (has_clients)
    out += "    wakeup: {prior: 40%}\n";
  out += "  apply:\n    insert_row: {prior: 30%}\n    delete_row: {prior: 30%}\n    update_extra: {prior: "
         "40%}\n";
  if (has_clients)
    out += "    transaction: {prior: 40%}\n";
  return out;
}

} // namespace replisim::live
