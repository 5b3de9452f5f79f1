// A client session on a subscriber: runs transactions that take locks, waits for those that others hold, and
// starts again.
//
// Counterpart: postgres.c (one statement after the other) as far as locks, CPU and the flush of the commit
// go.
#pragma once

#include "models/cost_profile.hpp"
#include "models/dead_versions.hpp"
#include "models/lag_sketch.hpp"
#include "models/session.hpp"
#include "sim/actors/server_locks.hpp"

#include <map>

namespace replisim {

/// Shared by the clients of one entry of `sessions`.
struct SessionRecord {
  static constexpr double long_s = 0.05; ///< of `over_50ms`
  std::string name;
  std::string server;
  std::vector<BackendId> clients;
  std::int64_t transactions = 0; ///< committed (or rolled back as the scenario asks)
  std::int64_t retries = 0;      ///< tries after a cancelled one
  std::int64_t failures = 0;     ///< given up after max_tries
  LagSketch latency;             ///< s, from arrival to the end of the commit, all tries
  std::int64_t over_50ms = 0;    ///< transactions that took longer than 50 ms
  double vacuum_horizon_s = 0;   ///< oldest other transaction that a VACUUM met: its dead rows stay
  std::int64_t vacuums = 0;
  std::vector<double> open_since_s; ///< by client: arrival of the transaction in hand; -1: none
  // Arrivals of an open loop.
  std::uint64_t arrivals = 0;
  double last_arrival_s = 0;
};

class SubscriberSession {
public:
  struct Params {
    const SessionLoad* load = nullptr;
    const std::map<std::string, Table>* tables = nullptr;
    const CostParameters* costs = nullptr;
    std::uint64_t seed = 1;
    int client = 0; ///< number among its kind
    /// The flush of a commit; nothing with synchronous_commit off.
    std::function<void(engine::Process&)> flush;
    DeadVersions* dead = nullptr; ///< retained on this server; null: none
  };
  SubscriberSession(Params params, ServerLocks& locks, BackendId backend, SessionRecord& record);
  void run(engine::Process& process);

private:
  bool next_start(engine::Process& process, double& arrival_s);
  void transaction(engine::Process& process, double arrival_s);
  void execute(engine::Process& process, const SessionStep& step);
  void pay(engine::Process& process, double seconds);
  Rows random_row(const SessionStep& step);

  Params params_;
  ServerLocks& locks_;
  BackendId backend_;
  SessionRecord& record_;
  std::int64_t begun_ = 0;
  double last_start_s_ = -1;
  std::uint64_t draws_ = 0;
  double owed_s_ = 0; ///< CPU of the transaction itself that is still to come
};

} // namespace replisim
