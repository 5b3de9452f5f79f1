// The laws that hold at every moment of a run, on plain figures: who looks at a run fills them in
// (run_watch).
#pragma once

#include "models/base/units.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace replisim {

/// One publisher's WAL.
struct WalPositions {
  Lsn removed, flushed, inserted;
};

/// One slot, and what its client has.
struct SlotPositions {
  Lsn restart, saved, confirmed, sent, replayed;
  std::int64_t connections = 0; ///< how many times a walsender has started
  bool lost = false;            ///< its WAL may be gone, or it is not there (yet)
};

/// What one slot's decoding and its subscriber keep in memory and in files.
struct BufferSizes {
  Bytes memory = 0, memory_limit = 0;
  Bytes catalog_memory = 0; ///< part of memory
  Bytes spill_files = 0, peak_spill_files = 0;
  Bytes subscriber_files = 0, peak_subscriber_files = 0;
};

/// Where the time of one process went so far.
struct ProcessTimes {
  double busy_s = 0, device_s = 0, starved_s = 0, blocked_s = 0;
  bool may_have_ended = false; ///< one that has come to its end stops counting
};

/// Remembers what it was told, so that what may only go on cannot go back. Every check throws
/// InvariantViolation with the figures.
class RunLaws {
public:
  /// removed <= flushed <= inserted, and none of them goes back.
  void check_wal(const std::string& server, const WalPositions& now);
  /// saved <= restart_lsn <= confirmed_flush_lsn <= flushed, what is sent and applied is flushed, what may be
  /// needed is not removed, all of them only go on, and only what was sent or applied is confirmed.
  void check_slot(const std::string& name, const SlotPositions& now, const WalPositions& wal);
  /// What a slot is when the run begins.
  void begin_slot(const std::string& name, const SlotPositions& now) { slots_[name] = now; }

  /// No size is negative, memory is below its limit, files are at most as large as they ever were.
  static void check_sizes(const std::string& name, const BufferSizes& sizes);
  /// The parts are not negative and fill the process's life up to `now_s`.
  static void check_times(const std::string& process, const ProcessTimes& times, double now_s);
  /// Nothing is being applied on `server` and nobody else takes locks: no transaction is open there.
  static void check_no_transaction(const std::string& server, double oldest_transaction_s);
  /// Likewise: no rows of `table` are locked.
  static void check_no_holders(const std::string& server, const std::string& table, std::size_t holders);
  static void check_locking_transactions(const std::string& subscription, int count);

private:
  std::map<std::string, WalPositions> wal_;
  std::map<std::string, SlotPositions> slots_;
};

} // namespace replisim
