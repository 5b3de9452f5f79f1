// The laws of queueing theory over the stations of a pipeline: what they say before anything is simulated,
// and whether a simulation agrees with them.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace replisim {

/// One station of the pipeline and what a load demands of it.
struct QueueStation {
  std::string name;
  std::string cpu_metric;    ///< of its process in a run; empty: none
  double arrivals_per_s = 0; ///< transactions
  double served_per_s = -1;  ///< what gets through, a later station being the brake; negative: all that come
  double service_s = 0;      ///< of one, mean, where nothing comes on top
  double service_most_s = 0; ///< the same with all that may come on top (wake-ups, further records)
  double servers = 1;        ///< CPUs, threads
  double arrival_cv2 =
      1;            ///< squared coefficient of variation of the time between arrivals: 1 Poisson, 0 regular
  double batch = 1; ///< transactions that come together (group commit)
};

/// What the laws say about a station. Waits are means before service, infinite where there is no steady
/// state.
struct StationLaws {
  double utilisation = 0,
         utilisation_most = 0;           ///< utilisation law: rate served times service time over servers
  double offered = 0;                    ///< the same with the rate at which they come
  double limit_per_s = 0;                ///< rate at which it is saturated
  bool stable = true;                    ///< offered below 1, whatever comes on top
  double md1_wait_s = 0, mm1_wait_s = 0; ///< Poisson arrivals, constant and exponential service
  double kingman_wait_s = 0;             ///< G/G/1, an upper bound (Kingman, 1962), service_most_s constant
};
StationLaws laws_of(const QueueStation& station);

struct AnalyticStation {
  QueueStation station;
  StationLaws laws;
  double measured = -1; ///< utilisation in the simulation; negative: none
};

/// A time that must lie between two bounds.
struct AnalyticBound {
  double low = 0, high = 0;
  double measured = -1; ///< negative: not simulated
  std::string skipped;  ///< why it is not compared
};

/// Little's law at one slot: the mean number of transactions committed and not applied against their rate
/// times their mean lag.
struct LittleCheck {
  double number = 0, rate_per_s = 0, lag_s = 0;
  double tolerance = 0; ///< of the number
  std::string skipped;  ///< why it is not compared
  bool holds() const;
};

struct AnalyticAnswer {
  std::map<std::string, double> metrics; ///< tps, latency_s
  std::vector<AnalyticStation> stations;
  std::map<std::string, AnalyticBound> bounds; ///< lag_s_mean by slot, total_s
  std::map<std::string, LittleCheck> little;   ///< by slot
  std::vector<std::string> left_out;           ///< what of the scenario the laws say nothing about
  std::vector<std::string> disagreements;      ///< of the simulation with the laws, beyond tolerance
};

/// What utilisations, and means within bounds, may differ by, relative to the value.
inline constexpr double analytic_tolerance = 0.05;
/// The same in absolute terms, for utilisations near 0.
inline constexpr double least_utilisation = 0.005;

/// Sentences for what is measured and does not agree.
std::vector<std::string> disagreements_of(const AnalyticAnswer& answer);

} // namespace replisim
