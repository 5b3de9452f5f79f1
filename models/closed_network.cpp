#include "models/closed_network.hpp"

#include "models/base/check.hpp"

#include <algorithm>
#include <cmath>

namespace replisim {

namespace {

/// Hold times of row locks are sums of several parts; their squared coefficient of variation is taken as that
/// of four equal exponential ones.
constexpr double lock_hold_cv2 = 0.25;
constexpr double precision = 1e-9;
constexpr int most_iterations = 2000;
constexpr double damping = 0.5;
/// What is left of a chain of states weighs nothing from here on.
constexpr double negligible = 1e-20;

/// Speed of one of `threads` threads, which may be a mean: between the whole numbers around it.
double thread_speed(const Machine& machine, double threads) {
  const auto speed = [&](int count) { return machine.capacity(count) / count; };
  const int below = std::max(1, static_cast<int>(threads));
  const double part = std::clamp(threads - below, 0.0, 1.0);
  return machine.speed * ((1 - part) * speed(below) + (part > 0 ? part * speed(below + 1) : 0));
}

struct Chain {
  double residence_s = 0; ///< of one visit
  double running = 0;     ///< mean number served at once
};

/// A closed chain of `population` that spend `elsewhere_s` outside and are served at `rate(n)` when n are in;
/// `running(n)` of them hold a thread then. Stationary probabilities by their recursion.
template <class Rate, class Running>
Chain closed_chain(int population, double elsewhere_s, Rate rate, Running running) {
  double weight = 1, sum = 1, served = 0, inside = 0, busy = 0;
  for (int n = 1; n <= population; ++n) {
    const double mu = rate(n);
    weight *= (population - n + 1) / (std::max(elsewhere_s, 1e-12) * mu);
    sum += weight;
    served += weight * mu;
    inside += weight * n;
    busy += weight * running(n);
    // Weights fall ever faster once they fall, as fewer are left outside and rates do not fall.
    if (weight * (population - n) < negligible * sum)
      break;
    if (sum > 1e100) { // only ratios count
      weight /= sum, served /= sum, inside /= sum, busy /= sum;
      sum = 1;
    }
  }
  return {inside / served, busy / sum};
}

void approach(double& value, double target) { value += damping * (target - value); }

/// The wait w = U' T (1 + cv2) / 2 / (1 - U') for a row that is held for T, in a cycle of `rest_s` and
/// `share` waits, in which U' = `held_s` / cycle. The throughput that a wait allows is part of its equation,
/// which is then a square one: who takes the throughput of the round before finds a wait that is far too
/// long, and then none.
double lock_wait_s(double share, double held_s, double rest_s, double hold_s) {
  const double product = held_s * hold_s * (1 + lock_hold_cv2) / 2;
  const double slack_s = rest_s - held_s;
  const double root_s = std::sqrt(slack_s * slack_s + 4 * share * product);
  return slack_s >= 0 ? 2 * product / (slack_s + root_s) : (root_s - slack_s) / (2 * share);
}

} // namespace

double flush_busy_probability(double others_per_s, double flush_s) {
  const double a = others_per_s * flush_s;
  return a / (a + std::exp(-a));
}

/// Each commit that finds the device idle starts a flush; each flush during which somebody came is followed
/// by another: groups = commits (1 - busy) + groups (1 - exp(-a)).
double commit_groups_per_s(double commits_per_s, double others_per_s, double flush_s) {
  const double a = others_per_s * flush_s;
  return commits_per_s / (a + std::exp(-a));
}

ClosedNetwork::ClosedNetwork(ClientPool pool, ClientDemand demand)
    : pool_(pool), demand_(std::move(demand)), lock_waits_(demand_.locks.size(), 0.0),
      lock_busy_(demand_.locks.size(), 0.0) {
  REPLISIM_REQUIRE(pool_.clients >= 1 and pool_.threads >= 1, "{} clients on {} threads", pool_.clients,
                   pool_.threads);
  cycle_.server_cpu_s = demand_.server_cpu_s / pool_.server->speed;
  cycle_.client_cpu_s = demand_.client_cpu_s / pool_.client->speed;
  cycle_.latency_s = demand_.latency_s;
  cycle_.pause_s = demand_.think_s;
  cycle_.flush_s = demand_.flush_share * demand_.flush_s;
  cycle_.tps = pool_.clients / std::max(1e-9, cycle_.response_s() + cycle_.pause_s);
}

const ClientCycle& ClosedNetwork::solve(OtherThreads others) {
  for (int i = 0; i < most_iterations; ++i)
    if (iterate(others) < precision)
      break;
  finish();
  return cycle_;
}

/// One round of the iteration; returns the relative change of the cycle.
double ClosedNetwork::iterate(OtherThreads others) {
  const double before_s = cycle_.response_s() + cycle_.pause_s;
  const double seen = static_cast<double>(pool_.clients - 1) / pool_.clients;
  solve_flush(seen);
  solve_server(others, before_s - cycle_.server_cpu_s);
  solve_client(others, cycle_.response_s() + cycle_.pause_s - cycle_.client_cpu_s);
  const double floor_s = solve_locks(seen);
  double pause_s = demand_.think_s;
  if (pool_.rate_limit > 0)
    pause_s = std::max(pause_s, pool_.clients / pool_.rate_limit - cycle_.response_s());
  approach(cycle_.pause_s, pause_s);
  const double cycle_s = cycle_.response_s() + cycle_.pause_s;
  cycle_.tps = pool_.clients / cycle_s;
  return std::abs(cycle_s - before_s) / cycle_s + std::max(0.0, floor_s / cycle_s - 1);
}

void ClosedNetwork::solve_server(OtherThreads others, double elsewhere_s) {
  if (demand_.server_cpu_s <= 0)
    return;
  const double beside = others.server + (pool_.server == pool_.client ? cycle_.running_clients : 0);
  const Chain chain = closed_chain(
      pool_.clients, elsewhere_s,
      [&](int n) { return n * thread_speed(*pool_.server, n + beside) / demand_.server_cpu_s; },
      [](int n) { return n; });
  approach(cycle_.server_cpu_s, chain.residence_s);
  approach(cycle_.running_backends, chain.running);
}

void ClosedNetwork::solve_client(OtherThreads others, double elsewhere_s) {
  if (demand_.client_cpu_s <= 0)
    return;
  const double beside = others.client + (pool_.server == pool_.client ? cycle_.running_backends : 0);
  const auto running = [this](int n) { return std::min(n, pool_.threads); };
  const Chain chain = closed_chain(
      pool_.clients, elsewhere_s,
      [&](int n) {
        return running(n) * thread_speed(*pool_.client, running(n) + beside) / demand_.client_cpu_s;
      },
      running);
  approach(cycle_.client_cpu_s, chain.residence_s);
  approach(cycle_.running_clients, chain.running);
}

/// A commit that finds a flush under way waits for half of it on average, then takes part in the next one.
void ClosedNetwork::solve_flush(double seen) {
  const double commits = cycle_.tps * demand_.flush_share;
  flush_busy_ = flush_busy_probability(seen * commits, demand_.flush_s);
  cycle_.flush_s = demand_.flush_share * demand_.flush_s * (1 + flush_busy_ / 2);
  cycle_.flushes_per_s = commit_groups_per_s(commits, seen * commits, demand_.flush_s);
}

/// Innermost lock first, as an outer one is held while an inner one is waited for. Each row is a server of
/// which customers hold it for T: wait = U' T (1 + cv2) / 2 / (1 - U'), U' being the utilisation by others;
/// and no row serves more than 1 / T transactions a second. Returns the cycle time this bound demands.
double ClosedNetwork::solve_locks(double seen) {
  double inner_s = 0, floor_s = 0, sum_s = 0;
  const double cycle_s = cycle_.response_s() + cycle_.pause_s;
  for (std::size_t i = demand_.locks.size(); i-- > 0;) {
    const HotRows& hot = demand_.locks[i];
    const double flush_s = demand_.flush_share > 0 ? cycle_.flush_s / demand_.flush_share : 0;
    const double sync_s = demand_.write_share > 0 ? cycle_.sync_wait_s / demand_.write_share : 0;
    const auto part = [](double of_s, double all_s, double residence_s) {
      return all_s > 0 ? of_s / all_s * residence_s : 0;
    };
    const double hold_s = part(hot.server_cpu_s, demand_.server_cpu_s, cycle_.server_cpu_s) +
                          part(hot.client_cpu_s, demand_.client_cpu_s, cycle_.client_cpu_s) + hot.latency_s +
                          flush_s + sync_s + inner_s;
    const double utilisation = std::min(1.0, cycle_.tps * hot.share / hot.rows * hold_s);
    lock_busy_[i] = seen * utilisation;
    const double bound_s = pool_.clients * hot.share / hot.rows * hold_s;
    floor_s = std::max(floor_s, bound_s);
    const double rest_s = cycle_s - hot.share * lock_waits_[i];
    double wait_s =
        std::max(lock_wait_s(hot.share, seen * bound_s, rest_s, hold_s), (bound_s - rest_s) / hot.share);
    wait_s = std::min(wait_s, (pool_.clients - 1) * hold_s); // everybody else is before it
    approach(lock_waits_[i], wait_s);
    inner_s += std::min(1.0, hot.share) * lock_waits_[i];
    sum_s += hot.share * lock_waits_[i];
  }
  cycle_.lock_wait_s = sum_s;
  return floor_s;
}

void ClosedNetwork::finish() {
  const auto excess = [](double residence_s, double demand_s, const Machine& machine) {
    return std::max(0.0, residence_s - demand_s / machine.speed);
  };
  const double queueing = excess(cycle_.server_cpu_s, demand_.server_cpu_s, *pool_.server) +
                          excess(cycle_.client_cpu_s, demand_.client_cpu_s, *pool_.client);
  double variance = queueing * queueing / std::max(1.0, demand_.round_trips);
  variance += demand_.flush_share * flush_busy_ * demand_.flush_s * demand_.flush_s / 12;
  for (std::size_t i = 0; i < lock_waits_.size(); ++i)
    if (lock_busy_[i] > 0) // zero, or exponential
      variance += demand_.locks[i].share * lock_waits_[i] * lock_waits_[i] * (2 / lock_busy_[i] - 1);
  cycle_.response_variance = variance;
}

/// CPU work takes its own time and, in each round trip, an exponential wait; locks are free, or waited for an
/// exponential time; a flush under way is as likely at its beginning as at its end.
double ClosedNetwork::draw_response_s(const std::vector<double>& uniforms) const {
  std::size_t next = 0;
  const auto uniform = [&] { return uniforms.at(next++); };
  const double own_s =
      demand_.server_cpu_s / pool_.server->speed + demand_.client_cpu_s / pool_.client->speed;
  const double queueing_s = std::max(0.0, cycle_.server_cpu_s + cycle_.client_cpu_s - own_s);
  const int rounds = std::max(1, static_cast<int>(demand_.round_trips));
  double response_s =
      std::min(own_s, cycle_.server_cpu_s + cycle_.client_cpu_s) + cycle_.latency_s + cycle_.sync_wait_s;
  double product = 1;
  for (int i = 0; i < rounds and queueing_s > 0; ++i)
    product *= 1 - uniform();
  if (queueing_s > 0)
    response_s -= std::log(product) * queueing_s / rounds;
  if (demand_.flush_share > 0)
    response_s += demand_.flush_share * demand_.flush_s * (uniform() < flush_busy_ ? 1 + uniform() : 1);
  for (std::size_t i = 0; i < lock_waits_.size(); ++i)
    if (lock_busy_[i] > 1e-6 and uniform() < lock_busy_[i])
      response_s -= demand_.locks[i].share * std::log(1 - uniform()) * lock_waits_[i] / lock_busy_[i];
  return response_s;
}

} // namespace replisim
