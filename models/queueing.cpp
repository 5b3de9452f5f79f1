// Closed forms of queueing theory.
#include "models/queueing.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace replisim::queueing {

namespace {
constexpr double unbounded = std::numeric_limits<double>::infinity();
}

double mm1_response_s(double arrivals_per_s, double services_per_s) {
  return arrivals_per_s < services_per_s ? 1 / (services_per_s - arrivals_per_s) : unbounded;
}

double mm1_number(double arrivals_per_s, double services_per_s) {
  // Little's law, L = lambda * T; an empty stream stays 0 even at a station without capacity.
  return arrivals_per_s > 0 ? arrivals_per_s * mm1_response_s(arrivals_per_s, services_per_s) : 0;
}

double mm1_response_quantile_s(double arrivals_per_s, double services_per_s, double quantile) {
  REPLISIM_REQUIRE(quantile > 0 and quantile < 1, "quantile {}", quantile);
  return -std::log1p(-quantile) * mm1_response_s(arrivals_per_s, services_per_s);
}

double mg1_wait_s(double arrivals_per_s, double service_s, double service_cv2) {
  const double utilisation = arrivals_per_s * service_s;
  if (utilisation >= 1)
    return unbounded;
  return utilisation * service_s * (1 + service_cv2) / (2 * (1 - utilisation));
}

double md1_wait_s(double arrivals_per_s, double service_s) {
  return mg1_wait_s(arrivals_per_s, service_s, 0);
}

double md1_response_s(double arrivals_per_s, double service_s) {
  return service_s + md1_wait_s(arrivals_per_s, service_s);
}

double kingman_wait_s(double arrivals_per_s, double service_s, double arrival_cv2, double service_cv2) {
  const double utilisation = arrivals_per_s * service_s;
  if (utilisation >= 1)
    return unbounded;
  if (arrivals_per_s <= 0)
    return 0;
  const double gap_s = 1 / arrivals_per_s;
  return arrivals_per_s * (arrival_cv2 * gap_s * gap_s + service_cv2 * service_s * service_s) /
         (2 * (1 - utilisation));
}

double erlang_c(int servers, double arrivals_per_s, double services_per_s) {
  REPLISIM_REQUIRE(servers >= 1 and services_per_s > 0, "{} servers of rate {}", servers, services_per_s);
  const double offered = arrivals_per_s / services_per_s;
  if (offered >= servers)
    return 1;
  double blocked = 1; // Erlang B with no server; one more in each step
  for (int i = 1; i <= servers; ++i)
    blocked = offered * blocked / (i + offered * blocked);
  const double utilisation = offered / servers;
  return blocked / (1 - utilisation * (1 - blocked));
}

double mmc_wait_s(int servers, double arrivals_per_s, double services_per_s) {
  const double spare = servers * services_per_s - arrivals_per_s;
  return spare > 0 ? erlang_c(servers, arrivals_per_s, services_per_s) / spare : unbounded;
}

double mmc_response_s(int servers, double arrivals_per_s, double services_per_s) {
  return mmc_wait_s(servers, arrivals_per_s, services_per_s) + 1 / services_per_s;
}

double ps_response_s(double demand_s, double utilisation) {
  return utilisation < 1 ? demand_s / (1 - utilisation) : unbounded;
}

std::vector<double> ps_completion_s(const std::vector<double>& demands_s, double cores) {
  REPLISIM_REQUIRE(cores > 0, "{} cores", cores);
  std::vector<std::size_t> order(demands_s.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return demands_s[a] < demands_s[b]; });
  std::vector<double> done_s(demands_s.size());
  double now_s = 0;
  double served_s = 0; // what every job still present has received
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double speed = std::min(1.0, cores / static_cast<double>(order.size() - i));
    now_s += (demands_s[order[i]] - served_s) / speed;
    served_s = demands_s[order[i]];
    done_s[order[i]] = now_s;
  }
  return done_s;
}

} // namespace replisim::queueing
