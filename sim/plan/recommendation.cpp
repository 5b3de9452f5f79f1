// What a comparison means: who is faster, who makes others wait, what it costs, and which one to take.
#include "models/base/units.hpp"
#include "sim/plan/compare.hpp"
#include "sim/scenario/promise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace replisim {

namespace {

/// A figure people choose by. All but the first few are better when they are smaller.
struct Figure {
  std::string_view metric;
  std::string_view words;
  bool more_is_better = false;
};

constexpr std::array<Figure, 16> figures = {{{"total_s", "transaction applied after"},
                                             {"lag_s_mean", "mean lag"},
                                             {"lag_s_p99", "lag p99"},
                                             {"catch_up_s", "catch-up after the load"},
                                             {"tps", "publisher's transactions", true},
                                             {"latency_s", "publisher's latency"},
                                             {"apply_tps", "transactions applied", true},
                                             {"lock_hold_s", "locks held on the subscriber for"},
                                             {"blocked_s_total", "sessions blocked by apply for"},
                                             {"blocked_s_max", "longest wait of a session"},
                                             {"deadlocks", "deadlocks"},
                                             {"snapshot_horizon_s", "vacuum held back for"},
                                             {"peak_spill_file_bytes", "spill files on the publisher"},
                                             {"peak_sub_tmp_file_bytes", "files on the subscriber"},
                                             {"peak_retained_wal_bytes", "WAL held back"},
                                             {"cpu_total_s", "CPU of all servers"}}};

constexpr double worth_a_word = 0.01; ///< relative differences below it are real and of no interest

double mean_of(const Arm& arm, std::string_view metric) {
  double sum = 0;
  for (const RunResult& run : arm.runs) {
    if (metric != "cpu_total_s") {
      const double* value = find_metric(run, std::string(metric));
      sum += value == nullptr ? 0 : *value;
      continue;
    }
    for (const auto& [name, value] : run.metrics)
      if (name.starts_with("cpu_"))
        sum += value;
  }
  return sum / static_cast<double>(arm.runs.size());
}

bool reports(const Arm& arm, const std::string& metric) {
  return find_metric(arm.runs.front(), metric) != nullptr;
}

/// Whether `a` has really less of it than `b`, and by more than is worth a word.
bool really_less(const Arm& a, const Arm& b, const std::string& metric, double least = 0) {
  if (not reports(a, metric) or not reports(b, metric))
    return false;
  const PairedDifference d = paired_difference(a.values(metric, 0), b.values(metric, 0));
  return d.p < 0.05 and d.difference.mean > std::max(least, worth_a_word * std::abs(d.second));
}

/// Disks full and slots lost end what everything else is measured by.
std::vector<std::string> disasters(const Arm& arm) {
  std::vector<std::string> out;
  for (const RunResult& run : arm.runs)
    for (const Outcome& outcome : run.outcomes)
      if ((outcome.kind == "disk_full" or outcome.kind == "slot_lost") and
          std::find(out.begin(), out.end(), outcome.text) == out.end())
        out.push_back(outcome.text);
  return out;
}

std::string change(const Figure& figure, double from, double to) {
  const std::string metric(figure.metric);
  std::string text =
      fmt::format("{} {} instead of {}", figure.words, metric_text(metric, to), metric_text(metric, from));
  if (from > 0 and to > 0 and (to > 2 * from or from > 2 * to))
    text += to > from ? fmt::format(" ({:.3g} times)", to / from) : fmt::format(" (1/{:.3g})", from / to);
  else if (from > 0)
    text += fmt::format(" ({:+.1f} %)", 100 * (to - from) / from);
  return text;
}

/// "on against off: better ...; worse ...".
std::string gains_and_costs(const Arm& first, const Arm& other) {
  std::vector<std::string> better, worse;
  for (const Figure& figure : figures) {
    const double from = mean_of(first, figure.metric), to = mean_of(other, figure.metric);
    const std::string metric(figure.metric);
    const bool cpu = figure.metric == "cpu_total_s";
    const bool less = cpu ? to < from * (1 - worth_a_word) : really_less(other, first, metric);
    const bool more = cpu ? to > from * (1 + worth_a_word) : really_less(first, other, metric);
    if (less or more)
      (more == figure.more_is_better ? better : worse).push_back(change(figure, from, to));
  }
  const auto listed = [](const std::vector<std::string>& list, std::string_view none) {
    return list.empty() ? std::string(none) : fmt::format("{}", fmt::join(list, ", "));
  };
  if (better.empty() and worse.empty())
    return fmt::format("{} against {}: no real difference in any of the figures people choose by.",
                       other.label, first.label);
  return fmt::format("{} against {}: better: {}; worse: {}.", other.label, first.label,
                     listed(better, "nothing"), listed(worse, "nothing"));
}

/// The figure that decides who is faster: the first one that any arm reports.
std::string speed_metric(const Comparison& comparison) {
  for (const char* metric : {"total_s", "lag_s_p99", "lag_s_mean", "decode_s"})
    for (const Arm& arm : comparison.arms)
      if (reports(arm, metric))
        return metric;
  return {};
}

/// The arm that has really the least of it; of equals the first one.
std::size_t best_by(const Comparison& comparison, const std::string& metric, double least,
                    const std::vector<bool>& allowed) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < comparison.arms.size(); ++i)
    if (allowed[i] and (not best or really_less(comparison.arms[i], comparison.arms[*best], metric, least)))
      best = i;
  return best.value_or(0);
}

std::string choice(const Comparison& comparison, const std::vector<bool>& allowed) {
  constexpr double wait_worth_a_word_s = 1;
  const std::string speed = speed_metric(comparison);
  if (speed.empty())
    return "Nothing that the runs report says which is better.";
  const std::size_t fastest = best_by(comparison, speed, 0, allowed);
  const std::size_t gentlest = best_by(comparison, "blocked_s_total", wait_worth_a_word_s, allowed);
  const Arm& fast = comparison.arms[fastest];
  const Arm& gentle = comparison.arms[gentlest];
  const auto figure = [&](const Arm& arm, const std::string& metric) {
    return metric_text(metric, mean_of(arm, metric));
  };
  const bool blocks =
      fastest != gentlest and really_less(gentle, fast, "blocked_s_total", wait_worth_a_word_s);
  if (blocks)
    return fmt::format(
        "Take {}, unless nobody else works on those tables: {} has the lower {} ({} against {}), but "
        "sessions on the subscriber wait {} in all for its locks, against {}.",
        gentle.label, fast.label, speed, figure(fast, speed), figure(gentle, speed),
        figure(fast, "blocked_s_total"), figure(gentle, "blocked_s_total"));
  if (fastest == 0 and std::none_of(comparison.arms.begin() + 1, comparison.arms.end(),
                                    [&](const Arm& arm) { return really_less(fast, arm, speed); }))
    return fmt::format(
        "{} and the others differ in {} by nothing that is real and worth a word: choose by what they "
        "cost.",
        fast.label, speed);
  return fmt::format("Take {}: it has the lowest {} ({}), and nobody waits for locks longer because of it.",
                     fast.label, speed, figure(fast, speed));
}

} // namespace

std::vector<std::string> recommendation_of(const Comparison& comparison) {
  std::vector<std::string> out;
  for (const ArmDifference& difference : comparison.differences)
    out.push_back(gains_and_costs(comparison.arms.front(), comparison.arms[difference.arm]));
  std::vector<bool> allowed;
  for (const Arm& arm : comparison.arms) {
    const auto lost = disasters(arm);
    allowed.push_back(lost.empty());
    if (not lost.empty())
      out.push_back(fmt::format("{} is out of the question: {}.", arm.label, fmt::join(lost, "; ")));
  }
  if (std::none_of(allowed.begin(), allowed.end(), [](bool a) { return a; }))
    out.emplace_back("None of them can be recommended.");
  else
    out.push_back(choice(comparison, allowed));
  return out;
}

} // namespace replisim
