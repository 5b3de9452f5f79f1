#include "calibration/observe/clock_offset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace replisim::readers {

namespace {

double seconds(TimeUs us) { return static_cast<double>(us) * 1e-6; }

struct Pair {
  const Event* sub;
  const Event* pub;
};

std::vector<const Event*> events_of(const Observation& observation, std::size_t source,
                                    std::string_view type) {
  std::vector<const Event*> found;
  for (const Event& event : observation.events())
    if (event.place.source == source and event.type == type)
      found.push_back(&event);
  return found;
}

/// Starts of leader apply workers that reached their publisher.
std::vector<const Event*> leader_starts(const Observation& observation, std::size_t sub) {
  std::vector<const Event*> starts = events_of(observation, sub, "apply_start");
  const auto lost = events_of(observation, sub, "connection_lost");
  std::erase_if(starts, [&](const Event* start) {
    return start->text("worker") != "apply" or std::any_of(lost.begin(), lost.end(), [&](const Event* end) {
             return end->number("pid") == start->number("pid") and
                    end->text("message").find("could not connect") != std::string::npos;
           });
  });
  return starts;
}

/// Worker starts and walsender starts in order. Where one log has more of them, the shift with the most even
/// differences holds.
std::vector<Pair> match_starts(const std::vector<const Event*>& subs, const std::vector<const Event*>& pubs) {
  std::vector<Pair> best;
  double best_spread = 0;
  const auto n = static_cast<std::ptrdiff_t>(subs.size());
  const auto m = static_cast<std::ptrdiff_t>(pubs.size());
  const std::ptrdiff_t wanted = std::min(n, m);
  for (std::ptrdiff_t shift = -n; shift <= m; ++shift) {
    std::vector<Pair> pairs;
    double low = 0;
    double high = 0;
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      if (i + shift < 0 or i + shift >= m)
        continue;
      pairs.push_back({subs[static_cast<std::size_t>(i)], pubs[static_cast<std::size_t>(i + shift)]});
      const double difference = seconds(pairs.back().pub->begin_us - pairs.back().sub->begin_us);
      low = pairs.size() == 1 ? difference : std::min(low, difference);
      high = pairs.size() == 1 ? difference : std::max(high, difference);
    }
    if (static_cast<std::ptrdiff_t>(pairs.size()) < wanted or pairs.empty())
      continue;
    // A single pair has no spread: the nearest one.
    const double spread = pairs.size() == 1 ? std::abs(low) : high - low;
    if (best.empty() or spread < best_spread) {
      best = std::move(pairs);
      best_spread = spread;
    }
  }
  return best;
}

/// Bounds from below: subscriber's events that only a running walsender causes.
void bound_from_below(const Observation& observation, const std::vector<Pair>& pairs, ClockOffset& offset) {
  const auto note = [&](TimeUs pub_us, TimeUs sub_us) {
    const double bound_s = seconds(pub_us - sub_us);
    offset.at_least_s = std::max(offset.at_least_s.value_or(bound_s), bound_s);
  };
  std::vector<const Event*> parallel = events_of(observation, offset.sub_source, "apply_start");
  std::erase_if(parallel, [](const Event* event) { return event->text("worker") != "parallel"; });
  for (const Event* worker : parallel) {
    const Pair* latest = nullptr; // the leader it belongs to
    for (const Pair& pair : pairs)
      if (pair.sub->begin_us <= worker->begin_us and
          pair.sub->text("subscription") == worker->text("subscription"))
        latest = &pair;
    if (latest != nullptr)
      note(latest->pub->begin_us, worker->begin_us);
  }
  // CREATE SUBSCRIPTION makes the slot, then commits; only then is a worker started for it.
  for (const Event* created : events_of(observation, offset.pub_source, "create_slot"))
    for (const Pair& pair : pairs)
      if (pair.pub->text("slot") == created->text("slot") and pair.pub->begin_us >= created->begin_us) {
        note(created->begin_us, pair.sub->begin_us);
        break;
      }
  const auto lost = events_of(observation, offset.sub_source, "connection_lost");
  for (const Event* timeout : events_of(observation, offset.pub_source, "walsender_timeout")) {
    const Pair* pair = nullptr;
    for (const Pair& each : pairs)
      if (each.pub->number("pid") == timeout->number("pid"))
        pair = &each;
    if (pair == nullptr)
      continue;
    const auto end = std::find_if(lost.begin(), lost.end(), [&](const Event* event) {
      return event->number("pid") == pair->sub->number("pid");
    });
    if (end != lost.end())
      note(timeout->begin_us, (*end)->begin_us);
  }
}

std::string remark_on(const ClockOffset& offset) {
  constexpr double quarter_hour_s = 900;
  if (offset.at_least_s and offset.at_most_s and *offset.at_least_s > *offset.at_most_s)
    return "the bounds contradict each other: a clock was set meanwhile, or the logs are of different pairs";
  const double estimate_s = offset.estimate_s().value_or(0);
  const double rest_s = std::remainder(estimate_s, quarter_hour_s);
  if (std::abs(estimate_s) > quarter_hour_s / 2 and std::abs(rest_s) < 5)
    return fmt::format("{:+.2f} h look like a time zone and not like a clock", (estimate_s - rest_s) / 3600);
  return {};
}

/// From snapshots of views alone: a message was sent before it arrived (pg_stat_subscription: times of both
/// clocks), a reply was sent before the publisher's snapshot that shows it (pg_stat_replication).
std::optional<ClockOffset> offset_from_views(const Observation& observation, const SourceGroup& group) {
  ClockOffset offset;
  offset.group = group.name;
  for (const auto& [key, series] : observation.all_series()) {
    if (std::find(group.sources.begin(), group.sources.end(), series.source()) == group.sources.end())
      continue;
    if (key.first == "msg_delay_s") {
      offset.at_least_s = std::max(offset.at_least_s.value_or(-series.smallest()), -series.smallest());
      offset.sub_source = series.source();
    }
    if (key.first == "reply_age_s") {
      offset.at_most_s = std::min(offset.at_most_s.value_or(series.smallest()), series.smallest());
      offset.pub_source = series.source();
    }
  }
  if (not offset.at_least_s and not offset.at_most_s)
    return {};
  if (not offset.at_least_s)
    offset.sub_source = offset.pub_source;
  if (not offset.at_most_s)
    offset.pub_source = offset.sub_source;
  offset.remark = remark_on(offset);
  return offset;
}

std::optional<ClockOffset> offset_from_logs(const Observation& observation, const SourceGroup& group) {
  ClockOffset offset{.group = group.name,
                     .pub_source = 0,
                     .sub_source = 0,
                     .at_least_s = {},
                     .at_most_s = {},
                     .starts = 0,
                     .remark = {}};
  bool has_pub = false;
  bool has_sub = false;
  for (const std::size_t source : group.sources) {
    const Source& info = observation.sources[source];
    if (info.time_base != TimeBase::Wall)
      continue;
    if (info.node == "pub" and not std::exchange(has_pub, true))
      offset.pub_source = source;
    if (info.node == "sub" and not std::exchange(has_sub, true))
      offset.sub_source = source;
  }
  if (not has_pub or not has_sub)
    return {};
  auto pubs = events_of(observation, offset.pub_source, "start_replication");
  if (pubs.empty())
    pubs = events_of(observation, offset.pub_source, "decoding_start");
  const auto pairs = match_starts(leader_starts(observation, offset.sub_source), pubs);
  if (pairs.empty())
    return {};
  offset.starts = pairs.size();
  for (const Pair& pair : pairs) {
    const double bound_s = seconds(pair.pub->begin_us - pair.sub->begin_us);
    offset.at_most_s = std::min(offset.at_most_s.value_or(bound_s), bound_s);
  }
  bound_from_below(observation, pairs, offset);
  offset.remark = remark_on(offset);
  return offset;
}

} // namespace

std::optional<double> ClockOffset::estimate_s() const {
  if (at_least_s and at_most_s)
    return (*at_least_s + *at_most_s) / 2;
  return at_most_s ? at_most_s : at_least_s;
}

std::optional<double> ClockOffset::uncertainty_s() const {
  if (at_least_s and at_most_s)
    return std::abs(*at_most_s - *at_least_s) / 2;
  return {};
}

std::optional<ClockOffset> estimate_clock_offset(const Observation& observation, const SourceGroup& group) {
  auto logs = offset_from_logs(observation, group);
  return logs ? std::move(logs) : offset_from_views(observation, group);
}

} // namespace replisim::readers
