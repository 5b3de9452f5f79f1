#include "models/parallel_workers.hpp"

#include "models/base/check.hpp"

#include <algorithm>

namespace replisim {

bool WorkerSlots::take() {
  if (free_ <= 0)
    return false;
  --free_;
  return true;
}

std::optional<ParallelWorkerPool::Assignment> ParallelWorkerPool::allocate() {
  for (const State wanted : {State::Idle, State::Absent}) {
    const auto worker = std::find(workers_.begin(), workers_.end(), wanted);
    if (worker == workers_.end())
      continue;
    if (wanted == State::Absent and slots_ != nullptr and not slots_->take())
      return std::nullopt;
    *worker = State::Busy;
    return Assignment{static_cast<int>(worker - workers_.begin()), wanted == State::Absent};
  }
  return std::nullopt;
}

bool ParallelWorkerPool::release(int worker, bool partially_serialized) {
  State& released = workers_.at(static_cast<std::size_t>(worker));
  REPLISIM_REQUIRE(released == State::Busy, "parallel apply worker {} is released while it is not busy",
                   worker);
  if (partially_serialized or alive() > maximum() / 2)
    stop(released);
  else
    released = State::Idle;
  return released == State::Idle;
}

void ParallelWorkerPool::stop(State& worker) {
  if (worker != State::Absent and slots_ != nullptr)
    slots_->give_back();
  worker = State::Absent;
}

void ParallelWorkerPool::stop_all() {
  for (auto& worker : workers_)
    stop(worker);
}

int ParallelWorkerPool::alive() const {
  return static_cast<int>(
      std::count_if(workers_.begin(), workers_.end(), [](State state) { return state != State::Absent; }));
}

void RingPatience::waits(double now_s) {
  if (not waiting_)
    since_s_ = now_s;
  given_back_ = given_back_ and waiting_;
  waiting_ = true;
}

void RingPatience::taken(Bytes bytes, double now_s) {
  taken_bytes_ += bytes;
  if (taken_bytes_ < quarter_bytes_)
    return;
  taken_bytes_ = 0;
  if (waiting_) {
    since_s_ = now_s;
    given_back_ = true;
  }
}

} // namespace replisim
