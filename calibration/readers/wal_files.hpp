// What pg_waldump prints: its records, summed up by kind and over time, and the table of --stats.
#pragma once

#include "calibration/readers/reader.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace replisim::readers {

std::unique_ptr<Reader> make_wal_dump_reader();
std::unique_ptr<Reader> make_wal_statistics_reader();

/// One row of the table of --stats: "Heap/INSERT  117 (  4.67)  24987 (  7.34)  16304 (  7.27)  41291
/// (  7.31)".
struct WalStatisticsRow {
  std::string_view record; ///< "Heap" or "Heap/INSERT"; "Total" is the last one
  std::int64_t count = 0;
  std::int64_t record_bytes = 0;
  std::int64_t image_bytes = 0;
  std::int64_t all_bytes = 0;
};

/// Nothing when the line is no such row.
std::optional<WalStatisticsRow> parse_wal_statistics(std::string_view line);

} // namespace replisim::readers
