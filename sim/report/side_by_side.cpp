#include "sim/report/side_by_side.hpp"

#include "sim/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace replisim {

namespace {

constexpr std::size_t fewest_points = 2, most_points = 6;

using Formatter = std::string (*)(double);

struct Line {
  std::string_view label;
  std::string_view metric;
  Formatter format;
};

const std::vector<Line>& lines() {
  static const std::vector<Line> all = {
      {"transaction applied after", "total_s", seconds_text},
      {"lock hold", "lock_hold_s", seconds_text},
      {"snapshot horizon held by apply", "snapshot_horizon_s", seconds_text},
      {"sessions blocked: waits", "blocked_s_count", whole_text},
      {"sessions blocked: total", "blocked_s_total", seconds_text},
      {"sessions blocked: p50", "blocked_s_p50", seconds_text},
      {"sessions blocked: p95", "blocked_s_p95", seconds_text},
      {"sessions blocked: p99", "blocked_s_p99", seconds_text},
      {"sessions blocked: longest", "blocked_s_max", seconds_text},
      {"apply waited for sessions", "apply_lock_wait_s_total", seconds_text},
      {"deadlocks", "deadlocks", whole_text},
      {"lag of small transactions: p50", "lag_s_p50", seconds_text},
      {"lag of small transactions: p95", "lag_s_p95", seconds_text},
      {"lag of small transactions: longest", "lag_s_max", seconds_text},
      {"spilled", "spill_bytes", size_text},
      {"streamed", "stream_bytes", size_text},
      {"subscriber's files", "peak_sub_tmp_file_bytes", size_text}};
  return all;
}

double metric(const SweepRow& row, std::string_view name) {
  const auto& metrics = row.outcome.result->metrics;
  const auto found = metrics.find(std::string(name));
  return found == metrics.end() ? 0 : found->second;
}

void add_line(TextTable& table, const Sweep& sweep, const std::string& label, std::string_view name,
              Formatter format) {
  const bool any = std::any_of(sweep.rows.begin(), sweep.rows.end(), [&](const SweepRow& row) {
    return row.outcome.result->metrics.contains(std::string(name));
  });
  if (not any)
    return;
  std::vector<std::string> cells = {label};
  for (const SweepRow& row : sweep.rows)
    cells.push_back(format(metric(row, name)));
  table.add(std::move(cells));
}

/// "off 24.1 s, on 23.0 s and parallel 5 min 02 s".
std::string listed(const Sweep& sweep, const std::function<std::string(const SweepRow&)>& value) {
  std::vector<std::string> parts;
  for (const SweepRow& row : sweep.rows)
    parts.push_back(fmt::format("{} {}", row.point.labels.front().second, value(row)));
  const std::string last = parts.back();
  parts.pop_back();
  return fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

const SweepRow& extreme(const Sweep& sweep, std::string_view name, bool largest) {
  return *std::max_element(sweep.rows.begin(), sweep.rows.end(), [&](const SweepRow& a, const SweepRow& b) {
    return largest ? metric(a, name) < metric(b, name) : metric(a, name) > metric(b, name);
  });
}

std::string label(const SweepRow& row) { return row.point.labels.front().second; }

std::string paragraph(const Sweep& sweep) {
  const auto seconds = [](std::string_view name) {
    return [name](const SweepRow& row) { return seconds_text(metric(row, name)); };
  };
  const SweepRow& longest = extreme(sweep, "lock_hold_s", true);
  const SweepRow& shortest = extreme(sweep, "lock_hold_s", false);
  const double ratio = metric(shortest, "lock_hold_s") > 0
                           ? metric(longest, "lock_hold_s") / metric(shortest, "lock_hold_s")
                           : 0;
  std::string text =
      fmt::format("The subscriber holds the locks of the longest transaction for {}: {} holds them "
                  "{:.1f} times as long as {}, and vacuum cannot pass that transaction meanwhile. ",
                  listed(sweep, seconds("lock_hold_s")), label(longest), ratio, label(shortest));
  text += fmt::format("Sessions wait for apply processes {} in all, the longest wait is {}. ",
                      listed(sweep, seconds("blocked_s_total")), listed(sweep, seconds("blocked_s_max")));
  const auto after_commit = [](const SweepRow& row) {
    return seconds_text(std::max(0.0, metric(row, "total_s") - metric(row, "commit_s")));
  };
  text += fmt::format(
      "What the locks buy is time after the publisher's commit: the transaction is there {} later.",
      listed(sweep, after_commit));
  if (metric(longest, "lag_s_max") > 0 or metric(shortest, "lag_s_max") > 0)
    text += fmt::format(" Small transactions, which are applied in order behind it, lag by at most {}.",
                        listed(sweep, seconds("lag_s_max")));
  return text;
}

} // namespace

std::string side_by_side(const Sweep& sweep) {
  const bool fits = sweep.rows.size() >= fewest_points and sweep.rows.size() <= most_points and
                    std::all_of(sweep.rows.begin(), sweep.rows.end(), [](const SweepRow& row) {
                      return row.outcome.result and not row.outcome.result->sessions.empty() and
                             row.point.labels.size() == 1;
                    });
  if (not fits)
    return {};
  std::vector<std::string> header = {"Side by side"};
  std::set<std::string> cpu;
  for (const SweepRow& row : sweep.rows) {
    header.push_back(label(row));
    for (const auto& [name, value] : row.outcome.result->metrics)
      if (name.starts_with("cpu_") and value >= 0.01)
        cpu.insert(name);
  }
  TextTable table(header, 1);
  for (const Line& line : lines())
    add_line(table, sweep, "  " + std::string(line.label), line.metric, line.format);
  for (const std::string& name : cpu)
    add_line(table, sweep, "  CPU " + name.substr(4, name.size() - 6), name, seconds_text);
  return "\n" + table.render(0) + "\n" + wrapped("", paragraph(sweep));
}

} // namespace replisim
