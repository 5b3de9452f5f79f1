#include "sim/run/event_diff.hpp"

#include "sim/run/fork_pool.hpp"
#include "sim/run/simulate.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace replisim {

using engine::EventTap;
using engine::SeenEvent;
using nlohmann::json;

namespace {

constexpr std::uint64_t stride = 1024;
constexpr std::size_t shown_before = 3;

struct Seen {
  std::vector<std::uint64_t> marks;
  std::vector<SeenEvent> events;
  std::uint64_t total = 0, hash = 0;
};

std::string encoded(const EventTap& tap, const RunResult& result) {
  json events = json::array();
  for (const SeenEvent& event : tap.events)
    events.push_back({event.begin_s, event.end_s, event.process, event.activity, event.signal});
  const auto bytes = json::to_cbor(
      {{"marks", tap.marks}, {"events", events}, {"total", result.events}, {"hash", result.fingerprint}});
  return {bytes.begin(), bytes.end()};
}

Seen decoded(const std::string& bytes) {
  const json object = json::from_cbor(bytes);
  Seen seen;
  object.at("marks").get_to(seen.marks);
  object.at("total").get_to(seen.total);
  object.at("hash").get_to(seen.hash);
  for (const json& e : object.at("events"))
    seen.events.push_back({e[0].get<double>(), e[1].get<double>(), e[2].get<std::string>(),
                           e[3].get<std::string>(), e[4].get<std::string>()});
  return seen;
}

/// Both runs, watched from event `first` (from 0) to before `last`.
std::pair<Seen, Seen> watch(const SimulationSource& a, const SimulationSource& b, std::uint64_t first,
                            std::uint64_t last) {
  const auto job = [&](const SimulationSource& source) {
    return Job{source.scenario->name, [&source, first, last] {
                 EventTap tap;
                 tap.stride = stride;
                 tap.first = first;
                 tap.last = last;
                 engine::event_tap() = &tap;
                 const RunResult result = simulate(*source.scenario, source.seed);
                 return encoded(tap, result);
               }};
  };
  const auto outcomes = run_forked({job(a), job(b)});
  return {decoded(outcomes[0].get()), decoded(outcomes[1].get())};
}

} // namespace

std::optional<EventDivergence> first_divergence(const SimulationSource& a, const SimulationSource& b) {
  const auto [first_a, first_b] = watch(a, b, 0, 0);
  if (first_a.hash == first_b.hash and first_a.total == first_b.total)
    return std::nullopt;
  const std::size_t common = std::min(first_a.marks.size(), first_b.marks.size());
  std::size_t block = 0;
  while (block < common and first_a.marks[block] == first_b.marks[block])
    ++block;
  const std::uint64_t from = block * stride - std::min<std::uint64_t>(block * stride, shown_before);
  const auto [a_seen, b_seen] = watch(a, b, from, (block + 1) * stride);
  const auto& left = a_seen.events;
  const auto& right = b_seen.events;
  const auto same = static_cast<std::size_t>(
      std::distance(left.begin(), std::mismatch(left.begin(), left.end(), right.begin(), right.end()).first));
  EventDivergence out;
  out.number = from + same + 1;
  out.total_a = a_seen.total;
  out.total_b = b_seen.total;
  if (same < left.size())
    out.a = left[same];
  if (same < right.size())
    out.b = right[same];
  for (std::size_t i = same - std::min(same, shown_before); i < same; ++i)
    out.before.push_back(left[i]);
  return out;
}

} // namespace replisim
