#include "sim/observe/verdict.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace replisim {

namespace {
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

constexpr double idle_share = 0.05;  ///< a slot whose stages are all less busy than this has none to speak of
constexpr double pacing_share = 0.9; ///< a stage busier than this leaves nothing to the others

struct Suspect {
  std::string stage, activity;
  double busy = 0;
};

/// All stages of the slot's pipeline, the busiest first; of equals the one further down.
std::vector<Suspect> suspects(const Pipeline& pipeline, const std::string& name, const SlotWatch& watch,
                              bool behind) {
  const double seconds = behind ? watch.behind_s : watch.watched_s;
  const StationSeconds& busy = behind ? watch.busy_behind : watch.busy;
  const auto share = [&](Station station) { return busy[static_cast<std::size_t>(station)] / seconds; };
  const SlotSide& side = pipeline.slots().at(name);
  std::vector<Suspect> found;
  for (const auto& role : pipeline.roles())
    if (role.slot == name and (role.stage == "apply_worker" or role.stage == "consumer"))
      found.push_back({role.node + "." + role.stage, "", share(Station::Client)});
    else if (role.slot == name and role.stage == "parallel_apply_worker" and found.empty())
      found.push_back({role.node + "." + role.stage, "", share(Station::Worker)});
  found.push_back({"network", "window", share(Station::Window)});
  found.push_back({"network", "bandwidth", share(Station::Bandwidth)});
  constexpr std::array<std::pair<Station, const char*>, 4> work = {{{Station::Decoding, "decoding"},
                                                                    {Station::Spilling, "spill files"},
                                                                    {Station::Filtering, "row filters"},
                                                                    {Station::Sending, "sending"}}};
  Suspect walsender{side.publisher + ".walsender", "", 0};
  double most = 0;
  for (const auto& [station, activity] : work) {
    walsender.busy += share(station);
    if (share(station) > most) {
      most = share(station);
      walsender.activity = activity;
    }
  }
  found.push_back(walsender);
  // When WAL waits for its flush rather than for the walsender, it is the disk's; otherwise not, however
  // busy.
  if (not behind or watch.unflushed_bytes > watch.unread_bytes)
    found.push_back({side.publisher + ".wal_disk", "", share(Station::WalDisk)});
  if (not behind) // whoever writes WAL too slowly does not make anybody fall behind
    found.push_back({side.publisher + ".backend", "", share(Station::Backend)});
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.busy > b.busy + 1e-9; });
  return found;
}

std::string named(const Suspect& suspect) {
  return suspect.activity.empty() ? suspect.stage : fmt::format("{} ({})", suspect.stage, suspect.activity);
}

void add_blame(const std::vector<Suspect>& found, bool behind, Verdict& verdict) {
  if (found.size() < 2 or found[0].busy < idle_share)
    return;
  verdict.stage = found[0].stage;
  verdict.activity = found[0].activity;
  verdict.busy = found[0].busy;
  const char* role = behind                         ? "is to blame"
                     : found[0].busy > pacing_share ? "sets the pace"
                                                    : "would be the first to give way";
  verdict.text += fmt::format("; {} {}, busy {:.0f} % of {}", named(found[0]), role, 100 * found[0].busy,
                              behind ? "the time behind" : "the run");
  if (found[1].busy < 0.005)
    return;
  verdict.next_stage = found[1].stage;
  verdict.next_activity = found[1].activity;
  verdict.next_busy = found[1].busy;
  verdict.text += fmt::format("; next would be {}, {:.0f} %", named(found[1]), 100 * found[1].busy);
}
} // namespace

std::map<std::string, Verdict> verdicts(const Pipeline& pipeline, const LagSeries& lags,
                                        const StageWatch& watch, double end_s) {
  std::map<std::string, Verdict> out;
  for (const auto& [name, side] : pipeline.slots()) {
    Verdict& verdict = out[name];
    if (not side.slot->present()) {
      verdict.state = verdict.text = "not created";
      continue;
    }
    if (side.slot->lost()) {
      verdict.state = "lost";
      verdict.text = "lost: " + side.slot->why_lost();
      continue;
    }
    const auto series = lags.find(name);
    const std::vector<double> lag = series == lags.end() ? std::vector<double>{} : series->second;
    const PublisherSide& publisher = pipeline.publishers().at(side.publisher);
    // Where nothing was ever committed there is nothing to have caught up with: other databases' WAL.
    const bool caught_up = publisher.state.last_commit.value > 0 and
                           pipeline.log().subscriptions.at(name).replay_lsn >= publisher.state.last_commit;
    const double backlog_bytes =
        work_under_way_bytes(static_cast<double>(publisher.wal->inserted().value), end_s);
    verdict.state = caught_up ? caught_up_after(lag, backlog_bytes) : trend(lag, backlog_bytes);
    verdict.text = verdict.state;
    const auto watched = watch.slots().find(name);
    if (watched == watch.slots().end())
      continue;
    const bool behind = verdict.state != "keeping up" and watched->second.behind_s > 0;
    add_blame(suspects(pipeline, name, watched->second, behind), behind, verdict);
  }
  return out;
}

} // namespace replisim
