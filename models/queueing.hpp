// Closed forms of queueing theory: bounds for plans and yardsticks for the engine's tests.
//
// Rates are per second, times in seconds. A station loaded to its capacity or beyond has no
// stationary state: mean values are infinity there.
#pragma once

#include <vector>

namespace replisim::queueing {

/// M/M/1: mean time in the system, 1 / (mu - lambda) (Kleinrock, Queueing Systems I, 3.2).
double mm1_response_s(double arrivals_per_s, double services_per_s);

/// M/M/1: mean number in the system, rho / (1 - rho).
double mm1_number(double arrivals_per_s, double services_per_s);

/// M/M/1, first come first served: the time in the system that a share `quantile` (0 to 1, exclusive)
/// of customers stays below; it is exponential with rate mu - lambda.
double mm1_response_quantile_s(double arrivals_per_s, double services_per_s, double quantile);

/// M/G/1: mean wait before service, rho * S * (1 + cv2) / (2 * (1 - rho)) with S the mean service time
/// and cv2 its squared coefficient of variation (Pollaczek, 1930; Khinchine, 1932).
double mg1_wait_s(double arrivals_per_s, double service_s, double service_cv2);

/// M/D/1: mean wait, the above with cv2 = 0; and mean time in the system.
double md1_wait_s(double arrivals_per_s, double service_s);
double md1_response_s(double arrivals_per_s, double service_s);

/// G/G/1: an upper bound of the mean wait, lambda * (var_a + var_s) / (2 * (1 - rho)), with squared
/// coefficients of variation of the times between arrivals and of service (Kingman, 1962).
double kingman_wait_s(double arrivals_per_s, double service_s, double arrival_cv2, double service_cv2);

/// M/M/c: probability that an arrival finds all servers busy (Erlang, 1917), by the recursion of the
/// Erlang B formula. 1 at or above capacity. Requires servers >= 1.
double erlang_c(int servers, double arrivals_per_s, double services_per_s);

/// M/M/c: mean wait, C / (c * mu - lambda), and mean time in the system.
double mmc_wait_s(int servers, double arrivals_per_s, double services_per_s);
double mmc_response_s(int servers, double arrivals_per_s, double services_per_s);

/// M/G/1 processor sharing: mean time in the system of a job that needs `demand_s` of the
/// undisturbed processor, demand / (1 - rho), whatever the distribution (Kleinrock, 1967).
double ps_response_s(double demand_s, double utilisation);

/// Jobs that start together on `cores` shared fairly, none faster than one core: the time at which
/// each is done, in the order of `demands_s`. With n jobs left each runs at min(1, cores / n).
std::vector<double> ps_completion_s(const std::vector<double>& demands_s, double cores);

} // namespace replisim::queueing
