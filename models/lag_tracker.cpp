#include "models/lag_tracker.hpp"

#include <algorithm>

namespace replisim {

LagTracker::LagTracker(bool overflow_entries, std::size_t ring_entries)
    : overflow_entries_(overflow_entries), ring_(ring_entries) {}

void LagTracker::sent(Lsn lsn, double now_s) {
  if (now_s - last_sample_s_ < sample_interval_s or last_lsn_ == lsn)
    return;
  last_sample_s_ = now_s;
  last_lsn_ = lsn;
  const std::size_t next = after(write_head_);
  const auto stands_there = [&](const Reader& reader) { return not reader.overflow and reader.head == next; };
  if (overflow_entries_) {
    for (auto& reader : readers_)
      if (stands_there(reader))
        reader.overflow = ring_[reader.head];
  } else if (std::any_of(readers_.begin(), readers_.end(), stands_there)) {
    ring_[(write_head_ + ring_.size() - 1) % ring_.size()] = {lsn, now_s}; // in the place of the newest one
    return;
  }
  ring_[write_head_] = {lsn, now_s};
  write_head_ = next;
}

/// When `lsn` was sent, as far as the samples tell.
std::optional<double> LagTracker::sent_date(Reader& reader, Lsn lsn) const {
  std::optional<double> crossed_s;
  if (reader.overflow) {
    if (reader.overflow->lsn > lsn)
      return reader.overflow->sent_s;
    crossed_s = reader.overflow->sent_s;
    reader.last = reader.overflow;
    reader.overflow.reset();
    reader.head = after(write_head_); // the oldest sample that is left
  }
  for (; reader.head != write_head_ and ring_[reader.head].lsn <= lsn; reader.head = after(reader.head)) {
    crossed_s = ring_[reader.head].sent_s;
    reader.last = ring_[reader.head];
  }
  const bool empty = reader.head == write_head_;
  if (empty)
    reader.last.reset(); // all that was sent is done: nothing to interpolate the next burst from
  if (crossed_s or empty)
    return crossed_s;
  const Sample& next = ring_[reader.head];
  if (not reader.last)
    return next.sent_s; // caught up before; the lag if this sample were done now
  if (lsn < reader.last->lsn)
    return std::nullopt;
  const double fraction =
      static_cast<double>(lsn - reader.last->lsn) / static_cast<double>(next.lsn - reader.last->lsn);
  return reader.last->sent_s + fraction * (next.sent_s - reader.last->sent_s);
}

void LagTracker::reported(LagColumn column, Lsn lsn, double now_s) {
  if (const auto sent_s = sent_date(reader(column), lsn); sent_s and *sent_s <= now_s)
    reader(column).lag_s = now_s - *sent_s;
}

} // namespace replisim
