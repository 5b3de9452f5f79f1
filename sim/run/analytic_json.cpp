#include "sim/run/analytic_json.hpp"

#include <cmath>
#include <limits>

namespace replisim {

using nlohmann::json;

namespace {

/// Infinite is null: there is no bound.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

double number_from(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
}

json measured(double value) { return value < 0 ? json(nullptr) : number(value); }

double measured_from(const json& value) { return value.is_null() ? -1 : value.get<double>(); }

json station_json(const AnalyticStation& at) {
  const QueueStation& s = at.station;
  const StationLaws& laws = at.laws;
  return {{"name", s.name},
          {"cpu_metric", s.cpu_metric},
          {"arrivals_per_s", number(s.arrivals_per_s)},
          {"served_per_s", s.served_per_s < 0 ? number(s.arrivals_per_s) : number(s.served_per_s)},
          {"service_s", number(s.service_s)},
          {"service_most_s", number(s.service_most_s)},
          {"servers", number(s.servers)},
          {"arrival_cv2", number(s.arrival_cv2)},
          {"batch", number(s.batch)},
          {"utilisation", number(laws.utilisation)},
          {"utilisation_most", number(laws.utilisation_most)},
          {"offered", number(laws.offered)},
          {"limit_per_s", number(laws.limit_per_s)},
          {"stable", laws.stable},
          {"md1_wait_s", number(laws.md1_wait_s)},
          {"mm1_wait_s", number(laws.mm1_wait_s)},
          {"kingman_wait_s", number(laws.kingman_wait_s)},
          {"measured_utilisation", measured(at.measured)}};
}

AnalyticStation station_from(const json& object) {
  AnalyticStation at;
  object.at("name").get_to(at.station.name);
  object.at("cpu_metric").get_to(at.station.cpu_metric);
  at.station.arrivals_per_s = number_from(object.at("arrivals_per_s"));
  at.station.served_per_s = number_from(object.at("served_per_s"));
  at.station.service_s = number_from(object.at("service_s"));
  at.station.service_most_s = number_from(object.at("service_most_s"));
  at.station.servers = number_from(object.at("servers"));
  at.station.arrival_cv2 = number_from(object.at("arrival_cv2"));
  at.station.batch = number_from(object.at("batch"));
  at.laws = laws_of(at.station);
  at.measured = measured_from(object.at("measured_utilisation"));
  return at;
}

} // namespace

json analytic_json(const AnalyticAnswer& answer) {
  json stations = json::array(), bounds = json::object(), little = json::object(), metrics = json::object();
  for (const auto& [name, value] : answer.metrics)
    metrics[name] = number(value);
  for (const AnalyticStation& at : answer.stations)
    stations.push_back(station_json(at));
  for (const auto& [name, bound] : answer.bounds)
    bounds[name] = {{"low", number(bound.low)},
                    {"high", number(bound.high)},
                    {"measured", measured(bound.measured)},
                    {"not_compared", bound.skipped}};
  for (const auto& [name, check] : answer.little)
    little[name] = {{"number", number(check.number)},
                    {"rate_per_s", number(check.rate_per_s)},
                    {"lag_s", number(check.lag_s)},
                    {"tolerance", number(check.tolerance)},
                    {"not_compared", check.skipped}};
  return {{"metrics", std::move(metrics)}, {"stations", std::move(stations)},
          {"bounds", std::move(bounds)},   {"littles_law", std::move(little)},
          {"left_out", answer.left_out},   {"disagreements", answer.disagreements}};
}

AnalyticAnswer analytic_from(const json& object) {
  AnalyticAnswer answer;
  for (const auto& [name, value] : object.at("metrics").items())
    answer.metrics[name] = number_from(value);
  for (const auto& entry : object.at("stations"))
    answer.stations.push_back(station_from(entry));
  for (const auto& [name, entry] : object.at("bounds").items())
    answer.bounds[name] = {number_from(entry.at("low")), number_from(entry.at("high")),
                           measured_from(entry.at("measured")), entry.at("not_compared").get<std::string>()};
  for (const auto& [name, entry] : object.at("littles_law").items())
    answer.little[name] = {number_from(entry.at("number")), number_from(entry.at("rate_per_s")),
                           number_from(entry.at("lag_s")), number_from(entry.at("tolerance")),
                           entry.at("not_compared").get<std::string>()};
  object.at("left_out").get_to(answer.left_out);
  object.at("disagreements").get_to(answer.disagreements);
  return answer;
}

} // namespace replisim
