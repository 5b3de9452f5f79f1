#include "sim/observe/timeline_recorder.hpp"

#include <algorithm>

namespace replisim {

std::string cpu_metric(const Role& role) { return "cpu_" + role.node + "." + role.stage + "_s"; }

bool is_server_process(const Role& role) {
  return role.stage != "network" and role.stage != "background" and role.stage != "other_databases" and
         role.stage != "commit";
}

Bytes retained_wal_bytes(const Pipeline& pipeline, const std::string& publisher) {
  const Lsn inserted = pipeline.publishers().at(publisher).wal->inserted();
  Bytes most = 0;
  for (const auto& [name, side] : pipeline.slots())
    if (side.publisher == publisher and not side.slot->lost())
      most = std::max(most, inserted - side.slot->restart_lsn());
  for (const auto& [name, side] : pipeline.sync_slots())
    if (side.publisher == publisher and not side.slot->lost())
      most = std::max(most, inserted - side.slot->restart_lsn());
  return most;
}

TimelineRecorder::TimelineRecorder(Pipeline& pipeline, double interval_s)
    : pipeline_(pipeline), watch_(pipeline) {
  timeline_.columns = {"t_s",
                       "wal_lsn",
                       "sent_lsn",
                       "replay_lsn",
                       "confirmed_flush_lsn",
                       "restart_lsn",
                       "retained_wal_bytes",
                       "sub_row_excl_locks",
                       "sub_lock_waits",
                       "sub_oldest_transaction_s",
                       "reorder_buffer_bytes",
                       "spill_file_bytes",
                       "sub_tmp_file_bytes"};
  std::map<std::string, std::vector<const engine::Process*>> cpu;
  for (const auto& role : pipeline.roles())
    if (is_server_process(role))
      cpu[cpu_metric(role)].push_back(role.process);
  for (auto& [column, processes] : cpu) {
    timeline_.columns.push_back(column);
    cpu_of_.push_back(std::move(processes));
  }
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
    for (auto& [name, lag] : lags_) {
      for (std::size_t i = 1; i < max_rows / 2; ++i)
        lag[i] = lag[2 * i];
      lag.resize(max_rows / 2);
    }
    stride_ *= 2;
    if ((ticks_ - 1) % stride_ != 0)
      return;
  }
  watch_.sample(now_s);
  Lsn wal;
  double retained_bytes = 0;
  for (const auto& [name, side] : pipeline_.publishers()) {
    wal = std::max(wal, side.wal->inserted());
    retained_bytes = std::max(retained_bytes, static_cast<double>(retained_wal_bytes(pipeline_, name)));
  }
  Lsn sent = wal, replayed = wal, confirmed = wal, restart = wal;
  double locks = 0, tmp_bytes = 0, buffer_bytes = 0, spill_bytes = 0;
  for (const auto& [name, side] : pipeline_.slots()) {
    const SubscriptionRecord& record = pipeline_.log().subscriptions.at(name);
    if (not side.slot->lost()) {
      sent = std::min(sent, record.sent_lsn);
      replayed = std::min(replayed, record.replay_lsn);
      confirmed = std::min(confirmed, side.slot->confirmed_flush_lsn());
      restart = std::min(restart, side.slot->restart_lsn());
    }
    const Lsn inserted = pipeline_.publishers().at(side.publisher).wal->inserted();
    lags_[name].push_back(static_cast<double>(std::max<Bytes>(0, inserted - record.replay_lsn)));
    locks += record.locking_transactions;
    tmp_bytes += static_cast<double>(record.tmp_file_bytes);
    buffer_bytes += static_cast<double>(side.decoder->buffer().memory_bytes());
    spill_bytes += static_cast<double>(side.decoder->buffer().spill_file_bytes());
  }
  std::vector<double> row = {now_s};
  for (const Lsn lsn : {wal, sent, replayed, confirmed, restart})
    row.push_back(static_cast<double>(lsn.value));
  double lock_waits = 0, oldest_s = 0;
  for (const auto& [name, side] : pipeline_.subscribers()) {
    lock_waits += side.locks->waiting();
    oldest_s = std::max(oldest_s, side.locks->oldest_transaction_s());
  }
  for (const double value :
       {retained_bytes, locks, lock_waits, oldest_s, buffer_bytes, spill_bytes, tmp_bytes})
    row.push_back(value);
  for (const auto& processes : cpu_of_) {
    double cpu_s = 0;
    for (const engine::Process* process : processes)
      cpu_s += process->usage().cpu_s;
    row.push_back(cpu_s);
  }
  rows.push_back(std::move(row));
}

} // namespace replisim
