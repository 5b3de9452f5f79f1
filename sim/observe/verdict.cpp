#include "sim/observe/verdict.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace replisim {

namespace {
/// Below a second's worth of WAL, and below a segment, a lag is that of work under way, not a backlog.
constexpr double work_under_way_s = 1;
constexpr double segment_bytes = 16.0 * 1024 * 1024;
/// Changes within this share of the lag are no trend.
constexpr double steady_share = 0.05;

std::string trend(const std::vector<double>& lag, double backlog_bytes) {
  if (lag.size() < 4)
    return "keeping up";
  const double half = lag[lag.size() / 2], late = lag[lag.size() * 3 / 4], end = lag.back();
  if (end <= backlog_bytes)
    return "keeping up";
  if (end > late * (1 + steady_share) and late > half * (1 + steady_share))
    return "falling behind";
  if (end < late * (1 - steady_share))
    return "behind but catching up";
  return end > half * (1 + steady_share) ? "falling behind" : "behind, neither gaining nor losing";
}

/// Everything committed is applied: was there ever a backlog?
std::string caught_up_after(const std::vector<double>& lag, double backlog_bytes) {
  const bool behind =
      std::any_of(lag.begin(), lag.end(), [&](double bytes) { return bytes > backlog_bytes; });
  return behind ? "caught up in the end" : "keeping up";
}
} // namespace

std::map<std::string, std::string> verdicts(const Pipeline& pipeline, const LagSeries& lags,
                                            const RunResult& result, double end_s) {
  std::vector<std::pair<double, std::string>> stages;
  for (const auto& [name, share] : result.stages)
    stages.push_back({share.busy, name});
  std::stable_sort(stages.begin(), stages.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::map<std::string, std::string> out;
  for (const auto& [name, side] : pipeline.slots()) {
    if (side.slot->lost()) {
      out[name] = "lost: " + side.slot->why_lost();
      continue;
    }
    const auto series = lags.find(name);
    const std::vector<double> lag = series == lags.end() ? std::vector<double>{} : series->second;
    const bool caught_up = pipeline.log().subscriptions.at(name).replay_lsn >=
                           pipeline.publishers().at(side.publisher).state.last_commit;
    const double written =
        static_cast<double>(pipeline.publishers().at(side.publisher).wal->inserted().value);
    const double backlog_bytes = std::min(segment_bytes, written / std::max(1e-9, end_s) * work_under_way_s);
    std::string text = caught_up ? caught_up_after(lag, backlog_bytes) : trend(lag, backlog_bytes);
    if (text != "keeping up" and not stages.empty()) {
      text +=
          fmt::format("; {} is to blame, busy {:.0f} % of the run", stages[0].second, 100 * stages[0].first);
      if (stages.size() > 1)
        text += fmt::format("; next would be {}, {:.0f} %", stages[1].second, 100 * stages[1].first);
    }
    out[name] = text;
  }
  return out;
}

} // namespace replisim
