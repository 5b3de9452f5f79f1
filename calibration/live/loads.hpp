// The workload of a scenario on real servers: transactions, sessions, DDL, pgbench.
#pragma once

#include "calibration/live/scenario_sql.hpp"
#include "calibration/live/server.hpp"

#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace replisim::live {

/// What the transactions of the batches did, in seconds of live::now_s().
struct BatchTimes {
  double begin_s = 0;     ///< BEGIN of the first one
  double statement_s = 0; ///< end of the last statement
  double commit_s = 0;    ///< return of the last COMMIT
};

struct SessionFigures {
  std::vector<double> latencies_s;
};

struct PgbenchFigures {
  double tps = 0;
  double latency_s = 0;
  double transactions = 0;
  double wall_s = 0;
  std::string output;
};

/// Throws UsageError with a sentence when the scenario has loads that the lab cannot run.
void require_loads(const Scenario& scenario);

/// Runs the batches, sessions and DDL of a scenario, each in a thread, from now on; sessions end when stop()
/// is called.
class Loads {
public:
  Loads(const Scenario& scenario, const ThrowawayServer& pub, const ThrowawayServer& sub);
  ~Loads();

  /// Connects everything, so that connecting is no part of what is measured.
  void prepare();
  void start();
  /// Waits for batches and DDL. Throws what one of them threw.
  void finish_batches();
  /// Ends the sessions. Throws what one of them threw.
  void stop_sessions();

  const BatchTimes& batch_times() const { return times_; }
  const SessionFigures& sessions() const { return session_figures_; }
  /// Tables that DDL of the scenario wants besides, for the publisher.
  std::string extra_tables_sql() const;

private:
  void run_batch(const BatchLoad& load, std::vector<Connection>& connections);
  void run_once(const BatchLoad& load, std::vector<Connection>& connections);
  void run_session(const SessionLoad& load, Connection& connection, std::uint64_t seed);
  void run_ddl(const DdlLoad& load, Connection& connection);
  void note(const BatchTimes& times);
  template <class Work>
  std::thread guarded(Work work);
  void rethrow();

  const Scenario& scenario_;
  const ThrowawayServer& pub_;
  const ThrowawayServer& sub_;
  RowBook book_;
  std::vector<std::vector<Connection>> batch_connections_;
  std::vector<Connection> session_connections_;
  std::vector<Connection> ddl_connections_;
  std::vector<std::thread> batch_threads_;
  std::vector<std::thread> session_threads_;
  std::mutex mutex_;
  std::exception_ptr error_;
  bool stop_sessions_ = false;
  double zero_s_ = 0;
  BatchTimes times_;
  SessionFigures session_figures_;
};

/// The pgbench mix of a client load: "tpcb-like", "simple-update", "select-only". Throws UsageError for
/// others.
std::string pgbench_mix(const ClientLoad& load);

/// The scale of pgbench's tables in a scenario.
std::int64_t pgbench_scale(const Scenario& scenario);

/// Runs pgbench for as long as the load says.
PgbenchFigures run_pgbench(const ClientLoad& load, const ThrowawayServer& pub, Workspace& workspace,
                           const Binaries& binaries);

/// pgbench -i on one server.
void initialise_pgbench(std::int64_t scale, const ThrowawayServer& server, Workspace& workspace,
                        const Binaries& binaries);

} // namespace replisim::live
