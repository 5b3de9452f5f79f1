// WAL volume: records counted by hand, and what real servers wrote for whole statements.
#include "models/btree.hpp"
#include "models/wal_volume.hpp"
#include "tests/models/sample_tables.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using sample::test_tab;

namespace {

// Relative difference to a volume measured on a server, whose commit record (48) is not the statement's.
double error_against(const WalVolume& volume, Bytes measured_bytes) {
  return static_cast<double>(volume.bytes) / static_cast<double>(measured_bytes - 48) - 1;
}

Table uuid_table() {
  Table table;
  table.columns = {{"a", ColumnType::Uuid, 0, {}}, {"b", ColumnType::Text, 32, {}}};
  table.primary_key = {0};
  return table;
}

Table text_key_table(Rows initial_rows) {
  Table table;
  table.columns = {{"a", ColumnType::Text, 32, {ColumnValue::Kind::Sequence, 0}},
                   {"b", ColumnType::Int4, 0, {}},
                   {"c", ColumnType::Text, 32, {}}};
  table.primary_key = {0};
  table.initial_rows = initial_rows;
  return table;
}

} // namespace

TEST_CASE("single rows of test_tab") {
  // heap insert 111 -> 112, a new root for the empty index 90 -> 96, its entry 64
  CHECK(statement_wal(test_tab(), Operation::Insert, 1, false).bytes == 272);
  CHECK(statement_wal(test_tab(), Operation::Insert, 1, false).records == 3);
  CHECK(statement_wal(test_tab(1000), Operation::Insert, 1, false).bytes == 112 + 64);
  // lock 54 -> 56, update 130 -> 136, index entry 64
  CHECK(statement_wal(test_tab(1000), Operation::Update, 1, false).bytes == 256);
  CHECK(statement_wal(test_tab(1000), Operation::Update, 1, false).records == 3);
  CHECK(statement_wal(test_tab(1000), Operation::Delete, 1, false).bytes == 64);
  CHECK(statement_wal(test_tab(1000), Operation::Delete, 1, false).records == 1);
  CHECK(statement_wal(test_tab(), Operation::Insert, 0, true).bytes == 0);
  CHECK(statement_wal(test_tab(1000), Operation::Update, 0, true).bytes == 0);
  CHECK(statement_wal(test_tab(1000), Operation::Delete, 0, true).records == 0);
}

TEST_CASE("the old row a delete or update logs") {
  Table table = test_tab(1000);
  table.replica_identity = ReplicaIdentity::Full;
  CHECK(statement_wal(table, Operation::Delete, 1, false).bytes == 120);           // 116
  CHECK(statement_wal(table, Operation::Update, 1, false).bytes == 56 + 192 + 64); // 130 + 62
  table.replica_identity = ReplicaIdentity::Nothing;
  CHECK(statement_wal(table, Operation::Delete, 1, false).bytes == 56); // 54
  Table without_key = test_tab();
  without_key.primary_key.clear();
  CHECK(statement_wal(without_key, Operation::Insert, 1, false).bytes == 112);
}

TEST_CASE("a page's first change carries its image, without the hole") {
  // 64 and 5 of image header and 24 + 10 * 84
  CHECK(statement_wal(test_tab(10), Operation::Delete, 1, true).bytes == 936);
  CHECK(statement_wal(test_tab(10), Operation::Delete, 10, true).bytes == 936 + 9 * 64);
  // a full page: 64 + 5 + 24 + 97 * 84 = 8241 -> 8248; one WAL page header of 24
  CHECK(statement_wal(test_tab(1000), Operation::Delete, 1, true).bytes == 8248 + 24);
  CHECK(statement_wal(test_tab(1000), Operation::Delete, 97, true).bytes == 8248 + 96 * 64 + 24);
  CHECK(statement_wal(test_tab(1000), Operation::Delete, 98, true).bytes == 2 * 8248 + 96 * 64 + 2 * 24);
  CHECK(statement_wal(test_tab(1000), Operation::Delete, 1, true).records == 1);
}

TEST_CASE("ascending inserts split the rightmost leaf at 90 percent") {
  const IndexShape int4_key{};
  CHECK(ascending_leaf_entries(int4_key) == 366);
  CHECK(ascending_leaf_entries({.entry_bytes = 48}) == 140);
  const auto growth = [&](Rows present) { return index_insert_wal(int4_key, present, 1, false); };
  CHECK(growth(0).bytes == 96 + 64);
  CHECK(growth(406).bytes == 64);
  // entry 408: the split logs 42 entries (752), then a root above (122 -> 128)
  CHECK(growth(407).bytes == 752 + 128);
  CHECK(growth(407).records == 2);
  CHECK(growth(408).bytes == 64);
  CHECK(growth(407 + 366).bytes == 752 + 72);
  // the root is full with 408 downlinks, which is after split 407: split 408 divides it, too (2064)
  CHECK(growth(407 + 407 * 366).bytes == 752 + 2064 + 128);
  CHECK(growth(407 + 407 * 366).records == 3);
  CHECK(growth(407 + (407 + 285) * 366).bytes == 752 + 2064 + 72);
}

TEST_CASE("second versions fill a leaf, are merged, and split it") {
  // A leaf of 366 keys has room for 40: pairs merge 40, 8 and 2 at a time (208, 80, 56), then the page
  // splits (3384, parent 72); its right half merges once more, 202 pairs (856).
  const auto updated = index_update_wal({}, 408, 366, false);
  CHECK(updated.bytes == 365 * 64 + 208 + 80 + 56 + 3384 + 72 + 856);
  CHECK(updated.records == 365 + 3 + 2 + 1);
  CHECK(index_update_wal({}, 408, 40, false).bytes == 40 * 64);
  CHECK(index_update_wal({}, 408, 41, false).bytes == 41 * 64 + 208);
  // Without equal images there is nothing to merge: entry 41 splits the page.
  CHECK(index_update_wal({.deduplicates = false}, 408, 41, false).bytes == 40 * 64 + 3384 + 72);
  // The last leaf, rightmost, holds the other 42 keys: 84 entries fit.
  CHECK(index_update_wal({}, 408, 408, false).bytes == updated.bytes + 42 * 64);
}

TEST_CASE("random inserts leave pages ln 2 full and split them in the middle") {
  const IndexShape index{.entry_bytes = 24, .order = IndexShape::Order::Random};
  CHECK(index_insert_wal(index, 0, 291, false).bytes == 291 * 72);
  CHECK(index_insert_wal(index, 0, 292, false).bytes == 291 * 72 + 3624 + 80);
  // one existing leaf of 100 entries: an image of 40 + 100 * 28
  CHECK(index_insert_wal(index, 100, 1, true).bytes == 72 + 2848);
  CHECK(index_insert_wal(index, 100, 50, true).bytes == 50 * 72 + 2848);
  CHECK(index_insert_wal(index, 100, 50, false).bytes == 50 * 72);
}

TEST_CASE("WAL of half a million rows, as PostgreSQL 18 wrote it") {
  const auto insert = statement_wal(test_tab(), Operation::Insert, 500'000, false);
  CHECK(insert.bytes == 89'308'376 - 48);
  // 500,000 rows; 498,634 leaf entries, 1,364 internal ones, 1,370 splits, 3 roots
  CHECK(insert.records == 500'000 + 498'634 + 1'364 + 1'370 + 3);
  CHECK(error_against(statement_wal(test_tab(500'000), Operation::Delete, 500'000, true), 74'403'696) ==
        Approx(0).margin(1e-5));
  CHECK(error_against(statement_wal(test_tab(500'000), Operation::Update, 500'000, true), 187'135'960) ==
        Approx(0).margin(3e-4));
}

TEST_CASE("WAL of other tables, as PostgreSQL 15 wrote it") {
  CHECK(error_against(statement_wal(test_tab(500'000), Operation::Update, 500'000, true), 187'107'192) ==
        Approx(0).margin(3e-5));
  CHECK(error_against(statement_wal(test_tab(500'000), Operation::Update, 500'000, false), 134'683'024) ==
        Approx(0).margin(3e-5));
  CHECK(error_against(statement_wal(uuid_table(), Operation::Insert, 200'000, false), 39'213'776) ==
        Approx(0).margin(0.01));
  CHECK(error_against(statement_wal(text_key_table(0), Operation::Insert, 200'000, false), 46'301'152) ==
        Approx(0).margin(1e-5));
  CHECK(error_against(statement_wal(text_key_table(200'000), Operation::Update, 200'000, false),
                      68'235'072) == Approx(0).margin(1e-4));

  Table secondary;
  secondary.columns = {{"a", ColumnType::Int8, 0, {ColumnValue::Kind::Sequence, 0}},
                       {"k", ColumnType::Int4, 0, {}},
                       {"b", ColumnType::Text, 32, {}}};
  secondary.primary_key = {0};
  secondary.secondary_indexes = 1;
  CHECK(error_against(statement_wal(secondary, Operation::Insert, 200'000, false), 49'230'480) ==
        Approx(0).margin(0.01));

  Table full = test_tab(100'000);
  full.replica_identity = ReplicaIdentity::Full;
  CHECK(error_against(statement_wal(full, Operation::Update, 100'000, false), 32'551'184) ==
        Approx(0).margin(1e-4));

  Table without_key;
  without_key.columns = {{"a", ColumnType::Int4, 0, {}}, {"b", ColumnType::Text, 32, {}}};
  CHECK(error_against(statement_wal(without_key, Operation::Insert, 100'000, false), 9'628'336) ==
        Approx(0).margin(1e-4));
  CHECK(statement_wal(without_key, Operation::Delete, 100'000, false).bytes == 5'616'488 - 48);
}

TEST_CASE("WAL grows with every row, whatever was there before") {
  for (const Operation operation : {Operation::Insert, Operation::Update, Operation::Delete})
    for (const Rows initial : {Rows{0}, Rows{1}, Rows{97}, Rows{500}, Rows{3000}})
      for (Table table : {test_tab(initial), text_key_table(initial), uuid_table()}) {
        table.initial_rows = initial;
        table.secondary_indexes = 1;
        WalVolume before = statement_wal(table, operation, 0, true);
        for (Rows rows = 1; rows <= (initial > 0 ? initial : 2000); ++rows) {
          const WalVolume now = statement_wal(table, operation, rows, true);
          if (now.bytes <= before.bytes or now.records <= before.records)
            FAIL(to_string(operation) << " of row " << rows << " of " << initial << " writes nothing");
          before = now;
        }
      }
}

TEST_CASE("five hundred million rows cost no more than five to compute, and scale") {
  const auto small = statement_wal(test_tab(5'000'000), Operation::Update, 5'000'000, true);
  const auto large = statement_wal(test_tab(500'000'000), Operation::Update, 500'000'000, true);
  CHECK(static_cast<double>(large.bytes) / static_cast<double>(small.bytes) == Approx(100).epsilon(1e-4));
}

TEST_CASE("very wide keys stay within a third of a page") {
  Table table = sample::one_column(ColumnType::Text, 5000);
  CHECK(statement_wal(table, Operation::Insert, 10, false).bytes > 0);
  table.columns[0].value.kind = ColumnValue::Kind::Sequence;
  table.initial_rows = 1000;
  CHECK(statement_wal(table, Operation::Update, 1000, true).records > 3000);
}

TEST_CASE("transaction records") {
  CHECK(commit_record_bytes() == 48); // 46
  CHECK(abort_record_bytes() == 40);  // 34
}

TEST_CASE("heap-only updates write one record: no lock of the old tuple, no index entry") {
  // 24 header, 20 block, 2 + 14 main data, 5 + 80 - 23 of the tuple: 122, aligned 128.
  Table hot = test_tab(500'000);
  hot.hot_updates = 1;
  CHECK(statement_wal(hot, Operation::Update, 50, false).bytes == 50 * 128);
  CHECK(statement_wal(hot, Operation::Update, 50, false).records == 50);
  // Half of them: 15 of 30 with lock 56, update 136 and index entry 64.
  hot.hot_updates = 0.5;
  CHECK(statement_wal(hot, Operation::Update, 30, false).bytes == 15 * 128 + 15 * (56 + 136 + 64));
  CHECK(statement_wal(hot, Operation::Update, 30, false).records == 15 + 15 * 3);
  // Parts of a statement add up.
  CHECK(statement_wal(hot, Operation::Update, 1, false).records == 1);
  CHECK(statement_wal(hot, Operation::Update, 2, false).records == 4);
}
