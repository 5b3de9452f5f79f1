// Times of the single transactions in a batch of small ones, at one process they pass.
//
// A batch gathers what came over some time (a tick) and is worked on as a whole, after its last transaction
// was ready. By itself each one would have been served as soon as it was ready and the one before it was
// done: the recursion start = max(ready, previous end) (Lindley, 1952), with the service time the batch
// really took per transaction. What a batch had to wait for is real where others were being served who came
// before its tick, and an artefact of gathering where they came within it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>

namespace replisim {

/// Dates of the first and the last transaction of a batch; those between lie evenly.
struct SpreadDates {
  double first_s = 0;
  double last_s = 0;
};

class FlowStation {
public:
  /// A batch as the simulation sees it.
  struct Batch {
    std::uint32_t flow = 0; ///< batches of one flow follow each other
    std::int64_t transactions = 1;
    double gathered_s = 0; ///< the time over which they came
    double ready_s = 0;    ///< it came to this process ...
    double begun_s = 0;    ///< ... was taken up ...
    double service_s = 0;  ///< ... and worked on for so long
  };
  struct Served {
    SpreadDates started, ended;
    double not_own_s = 0; ///< part of the wait that is not for others of the same flow: waking, other flows
    double not_before_s = 0; ///< what else hindered it was done then
  };
  /// `ready`: when the single ones were ready. A process that slept takes its time to wake up for all alike.
  Served serve(SpreadDates ready, const Batch& batch) {
    Queue& queue = queues_[batch.flow];
    const auto count = static_cast<double>(batch.transactions);
    const double each_s = batch.service_s / count;
    const double waking_s = std::max(0.0, batch.begun_s - std::max(batch.ready_s, busy_until_s_));
    for (; not served_.empty() and served_.front().ready_s <= batch.ready_s - batch.gathered_s / 2;
         served_.pop_front())
      before_until_s_[served_.front().flow] = served_.front().ended_s;
    double until_s = 0, other_flows_until_s = 0;
    for (const auto& [flow, ended_s] : before_until_s_) {
      until_s = std::max(until_s, ended_s);
      if (flow != batch.flow)
        other_flows_until_s = std::max(other_flows_until_s, ended_s);
    }
    const double behind_s = std::max(0.0, until_s - batch.ready_s);
    const double first_behind_s =
        queue.behind_s + (behind_s - queue.behind_s) / count; // it grows or falls evenly
    queue.behind_s = behind_s;
    gathered_s_ = batch.gathered_s;
    const double occupied_s = each_s + queue.more_each_s;
    Served out;
    out.not_own_s = waking_s + std::max(0.0, other_flows_until_s - batch.ready_s);
    out.not_before_s = others_until_s_;
    out.started.first_s =
        std::max({ready.first_s + waking_s + first_behind_s, queue.free_s, others_until_s_});
    out.started.last_s =
        std::max(out.started.first_s + (count - 1) * occupied_s, ready.last_s + waking_s + behind_s);
    out.ended = {out.started.first_s + each_s, out.started.last_s + each_s};
    queue.free_s = out.started.last_s + occupied_s;
    return out;
  }
  /// The process is free again after that batch; it was occupied for `more_s` longer than the service (of a
  /// later batch's transactions the same is expected).
  void done(const Batch& batch, double more_s, double now_s) {
    Queue& queue = queues_[batch.flow];
    const double more_each_s = more_s / static_cast<double>(batch.transactions);
    queue.free_s += more_each_s - queue.more_each_s;
    queue.more_each_s = more_each_s;
    served_.push_back({batch.flow, batch.ready_s, now_s});
    busy_until_s_ = now_s;
  }
  /// It worked on something that is no batch. What took longer than a batch gathers was a real hindrance.
  void other_work(double ready_s, double begun_s, double now_s) {
    if (now_s - begun_s > gathered_s_)
      others_until_s_ = now_s;
    else
      served_.push_back({no_flow, ready_s, now_s});
    busy_until_s_ = now_s;
  }
  /// A new process.
  void restart(double now_s) {
    served_.clear();
    queues_.clear();
    before_until_s_ = {{no_flow, now_s}};
    busy_until_s_ = now_s;
    others_until_s_ = -std::numeric_limits<double>::infinity();
  }

private:
  struct Queue {
    double free_s = -std::numeric_limits<double>::infinity();
    double behind_s = 0;    ///< of the last batch
    double more_each_s = 0; ///< for which each of its transactions occupied the process after its service
  };
  static constexpr std::uint32_t no_flow = std::numeric_limits<std::uint32_t>::max();
  struct Piece {
    std::uint32_t flow;
    double ready_s, ended_s;
  };
  std::map<std::uint32_t, Queue> queues_; ///< by flow
  std::deque<Piece> served_;
  std::map<std::uint32_t, double> before_until_s_; ///< by flow: end of its last piece before the present tick
  double busy_until_s_ = 0;
  double gathered_s_ = 0; ///< of the last batch
  double others_until_s_ = -std::numeric_limits<double>::infinity();
};

} // namespace replisim
