// The pool of parallel apply workers of one subscription: applyparallelworker.c, pa_allocate_worker
// and pa_free_worker.
#pragma once

#include <optional>
#include <vector>

namespace replisim {

class ParallelWorkerPool {
public:
  /// `maximum`: max_parallel_apply_workers_per_subscription, bounded by what
  /// max_logical_replication_workers and max_worker_processes leave beside the leader.
  explicit ParallelWorkerPool(int maximum) : slots_(static_cast<std::size_t>(maximum < 0 ? 0 : maximum)) {}

  struct Assignment {
    int worker = 0;
    bool launched = false; ///< true: a new process had to be started
  };
  /// A worker for a transaction whose first chunk has arrived: an idle one of the pool, else a new one.
  /// Nothing when all are busy: that transaction goes to a file, for good.
  std::optional<Assignment> allocate();

  /// The transaction is over. Returns true when the worker stays in the pool: it is stopped when more
  /// than half the maximum (integer division) are alive, busy ones included.
  bool release(int worker);

  int alive() const;
  int maximum() const { return static_cast<int>(slots_.size()); }

private:
  enum class State { Absent, Idle, Busy };
  std::vector<State> slots_;
};

} // namespace replisim
