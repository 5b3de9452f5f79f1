// Which faults a scenario allows, random combinations of them, and smaller ones.
#include "sim/run/storm.hpp"

#include "models/base/errors.hpp"
#include "models/base/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace replisim {

namespace {

using Kind = Event::Kind;

constexpr std::array all_kinds = {Kind::SubscriberDown, Kind::Partition,     Kind::Crash,     Kind::SlowDisk,
                                  Kind::CpuTaken,       Kind::CreditsUsedUp, Kind::LinkChange};

/// A fault that is a tenth shorter is no smaller one.
constexpr double least_gain = 0.9;

/// Draws one after the other.
class Draws {
public:
  Draws(std::uint64_t seed, std::uint64_t number) : stream_(seed, fmt::format("storm {}", number)) {}
  double uniform() { return stream_.uniform(next_++); }
  double between(double low, double high) { return low + (high - low) * uniform(); }
  std::size_t index(std::size_t size) {
    return std::min(size - 1, static_cast<std::size_t>(uniform() * static_cast<double>(size)));
  }
  template <class Container>
  auto pick(const Container& values) {
    return *std::next(values.begin(), static_cast<std::ptrdiff_t>(index(values.size())));
  }

private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// To the millisecond, so that a file holds exactly what was run.
double rounded(double seconds) { return std::round(seconds * 1e3) / 1e3; }

std::vector<std::string> subscribers(const Scenario& scenario) {
  std::set<std::string> out;
  for (const auto& [name, subscription] : scenario.subscriptions)
    out.insert(subscription.server);
  return {out.begin(), out.end()};
}

std::vector<std::string> busy_servers(const Scenario& scenario) {
  std::set<std::string> out;
  for (const auto& [name, publication] : scenario.publications)
    out.insert(publication.server);
  for (const auto& [name, subscription] : scenario.subscriptions)
    out.insert(subscription.server);
  return {out.begin(), out.end()};
}

std::vector<std::string> burstable(const Scenario& scenario) {
  std::vector<std::string> out;
  for (const auto& [name, machine] : scenario.hosts)
    if (machine.bursts())
      out.push_back(name);
  return out;
}

std::vector<std::string> names_of(const std::map<std::string, Subscription>& subscriptions) {
  std::vector<std::string> out;
  for (const auto& [name, subscription] : subscriptions)
    out.push_back(name);
  return out;
}

void fill_in(Draws& draws, const Scenario& scenario, const StormBounds& bounds, Event& event) {
  switch (event.kind) {
  case Kind::SubscriberDown:
    event.server = draws.pick(subscribers(scenario));
    break;
  case Kind::Partition:
  case Kind::LinkChange: {
    const Link link = draws.pick(scenario.links);
    event.host = link.from;
    event.other_host = link.to;
    if (event.kind == Kind::LinkChange) {
      event.bandwidth_bytes_per_s =
          std::max(1000.0, std::round(link.bandwidth_bytes_per_s / std::pow(1000, draws.uniform())));
      event.latency_s = rounded(link.latency_s + draws.between(0, 0.2));
    }
    break;
  }
  case Kind::Crash:
    event.subscription = draws.pick(names_of(scenario.subscriptions));
    event.process = draws.uniform() < 0.5 ? Event::Process::Walsender : Event::Process::ApplyWorker;
    if (scenario.subscriptions.at(event.subscription).initial_sync and draws.uniform() < 0.5)
      event.process = Event::Process::TableSyncWorker;
    break;
  case Kind::SlowDisk:
    event.server = draws.pick(busy_servers(scenario));
    event.factor = std::max(1.0, std::round(draws.between(1, bounds.most_slower)));
    break;
  case Kind::CpuTaken: {
    event.host =
        (*std::next(scenario.hosts.begin(), static_cast<std::ptrdiff_t>(draws.index(scenario.hosts.size()))))
            .first;
    const double cpus = scenario.hosts.at(event.host).cpus();
    event.cores = std::max(0.1, std::round(10 * draws.between(0.1, bounds.most_cpus * cpus)) / 10);
    break;
  }
  case Kind::CreditsUsedUp:
    event.host = draws.pick(burstable(scenario));
    break;
  case Kind::SettingChange:
  case Kind::CutOver:
    break;
  }
}

} // namespace

std::set<Kind> possible_faults(const Scenario& scenario) {
  std::set<Kind> out = {Kind::CpuTaken, Kind::SlowDisk};
  if (not scenario.subscriptions.empty())
    out.insert({Kind::SubscriberDown, Kind::Crash});
  if (not scenario.links.empty())
    out.insert({Kind::Partition, Kind::LinkChange});
  if (not burstable(scenario).empty())
    out.insert(Kind::CreditsUsedUp);
  return out;
}

Kind fault_kind(const std::string& word) {
  std::vector<std::string> words;
  for (const Kind kind : all_kinds) {
    if (to_string(kind) == word)
      return kind;
    words.push_back(to_string(kind));
  }
  throw UsageError(fmt::format("storms know no fault '{}'{}; known: {}", word, suggestion(word, words),
                               fmt::join(words, ", ")));
}

std::vector<Event> random_faults(const Scenario& scenario, const StormBounds& bounds, std::uint64_t seed,
                                 std::uint64_t number) {
  Draws draws(seed, number);
  std::set<Kind> kinds = possible_faults(scenario);
  if (not bounds.kinds.empty())
    std::erase_if(kinds, [&](Kind kind) { return not bounds.kinds.contains(kind); });
  std::vector<Event> out;
  if (kinds.empty())
    return out;
  const auto count = 1 + draws.index(static_cast<std::size_t>(bounds.most_faults));
  for (std::size_t i = 0; i < count; ++i) {
    Event event;
    event.kind = draws.pick(kinds);
    const double longest_s = std::min(bounds.longest_s, bounds.until_s - bounds.from_s);
    if (event.lasts()) // as many short ones as long ones
      event.for_s = rounded(bounds.shortest_s * std::pow(longest_s / bounds.shortest_s, draws.uniform()));
    event.at_s = rounded(draws.between(bounds.from_s, std::max(bounds.from_s, bounds.until_s - event.for_s)));
    fill_in(draws, scenario, bounds, event);
    out.push_back(event);
  }
  std::stable_sort(out.begin(), out.end(), [](const Event& a, const Event& b) { return a.at_s < b.at_s; });
  return out;
}

std::vector<std::vector<Event>> smaller_faults(const std::vector<Event>& faults, const StormBounds& bounds) {
  std::vector<std::vector<Event>> out;
  for (std::size_t i = 0; faults.size() > 1 and i < faults.size(); ++i) {
    out.push_back(faults);
    out.back().erase(out.back().begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto with = [&](std::size_t i, const Event& changed) {
    out.push_back(faults);
    out.back()[i] = changed;
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    for (const double share : {0.5, 0.75, 0.9}) {
      Event shorter = faults[i];
      shorter.for_s = rounded(std::max(bounds.shortest_s, share * shorter.for_s));
      if (shorter.for_s <= least_gain * faults[i].for_s)
        with(i, shorter);
    }
    Event milder = faults[i];
    milder.factor = std::max(2.0, std::round(milder.factor / 2));
    if (milder.factor < faults[i].factor)
      with(i, milder);
    milder = faults[i];
    milder.cores = std::max(0.1, std::round(10 * milder.cores / 2) / 10);
    if (milder.cores < faults[i].cores)
      with(i, milder);
  }
  return out;
}

} // namespace replisim
