// Clients in a closed loop as a queueing network: how many transactions a second they get through, and where
// the time of one goes.
//
// The stations of one transaction: the CPUs of the server and of the client program (processor sharing with
// whoever else runs there), round trips (pure delay), the rows everybody wants (locks held to the end of the
// commit) and the commit flush (group commit: who comes during a flush shares the next one). The two CPU
// stations are solved exactly as birth-death chains, whose answer does not depend on how service times are
// distributed (Baskett, Chandy, Muntz and Palacios, 1975); flush and locks enter as delays that depend on the
// throughput, found by iteration. Cycle time and throughput obey Little's law by construction.
#pragma once

#include "models/hardware.hpp"

#include <vector>

namespace replisim {

/// Rows of one table that transactions lock, and what is left to do until the lock is released.
struct HotRows {
  double rows = 1;         ///< equally likely
  double share = 1;        ///< locks taken per transaction
  double server_cpu_s = 0; ///< from the lock to the commit flush
  double client_cpu_s = 0;
  double latency_s = 0;
};

/// Demands of one mean transaction, on the reference core.
struct ClientDemand {
  double server_cpu_s = 0;
  double client_cpu_s = 0;
  double latency_s = 0; ///< of all round trips together, CPU not included
  double think_s = 0;
  double flush_s = 0;     ///< one flush of the WAL; 0: commits do not wait
  double flush_share = 1; ///< transactions that have something to flush, and wait for it
  double write_share = 1; ///< transactions that have changed something
  double round_trips = 1;
  std::vector<HotRows> locks; ///< in the order in which they are taken
};

struct ClientPool {
  int clients = 1;
  int threads = 1;       ///< of the client program
  double rate_limit = 0; ///< transactions per second at most; 0: none
  const Machine* server = nullptr;
  const Machine* client = nullptr; ///< the same pointer: one host
};

/// Mean number of threads of others that run or want to on the two hosts.
struct OtherThreads {
  double server = 0;
  double client = 0;
};

/// Where the time of a mean transaction goes. The parts and the pause add up to the cycle.
struct ClientCycle {
  double tps = 0;
  double server_cpu_s = 0; ///< running or waiting for a core
  double client_cpu_s = 0;
  double latency_s = 0;
  double lock_wait_s = 0;
  double flush_s = 0;           ///< the flush itself and the wait for the one before it
  double sync_wait_s = 0;       ///< for synchronous standbys, the locks still held
  double pause_s = 0;           ///< think time, and waiting for the rate
  double flushes_per_s = 0;     ///< commit groups
  double running_backends = 0;  ///< threads that run or want a core, mean
  double running_clients = 0;   ///< of the client program
  double response_variance = 0; ///< of the time between two pauses, s^2

  double response_s() const {
    return server_cpu_s + client_cpu_s + latency_s + lock_wait_s + flush_s + sync_wait_s;
  }
};

/// Chance that a commit finds a flush under way, when `others_per_s` commits of others come at random:
/// a / (a + exp(-a)) with a = rate times flush time, and the flushes per second of a stream of commits of
/// which each sees such others.
double flush_busy_probability(double others_per_s, double flush_s);
double commit_groups_per_s(double commits_per_s, double others_per_s, double flush_s);

class ClosedNetwork {
public:
  ClosedNetwork(ClientPool pool, ClientDemand demand);

  /// The steady state with these others beside the clients. Starts from the state before.
  const ClientCycle& solve(OtherThreads others);
  /// The same transactions cost something else from now on.
  void set_demand(const ClientDemand& demand) { demand_ = demand; }
  /// Each commit that has changed something waits so much longer for synchronous standbys.
  void set_sync_wait(double seconds) { cycle_.sync_wait_s = demand_.write_share * seconds; }

  /// The time from BEGIN to COMMIT's return of one transaction; `uniform` gives independent numbers in [0,
  /// 1).
  template <class Uniform>
  double sample_response_s(Uniform uniform) const;

private:
  double iterate(OtherThreads others);
  void solve_server(OtherThreads others, double elsewhere_s);
  void solve_client(OtherThreads others, double elsewhere_s);
  void solve_flush(double seen);
  double solve_locks(double seen);
  void finish();
  double draw_response_s(const std::vector<double>& uniforms) const;

  ClientPool pool_;
  ClientDemand demand_;
  ClientCycle cycle_;
  double flush_busy_ = 0;
  std::vector<double> lock_waits_; ///< mean per lock taken
  std::vector<double> lock_busy_;  ///< chance to find the row locked
};

template <class Uniform>
double ClosedNetwork::sample_response_s(Uniform uniform) const {
  std::vector<double> uniforms(3 + static_cast<std::size_t>(demand_.round_trips) + 2 * lock_waits_.size());
  for (double& u : uniforms)
    u = uniform();
  return draw_response_s(uniforms);
}

} // namespace replisim
