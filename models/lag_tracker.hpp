// The lag columns of pg_stat_replication as the server computes them: walsender.c, WalSndUpdateProgress,
// LagTrackerWrite and LagTrackerRead. They start when a commit is *sent*, are sampled at most once a second,
// and know nothing of WAL that waits to be decoded: an hour of backlog shows as milliseconds.
#pragma once

#include "models/base/units.hpp"

#include <array>
#include <optional>
#include <vector>

namespace replisim {

/// write_lag, flush_lag, replay_lag: each follows one of the positions a client reports.
enum class LagColumn { Write, Flush, Replay };

class LagTracker {
public:
  /// `overflow_entries`: what happens when the ring is full (VersionTraits::lag_overflow_entries). With them
  /// a column that has not moved for a whole ring leaves it, keeps its sample aside, and the others go on;
  /// without them the newest sample is overwritten again and again, so that in the end no column is measured
  /// anew until the slowest one moves.
  explicit LagTracker(bool overflow_entries = true, std::size_t ring_entries = server_ring_entries);

  /// The walsender sends the commit that ends at `lsn`. Kept when the last sample is a second old.
  void sent(Lsn lsn, double now_s);
  /// The client reports `lsn` for `column`. The newest sample it has crossed gives the lag; when it has
  /// crossed none, the date at which `lsn` would have been sent is interpolated between the samples around
  /// it.
  void reported(LagColumn column, Lsn lsn, double now_s);
  /// The column's last measured value in seconds; nothing before the first (the server shows NULL then, and
  /// also when all is applied and two messages in a row have said so).
  std::optional<double> lag_s(LagColumn column) const { return reader(column).lag_s; }

private:
  static constexpr std::size_t server_ring_entries = 8192; ///< LAG_TRACKER_BUFFER_SIZE
  static constexpr double sample_interval_s = 1;           ///< WALSND_LOGICAL_LAG_TRACK_INTERVAL_MS
  struct Sample {
    Lsn lsn;
    double sent_s = 0;
  };
  /// How far one column has read the ring.
  struct Reader {
    std::size_t head = 0;
    std::optional<Sample> overflow; ///< it has left the ring with this sample unread
    std::optional<Sample> last;     ///< the newest sample crossed; none once the ring was read empty
    std::optional<double> lag_s;
  };
  Reader& reader(LagColumn column) { return readers_[static_cast<std::size_t>(column)]; }
  const Reader& reader(LagColumn column) const { return readers_[static_cast<std::size_t>(column)]; }
  std::size_t after(std::size_t head) const { return (head + 1) % ring_.size(); }
  std::optional<double> sent_date(Reader& reader, Lsn lsn) const;

  bool overflow_entries_;
  std::vector<Sample> ring_; ///< one entry stays free
  std::size_t write_head_ = 0;
  std::array<Reader, 3> readers_;
  std::optional<Lsn> last_lsn_;
  double last_sample_s_ = -1e9;
};

} // namespace replisim
