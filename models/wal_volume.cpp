// WAL volume of statements: heap records, index records, page images, page headers.
#include "models/wal_volume.hpp"

#include "models/base/check.hpp"
#include "models/btree.hpp"
#include "models/wal_record.hpp"

#include <algorithm>

namespace replisim {

namespace {

using wal::RecordSum;

constexpr Bytes tuple_header_bytes = 23;    // not logged: rebuilt from xl_heap_header
constexpr Bytes logged_tuple_header = 5;    // xl_heap_header
constexpr Bytes insert_main_bytes = 3;      // xl_heap_insert
constexpr Bytes delete_main_bytes = 8;      // xl_heap_delete
constexpr Bytes update_main_bytes = 14;     // xl_heap_update
constexpr Bytes lock_main_bytes = 8;        // xl_heap_lock
constexpr Bytes largest_index_entry = 2704; // BTMaxItemSize: a third of a page
constexpr Bytes secondary_entry_bytes = 16; // header and a key of up to 8 bytes
constexpr Bytes segment_bytes = 16 * 1024 * 1024;
constexpr Bytes long_header_extra_bytes = 16; // the first page of a segment says more

Bytes logged_tuple_bytes(Bytes t_len) {
  return t_len > 0 ? logged_tuple_header + t_len - tuple_header_bytes : 0;
}

/// Of the first `rows` updates, those whose new version stays on its page.
Rows hot_rows(const Table& table, Rows rows) {
  return std::min(rows, static_cast<Rows>(static_cast<double>(rows) * table.hot_updates + 0.5));
}

constexpr Bytes lock_length = wal::record_length(lock_main_bytes, 0);

// The delete's record, which carries the old row's identity.
Bytes delete_length(const Table& table) {
  return wal::record_length(delete_main_bytes + logged_tuple_bytes(old_tuple_len(table, Operation::Delete)),
                            0);
}

void add_heap_records(const Table& table, Operation operation, Rows rows, RecordSum& sum) {
  const Bytes row = logged_tuple_bytes(tuple_len(table));
  const Bytes old = logged_tuple_bytes(old_tuple_len(table, operation));
  switch (operation) {
  case Operation::Insert:
    sum.add(rows, wal::record_length(insert_main_bytes, row));
    return;
  case Operation::Update: {
    const Rows hot = hot_rows(table, rows);
    sum.add(hot, wal::record_length(update_main_bytes + old, row));
    // The page is full, so the new version goes to another one: the old tuple is locked first.
    sum.add(rows - hot, lock_length);
    sum.add(rows - hot, wal::record_length(update_main_bytes + old, row, 1));
    return;
  }
  case Operation::Delete:
    sum.add(rows, delete_length(table));
    return;
  }
}

// Each existing page once, without its hole: page header and the rows with their item pointers.
void add_heap_images(const Table& table, Operation operation, Rows rows, RecordSum& sum) {
  const Bytes carrier = operation == Operation::Update ? lock_length : delete_length(table);
  const Rows per_page = rows_per_heap_page(table);
  const Bytes row = wal::item_pointer_bytes + wal::max_align(tuple_len(table));
  const auto image = [&](Rows held) {
    return std::min(wal::page_bytes, wal::page_header_bytes + held * row);
  };
  sum.add_images(rows / per_page, carrier, image(per_page));
  if (rows % per_page > 0) {
    const Rows page_start = rows - rows % per_page;
    const bool last = table.initial_rows >= rows and table.initial_rows - page_start < per_page;
    sum.add_images(1, carrier, image(last ? table.initial_rows - page_start : per_page));
  }
}

bool equal_images(const Table& table) {
  return std::none_of(table.primary_key.begin(), table.primary_key.end(), [&](int position) {
    const ColumnType type = table.columns.at(static_cast<std::size_t>(position)).type;
    return type == ColumnType::Float4 or type == ColumnType::Float8 or type == ColumnType::Numeric or
           type == ColumnType::Jsonb;
  });
}

IndexShape primary_key_index(const Table& table) {
  constexpr Bytes index_tuple_header = 8;
  const Column& leading = table.columns.at(static_cast<std::size_t>(table.primary_key.front()));
  const bool ascending = leading.value.kind == ColumnValue::Kind::Sequence;
  return {.entry_bytes =
              std::min(wal::max_align(index_tuple_header + key_data_bytes(table)), largest_index_entry),
          .order = ascending ? IndexShape::Order::Ascending : IndexShape::Order::Random,
          .deduplicates = equal_images(table)};
}

/// Heap-only versions have no index entries.
RecordSum index_wal(const IndexShape& index, const Table& table, Operation operation, Rows rows,
                    bool images) {
  if (operation == Operation::Insert)
    return index_insert_wal(index, table.initial_rows, rows, images);
  return index_update_wal(index, table.initial_rows, rows - hot_rows(table, rows), images);
}

// The WAL's own pages: a header on each, a longer one on the first of a segment. Counted from a page
// boundary: the place in the WAL where a statement starts moves the sum by a header at most.
Bytes with_page_headers(Bytes record_bytes) {
  const Bytes pages = record_bytes / (wal::page_bytes - wal::page_header_bytes);
  const Bytes bytes = record_bytes + pages * wal::page_header_bytes;
  return bytes + bytes / segment_bytes * long_header_extra_bytes;
}

} // namespace

WalVolume statement_wal(const Table& table, Operation operation, Rows rows, bool full_page_images) {
  REPLISIM_REQUIRE(rows >= 0, "{} rows", rows);
  RecordSum sum;
  add_heap_records(table, operation, rows, sum);
  // Inserts fill new pages, which are initialised by their first record and need no image.
  if (full_page_images and operation != Operation::Insert)
    add_heap_images(table, operation, rows, sum);
  if (operation != Operation::Delete) { // a deleted row's index entries stay until vacuum
    if (not table.primary_key.empty())
      sum.add_all(index_wal(primary_key_index(table), table, operation, rows, full_page_images));
    const IndexShape secondary{.entry_bytes = secondary_entry_bytes, .order = IndexShape::Order::Random};
    if (table.secondary_indexes > 0)
      sum.add_all(index_wal(secondary, table, operation, rows, full_page_images), table.secondary_indexes);
  }
  return {with_page_headers(sum.bytes), sum.records};
}

Bytes commit_record_bytes() {
  // header 24, main data header 2, time 8, flags 4, database and tablespace 8 (xact.c)
  return wal::max_align(24 + 2 + 8 + 4 + 8);
}

Bytes abort_record_bytes(std::size_t released) {
  // The time alone; with subtransactions, flags that say so, their number and their ids (xact.c).
  const Bytes listed = released == 0 ? 0 : 4 + 4 + 4 * static_cast<Bytes>(released);
  return wal::max_align(24 + 2 + 8 + listed);
}

Bytes prepare_record_bytes() {
  constexpr Bytes state_header = 72; // TwoPhaseFileHeader
  constexpr Bytes name = 16;
  constexpr Bytes locks =
      2 * (8 + 24); // of a table and its primary key: TwoPhaseRecordOnDisk, TwoPhaseLockRecord
  constexpr Bytes statistics = 8 + 80; // TwoPhasePgStatRecord
  constexpr Bytes end_record = 8;
  return wal::max_align(24 + 5 + state_header + name + locks + statistics + end_record);
}

Bytes prepared_name_bytes() {
  return wal::max_align(4 + 4 + 16); // xinfo, xid, name (xact.c, XACT_XINFO_HAS_TWOPHASE and _GID)
}

Bytes top_xid_bytes() {
  return wal::max_align(1 + 4); // block id and xid (xloginsert.c, XLR_BLOCK_ID_TOPLEVEL_XID)
}

} // namespace replisim
