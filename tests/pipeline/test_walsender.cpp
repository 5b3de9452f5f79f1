// The walsender alone: a process inserts WAL, another reads what is sent and writes it down.
#include "models/base/check.hpp"
#include "sim/actors/walsender.hpp"
#include "tests/support/scenario_builder.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

const Table table_t = uuid_table("t");
const Table table_u = uuid_table("u");
const std::map<std::string, Table> both_tables = {{"t", table_t}, {"u", table_u}};
const StatementStep insert_t = insert("t", 0);
const StatementStep insert_u = insert("u", 0);

WalEntry entry_of(std::uint32_t top, std::uint32_t xid) {
  WalEntry entry;
  entry.top = {top};
  entry.xid = {xid};
  return entry;
}
WalEntry rows(std::uint32_t top, std::uint32_t xid, Rows first, Rows count, bool into_u = false) {
  WalEntry entry = entry_of(top, xid);
  entry.records = count;
  if (into_u)
    entry.what = RowsWritten{&insert_u, &table_u, {first, count}};
  else
    entry.what = RowsWritten{&insert_t, &table_t, {first, count}};
  return entry;
}
WalEntry abort_of(std::uint32_t top, std::uint32_t xid) {
  WalEntry entry = entry_of(top, xid);
  entry.what = SubtransactionAborted{};
  return entry;
}
WalEntry commit_of(std::uint32_t top) {
  WalEntry entry = entry_of(top, top);
  entry.what = Committed{};
  return entry;
}

struct Plan {
  explicit Plan(std::vector<WalEntry> entries, Streaming mode = Streaming::Off)
      : wal(std::move(entries)), streaming(mode) {}
  std::vector<WalEntry> wal;
  Streaming streaming;
  Bytes work_mem_bytes = 64 * 1024; ///< 456 rows
  Rows batch_rows = 1'000'000;
  int major = 17;
  std::set<std::uint32_t> known_aborted; ///< in the commit log before anything is decoded
};

struct Seen {
  std::string messages;
  Numbers numbers; ///< read, dropped, filtered, sent of transaction 1; sent_bytes; date
};

std::string describe(const ReplicationMessage& message) {
  if (const auto* begin = std::get_if<BeginTransaction>(&message))
    return fmt::format("begin {}\n", begin->top.value);
  if (const auto* end = std::get_if<CommitTransaction>(&message))
    return fmt::format("commit {}{}\n", end->top.value, end->streamed ? " streamed" : "");
  if (const auto* abort = std::get_if<AbortSubtransaction>(&message))
    return fmt::format("abort {} of {}\n", abort->subxid.value, abort->top.value);
  const auto& batch = std::get<RowChanges>(message);
  std::string text = fmt::format("rows of {}:", batch.top.value);
  for (const auto& run : batch.runs)
    text += fmt::format(" {}{}x{}", run.table->name, run.xid.value, run.rows.count);
  if (batch.streamed)
    text += fmt::format(", {:.3g} chunks", batch.chunks);
  if (batch.relations > 0)
    text += fmt::format(", {} relations", batch.relations);
  return text + "\n";
}

/// Ends when `plan.wal`'s commits have arrived.
Seen send(const Plan& plan, const CostParameters& costs = {}) {
  Seen seen;
  seen.messages = text_in_child([&] {
    engine::World world;
    const auto host = world.add_host("db", machine_of(4));
    WalLog wal(world, {1'000'000'000, false}, Disk{});
    TransactionStatus status;
    for (const auto xid : plan.known_aborted)
      status.mark_aborted({xid});
    Decoder decoder(
        {plan.work_mem_bytes, plan.streaming != Streaming::Off, false, traits_of({plan.major, 0}), &costs},
        status);
    Slot slot("s", {0}, {0});
    ReplicationConnection::Params connecting;
    connecting.sender_timeout_s = 0;
    ReplicationConnection connection(world, connecting, {"s", 1'000'000'000, 0, 0}, slot);
    const Publication publication = publication_of("p", {"t"});
    SubscriptionRecord record;
    Walsender::Params params;
    params.costs = &costs;
    params.streaming = plan.streaming;
    params.batch_rows = plan.batch_rows;
    params.publication = &publication;
    params.tables = &both_tables;
    params.progressed = params.spilled = [] {};
    Walsender walsender(params, decoder, wal.add_reader("walsender"), connection, record);
    world.spawn("walsender", host, [&](engine::Process& process) { walsender.run(process); });
    world.spawn("backend", host, [&](engine::Process& process) {
      for (const auto& entry : plan.wal)
        wal.insert(process, 100, entry);
      wal.flush(process, wal.inserted());
    });
    std::string text;
    auto commits = std::count_if(plan.wal.begin(), plan.wal.end(), [](const WalEntry& entry) {
      return std::holds_alternative<Committed>(entry.what);
    });
    world.spawn("reader", host, [&](engine::Process& process) {
      auto& stream = connection.stream();
      connection.start();
      while (commits > 0) {
        const auto part = stream.receive(process);
        stream.await_sent(process, *part);
        text += describe(*part->payload);
        commits -= std::holds_alternative<CommitTransaction>(*part->payload) ? 1 : 0;
        stream.release(*part);
      }
      world.finish();
    });
    world.run();
    const auto& delivery = record.deliveries[{1}];
    const Numbers numbers = {static_cast<double>(delivery.read),     static_cast<double>(delivery.dropped),
                             static_cast<double>(delivery.filtered), static_cast<double>(delivery.sent),
                             static_cast<double>(record.sent_bytes), world.now()};
    return as_bytes(numbers) + text;
  });
  seen.numbers = as_numbers(seen.messages.substr(0, 6 * sizeof(double)));
  seen.messages.erase(0, 6 * sizeof(double));
  return seen;
}

const double relation_bytes = static_cast<double>(relation_message_bytes(table_t)) + 30;

} // namespace

TEST_CASE("off: nothing before the commit, then begin, the rows in batches, commit") {
  Plan plan({rows(1, 1, 1, 100), rows(1, 1, 101, 200), commit_of(1)});
  plan.batch_rows = 120;
  const auto seen = send(plan);
  CHECK(seen.messages == "begin 1\n"
                         "rows of 1: t1x120, 1 relations\n"
                         "rows of 1: t1x120\n"
                         "rows of 1: t1x60\n"
                         "commit 1\n");
  // Begin 21, commit 26, a row 49, and 30 for each message's frame.
  CHECK(seen.numbers == Numbers{300, 0, 0, 300, 51 + 300 * 79 + relation_bytes + 56, 0});
}

TEST_CASE("off: a spilled transaction comes back in refills of 4,096") {
  Plan plan({rows(1, 1, 1, 9000), commit_of(1)});
  plan.batch_rows = 1000;
  CHECK(send(plan).messages == "begin 1\n"
                               "rows of 1: t1x4096, 1 relations\n"
                               "rows of 1: t1x4096\n"
                               "rows of 1: t1x808\n"
                               "commit 1\n");
  plan.batch_rows = 500; // the last one, which is none in full, goes by batches
  CHECK(send(plan).messages == "begin 1\n"
                               "rows of 1: t1x4096, 1 relations\n"
                               "rows of 1: t1x4096\n"
                               "rows of 1: t1x500\n"
                               "rows of 1: t1x308\n"
                               "commit 1\n");
  plan.batch_rows = 8000; // two refills in one batch
  CHECK(send(plan).messages == "begin 1\n"
                               "rows of 1: t1x8192, 1 relations\n"
                               "rows of 1: t1x808\n"
                               "commit 1\n");
}

TEST_CASE("off: interleaved transactions go out whole, in the order of their commits") {
  const auto seen =
      send(Plan({rows(1, 1, 1, 10), rows(2, 2, 11, 20), rows(1, 1, 31, 1), commit_of(2), commit_of(1)}));
  CHECK(seen.messages == "begin 2\n"
                         "rows of 2: t2x20, 1 relations\n"
                         "commit 2\n"
                         "begin 1\n"
                         "rows of 1: t1x10 t1x1\n"
                         "commit 1\n");
}

TEST_CASE("streaming: a chunk whenever the memory is full, the rest with the commit") {
  for (const Streaming streaming : {Streaming::On, Streaming::Parallel}) {
    const auto seen = send(Plan({rows(1, 1, 1, 500), rows(1, 1, 501, 1000), commit_of(1)}, streaming));
    CHECK(seen.messages == "rows of 1: t1x456, 1 chunks, 1 relations\n"
                           "rows of 1: t1x912, 2 chunks\n"
                           "rows of 1: t1x132, 1 chunks\n"
                           "commit 1 streamed\n");
    // Four bytes of xid a row and in the Relation message; Stream Start 6 and Stop 1; Stream Commit 30.
    CHECK(seen.numbers == Numbers{1500, 0, 0, 1500, 1500 * 83 + relation_bytes + 4 * (1 + 36 + 31) + 60, 0});
  }
}

TEST_CASE("streaming: a chunk larger than a batch travels in several pieces") {
  Plan plan({rows(1, 1, 1, 3000), commit_of(1)}, Streaming::On);
  plan.work_mem_bytes = 144 * 3000;
  plan.batch_rows = 1000;
  CHECK(send(plan).messages == "rows of 1: t1x1000, 0.333 chunks, 1 relations\n"
                               "rows of 1: t1x1000, 0.333 chunks\n"
                               "rows of 1: t1x1000, 0.333 chunks\n"
                               "commit 1 streamed\n");
  plan.batch_rows = 2500; // 1.2 of them: one
  CHECK(send(plan).messages == "rows of 1: t1x3000, 1 chunks, 1 relations\n"
                               "commit 1 streamed\n");
}

TEST_CASE("a relation is announced once per session, but anew in each streamed transaction") {
  CHECK(send(Plan({rows(1, 1, 1, 5), commit_of(1), rows(2, 2, 1, 5), commit_of(2)})).messages ==
        "begin 1\nrows of 1: t1x5, 1 relations\ncommit 1\nbegin 2\nrows of 2: t2x5\ncommit 2\n");
  CHECK(send(Plan({rows(1, 1, 1, 456), commit_of(1), rows(2, 2, 1, 456), rows(2, 2, 1, 456), commit_of(2)},
                  Streaming::On))
            .messages == "rows of 1: t1x456, 1 chunks, 1 relations\n"
                         "commit 1 streamed\n"
                         "rows of 2: t2x456, 1 chunks, 1 relations\n"
                         "rows of 2: t2x456, 1 chunks\n"
                         "commit 2 streamed\n");
}

TEST_CASE("a rolled back subtransaction that was not streamed leaves no trace") {
  for (const Streaming streaming : {Streaming::Off, Streaming::On}) {
    const auto seen = send(Plan(
        {rows(1, 1, 1, 10), rows(1, 2, 11, 30), abort_of(1, 2), rows(1, 1, 41, 5), commit_of(1)}, streaming));
    CHECK(seen.messages == "begin 1\nrows of 1: t1x10 t1x5, 1 relations\ncommit 1\n");
    CHECK(Numbers(seen.numbers.begin(), seen.numbers.begin() + 4) == Numbers{45, 30, 0, 15});
  }
}

TEST_CASE("a rolled back subtransaction that was streamed is announced; what is left of it is dropped") {
  const auto seen =
      send(Plan({rows(1, 1, 1, 56), rows(1, 2, 57, 500), abort_of(1, 2), rows(1, 1, 557, 7), commit_of(1)},
                Streaming::On));
  CHECK(seen.messages == "rows of 1: t1x56 t2x400, 1 chunks, 1 relations\n"
                         "abort 2 of 1\n"
                         "rows of 1: t1x7, 1 chunks\n"
                         "commit 1 streamed\n");
  CHECK(Numbers(seen.numbers.begin(), seen.numbers.begin() + 4) == Numbers{563, 100, 0, 463});
}

TEST_CASE("the abort of a streamed subtransaction carries 16 bytes more with parallel") {
  const Plan plan({rows(1, 2, 1, 456), abort_of(1, 2), commit_of(1)}, Streaming::On);
  Plan parallel = plan;
  parallel.streaming = Streaming::Parallel;
  CHECK(send(parallel).numbers[4] - send(plan).numbers[4] == 16);
}

TEST_CASE("version 18 drops what it knows to be aborted when memory is full, version 17 spills it") {
  Plan plan({rows(1, 1, 1, 10), rows(1, 2, 11, 1000), abort_of(1, 2), commit_of(1)});
  plan.known_aborted = {2};
  CostParameters costs;
  costs.spill_change_s = 1 * us;
  costs.discard_change_s = 1e-3 * us;
  plan.major = 18;
  const auto new_version = send(plan, costs);
  plan.major = 17;
  const auto old_version = send(plan, costs);
  for (const auto& seen : {new_version, old_version}) {
    CHECK(seen.messages == "begin 1\nrows of 1: t1x10, 1 relations\ncommit 1\n");
    CHECK(Numbers(seen.numbers.begin(), seen.numbers.begin() + 4) == Numbers{1010, 1000, 0, 10});
  }
  // 446 rows of 2 fill the memory beside 10 of 1: freed once and for all; or spilled twice, 446 and 446
  // (the 10 of 1 stay), the remaining 108 freed at the abort.
  CHECK(new_version.numbers[5] == Approx(446e-3 * us));
  CHECK(old_version.numbers[5] == Approx(892 * us + 108e-3 * us));
}

TEST_CASE("rows of one transaction dropped while another one is decoded count for their own") {
  // 2 of transaction 1 is the largest when the 46th row of transaction 3 fills the memory.
  Plan plan({rows(1, 1, 1, 10), rows(1, 2, 11, 400), rows(3, 3, 411, 200), abort_of(1, 2), commit_of(1),
             commit_of(3)});
  plan.known_aborted = {2};
  plan.major = 18;
  const auto seen = send(plan);
  CHECK(seen.messages == "begin 1\nrows of 1: t1x10, 1 relations\ncommit 1\n"
                         "begin 3\nrows of 3: t3x200\ncommit 3\n");
  CHECK(Numbers(seen.numbers.begin(), seen.numbers.begin() + 4) == Numbers{410, 400, 0, 10});
}

TEST_CASE("unpublished rows are decoded, queued and spilled, but not sent") {
  const auto seen =
      send(Plan({rows(1, 1, 1, 300), rows(1, 1, 1, 500, true), rows(1, 1, 301, 10), commit_of(1)}));
  CHECK(seen.messages == "begin 1\nrows of 1: t1x300 t1x10, 1 relations\ncommit 1\n");
  CHECK(seen.numbers == Numbers{810, 0, 500, 310, 51 + 310 * 79 + relation_bytes + 56, 0});
}

TEST_CASE("a transaction of unpublished rows alone sends no rows") {
  const auto seen = send(Plan({rows(1, 1, 1, 100, true), commit_of(1)}));
  CHECK(seen.messages == "begin 1\ncommit 1\n");
  CHECK(Numbers(seen.numbers.begin(), seen.numbers.begin() + 4) == Numbers{100, 0, 100, 0});
}

TEST_CASE("a streamed chunk of unpublished rows alone sends no rows") {
  for (const Streaming streaming : {Streaming::On, Streaming::Parallel}) {
    const auto seen =
        send(Plan({rows(1, 1, 1, 1000, true), rows(1, 1, 1, 10), rows(1, 1, 1001, 500, true), commit_of(1)},
                  streaming));
    CHECK(Numbers(seen.numbers.begin(), seen.numbers.begin() + 4) == Numbers{1510, 0, 1500, 10});
    CHECK(seen.messages.find("rows of 1: t1x10,") != std::string::npos);
    CHECK(seen.messages.find("commit 1 streamed") != std::string::npos);
  }
}

TEST_CASE("costs of the one thread add up") {
  CostParameters costs;
  costs.wal_read_byte_s = 1 * us;
  costs.wal_read_record_s = 3 * us;
  costs.decode_change_s = 10 * us;
  costs.spill_change_s = 100 * us;
  costs.restore_change_s = 1 * ms;
  costs.send_change_s = 10 * ms;
  costs.send_column_s = 0.1;
  costs.send_byte_s = 1e-3;
  const auto seen = send(Plan({rows(1, 1, 1, 500), commit_of(1)}), costs);
  // 200 bytes of WAL in 501 records, 500 rows decoded, spilled (456 and 44), restored; rows, begin and commit
  // sent; one column and 49 bytes a row.
  CHECK(seen.numbers[5] == Approx(200 * us + 501 * 3 * us +
                                  500 * (10 * us + 100 * us + 1 * ms + 0.1 + 49 * 1e-3) + 502 * 10 * ms));
}
