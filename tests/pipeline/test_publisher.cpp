// The publisher's processes alone: a backend that has nothing but a WAL, the WAL writer, group commit.
#include "models/base/check.hpp"
#include "models/wal_volume.hpp"
#include "sim/actors/publisher_backend.hpp"
#include "sim/actors/wal_writer.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

/// The next flushed entry, waited for; once woken, the reader needs `wakeup_s` to run.
WalEntry next(WalLog::Reader& reader, engine::Process& process, double wakeup_s = 0) {
  while (true) {
    if (auto entry = reader.try_next())
      return *entry;
    reader.wait(process);
    process.sleep(wakeup_s, engine::Activity::Starved);
  }
}

/// Everything around one backend, and a process that reads what gets flushed.
struct Stage {
  explicit Stage(WalLog::Options options = {16'000'000, true}, double fsync_latency_s = 10 * ms)
      : host(world.add_host("db", machine_of(8))), wal(world, options, Disk{"d", fsync_latency_s, 1e6, 1e6}) {
    costs.backend_insert_row_s = 1 * us;
    costs.backend_update_row_s = 2 * us;
    costs.backend_delete_row_s = 3 * us;
    costs.backend_index_entry_s = 10 * us;
    tables["t"] = uuid_table("t", 100);
    state.next_row["t"] = 101;
  }

  void add_backend(std::vector<TransactionStep> steps, Rows batch_rows = 1000, bool waits = true) {
    load = batch_of("batch", std::move(steps), 1);
    PublisherBackend::Params params;
    params.load = &load;
    params.tables = &tables;
    params.costs = &costs;
    params.batch_rows = batch_rows;
    params.waits_for_flush = waits;
    backend = std::make_unique<PublisherBackend>(params, wal, state, log);
    world.spawn("backend", host, [this](engine::Process& process) {
      backend->run(process);
      if (not reads)
        world.finish();
    });
  }

  /// Ends the world once the commit record has been read.
  void add_reader() {
    reads = true;
    auto& reader = wal.add_reader("reader");
    world.spawn("reader", host, [this, &reader](engine::Process& process) {
      while (true) {
        entries.push_back(next(reader, process));
        seen_s.push_back(process.now());
        if (std::holds_alternative<Committed>(entries.back().what))
          break;
      }
      world.finish();
    });
  }

  engine::World world;
  engine::HostId host;
  WalLog wal;
  CostParameters costs;
  std::map<std::string, Table> tables;
  PublisherState state;
  RunLog log;
  BatchLoad load;
  std::unique_ptr<PublisherBackend> backend;
  bool reads = false;
  std::vector<WalEntry> entries;
  Numbers seen_s;
};

/// "2:I100+50" for 50 inserted rows from 100 on by (sub)transaction 2; "2:abort", "1:commit".
std::string describe(const WalEntry& entry) {
  std::string text = fmt::format("{}:", entry.xid.value);
  if (const auto* rows = std::get_if<RowsWritten>(&entry.what)) {
    const char kind = rows->statement->operation == Operation::Insert   ? 'I'
                      : rows->statement->operation == Operation::Update ? 'U'
                                                                        : 'D';
    return text + fmt::format("{}{}+{}", kind, rows->rows.first, rows->rows.count);
  }
  return text + (std::holds_alternative<Committed>(entry.what) ? "commit" : "abort");
}

std::string entries_of(std::vector<TransactionStep> steps, Rows batch_rows) {
  return text_in_child([&] {
    Stage stage;
    stage.add_reader();
    stage.add_backend(std::move(steps), batch_rows);
    stage.world.run();
    std::string text;
    for (const auto& entry : stage.entries) {
      REPLISIM_REQUIRE(entry.top.value == 1, "top-level transaction {}", entry.top.value);
      text += describe(entry) + " ";
    }
    return text;
  });
}

} // namespace

TEST_CASE("a backend alone: rows by their cost, then the flush of its WAL") {
  const auto found = in_child([] {
    Stage stage;
    stage.add_backend({insert("t", 2500), StatementStep{Operation::Update, "t", 500, {}},
                       StatementStep{Operation::Delete, "t", 100, {}}});
    stage.world.run();
    const auto& record = stage.log.transactions.front();
    return Numbers{record.begin_s,
                   record.statement_end_s,
                   record.commit_s,
                   static_cast<double>(record.wal_bytes),
                   static_cast<double>(record.rows_written),
                   record.committed ? 1.0 : 0.0,
                   static_cast<double>(stage.wal.flushed().value)};
  });
  const Table table = uuid_table("t", 100);
  const Bytes wal_bytes = statement_wal(table, Operation::Insert, 2500, false).bytes +
                          statement_wal(table, Operation::Update, 500, false).bytes +
                          statement_wal(table, Operation::Delete, 100, false).bytes + commit_record_bytes();
  CHECK(found[0] == 1);
  CHECK(found[1] == Approx(1 + 2.5 * ms + 1 * ms + 0.3 * ms)); // 1, 2 and 3 us a row
  CHECK(found[3] == static_cast<double>(wal_bytes));
  CHECK(found[2] == Approx(found[1] + 10 * ms + static_cast<double>(wal_bytes) / 1e6));
  CHECK(found[4] == 3100);
  CHECK(found[5] == 1);
  CHECK(found[6] == static_cast<double>(wal_bytes));
}

TEST_CASE("secondary indexes cost inserts and updates, not deletes") {
  const auto seconds = [](Operation operation) {
    return in_child([=] {
             Stage stage;
             stage.tables["t"].secondary_indexes = 2;
             stage.add_backend({StatementStep{operation, "t", 100, {}}});
             stage.world.run();
             return Numbers{stage.log.transactions.front().statement_end_s - 1};
           })
        .front();
  };
  CHECK(seconds(Operation::Insert) == Approx(100 * 21 * us));
  CHECK(seconds(Operation::Update) == Approx(100 * 22 * us));
  CHECK(seconds(Operation::Delete) == Approx(100 * 3 * us));
}

TEST_CASE("synchronous_commit off does not wait for the flush") {
  const auto found = in_child([] {
    Stage stage;
    stage.add_backend({insert("t", 1000)}, 1000, false);
    stage.world.run();
    const auto& record = stage.log.transactions.front();
    return Numbers{record.statement_end_s, record.commit_s, static_cast<double>(stage.wal.flushed().value)};
  });
  CHECK(found[0] == found[1]);
  CHECK(found[2] == 0);
}

TEST_CASE("rows travel in batches; inserts continue the table's numbering, others begin at its first row") {
  CHECK(entries_of({insert("t", 250), StatementStep{Operation::Update, "t", 120, {}}, insert("t", 10)},
                   100) == "1:I101+100 1:I201+100 1:I301+50 1:U1+100 1:U101+20 1:I351+10 1:commit ");
}

TEST_CASE("savepoints: a subtransaction gets its xid with its first row, after its parents") {
  CHECK(entries_of({SavepointStep{"a"}, SavepointStep{"b"}, insert("t", 5), SavepointStep{"unused"},
                    RollbackToStep{"unused"}, insert("t", 5)},
                   100) == "3:I101+5 4:I106+5 1:commit ");
}

TEST_CASE("rolling back unwinds the inner savepoints first and opens the named one anew") {
  CHECK(entries_of({insert("t", 5), SavepointStep{"a"}, insert("t", 5), SavepointStep{"b"}, insert("t", 5),
                    RollbackToStep{"a"}, insert("t", 5), RollbackToStep{"a"}, insert("t", 5)},
                   100) == "1:I101+5 2:I106+5 3:I111+5 3:abort 2:abort 4:I116+5 4:abort 5:I121+5 1:commit ");
}

TEST_CASE("rolled back rows are counted once, however deep they lie") {
  const auto found = in_child([] {
    Stage stage;
    stage.add_backend({insert("t", 1), SavepointStep{"a"}, insert("t", 10), SavepointStep{"b"},
                       insert("t", 100), RollbackToStep{"b"}, insert("t", 1000), RollbackToStep{"a"},
                       insert("t", 10000)});
    stage.world.run();
    const auto& record = stage.log.transactions.front();
    Numbers out{static_cast<double>(record.rows_written), static_cast<double>(record.rows_rolled_back)};
    for (std::uint32_t xid = 1; xid <= 5; ++xid)
      out.push_back(stage.state.status.aborted({xid}) ? 1 : 0);
    return out;
  });
  // 2 is a, 3 the first b, 4 the second, 5 the a of the last rows.
  CHECK(found == Numbers{11111, 1110, 0, 1, 1, 1, 0});
}

TEST_CASE("a savepoint's name may be used twice: the younger one counts") {
  CHECK(entries_of({SavepointStep{"a"}, insert("t", 1), SavepointStep{"a"}, insert("t", 2),
                    RollbackToStep{"a"}, insert("t", 3)},
                   100) == "2:I101+1 3:I102+2 3:abort 4:I104+3 1:commit ");
}

TEST_CASE("an unknown savepoint is an error with its name") {
  CHECK_THROWS_WITH(entries_of({insert("t", 1), RollbackToStep{"nowhere"}}, 100),
                    Catch::Contains("rollback to unknown savepoint nowhere"));
}

TEST_CASE("without a WAL writer, WAL is seen at the commit's flush, all of it") {
  const auto found = in_child([] {
    Stage stage;
    stage.add_reader();
    stage.add_backend({insert("t", 3000)});
    stage.world.run();
    return stage.seen_s;
  });
  REQUIRE(found.size() == 4);
  CHECK(found.front() > 1.013);
  CHECK(found.front() == found.back());
}

TEST_CASE("a backend that fills a segment beyond wal_buffers flushes it itself") {
  const auto found = in_child([] {
    Stage stage({1'000'000, true}, 0);
    stage.add_reader();
    stage.add_backend({insert("t", 200'000)});
    stage.world.run();
    std::size_t first_seen = 0;
    while (stage.seen_s[first_seen] == stage.seen_s.front())
      ++first_seen;
    return Numbers{static_cast<double>(stage.entries[first_seen - 1].end.value),
                   static_cast<double>(stage.entries[first_seen - 2].end.value)};
  });
  const double limit = 16 * 1024 * 1024 + 1'000'000;
  CHECK(found[0] > limit);
  CHECK(found[1] <= limit);
}

TEST_CASE("the WAL writer flushes half a delay after the clock's ticks, while there is something") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("db", machine_of(2));
    WalLog wal(world, {1'000'000, true}, Disk{"d", 1 * ms, 1e9, 1e9});
    WalWriter writer(wal, 0.2);
    world.spawn("walwriter", host, [&](engine::Process& process) { writer.run(process); });
    auto& reader = wal.add_reader("reader");
    world.spawn("inserter", host, [&](engine::Process& process) {
      for (const double at_s : {0.05, 0.07, 0.35, 2.0}) {
        process.sleep(at_s - process.now());
        wal.insert(process, 1'000'000, {});
      }
    });
    Numbers seen_s;
    world.spawn("reader", host, [&](engine::Process& process) {
      for (int i = 0; i < 4; ++i) {
        next(reader, process, i == 3 ? 0.001 : 0);
        seen_s.push_back(process.now());
      }
      world.finish();
    });
    world.run();
    return seen_s;
  });
  // 2 MB at 0.1 s, 1 MB at 0.5 s, 1 MB at 2.1 s, each with 1 ms of fsync and 1 ms a megabyte; the reader
  // of the last one wakes up 1 ms late.
  REQUIRE(found.size() == 4);
  CHECK(found[0] == Approx(0.103));
  CHECK(found[1] == Approx(0.103));
  CHECK(found[2] == Approx(0.502));
  CHECK(found[3] == Approx(2.103));
}

TEST_CASE("group commit: who waits while another flushes is served by one flush") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("db", machine_of(4));
    WalLog wal(world, {1'000'000, true}, Disk{"d", 10 * ms, 1e9, 1e9});
    Numbers done_s(4);
    Countdown countdown(world, 4);
    for (std::size_t i = 0; i < 4; ++i)
      world.spawn("backend", host, [&, i](engine::Process& process) {
        process.sleep(static_cast<double>(i) * ms);
        wal.flush(process, wal.insert(process, 1'000, {}));
        done_s[i] = process.now();
        countdown.done();
      });
    world.run();
    return done_s;
  });
  // The first flushes alone until 10.001 ms, meanwhile three more have inserted: 10.003 ms for them all.
  CHECK(found[0] == Approx(10.001 * ms));
  CHECK(found[1] == Approx(20.004 * ms));
  CHECK(found[2] == Approx(20.004 * ms));
  CHECK(found[3] == Approx(20.004 * ms));
}

TEST_CASE("WAL that every reader has passed is let go, also with a slow second reader") {
  const auto found = in_child([] {
    engine::World world;
    const auto host = world.add_host("db", machine_of(4));
    WalLog wal(world, {1'000'000, false}, Disk{});
    auto &fast = wal.add_reader("fast"), &slow = wal.add_reader("slow");
    Numbers slow_positions;
    world.spawn("writer", host, [&](engine::Process& process) {
      for (int i = 0; i < 5; ++i)
        wal.flush(process, wal.insert(process, 100, {}));
      for (int i = 0; i < 5; ++i)
        next(fast, process);
      for (int i = 0; i < 5; ++i) {
        next(slow, process);
        slow_positions.push_back(static_cast<double>(slow.position().value));
      }
      world.finish();
    });
    world.run();
    return slow_positions;
  });
  CHECK(found == Numbers{100, 200, 300, 400, 500});
}
