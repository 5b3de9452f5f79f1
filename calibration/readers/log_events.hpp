// What the messages of a server log mean for replication: each message that is known becomes an event, a span
// or a sample. One object reads one log; what belongs together over several messages (a lock wait and its
// end, a decoding start and its time-out) meets here.
#pragma once

#include "calibration/readers/log_record.hpp"
#include "calibration/readers/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace replisim::readers {

class LogEvents {
public:
  explicit LogEvents(ReadContext& context) : context_(context) {}

  /// How much of a message must be there before accept().
  enum class Need {
    Nothing,   ///< the message is of no interest
    FirstLine, ///< its first line says all
    AllParts,  ///< DETAIL or CONTEXT belong to it
  };
  static Need need_of(LogLabel level, std::string_view text);

  /// Takes note of a message where it stands in the file, of interest or not: its time, and that it is there.
  void see(const LogRecord& record);
  /// Takes a message of interest once it is complete; those of one process come in order.
  void accept(const LogRecord& record);
  /// Books what is open at the end of the log.
  void finish();

  std::uint64_t messages() const { return messages_; }
  std::uint64_t known_messages() const { return known_messages_; } ///< those that have a meaning here
  /// Whether messages are marked as the publisher's or the subscriber's.
  bool saw_publisher() const { return publisher_messages_ > 0; }
  bool saw_subscriber() const { return subscriber_messages_ > 0; }

private:
  friend struct LogEventTable;
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

  struct Walsender {
    std::string slot;
    std::string application;
    std::uint64_t commit_after_lsn = 0;
    std::uint64_t read_from_lsn = 0;
    TimeUs start_us = 0;
    bool is_decoding = false;
    std::uint64_t line = 0;
  };
  struct SlotStarts {
    std::uint64_t starts = 0;
    std::uint64_t same_position = 0; ///< starts in a row with an unchanged position
    std::uint64_t commit_after_lsn = 0;
  };
  struct LockWait {
    TimeUs begin_us = 0;
    std::string mode;
    std::string object;
    std::string holders;
    std::uint64_t line = 0;
  };
  struct ApplyWorker {
    std::string subscription;
    std::string kind;
  };

  // log_events_walsender.cpp
  void replication_command(const LogRecord& record);
  void decoding_start(const LogRecord& record);
  void consistent_point(const LogRecord& record);
  void slot_released(const LogRecord& record);
  void slot_busy(const LogRecord& record);
  void walsender_timeout(const LogRecord& record);
  void slot_invalidated(const LogRecord& record);
  void wal_removed(const LogRecord& record);
  void restart_lsn_moved(const LogRecord& record);
  void restart_lsn_stuck(const LogRecord& record);
  void changes_spilled(const LogRecord& record);
  void decoding_stats(const LogRecord& record);
  void end_decoding(std::int64_t pid, const LogRecord& record, std::string_view how,
                    std::optional<std::uint64_t> reached_lsn);

  // log_events_apply.cpp
  void apply_worker(const LogRecord& record);
  void apply_timeout(const LogRecord& record);
  void apply_failed(const LogRecord& record);
  void worker_exit(const LogRecord& record);
  void connection_lost(const LogRecord& record);
  void conflict(const LogRecord& record);
  void subscription_changed(const LogRecord& record);

  // log_events_server.cpp
  void lock_wait(const LogRecord& record);
  void deadlock(const LogRecord& record);
  void checkpoint_start(const LogRecord& record);
  void checkpoint_complete(const LogRecord& record);
  void checkpoints_too_frequent(const LogRecord& record);
  void duration(const LogRecord& record);
  void temporary_file(const LogRecord& record);
  void connection(const LogRecord& record);
  void disconnection(const LogRecord& record);
  void server_start(const LogRecord& record);
  void server_listens(const LogRecord& record);
  void server_ready(const LogRecord& record);
  void server_stop(const LogRecord& record);
  void crash(const LogRecord& record);
  void parameter_changed(const LogRecord& record);
  void any_error(const LogRecord& record);

  void book(std::string type, const LogRecord& record, Attributes attributes,
            std::optional<TimeUs> begin_us = {}, std::uint64_t first_line = 0);
  void sample(std::string_view metric, const LogRecord& record, double value, const Labels& labels = {});
  void counter(std::string_view metric, const LogRecord& record, double value, const Labels& labels = {});
  void forget_processes();

  ReadContext& context_;
  std::uint64_t messages_ = 0;
  std::uint64_t known_messages_ = 0;
  std::uint64_t publisher_messages_ = 0;
  std::uint64_t subscriber_messages_ = 0;
  TimeUs latest_us_ = 0;
  bool has_time_ = false;
  std::map<std::int64_t, Walsender> walsenders_;
  std::map<std::string, SlotStarts, std::less<>> slots_;
  std::map<std::int64_t, LockWait> lock_waits_;
  std::map<std::int64_t, ApplyWorker> apply_workers_;
  std::map<std::int64_t, std::string> checkpoint_reasons_;
  std::string server_version_;
  std::string last_port_;
  bool has_booked_ = false; ///< the message at hand became an event
};

/// LSNs as PostgreSQL prints them: "16/B374D848".
std::string format_lsn(std::uint64_t lsn);

} // namespace replisim::readers
