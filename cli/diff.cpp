// replisim diff: two runs side by side, and the first event in which they part.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/recorded_run.hpp"
#include "cli/running_clock.hpp"
#include "cli/terminal.hpp"
#include "sim/report/text.hpp"
#include "sim/run/event_diff.hpp"
#include "sim/run/fork_pool.hpp"
#include "sim/run/json_reading.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>

namespace replisim::cli {

namespace {

using nlohmann::json;

struct DiffOptions {
  std::string a, b;
  std::string format = "table";
  bool all = false;
  bool without_events = false;
};

struct MetricDelta {
  std::string name;
  json a, b; ///< null: that run has none
  std::optional<double> change() const {
    if (not a.is_number() or not b.is_number())
      return std::nullopt;
    return b.get<double>() - a.get<double>();
  }
};

/// One of the two.
struct Side {
  RecordedRun run;
  json result;
};

Side read_side(const std::string& path) {
  Side side{read_recorded_run(path), {}};
  side.result = parse_json(side.run.result_text());
  if (not side.result.is_object() or not side.result.contains("metrics") or
      not side.result["metrics"].is_object())
    throw UsageError(fmt::format("no result.json of a run lies beside {}", side.run.manifest.string()));
  return side;
}

std::vector<MetricDelta> deltas(const json& a, const json& b) {
  std::vector<MetricDelta> out;
  std::map<std::string, MetricDelta> by_name;
  for (const auto& [name, value] : a.at("metrics").items())
    by_name[name] = {name, value, nullptr};
  for (const auto& [name, value] : b.at("metrics").items()) {
    by_name[name].name = name;
    by_name[name].b = value;
  }
  for (auto& [name, delta] : by_name)
    if (delta.a != delta.b)
      out.push_back(std::move(delta));
  return out;
}

std::string number_text(const std::string& name, const json& value) {
  if (not value.is_number())
    return "-";
  const double number = value.get<double>();
  if (name.ends_with("_bytes"))
    return size_text(number);
  if (name.ends_with("_s") or name.find("_s_") != std::string::npos)
    return seconds_text(number);
  return whole_text(number);
}

std::string percent_text(const MetricDelta& delta) {
  const auto change = delta.change();
  if (not change or delta.a.get<double>() == 0)
    return "";
  return fmt::format("{:+.2f} %", 100 * *change / std::abs(delta.a.get<double>()));
}

std::string signed_text(const MetricDelta& delta) {
  const auto change = delta.change();
  if (not change)
    return "";
  return (*change < 0 ? "-" : "+") + number_text(delta.name, std::abs(*change));
}

std::string metrics_table(const std::vector<MetricDelta>& changed, bool all) {
  if (changed.empty())
    return "Metrics: all of them equal\n";
  constexpr std::size_t shown = 25;
  TextTable table({fmt::format("Metrics that differ ({})", changed.size()), "A", "B", "B - A", ""}, 1);
  for (std::size_t i = 0; i < changed.size() and (all or i < shown); ++i)
    table.add({"  " + changed[i].name, number_text(changed[i].name, changed[i].a),
               number_text(changed[i].name, changed[i].b), signed_text(changed[i]),
               percent_text(changed[i])});
  return table.render(0) + (all or changed.size() <= shown
                                ? ""
                                : fmt::format("  and {} more: --all\n", changed.size() - shown));
}

/// How the two came about, where that differs.
std::vector<std::string> origins(const Side& a, const Side& b) {
  std::vector<std::string> out;
  const auto compare = [&](std::string_view what, const std::string& first, const std::string& second) {
    if (first != second)
      out.push_back(fmt::format("{}: {} in A, {} in B", what, first.empty() ? "none" : first,
                                second.empty() ? "none" : second));
  };
  const auto overrides = [](const RecordedRun& run) {
    std::string text;
    for (const Override& one : run.overrides)
      text.append(text.empty() ? "" : " ").append(one.path).append("=").append(one.value);
    return text;
  };
  compare("version", a.run.version, b.run.version);
  compare("commit", a.run.commit, b.run.commit);
  compare("scenario file", a.run.scenario_file, b.run.scenario_file);
  compare("contents of the scenario (hash)", a.run.scenario_hash, b.run.scenario_hash);
  compare("overrides", overrides(a.run), overrides(b.run));
  compare("cost profile", a.run.profile, b.run.profile);
  compare("costs (hash)", a.run.profile_hash, b.run.profile_hash);
  compare("seed", std::to_string(a.run.seed), std::to_string(b.run.seed));
  return out;
}

std::string event_text(const std::optional<engine::SeenEvent>& event) {
  if (not event)
    return "the run is over";
  return fmt::format("{} was {} from {:.6f} s to {:.6f} s{}", event->process, event->activity, event->begin_s,
                     event->end_s,
                     event->signal.empty() ? "" : fmt::format(" (last waited for: {})", event->signal));
}

struct Events {
  std::string problem; ///< why they could not be compared; empty: they were
  std::optional<EventDivergence> divergence;
};

/// Simulates both again. A run whose files have changed since would answer for another one.
Events compare_events(const Side& a, const Side& b) {
  if (a.run.fingerprint == b.run.fingerprint)
    return {};
  try {
    const Scenario first = load_recorded(a.run, "");
    const Scenario second = load_recorded(b.run, "");
    for (const auto& [run, scenario] : {std::pair(&a.run, &first), std::pair(&b.run, &second)})
      if (run->scenario_hash != scenario->hash)
        return {fmt::format("{} cannot be run again, its scenario has changed since", run->manifest.string()),
                {}};
    const RunningClock clock("simulating both again", 0);
    return {{}, first_divergence({&first, a.run.seed}, {&second, b.run.seed})};
  } catch (const UsageError& error) {
    return {error.what(), {}};
  }
}

std::string events_text(const Side& a, const Side& b, const Events& events) {
  if (a.run.fingerprint == b.run.fingerprint)
    return fmt::format("Events: all of them equal (fingerprint {})\n", a.run.fingerprint);
  if (not events.problem.empty())
    return wrapped("Events: ", fmt::format("they differ; where is not known: {}", events.problem));
  if (not events.divergence)
    return wrapped("Events: ",
                   "the recorded fingerprints differ, and today's program simulates the same in both");
  const EventDivergence& at = *events.divergence;
  std::string out =
      fmt::format("First event that differs: number {} (of {} in A, {} in B)\n",
                  whole_text(static_cast<double>(at.number)), whole_text(static_cast<double>(at.total_a)),
                  whole_text(static_cast<double>(at.total_b)));
  for (const auto& event : at.before)
    out += wrapped("  both  ", event_text(event));
  return out + wrapped("  A     ", event_text(at.a)) + wrapped("  B     ", event_text(at.b));
}

json event_json(const std::optional<engine::SeenEvent>& event) {
  if (not event)
    return nullptr;
  return {{"process", event->process},
          {"activity", event->activity},
          {"begin_s", event->begin_s},
          {"end_s", event->end_s},
          {"waited_for", event->signal}};
}

json diff_json(const Side& a, const Side& b, const std::vector<MetricDelta>& changed, const Events& events) {
  json metrics = json::object();
  for (const MetricDelta& delta : changed)
    metrics[delta.name] = {{"a", delta.a}, {"b", delta.b}};
  json first = nullptr;
  if (events.divergence)
    first = {{"number", events.divergence->number},
             {"a", event_json(events.divergence->a)},
             {"b", event_json(events.divergence->b)}};
  return {{"same_events", a.run.fingerprint == b.run.fingerprint},
          {"origins", origins(a, b)},
          {"metrics", metrics},
          {"first_different_event", first},
          {"events_problem", events.problem}};
}

ExitCode diff(const DiffOptions& options) {
  const InterruptScope scope;
  const Side a = read_side(options.a);
  const Side b = read_side(options.b);
  const auto changed = deltas(a.result, b.result);
  const Events events = options.without_events ? Events{"--no-events was given", {}} : compare_events(a, b);
  const bool same = changed.empty() and a.run.fingerprint == b.run.fingerprint;
  if (options.format == "json") {
    write_stdout(json_text(diff_json(a, b, changed, events)));
    return same ? ExitCode::Ok : ExitCode::No;
  }
  std::string text = wrapped("A  ", fmt::format("{}: {}", options.a, a.result.value("scenario", ""))) +
                     wrapped("B  ", fmt::format("{}: {}", options.b, b.result.value("scenario", "")));
  const auto from = origins(a, b);
  text += from.empty() ? "\nHow they came about: alike\n" : "\nHow they came about\n";
  for (const std::string& sentence : from)
    text += wrapped("  ", sentence);
  text += "\n" + events_text(a, b, events);
  text += "\n" + metrics_table(changed, options.all);
  show_report(text);
  return same ? ExitCode::Ok : ExitCode::No;
}

} // namespace

void add_diff(CLI::App& app, Session& session) {
  auto* command =
      app.add_subcommand("diff", "Compare two runs: the first event that differs, and the metrics");
  const auto options = std::make_shared<DiffOptions>();
  command->add_option("RUN_A", options->a, "Folder of `replisim run --out`, or its manifest.json")
      ->required();
  command->add_option("RUN_B", options->b, "The other one")->required();
  command->add_flag("--all", options->all, "All metrics that differ, not the first 25");
  command->add_flag("--no-events", options->without_events,
                    "Do not simulate both again to find the first event");
  command->add_option("--format", options->format, "What to print")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  command->footer(
      R"(Both are simulated again to find the event in which they part. Exit code 0 when they are the same, 1 when not.

Example:
  replisim run scenarios/published/streaming_insert.yaml --out off --set subscriptions.s.streaming=off
  replisim run scenarios/published/streaming_insert.yaml --out parallel
  replisim diff off parallel
)");
  command->callback([options, &session] { session.exit_code = diff(*options); });
}

} // namespace replisim::cli
