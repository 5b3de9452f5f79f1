// Tuple lengths, change sizes, message bodies: values counted by hand and seen on real servers.
#include "models/base/errors.hpp"
#include "models/protocol.hpp"
#include "models/table.hpp"
#include "tests/models/sample_tables.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using sample::one_column;
using sample::test_tab;

namespace {

// What a leader writes for one streamed transaction over rows 1..rows: each message's length and body,
// and the relation once.
Bytes changes_file_bytes(const Table& table, Operation operation, Rows rows,
                         const std::vector<Assignment>& assignments = {}) {
  return protocol::changes_file_length_bytes * (rows + 1) +
         message_body_bytes(table, operation, {1, rows}, assignments) + relation_message_bytes(table);
}

const Assignment d_is_1000{3, {ColumnValue::Kind::Constant, 1000}};

} // namespace

TEST_CASE("tuple lengths of test_tab") {
  // 24 header; a 0..4, b 4..37, c 40..48, d 48..56
  CHECK(tuple_len(test_tab()) == 80);
  CHECK(key_tuple_len(test_tab()) == 28);
  CHECK(key_data_bytes(test_tab()) == 4);
  CHECK(rows_per_heap_page(test_tab()) == 97); // 8168 / 84
}

TEST_CASE("columns are aligned by type, short values are not") {
  Table table = one_column(ColumnType::Bool);
  CHECK(tuple_len(table) == 24 + 1);
  table.columns.push_back({"b", ColumnType::Int2, 0, {}});
  CHECK(tuple_len(table) == 24 + 4);
  table.columns.push_back({"c", ColumnType::Uuid, 0, {}});
  CHECK(tuple_len(table) == 24 + 20);
  table.columns.push_back({"d", ColumnType::Float8, 0, {}});
  CHECK(tuple_len(table) == 24 + 32);

  CHECK(tuple_len(one_column(ColumnType::Text, 126)) == 24 + 127);
  CHECK(tuple_len(one_column(ColumnType::Text, 127)) == 24 + 131);
  Table after_flag = one_column(ColumnType::Bool);
  after_flag.columns.push_back({"t", ColumnType::Text, 127, {}});
  CHECK(tuple_len(after_flag) == 24 + 4 + 131);
}

TEST_CASE("the key tuple's null bitmap fits the header up to eight columns") {
  Table table = one_column(ColumnType::Int4);
  for (int i = 0; i < 7; ++i)
    table.columns.push_back({std::string(1, static_cast<char>('b' + i)), ColumnType::Int4, 0, {}});
  CHECK(key_tuple_len(table) == 24 + 4);
  table.columns.push_back({"ninth", ColumnType::Int4, 0, {}});
  CHECK(key_tuple_len(table) == 32 + 4);
}

TEST_CASE("a key of several columns is laid out in column order") {
  Table table = test_tab();
  table.primary_key = {3, 0};
  CHECK(key_data_bytes(table) == 16); // a 0..4, d 8..16
  CHECK(key_tuple_len(table) == 40);
}

TEST_CASE("accounted memory of a change") {
  CHECK(change_bytes(test_tab(), Operation::Insert) == 184);
  CHECK(change_bytes(test_tab(), Operation::Update) == 184);
  CHECK(change_bytes(test_tab(), Operation::Delete) == 132);

  // 20,000 rows of t_len 129 took 233 bytes each: 24 + 4 + (1 + 100), no header of 4
  Table wide = one_column(ColumnType::Int4);
  wide.columns.push_back({"t", ColumnType::Text, 100, {}});
  CHECK(tuple_len(wide) == 129);
  CHECK(change_bytes(wide, Operation::Insert) == 233);
}

TEST_CASE("replica identity decides about the old row") {
  Table table = test_tab();
  CHECK(old_tuple_len(table, Operation::Insert) == 0);
  CHECK(old_tuple_len(table, Operation::Update) == 0);
  CHECK(old_tuple_len(table, Operation::Delete) == 28);
  CHECK(columns_sent(table, Operation::Insert) == 4);
  CHECK(columns_sent(table, Operation::Update) == 4);
  CHECK(columns_sent(table, Operation::Delete) == 1);

  table.replica_identity = ReplicaIdentity::Full;
  CHECK(old_tuple_len(table, Operation::Insert) == 0);
  CHECK(change_bytes(table, Operation::Insert) == 184);
  CHECK(change_bytes(table, Operation::Update) == 288);
  CHECK(change_bytes(table, Operation::Delete) == 184);
  CHECK(columns_sent(table, Operation::Insert) == 4);
  CHECK(columns_sent(table, Operation::Update) == 8);
  CHECK(columns_sent(table, Operation::Delete) == 4);

  table.replica_identity = ReplicaIdentity::Nothing;
  CHECK(change_bytes(table, Operation::Delete) == 80);
  CHECK(columns_sent(table, Operation::Delete) == 0);

  Table without_key = test_tab();
  without_key.primary_key.clear();
  CHECK(change_bytes(without_key, Operation::Delete) == 80);
  CHECK(key_data_bytes(without_key) == 0);
}

TEST_CASE("digits of a sequence are summed without looking at its rows") {
  const Column sequence{"a", ColumnType::Int8, 0, {ColumnValue::Kind::Sequence, 0}};
  CHECK(column_text_bytes(sequence, {1, 0}) == 0);
  CHECK(column_text_bytes(sequence, {1, 9}) == 9);
  CHECK(column_text_bytes(sequence, {1, 10}) == 11);
  CHECK(column_text_bytes(sequence, {9, 2}) == 3);
  CHECK(column_text_bytes(sequence, {1, 1000}) == 9 + 180 + 2700 + 4);
  CHECK(column_text_bytes(sequence, {1, 500'000}) == 2'888'895);
  CHECK(column_text_bytes(sequence, {1, 500'000'000}) ==
        9 + 180 + 2'700 + 36'000 + 450'000 + 5'400'000 + 63'000'000 + 720'000'000 + 9 * 400'000'001LL);
  CHECK(column_text_bytes(sequence, {1'000'000'000'000'000'000, 2}) == 38);

  Bytes brute = 0;
  for (Rows row = 95; row < 95 + 1234; ++row)
    brute += static_cast<Bytes>(std::to_string(row).size());
  CHECK(column_text_bytes(sequence, {95, 1234}) == brute);
  CHECK(column_text_bytes(sequence, {1, 700}) + column_text_bytes(sequence, {701, 534}) ==
        column_text_bytes(sequence, {1, 1234}));
}

TEST_CASE("text lengths of other values") {
  const auto constant = [](std::int64_t value) {
    return column_text_bytes({"d", ColumnType::Int8, 0, {ColumnValue::Kind::Constant, value}}, {1, 10});
  };
  CHECK(constant(0) == 10);
  CHECK(constant(999) == 30);
  CHECK(constant(1000) == 40);
  CHECK(constant(-1) == 20);

  CHECK(typical_text_bytes({"c", ColumnType::Bool, 0, {}}) == 1);
  CHECK(typical_text_bytes({"c", ColumnType::Date, 0, {}}) == std::ssize(std::string("2026-11-30")));
  CHECK(typical_text_bytes({"c", ColumnType::Timestamp, 0, {}}) ==
        std::ssize(std::string("2026-11-30 10:43:46.123456")));
  CHECK(typical_text_bytes({"c", ColumnType::Timestamptz, 0, {}}) ==
        std::ssize(std::string("2026-11-30 10:43:46.123456+00")));
  CHECK(typical_text_bytes({"c", ColumnType::Uuid, 0, {}}) ==
        std::ssize(std::string("12345678-1234-1234-1234-123456789012")));
  CHECK(typical_text_bytes({"c", ColumnType::Text, 32, {}}) == 32);
  CHECK(typical_text_bytes({"c", ColumnType::Bytea, 16, {}}) == 34);
  CHECK(typical_text_bytes({"c", ColumnType::Numeric, 8, {}}) == 13); // 123456.789012
  CHECK(typical_text_bytes({"c", ColumnType::Numeric, 2, {}}) == 1);  // 0
  CHECK_THROWS_AS(column_text_bytes({"d", ColumnType::Int8, 0, {}}, {0, 1}), InvariantViolation);
}

TEST_CASE("message bodies of test_tab") {
  const Table table = test_tab();
  CHECK(message_body_bytes(table, Operation::Insert, {1, 1}, {}) == 8 + 6 + 37 + 34 + 8);
  CHECK(message_body_bytes(table, Operation::Insert, {100'000, 1}, {}) == 8 + 11 + 37 + 34 + 8);
  CHECK(message_body_bytes(table, Operation::Update, {1, 1}, {}) == 93);
  CHECK(message_body_bytes(table, Operation::Update, {1, 1}, {d_is_1000}) == 94);
  CHECK(message_body_bytes(table, Operation::Delete, {1, 1}, {}) == 8 + 6 + 3);
  CHECK(message_body_bytes(table, Operation::Delete, {10, 2}, {}) == 2 * (8 + 7 + 3));
  CHECK(message_body_bytes(table, Operation::Insert, {1, 0}, {}) == 0);
}

TEST_CASE("an update sends the old row with identity full, the old key when the key changes") {
  Table table = test_tab();
  const Assignment key_is_7{0, {ColumnValue::Kind::Constant, 7}};
  // new: 8 + 6 + 37 + 34 + 8; old key of row 123: 3 + (5 + 3) + 3 nulls
  CHECK(message_body_bytes(table, Operation::Update, {123, 1}, {key_is_7}) == 93 + 3 + 8 + 3);

  table.replica_identity = ReplicaIdentity::Full;
  CHECK(message_body_bytes(table, Operation::Update, {123, 1}, {d_is_1000}) == 96 + 3 + (95 - 8));
  CHECK(message_body_bytes(table, Operation::Delete, {123, 1}, {}) == 95);
  CHECK_THROWS_AS(message_body_bytes(table, Operation::Update, {1, 1}, {{4, {}}}), InvariantViolation);
}

TEST_CASE("the relation message names schema, table and columns") {
  // R, oid, "public", "test_tab", identity, count; four columns with one-letter names
  CHECK(relation_message_bytes(test_tab()) == 1 + 4 + 7 + 9 + 1 + 2 + 4 * (1 + 2 + 4 + 4));
}

TEST_CASE("the subscriber's file of half a million streamed rows, as real servers wrote it") {
  CHECK(changes_file_bytes(test_tab(), Operation::Insert, 500'000) == 50'888'967);
  CHECK(changes_file_bytes(test_tab(), Operation::Update, 500'000, {d_is_1000}) == 51'388'967);
  CHECK(changes_file_bytes(test_tab(), Operation::Delete, 500'000) == 12'888'967);
}

TEST_CASE("a value wider than a page leaves a pointer of 18 bytes in its row") {
  // (8192 - 24) / (4 + 48): header 24 and pointer 18, aligned
  CHECK(rows_per_heap_page(one_column(ColumnType::Text, 20'000)) == 157);
}

TEST_CASE("operations by name") {
  CHECK(to_string(Operation::Insert) == "insert");
  CHECK(to_string(Operation::Update) == "update");
  CHECK(to_string(Operation::Delete) == "delete");
}

TEST_CASE("ring entries are aligned") {
  CHECK(protocol::ring_occupied_bytes(0, 0) == 0);
  CHECK(protocol::ring_occupied_bytes(1, 7) == 8 + 32);
  CHECK(protocol::ring_occupied_bytes(1, 8) == 8 + 40);
  CHECK(protocol::ring_occupied_bytes(10, 980) == 10 * (8 + 128)); // 25 + 98 = 123
  CHECK(protocol::ring_occupied_bytes(2, 15) == 2 * (8 + 40));     // mean 7.5 counts as 8
  CHECK_THROWS_AS(protocol::ring_occupied_bytes(-1, 10), InvariantViolation);
}

TEST_CASE("the subxacts file") {
  CHECK(protocol::subxacts_file_bytes(0) == 0);
  CHECK(protocol::subxacts_file_bytes(1) == 20);
  CHECK(protocol::subxacts_file_bytes(1000) == 16'004);
}
