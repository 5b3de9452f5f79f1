#include "calibration/readers/log_events.hpp"

#include "calibration/readers/log_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace replisim::readers {

/// The messages that are known, by how they begin. The texts are those of PostgreSQL 9.4 to 19.
struct LogEventTable {
  using Handler = void (LogEvents::*)(const LogRecord&);
  struct Row {
    std::string_view begins;
    Handler handler;
    LogEvents::Need need;
  };

  static constexpr auto all = LogEvents::Need::AllParts;
  static constexpr auto first = LogEvents::Need::FirstLine;

  static const std::vector<Row>& rows() {
    using E = LogEvents;
    static const std::vector<Row> table = {
        // Walsender and slots
        {"received replication command: ", &E::replication_command, first},
        {"starting logical decoding for slot ", &E::decoding_start, all},
        {"logical decoding found ", &E::consistent_point, all},
        {"released logical replication slot ", &E::slot_released, first},
        {"replication slot \"", &E::slot_busy, first},
        {"terminating walsender process due to replication timeout", &E::walsender_timeout, all},
        {"invalidating obsolete replication slot ", &E::slot_invalidated, all},
        {"invalidating slot ", &E::slot_invalidated, all},
        {"requested WAL segment ", &E::wal_removed, first},
        {"got new restart lsn ", &E::restart_lsn_moved, first},
        {"failed to increase restart lsn: ", &E::restart_lsn_stuck, first},
        {"spill ", &E::changes_spilled, first},
        {"UpdateDecodingStats: updating stats ", &E::decoding_stats, first},
        // Apply workers
        {"logical replication ", &E::apply_worker, all},
        {"terminating logical replication worker due to ", &E::apply_timeout, all},
        {"lost connection to the logical replication ", &E::apply_failed, all},
        {"background worker \"", &E::worker_exit, first},
        {"could not receive data from WAL stream", &E::connection_lost, first},
        {"could not connect to the publisher", &E::connection_lost, first},
        {"apply worker for subscription ", &E::connection_lost, first},
        {"data stream from publisher has ended", &E::connection_lost, first},
        {"unexpected EOF on standby connection", &E::connection_lost, first},
        {"conflict detected on relation ", &E::conflict, all},
        {"subscription \"", &E::subscription_changed, first},
        // Server
        {"process ", &E::lock_wait, all},
        {"deadlock detected", &E::deadlock, all},
        {"checkpoint starting:", &E::checkpoint_start, first},
        {"restartpoint starting:", &E::checkpoint_start, first},
        {"checkpoint complete: ", &E::checkpoint_complete, first},
        {"restartpoint complete: ", &E::checkpoint_complete, first},
        {"checkpoints are occurring too frequently", &E::checkpoints_too_frequent, first},
        {"duration: ", &E::duration, first},
        {"temporary file: ", &E::temporary_file, first},
        {"connection received: ", &E::connection, first},
        {"connection authorized: ", &E::connection, first},
        {"replication connection authorized: ", &E::connection, first},
        {"disconnection: ", &E::disconnection, first},
        {"starting PostgreSQL ", &E::server_start, first},
        {"listening on ", &E::server_listens, first},
        {"database system is ready to accept ", &E::server_ready, first},
        {"database system is shut down", &E::server_stop, first},
        {"received ", &E::server_stop, first},
        {"server process (PID ", &E::crash, all},
        {"database system was interrupted", &E::crash, first},
        {"database system was not properly shut down", &E::crash, first},
        {"parameter \"", &E::parameter_changed, first},
    };
    return table;
  }

  /// The first row whose beginning fits, by way of the first letter.
  static const Row* find(std::string_view text) {
    static const auto by_letter = [] {
      std::array<std::vector<const Row*>, 128> index;
      for (const Row& row : rows())
        index[static_cast<std::size_t>(row.begins[0])].push_back(&row);
      return index;
    }();
    const auto letter = text.empty() ? 0U : static_cast<unsigned char>(text[0]);
    if (letter >= by_letter.size())
      return nullptr;
    for (const Row* row : by_letter[letter])
      if (text.starts_with(row->begins))
        return row;
    return nullptr;
  }
};

LogEvents::Need LogEvents::need_of(LogLabel level, std::string_view text) {
  if (level == LogLabel::Error or level == LogLabel::Fatal or level == LogLabel::Panic)
    return Need::AllParts; // the context tells an apply worker's
  const auto* row = LogEventTable::find(text);
  return row == nullptr ? Need::Nothing : row->need;
}

void LogEvents::accept(const LogRecord& record) {
  const auto* row = LogEventTable::find(record.text);
  has_booked_ = false;
  if (row != nullptr) {
    ++known_messages_;
    (this->*row->handler)(record);
  }
  if (has_booked_)
    return;
  if (record.level == LogLabel::Error or record.level == LogLabel::Fatal or record.level == LogLabel::Panic)
    any_error(record);
}

void LogEvents::finish() {
  for (const auto& [pid, wait] : lock_waits_)
    context_.observation.add({.type = "lock_wait",
                              .begin_us = wait.begin_us,
                              .end_us = {},
                              .attributes = {{"pid", pid},
                                             {"mode", wait.mode},
                                             {"object", wait.object},
                                             {"holders", wait.holders},
                                             {"end", std::string("not in this log")}},
                              .place = context_.place(wait.line, wait.line)});
  lock_waits_.clear();
}

void LogEvents::book(std::string type, const LogRecord& record, Attributes attributes,
                     std::optional<TimeUs> begin_us, std::uint64_t first_line) {
  has_booked_ = true;
  if (record.pid != 0)
    attributes.insert(attributes.begin(), {"pid", record.pid});
  Event event{.type = std::move(type),
              .begin_us = begin_us.value_or(record.at_us),
              .end_us = {},
              .attributes = std::move(attributes),
              .place = context_.place(first_line > 0 ? first_line : record.first_line, record.last_line)};
  if (begin_us)
    event.end_us = record.at_us;
  context_.observation.add(std::move(event));
}

void LogEvents::sample(std::string_view metric, const LogRecord& record, double value, const Labels& labels) {
  context_.observation.series(metric, context_.source, labels).add({record.at_us, value, record.first_line});
}

void LogEvents::counter(std::string_view metric, const LogRecord& record, double value,
                        const Labels& labels) {
  context_.observation.series(metric, context_.source, labels, true)
      .add({record.at_us, value, record.first_line});
}

/// Processes write one log together: small steps back are their race. Large ones are a clock or a zone that
/// was changed, or a second log behind the first.
void LogEvents::see(const LogRecord& record) {
  ++messages_;
  if (not record.has_time)
    return;
  context_.info().see(record.at_us);
  constexpr TimeUs tolerated_us = 5'000'000;
  if (has_time_ and record.at_us + tolerated_us < latest_us_) {
    context_.problems.add(
        {.file = context_.info().file,
         .line = record.first_line,
         .kind = "clock_back",
         .message =
             fmt::format("the time goes back by {:.3f} s, from {} to {}: the clock or the zone was changed, "
                         "or two logs stand in one file; spans across this line are not to be trusted",
                         static_cast<double>(latest_us_ - record.at_us) * 1e-6, format_time(latest_us_),
                         format_time(record.at_us))});
    latest_us_ = record.at_us;
  }
  latest_us_ = has_time_ ? std::max(latest_us_, record.at_us) : record.at_us;
  has_time_ = true;
}

void LogEvents::forget_processes() {
  finish();
  walsenders_.clear();
  apply_workers_.clear();
  checkpoint_reasons_.clear();
}

std::string format_lsn(std::uint64_t lsn) { return fmt::format("{:X}/{:X}", lsn >> 32U, lsn & 0xFFFFFFFFU); }

} // namespace replisim::readers
