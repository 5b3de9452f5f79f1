// WAL records: how long one is, and sums of them.
#pragma once

#include "models/base/units.hpp"

namespace replisim::wal {

/// Data pages and WAL pages: BLCKSZ, XLOG_BLCKSZ.
inline constexpr Bytes page_bytes = 8192;
inline constexpr Bytes page_header_bytes = 24;
inline constexpr Bytes item_pointer_bytes = 4;
/// Header of one page image with a hole and no compression: XLogRecordBlockImageHeader.
inline constexpr Bytes image_header_bytes = 5;

/// x86-64's MAXALIGN.
constexpr Bytes max_align(Bytes length) { return (length + 7) / 8 * 8; }

/// Length of a record, unaligned: 24 header, 20 for the first block reference, 8 for each further one
/// of the same relation, main data with a length of 1 byte (4 above 255) and a tag, and the blocks'
/// data (xloginsert.c: XLogRecordAssemble).
constexpr Bytes record_length(Bytes main_bytes, Bytes block_bytes, int further_blocks = 0) {
  const Bytes main_header = main_bytes > 255 ? 5 : 2;
  return 24 + 20 + 8 * further_blocks + main_header + main_bytes + block_bytes;
}

/// Records written so far; each starts at a multiple of 8 bytes.
struct RecordSum {
  Bytes bytes = 0;
  std::int64_t records = 0;

  void add(std::int64_t count, Bytes length) {
    bytes += count * max_align(length);
    records += count;
  }

  /// Page images carried by `count` records of `length` that are already counted.
  void add_images(std::int64_t count, Bytes length, Bytes image_bytes) {
    bytes += count * (max_align(length + image_header_bytes + image_bytes) - max_align(length));
  }

  /// `times` repetitions of what `other` holds.
  void add_all(const RecordSum& other, std::int64_t times = 1) {
    bytes += times * other.bytes;
    records += times * other.records;
  }
};

} // namespace replisim::wal
