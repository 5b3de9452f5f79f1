// Rows of several changes: values out of line, INSERT ... ON CONFLICT, and what a transaction that holds half
// a row does to streaming.
#include "models/reorder_buffer.hpp"
#include "tests/models/sample_tables.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace replisim;

namespace {

/// Key of 4 bytes and a document of `width` bytes, as it is stored.
Table documents(int width) {
  Table table;
  table.name = std::string("d");
  table.columns = {{"id", ColumnType::Int4, 0, {}}, {"doc", ColumnType::Text, width, {}}};
  table.primary_key = {0};
  return table;
}

StatementStep statement(Operation operation, std::vector<Assignment> assignments = {}) {
  StatementStep step;
  step.operation = operation;
  step.table = std::string("d");
  step.rows = 1;
  step.assignments = std::move(assignments);
  return step;
}

bool never(Xid) { return false; }

/// One transaction of `rows` speculative inserts of 144 bytes, each confirmed by a change of 80.
ReorderBuffer upserts(Bytes limit_bytes, Rows rows) {
  static const Table table = documents(10);
  static const StatementStep step = statement(Operation::Insert);
  static const RowShape shape{{144}, 80, true};
  ReorderBuffer buffer(limit_bytes, true, traits_of({17, 0}));
  ChangeRun run{Xid{700}, &table, &step, {1, rows}, 80};
  run.shape = &shape;
  buffer.add(Xid{700}, run, never);
  return buffer;
}

} // namespace

TEST_CASE("values move out of line until the row fits 2032 bytes") {
  CHECK(out_of_line_columns(documents(1'900)).empty());
  CHECK(tuple_len(documents(1'900)) == 24 + 4 + 4 + 1'900);
  CHECK(out_of_line_columns(documents(10'000)) == std::vector<int>{1});
  CHECK(tuple_len(documents(10'000)) == 24 + 4 + 18);
  Table two = documents(1'500);
  two.columns.push_back({"note", ColumnType::Text, 1'000, {}});
  CHECK(out_of_line_columns(two) == std::vector<int>{1}); // the larger one is enough
}

TEST_CASE("a document of 10,000 bytes is six chunks before its row") {
  const RowShape shape = row_shape(documents(10'000), statement(Operation::Insert));
  const Bytes chunk = 80 + 24 + 36 + 1'996;
  CHECK(shape.before == std::vector<Bytes>{chunk, chunk, chunk, chunk, chunk, 80 + 24 + 36 + 20});
  CHECK(shape.last == 80 + 24 + 46);
  CHECK(shape.incomplete);
  CHECK(shape.changes() == 7);
  CHECK(toast_work(documents(10'000), statement(Operation::Insert)).inserted == 6);
}

TEST_CASE("an UPDATE leaves documents alone that it does not assign") {
  const Table table = documents(10'000);
  CHECK(row_shape(table, statement(Operation::Update)).before.empty());
  // Type, oid, 'N', number of columns; the key with 7 digits on average; one byte for the unchanged value.
  CHECK(message_body_bytes(table, Operation::Update, {1, 1}, {}) == 8 + 5 + 7 + 1);
  const RowShape written = row_shape(table, statement(Operation::Update, {{1, {}}}));
  CHECK(written.before.size() == 12); // six new chunks, six old ones deleted
  CHECK(written.before.back() == 80);
  CHECK(message_body_bytes(table, Operation::Update, {1, 1}, {{1, {}}}) == 8 + 5 + 7 + 5 + 10'000);
}

TEST_CASE("a DELETE queues the row and then its chunks") {
  const RowShape shape = row_shape(documents(10'000), statement(Operation::Delete));
  CHECK(shape.before == std::vector<Bytes>{80 + 24 + 28, 80, 80, 80, 80, 80});
  CHECK(shape.last == 80);
  CHECK_FALSE(shape.incomplete);
}

TEST_CASE("chunks and confirmations are WAL of their own") {
  const Table table = documents(10'000);
  const WalVolume row = statement_wal(table, Operation::Insert, 1'000, false);
  const WalVolume all = statement_wal(table, statement(Operation::Insert), 1'000, false);
  CHECK(all.records - row.records >= 12'000); // heap and index, six chunks a row
  CHECK(static_cast<double>(all.bytes - row.bytes) > 1'000 * 10'000.0);
  CHECK(static_cast<double>(all.bytes - row.bytes) < 1'000 * 11'500.0);
  StatementStep upsert = statement(Operation::Insert);
  upsert.speculative = true;
  const WalVolume confirmed = statement_wal(documents(10), upsert, 1'000, false);
  const WalVolume plain = statement_wal(documents(10), Operation::Insert, 1'000, false);
  CHECK(confirmed.bytes - plain.bytes == 48'000);
  CHECK(confirmed.records - plain.records == 1'000);
}

TEST_CASE(
    "a limit reached in the middle of a row spills, and what was spilled is streamed with the row's end") {
  // 292 rows are 65,408 bytes; the insertion of the 293rd reaches 64 kB, and it is not confirmed yet.
  const ReorderBuffer buffer = upserts(65'536, 1'000);
  CHECK(buffer.counters().spill_count == 3);
  CHECK(buffer.counters().spill_bytes == 3 * (292 * 224 + 144));
  CHECK(buffer.counters().spill_txns == 1);
  CHECK(buffer.counters().stream_count == 3);
  CHECK(buffer.counters().stream_bytes == 3 * 293 * 224);
  CHECK(buffer.memory_bytes() == (1'000 - 3 * 293) * 224);
  CHECK(buffer.spill_file_bytes() == 0);
}

TEST_CASE("a limit reached with the end of a row streams as ever") {
  const ReorderBuffer buffer = upserts(292 * 224 + 145, 1'000);
  CHECK(buffer.counters().spill_count == 0);
  CHECK(buffer.counters().stream_count == 3);
  CHECK(buffer.counters().stream_bytes == 3 * 293 * 224);
}

TEST_CASE("what was spilled while nothing could be streamed is streamed with the next change") {
  static const Table table = documents(10);
  static const StatementStep step = statement(Operation::Insert);
  ReorderBuffer buffer(65'536, true, traits_of({17, 0}));
  buffer.allow_streaming(false);
  buffer.add(Xid{700}, {Xid{700}, &table, &step, {1, 500}, 200}, never);
  CHECK(buffer.counters().spill_count == 1);
  CHECK(buffer.counters().stream_count == 0);
  buffer.allow_streaming(true);
  const Added next = buffer.add(Xid{700}, {Xid{700}, &table, &step, {501, 1}, 200}, never);
  REQUIRE(next.evictions.size() == 1);
  CHECK(next.evictions[0].kind == Eviction::Kind::Stream);
  CHECK(next.evictions[0].changes == 501);
  CHECK(next.evictions[0].restored == 328);
}

TEST_CASE("20,000 savepoints of a row: a file each, and before 17 a search through all of them each time") {
  static const Table table = documents(10);
  static const StatementStep step = statement(Operation::Insert);
  for (const int major : {16, 17}) {
    ReorderBuffer buffer(65'536, false, traits_of({major, 0}));
    ReorderBuffer::Effort effort;
    for (std::uint32_t i = 1; i <= 20'000; ++i) {
      buffer.at(Lsn{i * 100}, Lsn{i * 100 + 100});
      buffer.add(Xid{700}, {Xid{700 + i}, &table, &step, {i, 1}, 233}, never);
      const auto more = buffer.take_effort();
      effort.files += more.files;
      effort.searched += more.searched;
    }
    CHECK(buffer.spill_files() == 19'719); // as counted on a real server
    CHECK(effort.files == 19'719);
    // With the i-th savepoint, i + 1 entries are there.
    CHECK(effort.searched == (major < 17 ? (20'001LL * 20'002 - 282LL * 283) / 2 : 0));
  }
}

TEST_CASE("a large transaction has a spill file for each WAL segment") {
  static const Table table = documents(10);
  static const StatementStep step = statement(Operation::Insert);
  ReorderBuffer buffer(65'536, false, traits_of({17, 0}));
  constexpr std::uint64_t segment = 16 * 1024 * 1024;
  for (std::uint32_t i = 0; i < 10; ++i) { // each entry half a segment long
    buffer.at(Lsn{i * segment / 2}, Lsn{(i + 1) * segment / 2 - 1});
    buffer.add(Xid{700}, {Xid{700}, &table, &step, {1 + 100'000 * i, 100'000}, 233}, never);
  }
  CHECK(buffer.spill_files() == 5);
}

TEST_CASE("published columns, and binary values") {
  Table table = documents(100);
  const Bytes all = message_body_bytes(table, Operation::Insert, {1, 1}, {});
  CHECK(all == 8 + 5 + 7 + 5 + 100);
  table.binary = true;
  CHECK(message_body_bytes(table, Operation::Insert, {1, 1}, {}) == 8 + 5 + 4 + 5 + 100);
  table.published_columns = {true, false};
  CHECK(message_body_bytes(table, Operation::Insert, {1, 1}, {}) == 8 + 5 + 4);
  CHECK(columns_sent(table, Operation::Insert) == 1);
  CHECK(relation_message_bytes(documents(100)) - relation_message_bytes(table) == 1 + 3 + 1 + 4 + 4);
  CHECK(binary_bytes({"n", ColumnType::Numeric, 6, {}}) == 12);
  CHECK(binary_bytes({"u", ColumnType::Uuid, 0, {}}) == 16);
  CHECK(binary_bytes({"j", ColumnType::Jsonb, 50, {}}) == 51);
}
