// Errors of applying that a scenario schedules: rows that exist already on the subscriber.
//
// Counterpart: execReplication.c and conflict.c (insert_exists and update_exists are errors; deletes only
// log), worker.c (DisableSubscriptionAndExit).
#pragma once

#include "models/reorder_buffer.hpp"
#include "sim/scenario/scenario.hpp"

#include <functional>

namespace replisim {

class ApplyErrors {
public:
  /// Without a subscription nothing fails. `raised` is called at each error, with a sentence.
  explicit ApplyErrors(const Subscription* subscription = nullptr,
                       std::function<void(const std::string&)> raised = {})
      : subscription_(subscription), raised_(std::move(raised)) {}

  /// Rows of `runs` that can be applied before the first one that conflicts at `now_s`; nothing when all can.
  std::optional<Rows> applicable(const std::vector<ChangeRun>& runs, double now_s) const;
  /// The row after the applicable ones: ERROR.
  void raise(const std::vector<ChangeRun>& runs, double now_s);

  /// Any other error of the worker, such as being the victim of a deadlock.
  void cancelled(const std::string& text) {
    ++count_;
    failed_ = true;
    if (raised_)
      raised_(text);
  }

  std::int64_t count() const { return count_; } ///< apply_error_count of pg_stat_subscription_stats
  /// Since the last `forget`.
  bool failed() const { return failed_; }
  void forget() { failed_ = false; }
  bool disables() const { return failed_ and subscription_ != nullptr and subscription_->disable_on_error; }

private:
  const ApplyConflict* first(const std::vector<ChangeRun>& runs, double now_s, Rows& before) const;

  const Subscription* subscription_;
  std::function<void(const std::string&)> raised_;
  std::int64_t count_ = 0;
  bool failed_ = false;
};

} // namespace replisim
