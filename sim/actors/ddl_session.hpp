// Sessions that change the catalog: each run of the statement is a transaction of its own, which may stay
// open for a while before it commits.
//
// Counterpart: utility.c (ProcessUtility) in as many backends as are open at a time, and the autovacuum
// launcher's workers where the statement is a vacuum or analyze of theirs.
#pragma once

#include "models/cost_profile.hpp"
#include "models/ddl.hpp"
#include "sim/actors/publisher_backend.hpp"

#include <deque>

namespace replisim {

class DdlSession {
public:
  struct Params {
    const DdlLoad* load = nullptr;
    const Table* table = nullptr;      ///< the one it names, or null
    std::vector<const Table*> members; ///< of the publication it names
    VersionTraits traits;
    const CostParameters* costs = nullptr;
    bool waits_for_flush = true;
    std::uint64_t seed = 1;
    double end_s = 0; ///< of the run; 0: none is set
  };
  DdlSession(Params params, WalLog& wal, PublisherState& state, DdlRecord& record);
  void run(engine::Process& process);

private:
  double start_s(std::int64_t run);
  bool more(std::int64_t run, double start_s) const;
  void execute(engine::Process& process);
  void commit(engine::Process& process);

  struct Open {
    double commit_s = 0;
    Xid xid;
  };
  Params params_;
  WalLog& wal_;
  PublisherState& state_;
  DdlRecord& record_;
  InvalidationsRef messages_;
  DdlWal volume_;
  double last_arrival_s_ = 0;
  std::deque<Open> open_; ///< in order of their commits
};

} // namespace replisim
