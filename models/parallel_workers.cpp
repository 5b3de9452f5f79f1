#include "models/parallel_workers.hpp"

#include "models/base/check.hpp"

#include <algorithm>

namespace replisim {

std::optional<ParallelWorkerPool::Assignment> ParallelWorkerPool::allocate() {
  for (const State wanted : {State::Idle, State::Absent}) {
    const auto slot = std::find(slots_.begin(), slots_.end(), wanted);
    if (slot != slots_.end()) {
      *slot = State::Busy;
      return Assignment{static_cast<int>(slot - slots_.begin()), wanted == State::Absent};
    }
  }
  return std::nullopt;
}

bool ParallelWorkerPool::release(int worker) {
  auto& slot = slots_.at(static_cast<std::size_t>(worker));
  REPLISIM_REQUIRE(slot == State::Busy, "parallel apply worker {} is released while it is not busy", worker);
  slot = alive() > maximum() / 2 ? State::Absent : State::Idle;
  return slot == State::Idle;
}

int ParallelWorkerPool::alive() const {
  return static_cast<int>(
      std::count_if(slots_.begin(), slots_.end(), [](State state) { return state != State::Absent; }));
}

} // namespace replisim
