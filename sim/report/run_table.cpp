// The table a DBA reads: what ran, how long it took, what the slot counted, who was the bottleneck.
#include "sim/report/lag_section.hpp"
#include "sim/report/run_report.hpp"
#include "sim/report/session_table.hpp"
#include "sim/report/statistics_section.hpp"
#include "sim/report/text.hpp"
#include "sim/report/upheaval_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <variant>

namespace replisim {

namespace {

constexpr std::size_t guesses_shown = 12;
constexpr std::size_t transactions_shown = 10;

struct KeyTime {
  std::string_view metric;
  std::string_view label;
  std::string_view meaning;
};

constexpr std::array key_times{
    KeyTime{"statement_s", "statement", "BEGIN to the end of the last statement"},
    KeyTime{"commit_s", "commit", "BEGIN to COMMIT's return"},
    KeyTime{"total_s", "total", "BEGIN to the commit applied on the subscriber"},
    KeyTime{"lock_hold_s", "lock hold", "subscriber: first row lock to its release"},
};

constexpr std::array<std::string_view, 8> slot_counters{"spill_txns",  "spill_count",  "spill_bytes",
                                                        "stream_txns", "stream_count", "stream_bytes",
                                                        "total_txns",  "total_bytes"};

/// Builds the table section by section, remembering which metrics have been shown.
class RunTable {
public:
  RunTable(const Scenario& scenario, const Replications& replications)
      : scenario_(scenario), replications_(replications), run_(replications.runs.front()) {}

  std::string text() {
    title();
    times();
    clients();
    slot();
    locks();
    sizes();
    cpu();
    others();
    subscriptions();
    out_ += session_table(run_);
    out_ += upheaval_section(run_);
    transactions();
    out_ += lag_section(run_);
    stages();
    out_ += statistics_section(replications_);
    out_ += analytic_section(run_.analytic);
    sentences();
    return std::move(out_);
  }

private:
  using Formatter = std::string (*)(double);

  void title();
  void replication_line();
  void pipeline_line(const Subscription& subscription);
  void batch_line(const BatchLoad& batch);
  void client_line(const ClientLoad& load);
  void clients();
  void times();
  void slot();
  void locks();
  void sizes();
  void cpu();
  void others();
  void subscriptions();
  void transactions();
  void stages();
  void sentences();
  void guesses();
  std::string value_text(const Interval& interval, Formatter format) const;
  const Interval* take(std::string_view metric);

  const Scenario& scenario_;
  const Replications& replications_;
  const RunResult& run_;
  std::set<std::string, std::less<>> shown_;
  std::string out_;
};

/// The metric, which no later section shows again; null where the run has none of the name.
const Interval* RunTable::take(std::string_view metric) {
  const auto found = replications_.metrics.find(std::string(metric));
  if (found == replications_.metrics.end() or not shown_.insert(found->first).second)
    return nullptr;
  return &found->second;
}

std::string RunTable::value_text(const Interval& interval, Formatter format) const {
  std::string out = format(interval.mean);
  if (interval.half_width > 0 or (replications_.runs.size() > 1 and not replications_.deterministic))
    out += " +- " + format(interval.half_width);
  return out;
}

std::string streaming_setting(const Subscription& subscription, const Server& publisher) {
  std::string out = "streaming = " + to_string(subscription.streaming);
  const auto* guc = find_guc("logical_decoding_work_mem");
  if (guc != nullptr and publisher.version.major >= guc->since_major)
    out += ", logical_decoding_work_mem = " + setting_size(publisher.settings.number(guc->name));
  return out;
}

std::string rate_text(double bytes_per_s) {
  const double bits = bytes_per_s * 8;
  return bits >= 1e9 ? fmt::format("{:.4g} Gbps", bits / 1e9) : fmt::format("{:.4g} Mbps", bits / 1e6);
}

/// "both on db (120 CPUs)" or "on a and b, 10 Gbps, 100.0 us one way".
std::string place_text(const Scenario& scenario, const Server& publisher, const Server& subscriber) {
  if (publisher.host == subscriber.host) {
    const auto host = scenario.hosts.find(publisher.host);
    return host == scenario.hosts.end()
               ? fmt::format("both on host {}", publisher.host)
               : fmt::format("both on host {} ({} CPUs)", publisher.host, host->second.cpus());
  }
  std::string out = fmt::format("hosts {} and {}", publisher.host, subscriber.host);
  for (const auto& link : scenario.links)
    if ((link.from == publisher.host and link.to == subscriber.host) or
        (link.to == publisher.host and link.from == subscriber.host))
      out += fmt::format(", {}, {} one way", rate_text(link.bandwidth_bytes_per_s),
                         seconds_text(link.latency_s));
  return out;
}

/// A savepoint's name as SQL would write it.
std::string identifier(const std::string& name) {
  return name.find(' ') == std::string::npos ? name : "\"" + name + "\"";
}

std::string step_text(const TransactionStep& step) {
  if (const auto* statement = std::get_if<StatementStep>(&step))
    return fmt::format("{} {} {} rows", to_string(statement->operation), statement->table,
                       whole_text(static_cast<double>(statement->rows)));
  if (const auto* savepoint = std::get_if<SavepointStep>(&step))
    return "savepoint " + identifier(savepoint->name);
  if (const auto* release = std::get_if<ReleaseStep>(&step))
    return "release savepoint " + identifier(release->savepoint);
  if (const auto* pause = std::get_if<PauseStep>(&step))
    return "pause " + seconds_text(pause->seconds);
  return "rollback to " + identifier(std::get<RollbackToStep>(step).savepoint);
}

void RunTable::pipeline_line(const Subscription& subscription) {
  const auto publication = scenario_.publications.find(subscription.publication);
  if (publication == scenario_.publications.end())
    return;
  const auto publisher = scenario_.servers.find(publication->second.server);
  const auto subscriber = scenario_.servers.find(subscription.server);
  if (publisher == scenario_.servers.end() or subscriber == scenario_.servers.end())
    return;
  out_ +=
      wrapped("  pipeline     ", fmt::format("{} (PostgreSQL {}) -> {} (PostgreSQL {}), {}; {}",
                                             publisher->first, to_string(publisher->second.version),
                                             subscriber->first, to_string(subscriber->second.version),
                                             streaming_setting(subscription, publisher->second),
                                             place_text(scenario_, publisher->second, subscriber->second)));
}

void RunTable::batch_line(const BatchLoad& batch) {
  std::vector<std::string> steps;
  for (const auto& step : batch.transaction)
    steps.push_back(step_text(step));
  out_ += wrapped("  transaction  ",
                  fmt::format("{}commit", steps.empty() ? "" : fmt::format("{}, ", fmt::join(steps, ", "))));
}

void RunTable::client_line(const ClientLoad& load) {
  std::string text = fmt::format("{} clients on {}", load.clients, load.host);
  if (load.think_s > 0)
    text += fmt::format(", {} between transactions", seconds_text(load.think_s));
  if (load.rate_per_s > 0)
    text += fmt::format(", at most {} transactions a second", whole_text(load.rate_per_s));
  out_ += wrapped("  clients      ", text);
}

void RunTable::replication_line() {
  if (replications_.runs.size() < 2)
    return;
  const auto count = replications_.runs.size();
  out_ += fmt::format("  replications {}, seeds {} to {}: {}\n", count, replications_.runs.front().seed,
                      replications_.runs.back().seed,
                      replications_.deterministic ? "deterministic, all of them equal"
                                                  : "mean +- half width of the 95 % interval");
}

void RunTable::title() {
  out_ += wrapped("", run_.scenario);
  for (const auto& [name, subscription] : scenario_.subscriptions)
    pipeline_line(subscription);
  for (const auto& batch : scenario_.batches)
    batch_line(batch);
  for (const auto& load : scenario_.clients)
    client_line(load);
  replication_line();
}

void RunTable::times() {
  TextTable table({"", ""}, 1);
  bool any = false;
  for (const auto& time : key_times)
    if (const auto* interval = take(time.metric)) {
      table.add_with_note({"  " + std::string(time.label), value_text(*interval, seconds_text)},
                          std::string(time.meaning));
      any = true;
    }
  if (any)
    out_ += "\nTimes\n" + table.render(0);
}

/// Where the time of a transaction went, and what the subscriber made of it.
void RunTable::clients() {
  if (run_.clients.empty())
    return;
  const auto rate = [](double value) { return fmt::format("{:.1f} /s", value); };
  TextTable table({"", ""}, 1);
  const std::array figures{
      KeyTime{"tps", "TPS", "transactions a second on the publisher"},
      KeyTime{"apply_tps", "apply TPS", "transactions a second applied"},
      KeyTime{"latency_s", "latency", "BEGIN to COMMIT's return, mean"},
      KeyTime{"latency_s_p50", "median", ""},
      KeyTime{"latency_s_p95", "95 %", ""},
      KeyTime{"latency_s_p99", "99 %", ""},
      KeyTime{"latency_s_max", "longest", ""},
      KeyTime{"lag_transactions", "behind", "transactions not yet applied at the end"},
      KeyTime{"catch_up_s", "catch-up", "from the end of the load until all is applied"},
  };
  for (const auto& figure : figures)
    if (const auto* interval = take(figure.metric))
      table.add_with_note({"  " + std::string(figure.label),
                           value_text(*interval, figure.metric.ends_with("tps")        ? +rate
                                                 : figure.metric == "lag_transactions" ? whole_text
                                                                                       : seconds_text)},
                          std::string(figure.meaning));
  out_ += "\nClients\n" + table.render(0);
  for (const auto& load : run_.clients)
    out_ += wrapped("  budget       ", load.budget);
}

void RunTable::slot() {
  TextTable table({"", ""}, 1);
  std::vector<std::string_view> zero;
  bool any = false;
  for (const auto counter : slot_counters) {
    const auto* interval = take(counter);
    if (interval == nullptr)
      continue;
    any = true;
    if (interval->mean == 0 and interval->half_width == 0)
      zero.push_back(counter);
    else if (counter.ends_with("_bytes"))
      table.add_with_note({"  " + std::string(counter), value_text(*interval, whole_text)},
                          size_text(interval->mean));
    else
      table.add({"  " + std::string(counter), value_text(*interval, whole_text)});
  }
  if (not any)
    return;
  out_ += "\nSlot, as in pg_stat_replication_slots\n" + table.render(0);
  if (not zero.empty())
    out_ += wrapped("  zero: ", fmt::format("{}", fmt::join(zero, ", ")));
}

/// What sessions of the subscriber waited for locks that apply processes hold.
void RunTable::locks() {
  if (run_.sessions.empty())
    return;
  TextTable table({"", ""}, 1);
  constexpr std::array lines{
      KeyTime{"blocked_s_count", "waits", "sessions' waits for locks that apply processes held"},
      KeyTime{"blocked_s_total", "total", "of these waits"},
      KeyTime{"blocked_s_p50", "p50", ""},
      KeyTime{"blocked_s_p95", "p95", ""},
      KeyTime{"blocked_s_p99", "p99", ""},
      KeyTime{"blocked_s_max", "longest", ""},
      KeyTime{"lock_wait_s_total", "all waits", "for whatever lock, of all sessions"},
      KeyTime{"apply_lock_wait_s_total", "apply waited", "apply processes for locks of sessions"},
      KeyTime{"deadlocks", "deadlocks", "ended by cancelling a session"},
      KeyTime{"lock_timeouts", "lock timeouts", "of sessions"}};
  for (const auto& line : lines)
    if (const auto* interval = take(line.metric))
      table.add_with_note({"  " + std::string(line.label),
                           value_text(*interval, line.metric.find("_s_") != std::string_view::npos and
                                                         not line.metric.ends_with("_count")
                                                     ? seconds_text
                                                     : whole_text)},
                          std::string(line.meaning));
  out_ += "\nSessions blocked by apply\n" + table.render(0);
}

void RunTable::sizes() {
  TextTable table({"", ""}, 1);
  bool any = false;
  for (const auto& [name, interval] : replications_.metrics)
    if (name.ends_with("_bytes") and take(name) != nullptr and
        (interval.mean != 0 or interval.half_width != 0)) {
      table.add({"  " + name, value_text(interval, size_text)});
      any = true;
    }
  if (any)
    out_ += "\nSizes\n" + table.render(0);
}

void RunTable::cpu() {
  TextTable table({"", ""}, 1);
  bool any = false;
  const auto seconds = [](double value) { return fmt::format("{:.3f}", value); };
  for (const auto& [name, interval] : replications_.metrics)
    if (name.starts_with("cpu_") and name.ends_with("_s") and take(name) != nullptr) {
      table.add({"  " + name.substr(4, name.size() - 6), value_text(interval, seconds)});
      any = true;
    }
  if (any)
    out_ += "\nCPU seconds\n" + table.render(0);
}

/// Whatever else the run measured; the shares of stages have their own section.
void RunTable::others() {
  TextTable table({"", ""}, 1);
  bool any = false;
  for (const auto& [name, interval] : replications_.metrics) {
    if (name.starts_with("busy_") or name.starts_with("blocked_") or name.starts_with("starved_") or
        take(name) == nullptr)
      continue;
    table.add({"  " + name, value_text(interval, name.ends_with("_s") or name.find("_s_") != std::string::npos
                                                     ? seconds_text
                                                     : whole_text)});
    any = true;
  }
  if (any)
    out_ += "\nOther figures\n" + table.render(0);
}

void RunTable::subscriptions() {
  if (run_.subscriptions.size() < 2)
    return;
  TextTable table({"Subscriptions", "total", "lock hold", "spill_count", "stream_count"}, 1);
  for (const auto& [name, metrics] : run_.subscriptions) {
    const auto cell = [&metrics = metrics](const std::string& metric, Formatter format) {
      const auto found = metrics.find(metric);
      return found == metrics.end() ? std::string("-") : format(found->second);
    };
    table.add({"  " + name, cell("total_s", seconds_text), cell("lock_hold_s", seconds_text),
               cell("spill_count", whole_text), cell("stream_count", whole_text)});
  }
  out_ += "\n" + table.render(0);
}

void RunTable::transactions() {
  if (run_.transactions.size() < 2)
    return;
  TextTable table({"Transactions", "rows", "rows applied", "begin", "commit", "applied"}, 1);
  const std::size_t shown = std::min(run_.transactions.size(), transactions_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& t = run_.transactions[i];
    table.add({fmt::format("  {} (xid {})", t.name, t.xid), whole_text(static_cast<double>(t.rows)),
               whole_text(static_cast<double>(t.rows_applied)), seconds_text(t.begin_s),
               seconds_text(t.commit_s), seconds_text(t.applied_s)});
  }
  out_ += "\n" + table.render(0);
  if (shown < run_.transactions.size())
    out_ += fmt::format("  and {} more\n", run_.transactions.size() - shown);
}

void RunTable::stages() {
  if (run_.stages.empty())
    return;
  TextTable table({"Stages, share of the run", "busy", "waiting for input", "waiting for output"}, 1);
  const auto percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
  for (const auto& [name, shares] : run_.stages)
    table.add({"  " + name, percent(shares.busy), percent(shares.starved), percent(shares.blocked)});
  out_ += "\n" + table.render(0);
}

void RunTable::guesses() {
  if (run_.guesses.empty())
    return;
  out_ += fmt::format("\nGuesses the answer rests on ({})\n", run_.guesses.size());
  const std::size_t shown = std::min(run_.guesses.size(), guesses_shown);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& guess = run_.guesses[i];
    out_ +=
        clipped(fmt::format("  {} = {}: {}", guess.path, guess.value, guess.reason), report_columns) + "\n";
  }
  if (shown < run_.guesses.size())
    out_ += fmt::format("  and {} more; --format json lists them all\n", run_.guesses.size() - shown);
}

void RunTable::sentences() {
  if (not run_.bottleneck.empty())
    out_ += "\n" + wrapped("bottleneck: ",
                           run_.bottleneck_reason.empty()
                               ? run_.bottleneck
                               : fmt::format("{}, because {}", run_.bottleneck, run_.bottleneck_reason));
  if (not run_.verdicts.empty())
    out_ += "\nSlots\n";
  for (const auto& [name, verdict] : run_.verdicts)
    out_ += wrapped("  " + name + ": ", verdict.text);
  if (not run_.outcomes.empty())
    out_ += "\nWhat gave way\n";
  for (const auto& outcome : run_.outcomes)
    out_ += wrapped(fmt::format("  {:10.1f} s  ", outcome.t_s), outcome.text);
  if (not run_.warnings.empty())
    out_ += "\nWarnings\n";
  for (const auto& warning : run_.warnings)
    out_ += wrapped("  - ", warning);
  guesses();
}

} // namespace

std::string run_table(const Scenario& scenario, const Replications& replications) {
  return RunTable(scenario, replications).text();
}

} // namespace replisim
