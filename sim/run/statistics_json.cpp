#include "sim/run/statistics_json.hpp"

namespace replisim {

using nlohmann::json;

json statistics_json(const RunStatistics& s) {
  json estimates = json::object(), quantiles = json::object();
  for (const auto& [name, estimate] : s.estimates) {
    estimates[name] = {{"value", estimate.value}};
    if (estimate.refused.empty())
      estimates[name].update({{"half_width_95", estimate.half_width},
                              {"batches", estimate.batches},
                              {"batch_s", estimate.batch_s},
                              {"von_neumann_ratio", estimate.von_neumann}});
    else
      estimates[name]["refused"] = estimate.refused;
  }
  for (const auto& [name, interval] : s.quantiles)
    quantiles[name] = {
        {"low_95", interval.low}, {"high_95", interval.high}, {"independent_values", interval.independent}};
  return {{"study", s.steady ? "steady" : "terminating"},
          {"why", s.why},
          {"warmup_s", s.warmup_s},
          {"asked_s", s.asked_s},
          {"run_s", s.run_s},
          {"estimated", s.shortened},
          {"estimates", std::move(estimates)},
          {"quantiles", std::move(quantiles)},
          {"refused", s.refused}};
}

RunStatistics statistics_from(const json& object) {
  RunStatistics s;
  s.steady = object.at("study").get<std::string>() == "steady";
  object.at("why").get_to(s.why);
  object.at("warmup_s").get_to(s.warmup_s);
  object.at("asked_s").get_to(s.asked_s);
  object.at("run_s").get_to(s.run_s);
  object.at("estimated").get_to(s.shortened);
  for (const auto& [name, entry] : object.at("estimates").items()) {
    MetricEstimate& estimate = s.estimates[name];
    entry.at("value").get_to(estimate.value);
    estimate.refused = entry.value("refused", "");
    estimate.half_width = entry.value("half_width_95", 0.0);
    estimate.batches = entry.value("batches", std::int64_t{0});
    estimate.batch_s = entry.value("batch_s", 0.0);
    estimate.von_neumann = entry.value("von_neumann_ratio", 0.0);
  }
  for (const auto& [name, entry] : object.at("quantiles").items())
    s.quantiles[name] = {entry.at("low_95").get<double>(), entry.at("high_95").get<double>(),
                         entry.at("independent_values").get<double>()};
  object.at("refused").get_to(s.refused);
  return s;
}

} // namespace replisim
