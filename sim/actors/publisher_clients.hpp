// Clients in a closed loop on a publisher, as pgbench's: one set of processes stands for all of them.
//
// Every tick the closed network of models/closed_network says how many transactions get through beside
// whoever else runs on the hosts at the moment; these are executed as CPU work of as many threads as backends
// and client program keep busy, so that others feel them, and committed. Work that takes longer than the tick
// makes the tick longer: then the clients got through less.
#pragma once

#include "models/client_shape.hpp"
#include "models/exact_clients.hpp"
#include "sim/actors/publisher_backend.hpp"

#include <memory>
#include <vector>

namespace replisim {

class PublisherClients {
public:
  struct Params {
    const ClientLoad* load = nullptr;
    const std::map<std::string, Table>* tables = nullptr;
    const CostParameters* costs = nullptr;
    ClientPool pool;
    ClientRoute route;
    engine::HostId server, client;
    double tick_s = 0.01;
    bool page_images = false;
    bool exact = false; ///< each transaction by itself
    std::uint64_t seed = 1;
    std::vector<Xid> accounted_as;         ///< by script: under which deliveries count its rows
    const SyncReplication* sync = nullptr; ///< for whom commits wait besides; null: nobody
    const DeadVersions* dead = nullptr;    ///< retained on this server, a subscriber; null: none
  };
  PublisherClients(engine::World& world, Params params, WalLog& wal, PublisherState& state, RunLog& log,
                   std::size_t first_flow, ClientRecord& record);

  void run(engine::Process& process);
  /// The client program's threads.
  void run_program(engine::Process& process);
  /// Flushes what has been committed.
  void run_commits(engine::Process& process);

private:
  struct Threads {
    double carried = 0; ///< part of a thread not yet used
    double used = 0;    ///< thread seconds so far
    int next(double mean);
  };
  OtherThreads others();
  bool heed_standbys();
  void heed_dead_versions();
  double started(double transactions);
  void solve(OtherThreads others);
  double transactions_of(double seconds, std::uint64_t tick);
  double run_one_by_one(double seconds);
  std::vector<TransactionDates> dates_of(std::size_t script, double from_s, double to_s) const;
  void note_one_by_one(double late_s);
  void execute(engine::Process& process, double transactions);
  void commit(engine::Process& process, double transactions, double from_s, double to_s);
  Bytes wal_bytes(std::size_t script, std::int64_t transactions, std::int64_t& records);
  void note(double transactions, double planned_s, double seconds, std::uint64_t tick);

  engine::World& world_;
  Params params_;
  /// Ticks that its work is late. What runs on average is barely enough for it: who is late runs more at
  /// once, as real clients that queue up do.
  double behind_ = 0;
  WalLog& wal_;
  PublisherState& state_;
  RunLog& log_;
  std::size_t first_flow_;
  ClientRecord& record_;
  ClientDemand demand_;
  double own_cpu_s_ = 0; ///< of `demand_` on the server, without dead versions
  ClosedNetwork network_;
  ClientCycle cycle_;
  std::unique_ptr<ExactClients> exact_; ///< null: by their means
  std::vector<ExactTransaction> done_;  ///< ... in this tick, by the clock of `exact_`
  double exact_from_s_ = 0, exact_to_s_ = 0;
  std::int64_t exact_flushes_ = 0; ///< up to the end of the last tick
  double flushes_per_s_ = 0;
  double sync_wait_s_ = 0, solved_sync_wait_s_ = 0; ///< of a commit, for synchronous standbys
  double unacknowledged_ = 0;                       ///< committed while nothing is known of that wait
  OtherThreads others_, solved_for_;
  Threads backends_, program_;
  double measured_s_ = 0, server_threads_s_ = 0, client_threads_s_ = 0, own_server_s_ = 0, own_client_s_ = 0;
  double lateness_ = 0;                ///< by which part ticks take longer than planned, smoothed
  double carried_ = 0;                 ///< part of a transaction
  std::vector<double> script_carried_; ///< the same by script
  std::map<std::string, TouchedRows> touched_;
  double bytes_carried_ = 0, records_carried_ = 0;
  engine::Signal program_wanted_, program_done_, commits_wanted_;
  double program_work_s_ = 0;
  bool program_busy_ = false;
  Lsn to_flush_;
};

} // namespace replisim
