// Times of the single transactions in a batch of small ones.
//
// A batch is worked on as a whole, some time after its first transaction was ready. By itself each one
// would have been served as soon as it was ready and the one before it was done: the recursion
// start = max(ready, previous end) (Lindley), with the service time the batch really took per transaction.
#pragma once

#include "models/lag_sketch.hpp"
#include "sim/actors/wal_log.hpp"

#include <algorithm>

namespace replisim {

class FlowClock {
public:
  /// A part of the batch in hand was worked on from `begun_s` to `ended_s`.
  void work(double begun_s, double ended_s) {
    if (begun_s_ < 0)
      begun_s_ = begun_s;
    service_s_ += ended_s - begun_s;
  }

  /// The batch is done: adds the delays from commit to completion of its transactions to `lag`.
  void finish(const FlowCommitted& flow, LagSketch& lag) {
    const double each_s = service_s_ / static_cast<double>(flow.transactions);
    // What lay between the last commit and the start of the work delayed all of them alike.
    const double way_s = std::max(0.0, begun_s_ - flow.last_commit_s);
    const double first_s = std::max(flow.first_commit_s + way_s, previous_end_s_) + each_s;
    const double others_s = each_s * static_cast<double>(flow.transactions - 1);
    const double last_s = std::max(first_s + others_s, flow.last_commit_s + way_s + each_s);
    lag.add_spread(first_s - flow.first_commit_s, last_s - flow.last_commit_s, flow.transactions);
    previous_end_s_ = last_s;
    begun_s_ = -1;
    service_s_ = 0;
  }

  /// The batch in hand is lost.
  void forget() {
    begun_s_ = -1;
    service_s_ = 0;
  }

private:
  double begun_s_ = -1;
  double service_s_ = 0;
  double previous_end_s_ = 0;
};

} // namespace replisim
