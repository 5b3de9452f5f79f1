// Import: records of pg_waldump put together again, tables fitted to them, the scenario that comes out.
#include "calibration/import/import_files.hpp"
#include "calibration/import/scenario_writer.hpp"
#include "calibration/import/step_layout.hpp"
#include "calibration/import/table_fit.hpp"
#include "models/base/errors.hpp"
#include "sim/scenario/replay_file.hpp"
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace replisim;
using namespace replisim::test;

namespace {

const std::string samples = std::string(REPLISIM_SOURCE_DIR) + "/tests/calibration/samples/";

RecordedWorkload imported(const std::vector<std::filesystem::path>& files, std::uint32_t database = 0,
                          const std::filesystem::path& tables = {}) {
  readers::Problems problems;
  ImportSources sources;
  sources.files = files;
  sources.database = database;
  sources.tables = tables;
  return import_files(sources, problems);
}

/// Import of a text, with the first problem or the error as text.
std::string complaint(const std::string& text) {
  const Folder folder;
  readers::Problems problems;
  ImportSources sources;
  sources.files = {folder.write("wal.txt", text)};
  try {
    import_files(sources, problems);
  } catch (const UsageError& error) {
    std::string message = error.what();
    const auto at = message.find(folder.root().string() + "/");
    return at == std::string::npos ? message : message.erase(at, folder.root().string().size() + 1);
  }
  return problems.empty()
             ? ""
             : problems.groups().front().kind + ": " + problems.groups().front().examples.front().message;
}

const RecordedTable& table_named(const RecordedWorkload& workload, const std::string& name) {
  const auto found = std::find_if(workload.tables.begin(), workload.tables.end(),
                                  [&](const RecordedTable& table) { return table.name == name; });
  REQUIRE(found != workload.tables.end());
  return *found;
}

std::string heap(std::uint32_t xid, int lsn, const std::string& what, int length, int node = 20000) {
  return "rmgr: Heap        len (rec/tot):     " + std::to_string(length) + "/    " + std::to_string(length) +
         ", tx:        " + std::to_string(xid) + ", lsn: 0/" + std::to_string(lsn) +
         ", prev 0/0, desc: " + what + ", blkref #0: rel 1663/5/" + std::to_string(node) + " blk 0\n";
}

std::string ending(std::uint32_t xid, int lsn, const std::string& what) {
  return "rmgr: Transaction len (rec/tot):     46/    46, tx:        " + std::to_string(xid) + ", lsn: 0/" +
         std::to_string(lsn) + ", prev 0/0, desc: " + what + "\n";
}

} // namespace

TEST_CASE("a record of pg_waldump in the words of 15 and of 16") {
  WalLine line;
  std::string why;
  REQUIRE(
      parse_wal_line("rmgr: Heap        len (rec/tot):    176/  6140, tx:        738, lsn: 0/052CBAD0, prev "
                     "0/052C9AF0, desc: UPDATE off 5 xmax 738 flags 0x13 ; new off 45 xmax 0, blkref #0: rel "
                     "1663/5/16396 blk 8196 FPW, blkref #1: rel 1663/5/16396 blk 1093",
                     line, why));
  CHECK(line.manager == "Heap");
  CHECK(line.action == "UPDATE");
  CHECK(line.record_bytes == 176);
  CHECK(line.total_bytes == 6140);
  CHECK(line.xid == 738);
  CHECK(line.lsn.value == 0x052CBAD0);
  CHECK(line.flags() == 0x13U);
  REQUIRE(line.blocks.size() == 2);
  CHECK(line.blocks[0].image);
  CHECK_FALSE(line.blocks[1].image);
  CHECK(line.blocks[1].relation == WalRelation{5, 16396});
  CHECK(line.blocks[1].block == 1093);
  CHECK(line.bare_bytes() == 171); // the header of one page image is 5

  REQUIRE(
      parse_wal_line("rmgr: Heap2 len (rec/tot): 176/ 176, tx: 11532, lsn: 12/B35DFE0, prev 0/0, desc: "
                     "MULTI_INSERT+INIT ntuples: 3, flags: 0x0A, blkref #0: rel 1663/5/16420 fork main blk 7",
                     line, why));
  CHECK(line.base_action() == "MULTI_INSERT");
  CHECK(line.tuples() == 3);
  CHECK(line.flags() == 0x0AU);
  CHECK(line.lsn.value == 0x120B35DFE0);
  CHECK(line.blocks.at(0).block == 7);

  CHECK_FALSE(parse_wal_line("2026-11-30 LOG:  something else", line, why));
  CHECK(why == "this is no record of pg_waldump: no 'rmgr: ' where one is expected");
  CHECK(parse_wal_time("2026-11-30 13:56:26.653486 UTC") == 1796046986653486);
  CHECK(subxacts_of("COMMIT 2026-11-30 14:51:49.939035 UTC; subxacts: 11525 11527") ==
        std::vector<std::uint32_t>{11525, 11527});
  CHECK(
      invalidations_of("COMMIT 2026-11-30 13:56:26 UTC; rels: base/5/1; inval msgs: catcache 55 catcache 54 "
                       "relcache 16384") == 3);
}

TEST_CASE("a real server's WAL: transactions and changes as a slot decoded them") {
  const RecordedWorkload w = imported({samples + "pg_waldump_15.txt"});
  CHECK(w.committed == 11);
  CHECK(w.committed_without_rows == 2); // ALTER TABLE and the message
  CHECK(w.rolled_back == 1);
  CHECK(w.committed_changes == 3 * 2 + 33 + 1 + 3 + 1 + 1 + 3);
  CHECK(w.subtransactions_rolled_back == 2);
  CHECK(w.rolled_back_by_inference == 1); // of the other one an assignment record tells
  CHECK(w.catalog_transactions == 1);
  CHECK(w.toast_rows == 3); // 5,600 bytes in pieces of at most 1,996
  CHECK(w.unfinished == 0);
  REQUIRE(w.transactions.size() == 10);
  const RecordedTable& orders = table_named(w, "t16420");
  CHECK(orders.inserts == 3 + 20 + 10 + 5 + 2 + 3);
  CHECK(orders.updates == 3 + 1 + 3);
  CHECK(orders.deletes == 5 + 3);
  CHECK(orders.indexes.size() == 2);
  CHECK(orders.new_tuple.usual() == 72); // header 24, int4 4, text 33 in 61, aligned 64, int8 8
  CHECK(table_named(w, "t16429").inserts == 1);

  // The rows of the transaction with savepoints, in their order.
  using Kind = RecordedStep::Kind;
  const std::size_t t = static_cast<std::size_t>(&orders - w.tables.data());
  CHECK(w.distinct[w.transactions[3].steps] == RecordedSteps{{Kind::Insert, t, 20},
                                                             {Kind::Savepoint, 0, 1},
                                                             {Kind::Insert, t, 10},
                                                             {Kind::Release, 0, 1},
                                                             {Kind::Savepoint, 0, 2},
                                                             {Kind::Delete, t, 5},
                                                             {Kind::RollbackTo, 0, 2},
                                                             {Kind::Release, 0, 2},
                                                             {Kind::Savepoint, 0, 3},
                                                             {Kind::Delete, t, 3}});
  CHECK(w.transactions[4].rolled_back);
  CHECK(w.transactions[3].at_s > 0.2);
  CHECK(w.transactions[3].at_s + w.transactions[3].lasts_s == Approx(0.225).margin(0.01));
}

TEST_CASE("a table is fitted to the lengths of its records") {
  const RecordedWorkload w = imported({samples + "pg_waldump_15.txt"});
  const FittedTable fitted = fit_table(table_named(w, "t16420"));
  CHECK(tuple_len(fitted.table) == std::llround(table_named(w, "t16420").new_tuple.mean()));
  CHECK(key_tuple_len(fitted.table) == 28); // of the DELETE records
  CHECK(fitted.table.secondary_indexes == 1);
  CHECK(fitted.can_be_published);
  CHECK_FALSE(fitted.columns_known);

  // Every length from the shortest tuple on.
  for (Bytes length = 29; length < 400; ++length) {
    RecordedTable recorded;
    recorded.inserts = recorded.updates = 1;
    recorded.new_tuple.add(length);
    INFO(length);
    CHECK(std::abs(tuple_len(fit_table(recorded).table) - length) <= 1);
  }
  RecordedTable nameless; // rows are deleted that no key identifies
  nameless.deletes = nameless.without_identity = 1;
  CHECK_FALSE(fit_table(nameless).can_be_published);
}

TEST_CASE("a map file gives names, columns and rows") {
  const Folder folder;
  const auto map = folder.write("tables.txt",
                                "16420|shop.orders|id int4, b varchar, d int8|id|4000\n16429|public.notes\n");
  const RecordedWorkload w = imported({samples + "pg_waldump_15.txt"}, 0, map);
  const FittedTable orders = fit_table(table_named(w, "shop.orders"));
  CHECK(orders.table.name == "orders");
  CHECK(orders.table.schema == "shop");
  CHECK(orders.table.initial_rows == 4000);
  REQUIRE(orders.table.columns.size() == 3);
  CHECK(orders.table.columns[1].type == ColumnType::Text);
  CHECK(std::abs(tuple_len(orders.table) - std::llround(table_named(w, "shop.orders").new_tuple.mean())) <=
        7);
  CHECK(orders.columns_known);

  CHECK_THROWS_WITH(read_table_names(folder.write("bad.txt", "orders|16420\n7\n5|a\n5|b\n")),
                    Catch::Contains("1:1: relfilenode: found 'orders'; allowed is a whole number") and
                        Catch::Contains("2:1: found '7'; a line is relfilenode|table") and
                        Catch::Contains("4:1: relfilenode 5 stands here for the second time"));
}

TEST_CASE("the scenario of an import loads, and says what it was made of") {
  const Folder folder;
  for (const bool as_mix : {false, true}) {
    ImportOptions options;
    options.file = folder.root() / "w.yaml";
    options.as_mix = as_mix;
    const WrittenScenario written = write_scenario(imported({samples + "pg_waldump_15.txt"}), options);
    folder.write("w.yaml", written.yaml);
    folder.write("w.csv", written.list);
    const Scenario scenario = load_scenario(options.file, {}, shipped_library());
    REQUIRE(scenario.replays.size() == 1);
    CHECK(scenario.replays[0].transactions.size() == 10); // none is frequent enough for a flow
    CHECK(scenario.tables.at("t16420").secondary_indexes == 1);
    CHECK(scenario.other_wal.size() == 1);
    CHECK(written.yaml.find("decoded: 2; DDL") != std::string::npos);
  }
}

TEST_CASE("a mix keeps the number of transactions and rows and states its fit") {
  RecordedWorkload w;
  w.source = std::string("made up");
  w.tables.resize(1);
  w.tables[0].name = std::string("t");
  w.tables[0].inserts = 400 * 2 + 5000;
  w.tables[0].new_tuple.add(60);
  using Kind = RecordedStep::Kind;
  w.distinct = {{{Kind::Insert, 0, 1}}, {{Kind::Insert, 0, 3}}, {{Kind::Insert, 0, 5000}}};
  for (int i = 0; i < 400; ++i)
    w.transactions.push_back({0.1 * i, 0, i % 2 == 0 ? std::size_t{0} : std::size_t{1}, false});
  w.transactions.push_back({40, 0, 2, false});
  w.span_s = 40;
  w.committed = 401;
  const Mix mix = fit_mix(w);
  REQUIRE(mix.flows.size() == 1); // the same statements on the same tables
  CHECK(mix.flows[0].transactions == 400);
  CHECK(mix.flows[0].rate_per_s == Approx(10));
  CHECK(mix.flows[0].steps[0].rows == 2);
  CHECK_FALSE(mix.flows[0].poisson); // they came like clockwork
  CHECK(mix.fit.transactions_in_flows == Approx(400.0 / 401));
  CHECK(mix.fit.rows_error == Approx(0).margin(1e-12));
  CHECK(mix.fit.sizes_distance == Approx(0.5)); // half have 1 row, half 3, the flow's all 2
  REQUIRE(mix.replayed.size() == 1);
  CHECK(mix.replayed[0].steps == 2);
}

TEST_CASE("a rolled back subtransaction is told from a rolled back transaction") {
  // Rows of 60 bytes: INSERT records of 91. The first record of a subtransaction is 5 bytes longer.
  std::string wal;
  for (int i = 0; i < 3; ++i)
    wal += heap(100, 1000 + i * 100, "INSERT off 1 flags 0x08", 91);
  wal += heap(101, 2000, "INSERT off 1 flags 0x08", 96) + ending(101, 2100, "ABORT 2026-01-01 00:00:01 UTC");
  wal += heap(102, 2200, "INSERT off 1 flags 0x08", 91) + ending(102, 2300, "ABORT 2026-01-01 00:00:02 UTC");
  wal += heap(100, 2400, "INSERT off 1 flags 0x08", 91) + ending(100, 2500, "COMMIT 2026-01-01 00:00:03 UTC");
  const Folder folder;
  const RecordedWorkload w = imported({folder.write("wal.txt", wal)});
  REQUIRE(w.transactions.size() == 2);
  CHECK(w.rolled_back == 1);
  CHECK(w.subtransactions_rolled_back == 1);
  CHECK(w.committed_changes == 4);
  CHECK(w.tables.at(0).new_tuple.usual() == 60);
}

TEST_CASE("a first record is compared with the next one where its table has no usual length") {
  // 100 is open and silent throughout; rows of 200 are of its own length, those of 201 follow a longer first
  // one.
  std::string wal;
  for (int i = 0; i < 3; ++i)
    wal += heap(100, 1000 + i * 100, "INSERT off 1 flags 0x08", 91 + 10 * i);
  wal += heap(200, 2000, "INSERT off 1 flags 0x08", 140) + heap(200, 2100, "INSERT off 1 flags 0x08", 140);
  wal += ending(200, 2200, "ABORT 2026-01-01 00:00:01 UTC");
  wal += heap(201, 2300, "INSERT off 1 flags 0x08", 165) + heap(201, 2400, "INSERT off 1 flags 0x08", 160);
  wal += ending(201, 2500, "ABORT 2026-01-01 00:00:02 UTC") +
         ending(100, 2600, "COMMIT 2026-01-01 00:00:03 UTC");
  const Folder folder;
  const RecordedWorkload w = imported({folder.write("wal.txt", wal)});
  REQUIRE(w.transactions.size() == 2);
  CHECK(w.rolled_back == 1);
  CHECK(w.subtransactions_rolled_back == 1);
  CHECK(w.committed_changes == 3);
}

TEST_CASE("values out of line come with the rows that wrote them") {
  const RecordedWorkload real = imported({samples + "pg_waldump_15.txt"});
  CHECK(table_named(real, "t16429").wide_bytes == 5600); // as the server was told
  CHECK(table_named(real, "t16429").wide_records == 1);
  const FittedTable notes = fit_table(table_named(real, "t16429"));
  REQUIRE(notes.wide_column >= 0);
  CHECK(notes.table.columns.at(static_cast<std::size_t>(notes.wide_column)).width_bytes == 5600);
  CHECK(std::abs(tuple_len(notes.table) - std::llround(table_named(real, "t16429").new_tuple.mean())) <= 1);

  // One row inserted with 1,996 + 1,004 bytes, one updated without them, one updated with 3,000 new ones.
  const auto chunks = [](std::uint32_t xid, int lsn) {
    return heap(xid, lsn, "INSERT off 1 flags 0x18", 31 + 36 + 1996, 20005) +
           heap(xid, lsn + 10, "INSERT off 2 flags 0x18", 31 + 36 + 1004, 20005);
  };
  const std::string wal = chunks(100, 1000) + heap(100, 1100, "INSERT off 1 flags 0x08", 91) +
                          ending(100, 1200, "COMMIT 2026-01-01 00:00:01 UTC") +
                          heap(101, 1300, "HOT_UPDATE off 1 flags 0x10", 102) +
                          ending(101, 1400, "COMMIT 2026-01-01 00:00:02 UTC") +
                          heap(102, 1500, "DELETE off 1 flags 0x00", 54, 20005) + chunks(102, 1600) +
                          heap(102, 1700, "HOT_UPDATE off 1 flags 0x10", 102) +
                          ending(102, 1800, "COMMIT 2026-01-01 00:00:03 UTC");
  const Folder folder;
  const RecordedWorkload w = imported({folder.write("wal.txt", wal)});
  CHECK(w.committed_changes == 3);
  CHECK(w.toast_rows == 4);
  CHECK(w.toast_rows_alone == 0);
  ImportOptions options;
  options.file = folder.root() / "w.yaml";
  const WrittenScenario written = write_scenario(w, options);
  CHECK(written.yaml.find("wide: text(3000)") != std::string::npos);
  folder.write("w.yaml", written.yaml);
  folder.write("w.csv", written.list);
  const Scenario scenario = load_scenario(options.file, {}, shipped_library());
  const auto& distinct = scenario.replays.at(0).distinct;
  REQUIRE(distinct.size() == 3);
  CHECK(steps_text(distinct[0], scenario.tables) == "insert t20000 1");
  CHECK(steps_text(distinct[1], scenario.tables) == "update t20000 1");
  CHECK(steps_text(distinct[2], scenario.tables) == "update t20000 1 set wide");
  const auto fitted = std::find_if(written.report.figures.begin(), written.report.figures.end(),
                                   [](const auto& f) { return f.first == "out_of_line_bytes"; });
  REQUIRE(fitted != written.report.figures.end());
  CHECK(fitted->second == 6000);
}

TEST_CASE("a little out of line makes all rows longer, and is no column of its own") {
  RecordedTable recorded;
  recorded.name = "t";
  recorded.inserts = 10;
  recorded.new_tuple.add(100, 10);
  recorded.wide_bytes = 5000; // one row in ten
  recorded.wide_records = 1;
  const FittedTable fitted = fit_table(recorded);
  CHECK(fitted.wide_column == -1);
  CHECK(tuple_len(fitted.table) == 100 - 18 + 500);
}

TEST_CASE("catalogs, other databases and tables that are not logged logically are left out") {
  std::string wal = heap(100, 1000, "INSERT off 1 flags 0x08", 91);
  wal += heap(100, 1100, "INSERT off 1 flags 0x00", 91, 1259); // a catalog
  wal += heap(100, 1200, "DELETE off 1 flags 0x00", 54, 1259);
  wal += heap(100, 1300, "INSERT off 1 flags 0x00", 91, 20001); // no new tuple in it
  wal += ending(100, 1400, "COMMIT 2026-01-01 00:00:01 UTC");
  std::string other = heap(101, 1500, "INSERT off 1 flags 0x08", 91);
  other.replace(other.find("1663/5/"), 7, "1663/6/");
  wal += other + ending(101, 1600, "COMMIT 2026-01-01 00:00:02 UTC");
  const Folder folder;
  const auto file = folder.write("wal.txt", wal);
  CHECK(imported({file}, 5).committed_changes == 1);
  CHECK(imported({file}, 5).other_databases == 1);
  CHECK(imported({file}, 6).committed_changes == 1);
  CHECK_THROWS_WITH(imported({file}, 7), Catch::Contains("with --database 7 only that database counts"));
}

TEST_CASE("what cannot be imported is said precisely") {
  CHECK(complaint("a,b,c\n1,2,3\n") == "wal.txt: neither the output of pg_waldump (lines that begin with "
                                       "'rmgr:') nor a log of pgbench --log (client, "
                                       "number, latency, script, seconds, microseconds)");
  const std::string good =
      heap(100, 1000, "INSERT off 1 flags 0x08", 91) + ending(100, 1100, "COMMIT 2026-01-01 00:00:01 UTC");
  CHECK(complaint(good) == "");
  CHECK(complaint(good + "rmgr: Heap        len (rec/tot):     9\n") ==
        "no_record: this is no record of pg_waldump: no 'len (rec/tot): RECORD/TOTAL' where one is expected; "
        "it was left "
        "out");
  CHECK(complaint(good + heap(101, 500, "INSERT off 1 flags 0x08", 91)).find("wal_goes_back") == 0);
  CHECK(complaint(heap(100, 1000, "INSERT off 1 flags 0x00", 91) +
                  ending(100, 1100, "COMMIT 2026-01-01 00:00:01 UTC")) ==
        "wal.txt: 2 records were read, and no transaction in them changes a row of a table that is decoded; "
        "was the WAL "
        "written with wal_level = logical?");
}

TEST_CASE("a log of pgbench becomes the builtin script's transactions") {
  const RecordedWorkload w = imported({samples + "pgbench_log_15.txt"});
  CHECK(w.transactions.size() == 40);
  CHECK(w.committed_changes == 40 * 4);
  CHECK(w.transactions[0].lasts_s == Approx(0.060104));
  // "0 1 60104 0 1796046986 777012": the tuples are those of a real pgbench database.
  CHECK(tuple_len(fit_table(table_named(w, "public.pgbench_accounts")).table) == 121);
  CHECK(tuple_len(fit_table(table_named(w, "public.pgbench_tellers")).table) == 36);
  CHECK(tuple_len(fit_table(table_named(w, "public.pgbench_branches")).table) == 32);
  CHECK(tuple_len(fit_table(table_named(w, "public.pgbench_history")).table) == 48);
  CHECK_THROWS_WITH(require_pgbench_script("tpcb"),
                    Catch::Contains("'tpcb' is no builtin script of pgbench"));
}
