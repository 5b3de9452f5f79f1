// Several sessions that run the same transaction at the same time, step by step: a crowd of backends with one
// open transaction each.
//
// Counterpart: as many backends. One process stands for all of them, so that thousands of them cost little:
// it works off a step for each session before the next step begins, on as many CPUs as there are.
#pragma once

#include "sim/actors/publisher_backend.hpp"

namespace replisim {

class SessionGroup {
public:
  /// `cpus` of the host; the load's transaction has statements and pauses only.
  SessionGroup(PublisherBackend::Params params, int cpus, WalLog& wal, PublisherState& state, RunLog& log);
  void run(engine::Process& process);

private:
  void run_once(engine::Process& process);
  void execute(engine::Process& process, const StatementStep& statement);
  void write(engine::Process& process, std::size_t session, const StatementStep& statement);
  void prepare(engine::Process& process);
  void end(engine::Process& process);
  std::size_t sessions() const { return static_cast<std::size_t>(params_.load->sessions); }

  PublisherBackend::Params params_;
  int cpus_;
  WalLog& wal_;
  PublisherState& state_;
  RunLog& log_;
  std::vector<std::size_t> indexes_; ///< of the sessions' transactions within the run
};

} // namespace replisim
