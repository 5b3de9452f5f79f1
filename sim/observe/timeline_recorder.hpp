// Samples the state of a run at equal distances, in the columns a real pair's sampler would give.
#pragma once

#include "sim/actors/pipeline.hpp"
#include "sim/observe/verdict.hpp"
#include "sim/run/result.hpp"

namespace replisim {

/// Columns: t_s, wal_lsn, sent_lsn, replay_lsn, confirmed_flush_lsn, restart_lsn, retained_wal_bytes,
/// sub_row_excl_locks, reorder_buffer_bytes, spill_file_bytes, sub_tmp_file_bytes, then
/// cpu_<node>.<process>_s (cumulated). With several slots LSNs are the least advanced one's (lost slots
/// not counted), retained_wal_bytes is the largest of the publishers', sizes and counts are sums. Long runs
/// keep at most `max_rows` rows: whenever that many are full, every second one goes and the distance doubles.
class TimelineRecorder {
public:
  TimelineRecorder(Pipeline& pipeline, double interval_s);
  Timeline take() { return std::move(timeline_); }
  /// Lag of each slot at the times of the timeline.
  const LagSeries& lags() const { return lags_; }
  /// The run is over: what happened since the last sample is watched, too.
  const StageWatch& watch_until(double end_s) {
    watch_.sample(end_s);
    return watch_;
  }

private:
  void sample(double now_s);
  static constexpr std::size_t max_rows = 2000;
  Pipeline& pipeline_;
  /// The processes of each CPU column.
  std::vector<std::vector<const engine::Process*>> cpu_of_;
  Timeline timeline_;
  LagSeries lags_;
  StageWatch watch_;
  std::int64_t ticks_ = 0;
  std::int64_t stride_ = 1;
};

/// "cpu_pub.walsender_s" of a role.
std::string cpu_metric(const Role& role);
/// The roles that are PostgreSQL processes (not network, not background).
bool is_server_process(const Role& role);
/// WAL a publisher keeps for its slots: the largest distance from the insert position to a restart_lsn.
Bytes retained_wal_bytes(const Pipeline& pipeline, const std::string& publisher);

} // namespace replisim
