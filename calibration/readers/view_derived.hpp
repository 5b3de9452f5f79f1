// What follows from rows of statistics views beside their own columns: lags and retained WAL in bytes, states
// of slots, waits for locks, bytes of I/O counted in operations, and how far the clocks of two nodes may be
// apart.
#pragma once

#include "calibration/readers/reader.hpp"
#include "calibration/readers/views.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace replisim::readers {

using ViewRow = std::map<std::string, std::string, std::less<>>;

class ViewDerivations {
public:
  explicit ViewDerivations(ReadContext& context) : context_(context) {}

  /// The server's own row in what calibration/collect.sql gathers.
  void server(const ViewRow& values, std::optional<TimeUs> at, std::uint64_t line);
  void row(const ViewKind& view, const ViewRow& values, const Labels& labels, std::optional<TimeUs> at,
           std::uint64_t line);
  void finish();

private:
  struct Wait {
    TimeUs seen_us = 0;
    std::string mode, object;
    std::uint64_t line = 0;
  };
  struct LastSlot {
    double restart_lsn = 0;
    std::uint64_t line = 0;
  };

  void replication(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at, std::uint64_t line);
  void slot(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at, std::uint64_t line);
  void subscription(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at,
                    std::uint64_t line);
  void io(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at, std::uint64_t line);
  void lock(const ViewRow& values, const Labels& labels, std::optional<TimeUs> at, std::uint64_t line);
  void count_locks();
  void say_once(const char* type, const std::string& slot, const std::string& message,
                std::optional<TimeUs> at, std::uint64_t line);
  void sample(std::string_view metric, const Labels& labels, double value, std::optional<TimeUs> at,
              std::uint64_t line, bool is_counter = false);

  ReadContext& context_;
  std::optional<TimeUs> wal_at_;
  double wal_lsn_ = 0;
  bool has_wal_ = false;
  double most_advanced_ = 0; ///< of all slots' positions
  std::map<std::string, LastSlot> slots_;
  std::set<std::pair<std::string, std::string>> said_;
  std::map<std::pair<std::string, TimeUs>, Wait> waits_; ///< by process and its waitstart
  std::optional<TimeUs> locks_at_;
  std::map<Labels, std::pair<double, std::uint64_t>> locks_; ///< of the snapshot in hand: how many, last line
};

} // namespace replisim::readers
