#include "sim/run/lag_json.hpp"

#include <string>

namespace replisim {

using nlohmann::json;

namespace {

constexpr std::size_t executing = 0, feedback = lag_stages - 1;

json delay_json(const DelaySummary& delay) {
  return {{"mean_s", delay.mean_s}, {"p50_s", delay.p50_s}, {"p95_s", delay.p95_s}, {"p99_s", delay.p99_s}};
}

DelaySummary delay_from(const json& object) {
  return {object.at("mean_s").get<double>(), object.at("p50_s").get<double>(),
          object.at("p95_s").get<double>(), object.at("p99_s").get<double>()};
}

std::string name_of(std::size_t stage) { return std::string(lag_stage_names[stage]); }

} // namespace

json lag_parts_json(const LagParts& parts) {
  json stages = json::object();
  for (std::size_t i = executing + 1; i < feedback; ++i)
    stages[name_of(i)] = parts.ns[i];
  return {{"executing_ns", parts.ns[executing]},
          {"stages_ns", std::move(stages)},
          {"lag_ns", parts.lag()},
          {"begin_to_applied_ns", parts.ns[executing] + parts.lag()},
          {"feedback_ns", parts.confirmed ? json(parts.ns[feedback]) : json(nullptr)}};
}

LagParts lag_parts_from(const json& object) {
  LagParts parts;
  object.at("executing_ns").get_to(parts.ns[executing]);
  for (std::size_t i = executing + 1; i < feedback; ++i)
    object.at("stages_ns").at(name_of(i)).get_to(parts.ns[i]);
  parts.confirmed = not object.at("feedback_ns").is_null();
  if (parts.confirmed)
    object.at("feedback_ns").get_to(parts.ns[feedback]);
  return parts;
}

json lag_summary_json(const LagSummary& summary) {
  json stages = json::object();
  for (std::size_t i = executing + 1; i < feedback; ++i)
    stages[name_of(i)] = delay_json(summary.stages[i]);
  return {{"transactions", summary.transactions},
          {"lag", delay_json(summary.lag)},
          {"stages", std::move(stages)},
          {name_of(executing), delay_json(summary.stages[executing])},
          {name_of(feedback), delay_json(summary.stages[feedback])}};
}

LagSummary lag_summary_from(const json& object) {
  LagSummary summary;
  object.at("transactions").get_to(summary.transactions);
  summary.lag = delay_from(object.at("lag"));
  for (std::size_t i = executing + 1; i < feedback; ++i)
    summary.stages[i] = delay_from(object.at("stages").at(name_of(i)));
  for (const std::size_t i : {executing, feedback})
    summary.stages[i] = delay_from(object.at(name_of(i)));
  return summary;
}

} // namespace replisim
