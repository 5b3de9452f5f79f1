#include "sim/report/run_summary.hpp"

#include "sim/report/text.hpp"
#include "sim/run/riskiest_guesses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace replisim {

namespace {

constexpr std::size_t slots_shown = 3;
constexpr std::size_t stages_shown = 5;
constexpr std::size_t guesses_shown = 3;
constexpr std::size_t warnings_shown = 2;
constexpr std::size_t longest_bar = 20, shortest_bar = 3;

class Summary {
public:
  Summary(const Scenario& scenario, const Replications& replications, Glyphs glyphs)
      : scenario_(scenario), replications_(replications), run_(replications.runs.front()), glyphs_(glyphs) {}

  std::string text() {
    out_ = wrapped("", run_.scenario);
    verdicts();
    figures();
    lag();
    course();
    stages();
    bottleneck();
    warnings();
    assumptions();
    return std::move(out_);
  }

private:
  void add(std::string_view label, const std::string& text) {
    out_ += wrapped(fmt::format("  {:<11}", label), text);
  }

  const Interval* metric(const std::string& name) const {
    const auto found = replications_.metrics.find(name);
    return found == replications_.metrics.end() ? nullptr : &found->second;
  }

  std::string interval_text(const Interval& value, std::string (*format)(double)) const {
    return value.half_width > 0 ? fmt::format("{} +- {}", format(value.mean), format(value.half_width))
                                : format(value.mean);
  }

  void verdicts();
  void figures();
  void lag();
  std::string percentile(const std::string& name, const std::string& label) const;
  void course();
  void stages();
  void bottleneck();
  void warnings();
  void assumptions();

  const Scenario& scenario_;
  const Replications& replications_;
  const RunResult& run_;
  Glyphs glyphs_;
  std::string out_;
};

void Summary::verdicts() {
  std::size_t shown = 0;
  for (const auto& [name, verdict] : run_.verdicts) {
    if (shown++ == slots_shown)
      break;
    add(shown == 1 ? "verdict" : "", fmt::format("{}: {}", name, verdict.text));
  }
  if (run_.verdicts.size() > slots_shown)
    add("", fmt::format("and {} more slots", run_.verdicts.size() - slots_shown));
  if (not run_.outcomes.empty())
    add("gave way",
        fmt::format("{} at {}{}", run_.outcomes.front().text, seconds_text(run_.outcomes.front().t_s),
                    run_.outcomes.size() > 1 ? fmt::format(", and {} more", run_.outcomes.size() - 1) : ""));
}

void Summary::figures() {
  std::vector<std::string> parts;
  constexpr std::array times = {std::pair("total_s", "from BEGIN to applied"),
                                std::pair("commit_s", "to COMMIT's return"),
                                std::pair("lock_hold_s", "of row locks held on the subscriber")};
  for (const auto& [name, meaning] : times)
    if (const Interval* value = metric(name))
      parts.push_back(fmt::format("{} {}", interval_text(*value, seconds_text), meaning));
  if (not parts.empty())
    add("time", fmt::format("{}", fmt::join(parts, ", ")));
  const auto rate = [](double value) { return fmt::format("{:.1f}", value); };
  if (const Interval* tps = metric("tps"); tps != nullptr and tps->mean > 0) {
    const Interval* applied = metric("apply_tps");
    add("rate",
        fmt::format("{} transactions a second on the publisher{}", interval_text(*tps, rate),
                    applied == nullptr ? "" : fmt::format(", {} applied", interval_text(*applied, rate))));
  }
}

std::string Summary::percentile(const std::string& name, const std::string& label) const {
  const Interval* value = metric(name);
  if (value == nullptr)
    return run_.statistics.refused.contains(name) ? fmt::format("{} refused: the sample is too small", label)
                                                  : "";
  std::string out = fmt::format("{} {}", label, interval_text(*value, seconds_text));
  const auto between = run_.statistics.quantiles.find(name);
  if (value->half_width == 0 and between != run_.statistics.quantiles.end())
    out += fmt::format(" ({} to {})", seconds_text(between->second.low), seconds_text(between->second.high));
  return out;
}

void Summary::lag() {
  std::vector<std::string> parts;
  for (const auto& [name, label] :
       {std::pair("lag_s_p50", "p50"), std::pair("lag_s_p95", "p95"), std::pair("lag_s_p99", "p99")})
    if (const std::string text = percentile(name, label); not text.empty())
      parts.push_back(text);
  if (parts.empty() and not run_.lag_anatomies.empty()) {
    const auto& [name, lags] = *run_.lag_anatomies.begin();
    add("lag", fmt::format("p50 {}, p95 {}, p99 {} of {} transaction{} of {}, commit to applied",
                           seconds_text(lags.lag.p50_s), seconds_text(lags.lag.p95_s),
                           seconds_text(lags.lag.p99_s), whole_text(static_cast<double>(lags.transactions)),
                           lags.transactions == 1 ? "" : "s", name));
  } else if (not parts.empty()) {
    const bool intervals = replications_.runs.size() > 1 or not run_.statistics.quantiles.empty();
    add("lag", fmt::format("{}; {}", fmt::join(parts, ", "),
                           intervals ? "95 % intervals" : "one run, so no intervals (--replications 10)"));
  }
}

/// WAL between what the publisher has written and what the least advanced subscriber has applied.
void Summary::course() {
  const auto& columns = run_.timeline.columns;
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
  };
  const std::size_t wal = column("wal_lsn"), applied = column("replay_lsn"), time = column("t_s");
  if (std::max({wal, applied, time}) >= columns.size() or run_.timeline.rows.size() < 2)
    return;
  std::vector<double> lags;
  for (const auto& row : run_.timeline.rows)
    lags.push_back(std::max(0.0, row[wal] - row[applied]));
  const auto top = std::max_element(lags.begin(), lags.end());
  const auto end = run_.metrics.find("lag_bytes"); // the last sample is taken before the last event
  const double end_bytes = end == run_.metrics.end() ? lags.back() : end->second;
  const double end_s = run_.timeline.rows.back()[time];
  const double top_s = run_.timeline.rows[static_cast<std::size_t>(top - lags.begin())][time];
  const std::size_t width = std::min<std::size_t>(60, report_columns - 15);
  out_ += fmt::format("  {:<11}{}\n", "WAL behind", sparkline(lags, width, glyphs_));
  add("", fmt::format("0 to {}; at most {}, at {}; {} at the end", seconds_text(end_s), size_text(*top),
                      seconds_text(top_s), size_text(end_bytes)));
}

void Summary::stages() {
  std::vector<std::pair<std::string, StageShares>> busiest(run_.stages.begin(), run_.stages.end());
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](const auto& a, const auto& b) { return a.second.busy > b.second.busy; });
  std::size_t widest = 0;
  for (std::size_t i = 0; i < std::min(busiest.size(), stages_shown); ++i)
    widest = std::max(widest, busiest[i].first.size());
  constexpr std::size_t beside = 13 + 2 + 1 + 14; // label, gaps, "  99.9 % busy"
  const std::size_t bar_columns =
      std::clamp(report_columns - std::min(report_columns, beside + widest), shortest_bar, longest_bar);
  for (std::size_t i = 0; i < std::min(busiest.size(), stages_shown); ++i) {
    const auto& [name, shares] = busiest[i];
    out_ += clipped(fmt::format("  {:<11}{:<{}}  {} {:>5.1f} % busy", i == 0 ? "stages" : "", name, widest,
                                share_bar(shares.busy, bar_columns, glyphs_), 100 * shares.busy),
                    report_columns) +
            "\n";
  }
}

void Summary::bottleneck() {
  if (not run_.bottleneck.empty())
    add("bottleneck", run_.bottleneck_reason.empty()
                          ? run_.bottleneck
                          : fmt::format("{}: {}", run_.bottleneck, run_.bottleneck_reason));
}

void Summary::warnings() {
  for (std::size_t i = 0; i < std::min(run_.warnings.size(), warnings_shown); ++i)
    add(i == 0 ? "warning" : "", run_.warnings[i]);
  if (run_.warnings.size() > warnings_shown)
    add("", fmt::format("and {} more warnings", run_.warnings.size() - warnings_shown));
}

void Summary::assumptions() {
  if (run_.guesses.empty())
    return;
  const auto risky = riskiest_guesses(scenario_, guesses_shown);
  out_ += wrapped(
      "  ", fmt::format("{} inputs are guesses{}", run_.guesses.size(),
                        risky.empty() ? "" : "; doubled, these move the answer of queueing theory most:"));
  for (std::size_t i = 0; i < risky.size(); ++i)
    out_ += clipped(fmt::format("    {}. {} = {} ({} {:+.0f} %)", i + 1, risky[i].guess.path,
                                clipped(risky[i].guess.value, 24), risky[i].quantity, 100 * risky[i].change),
                    report_columns) +
            "\n";
}

} // namespace

std::string run_summary(const Scenario& scenario, const Replications& replications, Glyphs glyphs) {
  return Summary(scenario, replications, glyphs).text();
}

} // namespace replisim
