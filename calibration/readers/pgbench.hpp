// What pgbench leaves behind: its summary (old and new wording) with progress lines, the logs of --log and
// those of --aggregate-interval.
#pragma once

#include "calibration/readers/reader.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace replisim::readers {

std::unique_ptr<Reader> make_pgbench_output_reader();
std::unique_ptr<Reader> make_pgbench_log_reader();
std::unique_ptr<Reader> make_pgbench_aggregate_reader();

/// One line of a per-transaction log: `client transaction latency_us script epoch_s epoch_us [lag_us]
/// [retries]`. The time is that of the transaction's end.
struct PgbenchTransaction {
  std::int64_t client = 0;
  std::int64_t script = 0;
  TimeUs end_us = 0;
  std::int64_t latency_us = 0; ///< of a completed one
  std::string_view outcome; ///< empty: completed; "skipped", "failed", "serialization", "deadlock", "other"
  std::optional<std::int64_t> lag_us;
  std::optional<std::int64_t> retries;
};

/// Nothing when the line is none, with the reason in `why`.
std::optional<PgbenchTransaction> parse_pgbench_transaction(std::string_view line, std::string& why);

/// One line of an aggregated log: `start_s n sum sum2 min max [...]`, microseconds.
struct PgbenchInterval {
  TimeUs start_us = 0;
  double transactions = 0;
  double latency_sum_us = 0, latency_sum2_us2 = 0, latency_min_us = 0, latency_max_us = 0;
  double skipped = 0, retried = 0, retries = 0, failures = 0;
};

/// 6 fields (13 and before), 10 or 11 with a rate limit, 15 (15 to 18) or 16 (19).
std::optional<PgbenchInterval> parse_pgbench_interval(std::string_view line, std::string& why);

} // namespace replisim::readers
