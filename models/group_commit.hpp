// Group commit: who is flushed by which flush of the WAL.
#pragma once

#include <limits>

namespace replisim {

/// Commits that come one after the other, each of which returns when its record is flushed. One flush runs at
/// a time and takes what was inserted before it began; who comes meanwhile waits for its end, and the next
/// flush takes all of those (XLogFlush with WALWriteLock; `commit_delay` 0).
class GroupCommit {
public:
  /// When the record inserted at `commit_s` is flushed. Dates must not fall from call to call.
  double flushed_s(double commit_s, double flush_s) {
    if (commit_s > begun_s_) {
      begun_s_ = commit_s >= ended_s_ ? commit_s : ended_s_;
      ended_s_ = begun_s_ + flush_s;
    }
    return ended_s_;
  }

private:
  double begun_s_ = -std::numeric_limits<double>::infinity();
  double ended_s_ = -std::numeric_limits<double>::infinity();
};

} // namespace replisim
