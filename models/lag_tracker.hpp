// The lag columns of pg_stat_replication as the server computes them: walsender.c, LagTrackerWrite and
// LagTrackerRead. They start when a commit is *sent*, are sampled at most once a second, and know nothing of
// WAL that waits to be decoded: an hour of backlog shows as milliseconds.
#pragma once

#include "models/base/units.hpp"

#include <deque>

namespace replisim {

class LagTracker {
public:
  /// The walsender sends the commit that ends at `lsn`. Kept when the last sample is a second old.
  void sent(Lsn lsn, double now_s) {
    if (not samples_.empty() and now_s - samples_.back().sent_s < sample_interval_s)
      return;
    if (now_s - last_sample_s_ < sample_interval_s)
      return;
    if (samples_.size() == ring_entries)
      samples_.pop_front();
    samples_.push_back({lsn, now_s});
    last_sample_s_ = now_s;
  }
  /// The client reports `lsn`: the newest sample it has crossed gives the lag.
  void reported(Lsn lsn, double now_s) {
    while (not samples_.empty() and samples_.front().lsn <= lsn) {
      lag_s_ = now_s - samples_.front().sent_s;
      samples_.pop_front();
    }
  }
  /// The column's value; 0 before anything was reported (the server shows NULL).
  double lag_s() const { return lag_s_; }

private:
  static constexpr double sample_interval_s = 1;
  static constexpr std::size_t ring_entries = 8192;
  struct Sample {
    Lsn lsn;
    double sent_s;
  };
  std::deque<Sample> samples_;
  double last_sample_s_ = -1e9;
  double lag_s_ = 0;
};

} // namespace replisim
