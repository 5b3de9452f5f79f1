// A publisher backend: runs one transaction, statement after statement, and commits it.
//
// Counterpart: postgres.c (exec_simple_query) with the heap access methods and xact.c. Rows are worked off
// in batches; a batch's WAL is inserted when its rows are done. The commit waits for the WAL flush
// unless synchronous_commit is off.
#pragma once

#include "models/cost_profile.hpp"
#include "sim/actors/run_log.hpp"
#include "sim/actors/sync_replication.hpp"
#include "sim/actors/wal_log.hpp"

namespace replisim {

/// Hands out transaction ids, in order of first write.
struct XidSource {
  std::uint32_t last = 0;
  Xid next() { return {++last}; }
};

/// What the backends of one server share besides the WAL.
struct PublisherState {
  TransactionStatus status;
  XidSource xids;
  std::map<std::string, Rows> next_row;  ///< next row number of each table, for inserts
  std::map<std::string, double> touched; ///< rows touched since the last checkpoint, by flows
  Lsn last_commit;                       ///< end of the last commit record
  int busy_loads = 0;                    ///< loads that have not come to their end
  bool stopped = false;                  ///< the applications have left: nothing more begins
};

/// The turns of a replay that one session takes, one after the other.
struct ReplayTurns {
  const ReplayLoad* load = nullptr;
  std::vector<std::size_t> turns; ///< indexes of its transactions
};

class PublisherBackend {
public:
  struct Params {
    const BatchLoad* load = nullptr;
    ReplayTurns replay; ///< in place of `load`
    const std::map<std::string, Table>* tables = nullptr;
    const CostParameters* costs = nullptr;
    Rows batch_rows = 1;
    bool full_page_images = false;
    bool waits_for_flush = true;
    SyncReplication* sync = nullptr; ///< for whom commits wait besides
  };
  PublisherBackend(Params params, WalLog& wal, PublisherState& state, RunLog& log);
  void run(engine::Process& process);

private:
  struct Savepoint {
    std::string name;
    Xid subxid; ///< invalid until something is written under it
    Rows rows_at_start = 0;
    std::vector<Xid> released = {}; ///< subtransactions that have become part of it
  };
  void execute(engine::Process& process, const StatementStep& statement);
  void rollback_to(engine::Process& process, const std::string& savepoint);
  /// What one transaction does.
  struct Work {
    const std::string& name;
    const std::string& server;
    const std::vector<TransactionStep>& steps;
    bool rolls_back = false;
    double lasts_s = 0;         ///< its rows are spread over so long, its end comes no earlier
    double prepared_for_s = -1; ///< see BatchLoad
  };
  void run_replay(engine::Process& process);
  void run_once(engine::Process& process, const Work& work);
  void release(const std::string& savepoint);
  void abort_innermost(engine::Process& process);
  void keep_pace(engine::Process& process, Rows done);
  void prepare(engine::Process& process);
  void commit(engine::Process& process, bool prepared);
  void roll_back(engine::Process& process, bool prepared);
  Xid current_xid();
  TransactionRecord& record() { return log_.transactions[index_]; }

  Params params_;
  WalLog& wal_;
  PublisherState& state_;
  RunLog& log_;
  std::size_t index_ = 0; ///< of the transaction in hand within the run
  Xid top_;
  std::vector<Savepoint> savepoints_;
  std::vector<Xid> released_; ///< subtransactions that have become part of the transaction itself
  double lasts_s_ = 0;        ///< of the transaction in hand
  Rows rows_to_do_ = 0;       ///< of all its statements
};

} // namespace replisim
