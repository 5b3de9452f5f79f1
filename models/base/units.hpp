// Quantities with units: reading them from text, printing them for people.
//
// Sizes follow PostgreSQL: kB, MB, GB, TB are powers of 1024. Network rates in bits (kbps, Mbps,
// Gbps) are powers of 1000, as links are sold. Rates in bytes (kB/s, MB/s, GB/s) are powers of 1024.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace replisim {

using Bytes = std::int64_t;
using Rows = std::int64_t;

/// A WAL position, in bytes since the start of the simulated WAL.
struct Lsn {
  std::uint64_t value = 0;
  auto operator<=>(const Lsn&) const = default;
  Lsn operator+(Bytes bytes) const { return {value + static_cast<std::uint64_t>(bytes)}; }
  Bytes operator-(Lsn other) const { return static_cast<Bytes>(value) - static_cast<Bytes>(other.value); }
};

/// A (sub)transaction id. Ids are handed out by the publisher in order of first write.
struct Xid {
  std::uint32_t value = 0;
  auto operator<=>(const Xid&) const = default;
  bool valid() const { return value != 0; }
};

/// `ServerDuration` is a duration with the units PostgreSQL's settings know (no ns). `EventRate` is how often
/// something happens, per second, minute or hour.
enum class Dimension { Duration, ServerDuration, Size, ByteRate, Percent, Frequency, EventRate };

/// What `parse_quantity` found: a value in the base unit, or a sentence saying what is wrong.
struct ParsedQuantity {
  bool ok = false;
  double value = 0;    ///< s, bytes, bytes/s, fraction (20% is 0.2), Hz, events/s
  std::string problem; ///< e.g. "unit 'Mb' is not a size; use B, kB, MB, GB or TB"
};

/// Reads "64kB", "0.1ms", "10Gbps", "250MB/s", "20%", "2.8GHz", "500/s". White space before the unit is
/// allowed. A bare number is accepted only when `default_unit` is given (a GUC's base unit, such as
/// "kB" for logical_decoding_work_mem, "8kB" for wal_buffers or "ms" for wal_writer_delay). Bare 0 is
/// always accepted.
/// Durations know ns, us, ms, s, min, h, d. Negative values are parsed; ranges are the caller's.
ParsedQuantity parse_quantity(std::string_view text, Dimension dimension, std::string_view default_unit = {});

/// Reads a plain number: decimal, finite, nothing after it. Nothing when `text` is anything else.
std::optional<double> parse_number(std::string_view text);

/// The units `parse_quantity` knows for a dimension, as a phrase: "ns, us, ms, s, min, h or d".
std::string unit_names(Dimension dimension);

std::string format_bytes(double bytes);      ///< "1.2 GB", "48.5 MB", "512 B"
std::string format_duration(double seconds); ///< "37.3 s", "12.1 ms", "2 h 05 min"
std::string format_count(std::int64_t n);    ///< "5,000,000"

} // namespace replisim
