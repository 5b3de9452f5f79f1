// Times of the single transactions in batches of small ones, at the process that receives them.
#pragma once

#include "models/flow_station.hpp"
#include "sim/actors/replication_messages.hpp"
#include "sim/actors/run_log.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace replisim {

class FlowClock {
public:
  using Part = ReplicationStream::Part;

  /// A part of the batch in hand was worked on from `begun_s` to `waited_from_s`, and awaited until
  /// `ended_s`.
  void work(const Part& part, double begun_s, double waited_from_s, double ended_s);
  /// A part of something else was.
  void other_work(const Part& part, double begun_s, double ended_s) {
    station_.other_work(part.visible_s, begun_s, ended_s);
    for (auto& [flow, free] : free_)
      free.applier_s = std::max(free.applier_s, ended_s);
  }

  /// How the last steps of a batch went.
  struct End {
    bool over_link = false;
    double commit_share = 0; ///< part of the work that is the commit
    double now_s = 0;
    /// When the publisher will know of a commit applied at a date; negative: never.
    std::function<double(double)> confirmed_s;
    /// Called with how long the transactions took from their flush on the publisher until they were applied,
    /// and until the publisher knew that they were safe here; means. Null: nobody waits.
    std::function<void(double, double)> acknowledged = {};
  };
  /// The batch is done: adds the lags of its transactions to the record's.
  void finish(const SmallTransactions& batch, const End& end, SubscriptionRecord& record);

  /// The batch in hand is lost.
  void forget() { working_ = false; }

private:
  void finish_one_by_one(const SmallTransactions& batch, const LagSpan& together, double waits_s,
                         const End& end, SubscriptionRecord& record);

  FlowStation station_;
  struct Free {
    double sender_s = 0, applier_s = 0;
  };
  std::map<std::uint32_t, Free>
      free_; ///< of transactions one by one, by flow: when it is done with the last one
  bool working_ = false;
  double on_link_s_ = 0, visible_s_ = 0, begun_s_ = 0; ///< of the first part
  double service_s_ = 0, awaited_s_ = 0;
};

} // namespace replisim
