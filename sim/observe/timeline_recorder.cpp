#include "sim/observe/timeline_recorder.hpp"

#include <algorithm>

namespace replisim {

std::string cpu_metric(const Role& role) { return "cpu_" + role.node + "." + role.stage + "_s"; }

bool is_server_process(const Role& role) { return role.stage != "network" and role.stage != "background"; }

TimelineRecorder::TimelineRecorder(Pipeline& pipeline, double interval_s) : pipeline_(pipeline) {
  timeline_.columns = {"t_s",
                       "wal_lsn",
                       "sent_lsn",
                       "replay_lsn",
                       "sub_row_excl_locks",
                       "reorder_buffer_bytes",
                       "spill_file_bytes",
                       "sub_tmp_file_bytes"};
  for (const auto& role : pipeline.roles())
    if (is_server_process(role) and
        std::find(cpu_keys_.begin(), cpu_keys_.end(), cpu_metric(role)) == cpu_keys_.end())
      cpu_keys_.push_back(cpu_metric(role));
  std::sort(cpu_keys_.begin(), cpu_keys_.end());
  timeline_.columns.insert(timeline_.columns.end(), cpu_keys_.begin(), cpu_keys_.end());
  pipeline.world().every(interval_s, [this](double now_s) {
    if (ticks_++ % stride_ == 0)
      sample(now_s);
  });
}

void TimelineRecorder::sample(double now_s) {
  auto& rows = timeline_.rows;
  if (rows.size() == max_rows) {
    for (std::size_t i = 1; i < max_rows / 2; ++i) // row 0 stays
      rows[i] = std::move(rows[2 * i]);
    rows.resize(max_rows / 2);
    stride_ *= 2;
    if ((ticks_ - 1) % stride_ != 0)
      return;
  }
  Lsn wal;
  for (const auto& [name, side] : pipeline_.publishers())
    wal = std::max(wal, side.wal->inserted());
  Lsn sent = wal, replayed = wal;
  double locks = 0, tmp_bytes = 0, buffer_bytes = 0, spill_bytes = 0;
  for (const auto& [name, record] : pipeline_.log().subscriptions) {
    sent = std::min(sent, record.sent_lsn);
    replayed = std::min(replayed, record.replay_lsn);
    locks += record.locking_transactions;
    tmp_bytes += static_cast<double>(record.tmp_file_bytes);
  }
  for (const auto& [name, side] : pipeline_.subscriptions()) {
    buffer_bytes += static_cast<double>(side.decoder->buffer().memory_bytes());
    spill_bytes += static_cast<double>(side.decoder->buffer().spill_file_bytes());
  }
  std::vector<double> row = {now_s,
                             static_cast<double>(wal.value),
                             static_cast<double>(sent.value),
                             static_cast<double>(replayed.value),
                             locks,
                             buffer_bytes,
                             spill_bytes,
                             tmp_bytes};
  std::map<std::string, double> cpu;
  for (const auto& role : pipeline_.roles())
    if (is_server_process(role))
      cpu[cpu_metric(role)] += role.process->usage().cpu_s;
  for (const auto& key : cpu_keys_)
    row.push_back(cpu[key]);
  rows.push_back(std::move(row));
}

} // namespace replisim
