// The pool of parallel apply workers of one subscription: applyparallelworker.c, pa_allocate_worker
// and pa_free_worker; and how long a leader is patient with a full ring (pa_send_data).
#pragma once

#include "models/base/units.hpp"

#include <optional>
#include <vector>

namespace replisim {

/// The places for logical replication workers of one server: max_logical_replication_workers, and no more
/// than max_worker_processes leaves beside the launcher. Leaders and parallel workers of all subscriptions
/// share them.
class WorkerSlots {
public:
  explicit WorkerSlots(int maximum) : free_(maximum) {}
  bool take();
  void give_back() { ++free_; }
  int free() const { return free_; }

private:
  int free_;
};

class ParallelWorkerPool {
public:
  /// `maximum`: max_parallel_apply_workers_per_subscription. `slots`, when there are any, are the server's.
  explicit ParallelWorkerPool(int maximum, WorkerSlots* slots = nullptr)
      : workers_(static_cast<std::size_t>(maximum < 0 ? 0 : maximum)), slots_(slots) {}

  struct Assignment {
    int worker = 0;
    bool launched = false; ///< true: a new process had to be started
  };
  /// A worker for a transaction whose first chunk has arrived: an idle one of the pool, else a new one.
  /// Nothing when all are busy or the server has no place left: that transaction goes to a file, for good.
  std::optional<Assignment> allocate();

  /// The transaction is over. Returns true when the worker stays in the pool: it is stopped when more than
  /// half the maximum (integer division) are alive, busy ones included, and after a partial serialisation.
  bool release(int worker, bool partially_serialized = false);

  /// All workers end, with what they have in hand: the leader has.
  void stop_all();

  int alive() const;
  int maximum() const { return static_cast<int>(workers_.size()); }

private:
  enum class State { Absent, Idle, Busy };
  void stop(State& worker);

  std::vector<State> workers_;
  WorkerSlots* slots_;
};

/// How long a leader waits for room in the ring of a parallel apply worker. The worker gives room back a
/// quarter of the ring at a time; the leader retries every second and gives up when 9 s have passed since its
/// first failed wait: ten seconds after the ring was full and no quarter came back.
class RingPatience {
public:
  static constexpr double limit_s = 10;
  explicit RingPatience(Bytes ring_bytes) : quarter_bytes_(ring_bytes / 4) {}

  /// The leader found room at once: in the last quarter that came back, as no other is given back.
  void had_room() { waiting_ = waiting_ and not given_back_; }
  /// The leader waits, at `now_s`: for the first time, or still.
  void waits(double now_s);
  /// The worker has taken `bytes` from the ring.
  void taken(Bytes bytes, double now_s);
  /// When the leader, which waits, will give up unless a quarter comes back before.
  double gives_up_s() const { return since_s_ + limit_s; }

private:
  Bytes quarter_bytes_;
  Bytes taken_bytes_ = 0; ///< and not yet given back
  bool waiting_ = false;
  bool given_back_ = false; ///< a quarter, since the wait began
  double since_s_ = 0;      ///< start of the wait, or the last quarter given back in it
};

} // namespace replisim
