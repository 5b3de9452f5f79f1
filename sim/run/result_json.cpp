#include "sim/run/result_json.hpp"

#include "models/base/check.hpp"
#include "sim/run/analytic_json.hpp"
#include "sim/run/lag_json.hpp"
#include "sim/run/statistics_json.hpp"
#include "sim/run/upheaval_json.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace replisim {

using nlohmann::json;

namespace {

constexpr double exact_integer_limit = 9007199254740992.0; // 2^53

json stages_json(const std::map<std::string, StageShares>& stages) {
  json out = json::object();
  for (const auto& [name, shares] : stages)
    out[name] = {{"busy", number_json(shares.busy)},
                 {"starved", number_json(shares.starved)},
                 {"blocked", number_json(shares.blocked)}};
  return out;
}

json deliveries_json(const std::map<std::string, DeliveryTimes>& deliveries) {
  const auto date = [](double seconds) { return seconds < 0 ? json(nullptr) : number_json(seconds); };
  json out = json::object();
  for (const auto& [slot, times] : deliveries)
    out[slot] = {{"read_s", date(times.read_s)},
                 {"sent_s", date(times.sent_s)},
                 {"sent_to_s", date(times.sent_to_s)},
                 {"received_s", date(times.received_s)},
                 {"first_lock_s", date(times.first_lock_s)},
                 {"applied_s", date(times.applied_s)},
                 {"parallel_worker", times.worker < 0 ? json(nullptr) : json(times.worker)}};
  return out;
}

std::map<std::string, DeliveryTimes> deliveries_from(const json& object) {
  const auto date = [](const json& value) { return value.is_null() ? -1.0 : value.get<double>(); };
  std::map<std::string, DeliveryTimes> out;
  for (const auto& [slot, times] : object.items())
    out[slot] = {date(times.at("read_s")),
                 date(times.at("sent_s")),
                 date(times.at("sent_to_s")),
                 date(times.at("received_s")),
                 date(times.at("first_lock_s")),
                 date(times.at("applied_s")),
                 times.at("parallel_worker").is_null() ? -1 : times.at("parallel_worker").get<int>()};
  return out;
}

json transaction_json(const TransactionResult& t) {
  json lags = json::object();
  for (const auto& [slot, parts] : t.lag_anatomy)
    lags[slot] = lag_parts_json(parts);
  return {{"name", t.name},
          {"xid", t.xid},
          {"rows", t.rows},
          {"rows_applied", t.rows_applied},
          {"begin_s", number_json(t.begin_s)},
          {"statement_end_s", number_json(t.statement_end_s)},
          {"commit_s", number_json(t.commit_s)},
          {"applied_s", number_json(t.applied_s)},
          {"lock_hold_s", number_json(t.lock_hold_s)},
          {"lag_anatomy", std::move(lags)},
          {"deliveries", deliveries_json(t.deliveries)}};
}

json client_json(const ClientResult& c) {
  return {{"name", c.name},
          {"clients", c.clients},
          {"transactions", number_json(c.transactions)},
          {"tps", number_json(c.tps)},
          {"latency_s", metrics_json(c.latency_s)},
          {"budget_s", metrics_json(c.budget_s)},
          {"commits_per_flush", number_json(c.commits_per_flush)},
          {"budget", c.budget}};
}

json outcomes_json(const std::vector<Outcome>& outcomes) {
  json out = json::array();
  for (const auto& outcome : outcomes)
    out.push_back({{"t_s", number_json(outcome.t_s)},
                   {"kind", outcome.kind},
                   {"subject", outcome.subject},
                   {"text", outcome.text}});
  return out;
}

double number_from(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Metrics metrics_from(const json& object) {
  Metrics out;
  for (const auto& [name, value] : object.items())
    out[name] = number_from(value);
  return out;
}

TransactionResult transaction_from(const json& object) {
  TransactionResult t;
  object.at("name").get_to(t.name);
  object.at("xid").get_to(t.xid);
  object.at("rows").get_to(t.rows);
  object.at("rows_applied").get_to(t.rows_applied);
  t.begin_s = number_from(object.at("begin_s"));
  t.statement_end_s = number_from(object.at("statement_end_s"));
  t.commit_s = number_from(object.at("commit_s"));
  t.applied_s = number_from(object.at("applied_s"));
  t.lock_hold_s = number_from(object.at("lock_hold_s"));
  for (const auto& [slot, parts] : object.at("lag_anatomy").items())
    t.lag_anatomy[slot] = lag_parts_from(parts);
  if (const auto found = object.find("deliveries"); found != object.end()) // older versions have none
    t.deliveries = deliveries_from(*found);
  return t;
}

ClientResult client_from(const json& object) {
  ClientResult c;
  object.at("name").get_to(c.name);
  object.at("clients").get_to(c.clients);
  c.transactions = number_from(object.at("transactions"));
  c.tps = number_from(object.at("tps"));
  c.latency_s = metrics_from(object.at("latency_s"));
  c.budget_s = metrics_from(object.at("budget_s"));
  c.commits_per_flush = number_from(object.at("commits_per_flush"));
  object.at("budget").get_to(c.budget);
  return c;
}

json blame_json(const Verdict& verdict) {
  return {{"state", verdict.state},
          {"stage", verdict.stage},
          {"activity", verdict.activity},
          {"busy", number_json(verdict.busy)},
          {"next_stage", verdict.next_stage},
          {"next_activity", verdict.next_activity},
          {"next_busy", number_json(verdict.next_busy)}};
}

Verdict verdict_from(const json& entry) {
  const json& blame = entry.at("blame");
  return {entry.at("verdict").get<std::string>(),
          blame.at("state").get<std::string>(),
          blame.at("stage").get<std::string>(),
          blame.at("activity").get<std::string>(),
          number_from(blame.at("busy")),
          blame.at("next_stage").get<std::string>(),
          blame.at("next_activity").get<std::string>(),
          number_from(blame.at("next_busy"))};
}

RunResult read_public_form(const json& object) {
  RunResult r;
  object.at("scenario").get_to(r.scenario);
  object.at("scenario_hash").get_to(r.scenario_hash);
  object.at("version").get_to(r.version);
  object.at("seed").get_to(r.seed);
  r.metrics = metrics_from(object.at("metrics"));
  for (const auto& [name, entry] : object.at("subscriptions").items())
    r.subscriptions[name] = metrics_from(entry.at("metrics"));
  for (const auto& [name, entry] : object.at("subscriptions").items())
    r.verdicts[name] = verdict_from(entry);
  for (const auto& [name, entry] : object.at("subscriptions").items())
    if (const auto found = entry.find("lag_anatomy"); found != entry.end())
      r.lag_anatomies[name] = lag_summary_from(*found);
  if (const auto sessions = object.find("sessions"); sessions != object.end())
    for (const auto& [name, metrics] : sessions->items())
      r.sessions[name] = metrics_from(metrics);
  for (const auto& entry : object.at("outcomes"))
    r.outcomes.push_back({number_from(entry.at("t_s")), entry.at("kind").get<std::string>(),
                          entry.at("subject").get<std::string>(), entry.at("text").get<std::string>()});
  for (const auto& [name, shares] : object.at("stages").items())
    r.stages[name] = {number_from(shares.at("busy")), number_from(shares.at("starved")),
                      number_from(shares.at("blocked"))};
  object.at("bottleneck").get_to(r.bottleneck);
  object.at("bottleneck_reason").get_to(r.bottleneck_reason);
  for (const auto& entry : object.at("transactions"))
    r.transactions.push_back(transaction_from(entry));
  for (const auto& entry : object.value("clients", json::array())) // results of older versions have none
    r.clients.push_back(client_from(entry));
  if (const auto found = object.find("statistics"); found != object.end()) // older versions have neither
    r.statistics = statistics_from(*found);
  if (const auto found = object.find("analytic"); found != object.end())
    r.analytic = analytic_from(*found);
  r.upheaval = upheaval_from(object);
  object.at("warnings").get_to(r.warnings);
  for (const auto& entry : object.at("guesses"))
    r.guesses.push_back({entry.at("path").get<std::string>(), entry.at("value").get<std::string>(),
                         entry.at("reason").get<std::string>()});
  r.fingerprint = std::stoull(object.at("fingerprint").get<std::string>(), nullptr, 16);
  return r;
}

/// The samples as one block of doubles: a long timeline must not dominate the cost of a short run.
json timeline_json(const Timeline& timeline) {
  std::vector<std::uint8_t> block(timeline.rows.size() * timeline.columns.size() * sizeof(double));
  std::size_t at = 0;
  for (const auto& row : timeline.rows) {
    REPLISIM_REQUIRE(row.size() == timeline.columns.size(), "a timeline row has {} values for {} columns",
                     row.size(), timeline.columns.size());
    if (not row.empty())
      std::memcpy(block.data() + at, row.data(), row.size() * sizeof(double));
    at += row.size() * sizeof(double);
  }
  return {{"columns", timeline.columns}, {"samples", json::binary(std::move(block))}};
}

Timeline timeline_from(const json& object) {
  Timeline out;
  object.at("columns").get_to(out.columns);
  const auto& block = object.at("samples").get_binary();
  const std::size_t row_bytes = out.columns.size() * sizeof(double);
  for (std::size_t at = 0; row_bytes > 0 and at + row_bytes <= block.size(); at += row_bytes) {
    auto& row = out.rows.emplace_back(out.columns.size());
    std::memcpy(row.data(), block.data() + at, row_bytes);
  }
  return out;
}

} // namespace

json number_json(double value) {
  if (not std::isfinite(value))
    return nullptr;
  if (std::abs(value) < exact_integer_limit and value == std::trunc(value))
    return static_cast<std::int64_t>(value);
  return value;
}

json metrics_json(const Metrics& metrics) {
  json out = json::object();
  for (const auto& [name, value] : metrics)
    out[name] = number_json(value);
  return out;
}

json guesses_json(const std::vector<Guess>& guesses) {
  json out = json::array();
  for (const auto& guess : guesses)
    out.push_back({{"path", guess.path}, {"value", guess.value}, {"reason", guess.reason}});
  return out;
}

json result_json(const RunResult& result) {
  json subscriptions = json::object();
  for (const auto& [name, metrics] : result.subscriptions)
    subscriptions[name] = {{"metrics", metrics_json(metrics)}};
  for (const auto& [name, entry] : result.subscriptions) {
    const auto found = result.verdicts.find(name);
    const Verdict verdict = found == result.verdicts.end() ? Verdict{} : found->second;
    subscriptions[name]["verdict"] = verdict.text;
    subscriptions[name]["blame"] = blame_json(verdict);
  }
  for (const auto& [name, summary] : result.lag_anatomies)
    subscriptions[name]["lag_anatomy"] = lag_summary_json(summary);
  json transactions = json::array();
  for (const auto& transaction : result.transactions)
    transactions.push_back(transaction_json(transaction));
  json clients = json::array();
  for (const auto& load : result.clients)
    clients.push_back(client_json(load));
  json sessions = json::object();
  for (const auto& [name, metrics] : result.sessions)
    sessions[name] = metrics_json(metrics);
  json out = {{"scenario", result.scenario},
              {"scenario_hash", result.scenario_hash},
              {"version", result.version},
              {"seed", result.seed},
              {"metrics", metrics_json(result.metrics)},
              {"subscriptions", std::move(subscriptions)},
              {"sessions", std::move(sessions)},
              {"stages", stages_json(result.stages)},
              {"bottleneck", result.bottleneck},
              {"bottleneck_reason", result.bottleneck_reason},
              {"transactions", std::move(transactions)},
              {"clients", std::move(clients)},
              {"outcomes", outcomes_json(result.outcomes)},
              {"statistics", statistics_json(result.statistics)},
              {"analytic", analytic_json(result.analytic)},
              {"warnings", result.warnings},
              {"guesses", guesses_json(result.guesses)},
              {"fingerprint", hex64(result.fingerprint)}};
  add_upheaval(result.upheaval, out);
  return out;
}

RunResult result_from_json(const json& object) {
  try {
    return read_public_form(object);
  } catch (const json::exception& e) {
    throw UsageError(fmt::format("this is no result of `replisim run --format json`: {}", e.what()));
  } catch (const std::logic_error&) {
    throw UsageError("this is no result of `replisim run --format json`: the fingerprint is no hex number");
  }
}

std::string json_text(const json& object) {
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

std::string encode_result(const RunResult& result) {
  json full = result_json(result);
  full["timeline"] = timeline_json(result.timeline);
  full["events"] = result.events;
  full["simulated_s"] = result.simulated_s;
  full["wall_s"] = result.wall_s;
  full["engine_options"] = result.engine_options;
  std::string bytes;
  json::to_cbor(full, bytes);
  return bytes;
}

RunResult decode_result(std::string_view bytes) {
  try {
    const json full = json::from_cbor(bytes);
    RunResult r = read_public_form(full);
    r.timeline = timeline_from(full.at("timeline"));
    full.at("events").get_to(r.events);
    full.at("simulated_s").get_to(r.simulated_s);
    full.at("wall_s").get_to(r.wall_s);
    full.at("engine_options").get_to(r.engine_options);
    return r;
  } catch (const json::exception& e) {
    throw InvariantViolation(fmt::format("a child's result cannot be decoded: {}", e.what()));
  }
}

} // namespace replisim
