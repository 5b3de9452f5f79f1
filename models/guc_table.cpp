// The data of the settings table: PostgreSQL's names, base units, defaults and ranges.
//
// Ranges are written in base units, as in guc_tables.c (guc_parameters.dat since 19). Defaults are
// those of version 17; where another version differs, the sentence says so. Of the settings marked
// `modelled` only checkpoint_completion_target does: the scenario loader sets it for servers before 14.

#include "models/settings.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace replisim {

namespace {

constexpr double int_max = 2147483647;
constexpr double max_backends = 262143;
constexpr double max_parallel_workers = 1024;
constexpr double real_max = std::numeric_limits<double>::max();

using Group = std::vector<GucDescriptor>;

double si_of(std::string_view unit, double count) {
  if (unit == "kB")
    return count * 1024;
  if (unit == "8kB")
    return count * 8 * 1024;
  if (unit == "MB")
    return count * 1024 * 1024;
  if (unit == "ms")
    return count / 1000;
  return unit == "min" ? count * 60 : count;
}

GucDescriptor row(GucType type, std::string_view name, std::string_view unit, std::string_view initial,
                  double low, double high, std::string_view sentence) {
  GucDescriptor guc{};
  guc.name = name;
  guc.type = type;
  guc.unit = unit;
  guc.default_value = initial;
  guc.minimum = low == -1 ? -1 : si_of(unit, low);
  guc.maximum = si_of(unit, high);
  guc.sentence = sentence;
  return guc;
}

GucDescriptor flag(std::string_view name, std::string_view initial, std::string_view sentence) {
  return row(GucType::Bool, name, "", initial, 0, 1, sentence);
}

GucDescriptor count(std::string_view name, std::string_view initial, double low, double high,
                    std::string_view sentence) {
  return row(GucType::Integer, name, "", initial, low, high, sentence);
}

GucDescriptor real(std::string_view name, std::string_view initial, double low, double high,
                   std::string_view sentence) {
  return row(GucType::Real, name, "", initial, low, high, sentence);
}

GucDescriptor size(std::string_view name, std::string_view unit, std::string_view initial, double low,
                   double high, std::string_view sentence) {
  return row(GucType::Size, name, unit, initial, low, high, sentence);
}

GucDescriptor duration(std::string_view name, std::string_view unit, std::string_view initial, double low,
                       double high, std::string_view sentence) {
  return row(GucType::Duration, name, unit, initial, low, high, sentence);
}

GucDescriptor choice(std::string_view name, std::string_view initial,
                     std::initializer_list<std::string_view> allowed, std::string_view sentence) {
  GucDescriptor guc = row(GucType::Enum, name, "", initial, 0, 0, sentence);
  guc.allowed = allowed;
  return guc;
}

GucDescriptor text(std::string_view name, std::string_view initial, std::string_view sentence) {
  return row(GucType::Text, name, "", initial, 0, 0, sentence);
}

GucDescriptor modelled(GucDescriptor guc) {
  guc.modelled = true;
  return guc;
}

GucDescriptor since(int major, GucDescriptor guc) {
  guc.since_major = major;
  return guc;
}

GucDescriptor until(int major, GucDescriptor guc) {
  guc.until_major = major;
  return guc;
}

GucDescriptor power_of_two(GucDescriptor guc) {
  guc.power_of_two = true;
  return guc;
}

Group replication() {
  return {
      choice("wal_level", "replica", {"minimal", "replica", "logical"},
             "How much WAL says; decoding needs logical (from 19 on, replica is raised on demand)."),
      modelled(since(13, size("logical_decoding_work_mem", "kB", "64MB", 64, int_max,
                              "Memory of a walsender's reorder buffer before it spills or streams."))),
      since(17, choice("debug_logical_replication_streaming", "buffered", {"buffered", "immediate"},
                       "For tests: immediate evicts after each change.")),
      since(16, until(16, choice("logical_replication_mode", "buffered", {"buffered", "immediate"},
                                 "Name that debug_logical_replication_streaming had in 16."))),
      count("max_wal_senders", "10", 0, max_backends, "Most walsender processes at a time."),
      count("max_replication_slots", "10", 0, max_backends,
            "Most replication slots (before 18, origins too)."),
      since(18, count("max_active_replication_origins", "10", 0, max_backends,
                      "Most replication origins a subscriber tracks at a time.")),
      modelled(duration("wal_sender_timeout", "ms", "60s", 0, int_max,
                        "A walsender ends a connection silent for so long; 0 never.")),
      since(19, duration("wal_sender_shutdown_timeout", "ms", "-1", -1, int_max,
                         "How long a shutdown waits for receivers to catch up; -1 without end.")),
      modelled(duration("wal_receiver_timeout", "ms", "60s", 0, int_max,
                        "A receiver or apply worker gives up a silent sender after so long; 0 never.")),
      modelled(duration("wal_receiver_status_interval", "s", "10s", 0, 2147483,
                        "Longest time between two status reports of an apply worker.")),
      modelled(duration("wal_retrieve_retry_interval", "ms", "5s", 1, int_max,
                        "Least time between two starts of the same apply worker.")),
      modelled(
          since(13, size("max_slot_wal_keep_size", "MB", "-1", -1, int_max,
                         "Most WAL a slot may retain before a checkpoint invalidates it; -1 any amount."))),
      modelled(since(
          13, size("wal_keep_size", "MB", "0", 0, int_max, "WAL kept for standbys whatever the slots say."))),
      until(12, count("wal_keep_segments", "0", 0, int_max, "WAL segments kept for standbys.")),
      modelled(since(18, duration("idle_replication_slot_timeout", "s", "0", 0, int_max,
                                  "A slot unused for so long is invalidated by a checkpoint; 0 never."))),
      since(17, text("synchronized_standby_slots", "",
                     "Physical slots that must have received WAL before failover slots send it.")),
      since(17, flag("sync_replication_slots", "off", "A standby copies the failover slots of its primary.")),
      modelled(
          text("synchronous_standby_names", "", "Standbys and subscriptions a commit may have to wait for.")),
      modelled(count("max_logical_replication_workers", "4", 0, max_backends,
                     "Most leader, parallel apply and table-sync workers of a server.")),
      count("max_sync_workers_per_subscription", "2", 0, max_backends,
            "Most tables of a subscription copied at a time."),
      modelled(since(16, count("max_parallel_apply_workers_per_subscription", "2", 0, max_parallel_workers,
                               "Most parallel apply workers of a subscription."))),
      modelled(
          count("max_worker_processes", "8", 0, max_backends, "Background workers of a server, all kinds.")),
      flag("track_commit_timestamp", "off", "Commit times are kept; needed to tell some apply conflicts."),
      flag("hot_standby_feedback", "off", "A standby reports its oldest transaction to the primary."),
  };
}

Group wal() {
  return {
      modelled(flag("fsync", "on", "WAL is flushed to disk.")),
      modelled(choice("synchronous_commit", "on", {"on", "off", "local", "remote_write", "remote_apply"},
                      "What a commit waits for.")),
      modelled(
          flag("full_page_writes", "on", "A page's first change after a checkpoint logs the whole page.")),
      modelled(size("wal_buffers", "8kB", "-1", -1, 262143,
                    "WAL in memory not yet written; -1 means shared_buffers/32, at most one segment.")),
      modelled(
          duration("wal_writer_delay", "ms", "200ms", 1, 10000, "Pause between rounds of the WAL writer.")),
      size("wal_writer_flush_after", "8kB", "1MB", 0, int_max,
           "The WAL writer flushes within its delay once so much is unflushed."),
      choice("wal_sync_method", "fdatasync", {"fsync", "fdatasync", "open_sync", "open_datasync"},
             "The system call that flushes WAL."),
      choice("wal_compression", "off", {"on", "off", "pglz", "lz4", "zstd"},
             "Compression of full-page images (before 15 on or off only)."),
      flag("wal_log_hints", "off", "Hint bit changes log whole pages too."),
      since(12, flag("wal_init_zero", "on", "New WAL segments are filled with zeros.")),
      since(12, flag("wal_recycle", "on", "Old WAL segments are renamed and used again.")),
      since(13, size("wal_skip_threshold", "kB", "2MB", 0, int_max,
                     "With wal_level minimal: new tables above it are flushed instead of logged.")),
      power_of_two(size("wal_segment_size", "B", "16MB", 1048576, 1073741824,
                        "Size of a WAL segment file, chosen when the cluster is created.")),
      count("commit_delay", "0", 0, 100000, "Microseconds a commit waits for others to flush with it."),
      count("commit_siblings", "5", 0, 1000, "Open transactions needed for commit_delay to apply."),
      modelled(
          duration("checkpoint_timeout", "s", "5min", 30, 86400, "Longest time between two checkpoints.")),
      modelled(real("checkpoint_completion_target", "0.9", 0, 1,
                    "Share of the checkpoint interval over which writes are spread (0.5 before 14).")),
      size("checkpoint_flush_after", "8kB", "256kB", 0, 256,
           "Checkpoint writes forced out after so much; 0 never."),
      duration("checkpoint_warning", "s", "30s", 0, int_max,
               "Checkpoints closer than this are logged; 0 never."),
      modelled(
          size("max_wal_size", "MB", "1GB", 2, int_max, "WAL between checkpoints that starts one early.")),
      size("min_wal_size", "MB", "80MB", 2, int_max, "WAL files below this total are recycled, not removed."),
      choice("archive_mode", "off", {"off", "on", "always"}, "Finished WAL segments are archived."),
      text("archive_command", "", "Shell command that archives a segment."),
      duration("archive_timeout", "s", "0", 0, 1073741823, "A segment is closed after so long; 0 never."),
      since(17, flag("summarize_wal", "off", "A process summarises WAL for incremental backups.")),
  };
}

Group memory_and_io() {
  return {
      size("shared_buffers", "8kB", "128MB", 16, 1073741823, "Pages of tables and indexes in shared memory."),
      size("temp_buffers", "8kB", "8MB", 100, 1073741823, "Memory of a session for temporary tables."),
      size("work_mem", "kB", "4MB", 64, int_max, "Memory of one sort or hash step."),
      since(13,
            real("hash_mem_multiplier", "2.0", 1, 1000, "Hash steps get so many work_mem (1.0 before 15).")),
      size("maintenance_work_mem", "kB", "64MB", 64, int_max,
           "Memory of VACUUM, CREATE INDEX and the like (at least 1MB before 17)."),
      size("autovacuum_work_mem", "kB", "-1", -1, int_max,
           "As maintenance_work_mem, for autovacuum; -1 the same."),
      choice("huge_pages", "try", {"off", "on", "try"}, "Huge memory pages for shared memory."),
      text("shared_preload_libraries", "", "Libraries loaded at server start."),
      size("temp_file_limit", "kB", "-1", -1, int_max, "Most temporary files of a session; -1 no limit."),
      count("max_files_per_process", "1000", 64, int_max, "Most files a process keeps open."),
      count("effective_io_concurrency", "1", 0, 1000, "Concurrent reads a session asks for (16 from 18 on)."),
      since(13, count("maintenance_io_concurrency", "10", 0, 1000,
                      "The same for maintenance work (16 from 18 on).")),
      since(18,
            choice("io_method", "worker", {"sync", "worker", "io_uring"}, "How asynchronous I/O is done.")),
      since(18, until(18, count("io_workers", "3", 1, 32, "I/O worker processes, for io_method worker."))),
      size("backend_flush_after", "8kB", "0", 0, 256, "Backend writes forced out after so much; 0 never."),
      duration("bgwriter_delay", "ms", "200ms", 10, 10000, "Pause between rounds of the background writer."),
      count("bgwriter_lru_maxpages", "100", 0, 1073741823,
            "Most pages the background writer writes a round."),
      real("bgwriter_lru_multiplier", "2.0", 0, 10,
           "Pages it cleans, as a multiple of those recently needed."),
      size("bgwriter_flush_after", "8kB", "512kB", 0, 256, "Its writes forced out after so much; 0 never."),
      size("effective_cache_size", "8kB", "4GB", 1, int_max, "Cache the planner counts on."),
      real("random_page_cost", "4.0", 0, real_max, "Planner's cost of a page read at random."),
      real("seq_page_cost", "1.0", 0, real_max, "Planner's cost of a page read in sequence."),
      count("default_statistics_target", "100", 1, 10000, "How much ANALYZE samples and keeps."),
  };
}

Group processes_and_locks() {
  return {
      modelled(count("max_connections", "100", 1, max_backends, "Most client connections.")),
      count("superuser_reserved_connections", "3", 0, max_backends, "Connections kept for superusers."),
      count("port", "5432", 1, 65535, "TCP port of the server."),
      text("listen_addresses", "localhost", "Addresses the server listens on."),
      count("max_parallel_workers", "8", 0, max_parallel_workers, "Most workers of parallel queries."),
      count("max_parallel_workers_per_gather", "2", 0, max_parallel_workers,
            "Most workers of one plan step."),
      since(11, count("max_parallel_maintenance_workers", "2", 0, max_parallel_workers,
                      "Most workers of one CREATE INDEX or VACUUM.")),
      count("max_locks_per_transaction", "64", 10, int_max, "Size of the lock table, per connection."),
      count("max_prepared_transactions", "0", 0, max_backends, "Most prepared transactions; 0 forbids them."),
      modelled(duration("deadlock_timeout", "ms", "1s", 1, int_max,
                        "Wait for a lock before looking for a deadlock and logging the wait.")),
      modelled(duration("lock_timeout", "ms", "0", 0, int_max,
                        "A statement gives up waiting for a lock; 0 never.")),
      duration("statement_timeout", "ms", "0", 0, int_max,
               "A statement is cancelled after so long; 0 never."),
      since(17, duration("transaction_timeout", "ms", "0", 0, int_max,
                         "A session is ended when its transaction lasts so long; 0 never.")),
      duration("idle_in_transaction_session_timeout", "ms", "0", 0, int_max,
               "A session idle in a transaction is ended after so long; 0 never."),
      choice("default_transaction_isolation", "read committed",
             {"read uncommitted", "read committed", "repeatable read", "serializable"},
             "Isolation level of new transactions."),
  };
}

Group vacuum() {
  return {
      flag("autovacuum", "on", "Tables are vacuumed and analysed automatically."),
      count("autovacuum_max_workers", "3", 1, max_backends, "Most autovacuum workers at a time."),
      duration("autovacuum_naptime", "s", "1min", 1, 2147483, "Pause between two looks at a database."),
      count("autovacuum_vacuum_threshold", "50", 0, int_max, "Dead rows that start a vacuum, fixed part."),
      real("autovacuum_vacuum_scale_factor", "0.2", 0, 100,
           "Dead rows that start a vacuum, share of the table."),
      count("autovacuum_analyze_threshold", "50", 0, int_max,
            "Changed rows that start an analyze, fixed part."),
      real("autovacuum_analyze_scale_factor", "0.1", 0, 100,
           "Changed rows that start an analyze, share of the table."),
      count("autovacuum_vacuum_cost_limit", "-1", -1, 10000,
            "As vacuum_cost_limit, for autovacuum; -1 the same."),
      row(GucType::Real, "autovacuum_vacuum_cost_delay", "ms", "2ms", -1, 100,
          "As vacuum_cost_delay, for autovacuum; -1 the same (20ms before 12)."),
      row(GucType::Real, "vacuum_cost_delay", "ms", "0", 0, 100,
          "Pause of a vacuum that used up its cost limit."),
      count("vacuum_cost_limit", "200", 1, 10000, "Cost a vacuum may run up between two pauses."),
  };
}

Group logging() {
  return {
      flag("log_checkpoints", "on", "Checkpoints are logged (off before 15)."),
      flag("log_lock_waits", "off", "Waits for locks beyond deadlock_timeout are logged (on from 19 on)."),
      flag("log_replication_commands", "off", "Replication commands are logged."),
      flag("logging_collector", "off", "A process collects stderr into log files."),
      text("log_destination", "stderr", "Where the log goes."),
      text("log_line_prefix", "%m [%p] ", "What each log line starts with."),
      duration("log_min_duration_statement", "ms", "-1", -1, int_max,
               "Statements that last so long are logged; -1 none."),
      duration("log_autovacuum_min_duration", "ms", "10min", -1, int_max,
               "Autovacuum actions that last so long are logged; -1 none (the default before 15)."),
      size("log_temp_files", "kB", "-1", -1, int_max,
           "Temporary files of this size or more are logged; -1 none."),
      flag("track_io_timing", "off", "Reads and writes of pages are timed."),
      since(14, flag("track_wal_io_timing", "off", "Writes and flushes of WAL are timed.")),
  };
}

} // namespace

const std::vector<GucDescriptor>& guc_table() {
  static const Group table = [] {
    Group all;
    for (auto* group : {replication, wal, memory_and_io, processes_and_locks, vacuum, logging}) {
      const Group rows = group();
      all.insert(all.end(), rows.begin(), rows.end());
    }
    std::sort(all.begin(), all.end(),
              [](const GucDescriptor& a, const GucDescriptor& b) { return a.name < b.name; });
    return all;
  }();
  return table;
}

} // namespace replisim
