#include "sim/run/storm.hpp"

#include "models/base/errors.hpp"
#include "sim/run/result_json.hpp"
#include "sim/run/run_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace replisim {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
/// Rounds of shrinking: each keeps one smaller combination that still breaks.
constexpr int most_rounds = 60;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  const auto last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

/// "10s", "4GB", "20%" or a plain number, in base units.
double parse_limit(const std::string& promise, const std::string& text) {
  if (const auto number = parse_number(text))
    return *number;
  for (const Dimension dimension : {Dimension::Duration, Dimension::Size, Dimension::Percent})
    if (const auto parsed = parse_quantity(text, dimension); parsed.ok)
      return parsed.value;
  throw UsageError(
      fmt::format("promise '{}': '{}' is no limit; allowed: a number, a duration such as 10s, a size "
                  "such as 4GB, a percentage",
                  promise, text));
}

Scenario with_faults(const Scenario& scenario, const std::vector<Event>& faults) {
  Scenario out = scenario;
  out.events.insert(out.events.end(), faults.begin(), faults.end());
  std::stable_sort(out.events.begin(), out.events.end(),
                   [](const Event& a, const Event& b) { return a.at_s < b.at_s; });
  return out;
}

class Search {
public:
  Search(const Scenario& scenario, const StormRequest& request, const PoolOptions& options)
      : scenario_(scenario), request_(request), options_(options) {}

  Storm run() {
    std::vector<std::vector<Event>> combinations;
    for (int i = 0; i < request_.tries; ++i)
      combinations.push_back(
          random_faults(scenario_, request_.bounds, request_.seed, static_cast<std::uint64_t>(i)));
    const auto tries = simulate_all(combinations, options_);
    storm_.tried = static_cast<int>(tries.size());
    for (const StormTry& one : tries) {
      storm_.broke += one.broken.empty() ? 0 : 1;
      if (one.strain > storm_.worst.strain or storm_.worst.faults.empty())
        storm_.worst = one;
    }
    if (not storm_.worst.broken.empty())
      shrink();
    for (const StormPromise& promise : request_.promises)
      if (not known_.contains(promise.text))
        storm_.unknown.push_back(promise.text);
    return std::move(storm_);
  }

private:
  std::vector<StormTry> simulate_all(const std::vector<std::vector<Event>>& combinations,
                                     const PoolOptions& options) {
    std::vector<Job> jobs;
    for (const auto& faults : combinations)
      jobs.push_back(simulation_job(scenario_.name, with_faults(scenario_, faults), request_.seed, false));
    std::vector<StormTry> out;
    const auto outcomes = run_forked(jobs, options);
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      out.push_back(judge(combinations[i], outcomes[i]));
    return out;
  }

  StormTry judge(const std::vector<Event>& faults, const JobOutcome& outcome) {
    StormTry out{faults, 0, ""};
    RunResult result;
    try {
      result = decode_result(outcome.get());
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& e) {
      out.strain = infinite;
      out.broken = e.what();
      return out;
    }
    for (const StormPromise& promise : request_.promises) {
      const auto found = strain(promise, result);
      if (not found)
        continue;
      known_.insert(promise.text);
      const bool broken = *found > 1;
      if (broken and (out.broken.empty() or *found > out.strain))
        out.broken = promise.text;
      out.strain = std::max(out.strain, *found);
    }
    return out;
  }

  /// Keeps the first smaller combination that still breaks, until none does.
  void shrink() {
    storm_.smallest = storm_.worst;
    PoolOptions quiet = options_;
    quiet.progress = {};
    for (int round = 0; round < most_rounds; ++round) {
      const auto smaller = smaller_faults(storm_.smallest.faults, request_.bounds);
      if (smaller.empty())
        return;
      const auto tries = simulate_all(smaller, quiet);
      storm_.shrinking_runs += static_cast<int>(tries.size());
      const auto broken = std::find_if(tries.begin(), tries.end(),
                                       [](const StormTry& one) { return not one.broken.empty(); });
      if (broken == tries.end())
        return;
      storm_.smallest = *broken;
    }
  }

  const Scenario& scenario_;
  const StormRequest& request_;
  const PoolOptions& options_;
  Storm storm_;
  std::set<std::string> known_;
};

std::string seconds(double value) { return fmt::format("{:.10g}s", value); }

std::string event_yaml(const Event& event) {
  std::string out;
  if (event.when_ready)
    out += "at: ready";
  else
    out += "at: " + seconds(event.at_s);
  if (event.for_s > 0)
    out += ", for: " + seconds(event.for_s);
  const std::string verb = to_string(event.kind);
  switch (event.kind) {
  case Event::Kind::SubscriberDown:
  case Event::Kind::CutOver:
    return fmt::format("{}, {}: {}", out, verb, event.server);
  case Event::Kind::SlowDisk:
    return fmt::format("{}, {}: {}, factor: {:g}", out, verb, event.server, event.factor);
  case Event::Kind::Partition:
    return fmt::format("{}, {}: [{}, {}]", out, verb, event.host, event.other_host);
  case Event::Kind::Crash:
    return fmt::format("{}, {}: {}, subscription: {}", out, verb,
                       event.process == Event::Process::Walsender     ? "walsender"
                       : event.process == Event::Process::ApplyWorker ? "apply_worker"
                                                                      : "table_sync_worker",
                       event.subscription);
  case Event::Kind::CpuTaken:
    return fmt::format("{}, {}: {}, cores: {:g}", out, verb, event.host, event.cores);
  case Event::Kind::CreditsUsedUp:
    return fmt::format("{}, {}: {}", out, verb, event.host);
  case Event::Kind::LinkChange:
    out += fmt::format(", {}: [{}, {}]", verb, event.host, event.other_host);
    if (event.bandwidth_bytes_per_s > 0)
      out += fmt::format(", bandwidth: {:.15g}kB/s", event.bandwidth_bytes_per_s / 1024);
    return event.latency_s >= 0 ? out + ", latency: " + seconds(event.latency_s) : out;
  case Event::Kind::SettingChange:
    break;
  }
  const std::string value =
      event.value.text.empty() ? fmt::format("{:g}", event.value.number) : event.value.text;
  return fmt::format("{}, {}: {}, server: {}, to: '{}'", out, verb, event.setting, event.server, value);
}

/// As the inside of a single-quoted scalar on one line.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\'');
  return "'" + text + "'";
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

} // namespace

StormPromise parse_promise(const std::string& text) {
  StormPromise promise;
  promise.text = trimmed(text);
  if (promise.text.starts_with("no ")) {
    promise.kind = StormPromise::Kind::Never;
    promise.name = trimmed(promise.text.substr(3));
    return promise;
  }
  constexpr std::array<std::pair<std::string_view, StormPromise::Kind>, 4> signs = {
      {{"<=", StormPromise::Kind::AtMost},
       {">=", StormPromise::Kind::AtLeast},
       {"<", StormPromise::Kind::Below},
       {">", StormPromise::Kind::Above}}};
  for (const auto& [sign, kind] : signs) {
    const auto at = promise.text.find(sign);
    if (at == std::string::npos)
      continue;
    promise.kind = kind;
    promise.name = trimmed(promise.text.substr(0, at));
    promise.limit = parse_limit(promise.text, trimmed(promise.text.substr(at + sign.size())));
    if (promise.name.empty())
      break;
    return promise;
  }
  throw UsageError(
      fmt::format("'{}' is no promise; allowed: METRIC<=LIMIT (or <, >=, >), as in lag_s_max<=10s, or "
                  "no OUTCOME, as in 'no slot_lost'",
                  text));
}

std::optional<double> strain(const StormPromise& promise, const RunResult& result) {
  if (promise.kind == StormPromise::Kind::Never) {
    const bool came = std::any_of(result.outcomes.begin(), result.outcomes.end(),
                                  [&](const Outcome& outcome) { return outcome.kind == promise.name; });
    return came ? infinite : 0;
  }
  const auto found = result.metrics.find(promise.name);
  if (found == result.metrics.end())
    return std::nullopt;
  const double value = found->second;
  if (std::isnan(value)) // it never came to an end
    return infinite;
  switch (promise.kind) {
  case StormPromise::Kind::Below:
  case StormPromise::Kind::AtMost: {
    const bool kept =
        promise.kind == StormPromise::Kind::Below ? value < promise.limit : value <= promise.limit;
    const double ratio = promise.limit > 0 ? value / promise.limit : (kept ? 0 : infinite);
    return kept ? std::min(ratio, 1.0) : std::max(ratio, std::nextafter(1.0, 2.0));
  }
  default: {
    const bool kept =
        promise.kind == StormPromise::Kind::Above ? value > promise.limit : value >= promise.limit;
    const double ratio = value > 0 ? promise.limit / value : infinite;
    return kept ? std::min(ratio, 1.0) : std::max(ratio, std::nextafter(1.0, 2.0));
  }
  }
}

Storm run_storm(const Scenario& scenario, const StormRequest& request, const PoolOptions& options) {
  return Search(scenario, request, options).run();
}

std::string storm_yaml(const std::string& base, const Scenario& scenario, const StormTry& found) {
  const Scenario whole = with_faults(scenario, found.faults);
  std::string out =
      fmt::format("# Found by `replisim storm`: the smallest combination of faults that still breaks\n"
                  "# {}\n"
                  "replisim: 1\n"
                  "name: {}\n"
                  "extends: {}\n"
                  "events:\n",
                  one_line(found.broken), quoted(one_line(scenario.name) + " in a storm"), quoted(base));
  for (const Event& event : whole.events)
    out += fmt::format("  - {{{}}}\n", event_yaml(event));
  return out;
}

} // namespace replisim
