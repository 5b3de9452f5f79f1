// The reorder buffer against counters that real servers showed (500,000 rows of test_tab, 184 bytes
// an insert, 132 a delete), and against its own rules.
#include "models/base/errors.hpp"
#include "models/reorder_buffer.hpp"
#include "tests/models/sample_tables.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <numeric>

using namespace replisim;

namespace {

constexpr Bytes kB = 1024;
constexpr Bytes MB = 1024 * kB;
constexpr Xid top{700}, sub{701};

const VersionTraits pg17 = traits_of({17, 0});
const VersionTraits pg18 = traits_of({18, 0});

// Drives one buffer and keeps the books that conservation needs.
class Decoder {
public:
  Decoder(Bytes limit_bytes, bool streaming, VersionTraits traits = pg17)
      : buffer(limit_bytes, streaming, traits) {}

  // `rows` changes of `xid`, a subtransaction of `top_xid` unless equal, handed over `batch` at a time.
  void write(Xid top_xid, Xid xid, Rows rows, Bytes change_bytes = 184, Rows batch = 0) {
    Rows& written = rows_of_[xid];
    const Rows last = written + rows;
    while (written < last) {
      const Rows count = batch > 0 ? std::min(batch, last - written) : last - written;
      take({xid, &table_, &statement_, {written + 1, count}, change_bytes}, top_xid);
      written += count;
    }
  }

  void abort(Xid xid) { dropped += buffer.abort_subtransaction(xid); }

  Replay commit(Xid xid) {
    Replay replay = buffer.commit(xid);
    if (replay.streamed)
      sent += replay.changes;
    return replay;
  }

  const SlotCounters& counters() const { return buffer.counters(); }

  ReorderBuffer buffer;
  bool abort_visible = false; // the abort of `aborting` is in the commit log
  Xid aborting = sub;
  Rows sent = 0;    // streamed
  Rows dropped = 0; // by an eviction or an abort record, out of memory
  Rows ignored = 0;
  std::int64_t spill_passes = 0, stream_passes = 0, drops = 0;
  std::vector<std::pair<Xid, Rows>> streamed_runs;

private:
  void take(const ChangeRun& run, Xid top_xid) {
    const Added added = buffer.add(top_xid, run, [&](Xid xid) { return abort_visible and xid == aborting; });
    ignored += added.ignored;
    for (const Eviction& eviction : added.evictions) {
      switch (eviction.kind) {
      case Eviction::Kind::Spill:
        spill_passes += eviction.passes;
        break;
      case Eviction::Kind::Stream:
        stream_passes += eviction.passes;
        sent += eviction.changes;
        for (const ChangeRun& part : eviction.content)
          streamed_runs.emplace_back(part.xid, part.rows.count);
        break;
      case Eviction::Kind::DropAborted:
        drops += eviction.passes;
        dropped += eviction.changes;
        break;
      }
    }
  }

  Table table_ = sample::test_tab();
  StatementStep statement_;
  std::map<Xid, Rows> rows_of_;
};

Rows rows_in(const std::vector<ChangeRun>& content) {
  return std::accumulate(content.begin(), content.end(), Rows{0},
                         [](Rows sum, const ChangeRun& run) { return sum + run.rows.count; });
}

struct Expected {
  std::int64_t spill_txns, spill_count;
  Bytes spill_bytes;
  std::int64_t stream_count;
  Bytes stream_bytes, total_bytes;
};

void check_counters(const SlotCounters& counters, const Expected& expected) {
  CHECK(counters.spill_txns == expected.spill_txns);
  CHECK(counters.spill_count == expected.spill_count);
  CHECK(counters.spill_bytes == expected.spill_bytes);
  CHECK(counters.stream_txns == (expected.stream_count > 0 ? 1 : 0));
  CHECK(counters.stream_count == expected.stream_count);
  CHECK(counters.stream_bytes == expected.stream_bytes);
  CHECK(counters.total_txns == 1);
  CHECK(counters.total_bytes == expected.total_bytes);
}

// One transaction of `rows` changes, decoded to its commit.
void check_plain(Bytes limit_bytes, bool streaming, Rows rows, Bytes change_bytes, const Expected& expected,
                 Bytes peak_file_bytes) {
  for (const VersionTraits& traits : {pg17, pg18})
    for (const Rows batch : {Rows{0}, Rows{1}, Rows{1000}, Rows{7919}}) {
      INFO("limit " << limit_bytes << ", streaming " << streaming << ", batch " << batch);
      if (batch == 1 and rows > 100'000 and limit_bytes > 64 * kB)
        continue;
      Decoder decoder(limit_bytes, streaming, traits);
      decoder.write(top, top, rows, change_bytes, batch);
      const Replay replay = decoder.commit(top);
      check_counters(decoder.counters(), expected);
      CHECK(decoder.buffer.peak_spill_file_bytes() == peak_file_bytes);
      CHECK(replay.streamed == (expected.stream_count > 0));
      CHECK(rows_in(replay.content) == replay.changes);
      CHECK((replay.streamed ? decoder.sent : replay.changes) == rows);
      CHECK(replay.restored == (expected.spill_count > 0 ? rows : 0));
      decoder.buffer.forget(top);
      CHECK(decoder.buffer.memory_bytes() == 0);
      CHECK(decoder.buffer.spill_file_bytes() == 0);
    }
}

// Rows, a savepoint, rows, rollback to it, commit.
Decoder rolled_back(int percent, Bytes limit_bytes, bool streaming, bool abort_visible, VersionTraits traits,
                    Rows batch = 0) {
  Decoder decoder(limit_bytes, streaming, traits);
  decoder.abort_visible = abort_visible;
  const Rows undone = 5'000 * percent;
  decoder.write(top, top, 500'000 - undone, 184, batch);
  decoder.write(top, sub, undone, 184, batch);
  decoder.abort(sub);
  const Replay replay = decoder.commit(top);
  CHECK(rows_in(replay.content) == replay.changes);
  if (not streaming)
    CHECK(replay.changes == 500'000 - undone);
  decoder.buffer.forget(top);
  CHECK(decoder.buffer.memory_bytes() == 0);
  CHECK(decoder.buffer.spill_file_bytes() == 0);
  return decoder;
}

void check_rolled_back(int percent, Bytes limit_bytes, bool streaming, bool abort_visible,
                       VersionTraits traits, const Expected& expected) {
  for (const Rows batch : {Rows{0}, Rows{997}}) {
    INFO(percent << " % rolled back, limit " << limit_bytes << ", streaming " << streaming << ", visible "
                 << abort_visible << ", batch " << batch);
    check_counters(rolled_back(percent, limit_bytes, streaming, abort_visible, traits, batch).counters(),
                   expected);
  }
}

constexpr Bytes all = 92'000'000; // 500,000 * 184

} // namespace

TEST_CASE("inserts spill as on PostgreSQL 17 and 18") {
  check_plain(64 * kB, false, 500'000, 184, {1, 1401, all, 0, 0, all}, 96'000'000);
  check_plain(256 * kB, false, 500'000, 184, {1, 351, all, 0, 0, all}, 96'000'000);
  check_plain(64 * MB, false, 500'000, 184, {1, 2, all, 0, 0, all}, 96'000'000);
}

TEST_CASE("inserts are streamed as on PostgreSQL 17 and 18") {
  check_plain(64 * kB, true, 500'000, 184, {0, 0, 0, 1401, all, all}, 0);
  check_plain(256 * kB, true, 500'000, 184, {0, 0, 0, 351, all, all}, 0);
  check_plain(64 * MB, true, 500'000, 184, {0, 0, 0, 2, all, all}, 0);
}

TEST_CASE("deletes stay in 64 MB and exceed smaller limits") {
  check_plain(64 * kB, false, 500'000, 132, {1, 1007, 66'000'000, 0, 0, 66'000'000}, 70'000'000);
  check_plain(256 * kB, true, 500'000, 132, {0, 0, 0, 252, 66'000'000, 66'000'000}, 0);
  check_plain(64 * MB, false, 500'000, 132, {0, 0, 0, 0, 0, 66'000'000}, 0);
  check_plain(64 * MB, true, 500'000, 132, {0, 0, 0, 0, 0, 66'000'000}, 0);
}

TEST_CASE("the limit counts when it is reached, not when it is passed") {
  // 64 changes of 1024 bytes are 64 kB exactly.
  check_plain(64 * kB, false, 63, 1024, {0, 0, 0, 0, 0, 63 * kB}, 0);
  check_plain(64 * kB, false, 64, 1024, {1, 1, 64 * kB, 0, 0, 64 * kB}, 64 * 1032);
  check_plain(64 * kB, true, 64, 1024, {0, 0, 0, 1, 64 * kB, 64 * kB}, 0);
  check_plain(64 * kB, false, 65, 1024, {1, 2, 65 * kB, 0, 0, 65 * kB}, 65 * 1032);
  check_plain(64 * kB, true, 65, 1024, {0, 0, 0, 2, 65 * kB, 65 * kB}, 0);
}

TEST_CASE("a change larger than the limit is evicted by itself") {
  check_plain(64 * kB, false, 5, 100 * kB, {1, 5, 500 * kB, 0, 0, 500 * kB}, 5 * (100 * kB + 8));
  check_plain(64 * kB, true, 5, 100 * kB, {0, 0, 0, 5, 500 * kB, 500 * kB}, 0);
}

TEST_CASE("rollback to savepoint, spilling, the abort seen at the first eviction of its rows (18)") {
  // 5 %: 1330 passes of 357 rows leave 190; 167 rows of the savepoint fill the buffer, the parent is the
  // larger and spills together with them; the next time they are known to be aborted.
  check_rolled_back(5, 64 * kB, false, true, pg18, {2, 1332, 87'430'728, 0, 0, 87'400'000});
  check_rolled_back(10, 64 * kB, false, true, pg18, {2, 1262, 82'832'568, 0, 0, 82'800'000});
  // 20 %: 160 rows are left, so 197 of the savepoint are the larger and are dropped.
  check_rolled_back(20, 64 * kB, false, true, pg18, {1, 1121, 73'600'000, 0, 0, 73'600'000});
  check_rolled_back(5, 256 * kB, false, true, pg18, {1, 334, 87'400'000, 0, 0, 87'400'000});
  check_rolled_back(10, 256 * kB, false, true, pg18, {2, 317, 82'855'200, 0, 0, 82'800'000});
  check_rolled_back(20, 256 * kB, false, true, pg18, {2, 282, 73'678'200, 0, 0, 73'600'000});
  for (const int percent : {5, 10, 20}) {
    const Bytes kept = 184 * (500'000 - 5'000 * Bytes{percent});
    check_rolled_back(percent, 64 * MB, false, true, pg18, {1, 2, kept, 0, 0, kept});
  }
  check_rolled_back(50, 64 * MB, false, true, pg18, {2, 2, 67'109'032, 0, 0, 46'000'000});
}

TEST_CASE("rollback to savepoint, spilling, the abort never looked for or not yet there") {
  // 250,000 = 972 * 257 + 196: 257 rows beside the parent's 100 fill the buffer.
  const Expected half{2, 1673, 91'963'936, 0, 0, 46'000'000};
  check_rolled_back(50, 64 * kB, false, true, pg17, half); // 17 does not look
  check_rolled_back(50, 64 * kB, false, false, pg18, half);
  check_rolled_back(50, 64 * MB, false, true, pg17, {2, 2, 67'109'032, 0, 0, 46'000'000});
  // 1120 of the parent, 507 * 197 of the savepoint, the parent's last 160 at commit
  check_rolled_back(20, 64 * kB, false, false, pg18,
                    {2, 1628, 73'600'000 + 507 * 197 * 184, 0, 0, 73'600'000});
}

TEST_CASE("what an eviction drops and what is ignored afterwards") {
  const Decoder decoder = rolled_back(20, 64 * kB, false, true, pg18);
  CHECK(decoder.drops == 1);
  CHECK(decoder.dropped == 197);
  CHECK(decoder.ignored == 100'000 - 197);

  const Decoder blind = rolled_back(20, 64 * kB, false, true, pg17);
  CHECK(blind.drops == 0);
  CHECK(blind.dropped == 121); // in memory when the abort record came: 100,000 - 507 * 197
  CHECK(blind.ignored == 0);
}

TEST_CASE("a transaction found aborted drops what its savepoints have, not what comes for them (18)") {
  for (const bool streaming : {false, true}) {
    Decoder decoder(64 * kB, streaming, pg18);
    decoder.aborting = top;
    decoder.write(top, sub, 100);
    decoder.write(top, top, 200); // 300 rows: no eviction yet
    decoder.abort_visible = true;
    decoder.write(top, top, 1'000);
    CHECK(decoder.drops == 1);
    CHECK(decoder.dropped == 357);
    CHECK(decoder.ignored == 1'000 - 57);
    // ReorderBufferQueueChange looks at the (sub)transaction itself.
    decoder.write(top, sub, 10);
    CHECK(decoder.ignored == 1'000 - 57);
    CHECK(decoder.buffer.memory_bytes() == 10 * 184);
    // The transaction, known to be aborted, cannot be streamed: who holds most is looked up instead.
    decoder.aborting = sub;
    decoder.write(top, sub, 1'000);
    CHECK(decoder.drops == 2);
    CHECK(decoder.dropped == 2 * 357);
    CHECK(decoder.ignored == 1'000 - 57 + 1'000 - 347);
    CHECK(decoder.buffer.memory_bytes() == 0);
    CHECK(decoder.counters().spill_count == 0);
    CHECK(decoder.counters().stream_count == 0);
    decoder.buffer.abort_transaction(top);
    CHECK(decoder.counters().total_txns == 0);
  }
}

TEST_CASE("spill files peak before the abort record removes the savepoint's") {
  CHECK(rolled_back(50, 64 * MB, false, true, pg17).buffer.peak_spill_file_bytes() == 364'723 * 192);
  CHECK(rolled_back(20, 64 * kB, false, true, pg18).buffer.peak_spill_file_bytes() == 76'800'000);
  CHECK(rolled_back(50, 64 * kB, false, true, pg17).buffer.peak_spill_file_bytes() ==
        (700 * 357 + 972 * 257) * 192);
}

TEST_CASE("rollback to savepoint, streamed: aborted rows travel, too") {
  for (const VersionTraits& traits : {pg17, pg18}) {
    for (const int percent : {5, 10, 20, 50}) {
      check_rolled_back(percent, 64 * kB, true, true, traits, {0, 0, 0, 1400, 91'963'200, 91'963'200});
      check_rolled_back(percent, 256 * kB, true, true, traits, {0, 0, 0, 350, 91'770'000, 91'770'000});
    }
    check_rolled_back(5, 64 * MB, true, true, traits, {0, 0, 0, 2, 87'400'000, 87'400'000});
    check_rolled_back(10, 64 * MB, true, true, traits, {0, 0, 0, 2, 82'800'000, 82'800'000});
    check_rolled_back(20, 64 * MB, true, true, traits, {0, 0, 0, 2, 73'600'000, 73'600'000});
    check_rolled_back(50, 64 * MB, true, true, traits, {0, 0, 0, 1, 67'109'032, 67'109'032});
  }
}

TEST_CASE("a chunk carries parent and savepoint in LSN order") {
  Decoder decoder(64 * kB, true);
  decoder.write(top, top, 100);
  decoder.write(top, sub, 200);
  decoder.write(top, top, 57);
  CHECK(decoder.streamed_runs == std::vector<std::pair<Xid, Rows>>{{top, 100}, {sub, 200}, {top, 57}});
  CHECK(decoder.buffer.streamed(top));
  CHECK(decoder.buffer.memory_bytes() == 0);
}

TEST_CASE("a commit without evictions replays from memory") {
  Decoder decoder(64 * MB, false);
  decoder.write(top, top, 10);
  decoder.write(top, sub, 5);
  CHECK(decoder.buffer.memory_bytes() == 15 * 184);
  const Replay replay = decoder.commit(top);
  CHECK_FALSE(replay.streamed);
  CHECK(replay.changes == 15);
  CHECK(replay.restored == 0);
  CHECK(replay.spilled_members == 0);
  REQUIRE(replay.content.size() == 2);
  CHECK(replay.content[1].xid == sub);
  decoder.buffer.forget(top);
  CHECK(decoder.buffer.memory_bytes() == 0);
}

TEST_CASE("the remainder of a spilled transaction is spilled before it is replayed") {
  Decoder decoder(64 * kB, false);
  decoder.write(top, top, 400); // 357 spilled, 43 in memory
  CHECK(decoder.spill_passes == 1);
  CHECK(decoder.buffer.memory_bytes() == 43 * 184);
  CHECK(decoder.buffer.spill_file_bytes() == 357 * 192);
  const Replay replay = decoder.commit(top);
  CHECK(replay.spill_passes == 1);
  CHECK(replay.spilled_now == 43);
  CHECK(replay.restored == 400);
  CHECK(replay.spilled_members == 1);
  CHECK(decoder.buffer.spill_file_bytes() == 400 * 192); // until the replay is over
}

TEST_CASE("what other transactions hold makes evictions smaller") {
  // 30,000 bytes stay with an open transaction: 153 rows of 233 reach 64 kB instead of 282.
  constexpr Xid open{600};
  for (const Rows batch : {Rows{0}, Rows{1}, Rows{100}}) {
    Decoder beside(64 * kB, false);
    beside.write(open, open, 100, 300);
    beside.write(top, top, 15'300, 233, batch);
    CHECK(beside.counters().spill_count == 100);
    CHECK(beside.counters().spill_txns == 1);
    CHECK(beside.buffer.memory_bytes() == 30'000);

    Decoder alone(64 * kB, false);
    alone.write(top, top, 28'200, 233, batch);
    CHECK(alone.counters().spill_count == 100);
    CHECK(alone.buffer.memory_bytes() == 0);
  }
}

TEST_CASE("the largest transaction is evicted, not the one that grows") {
  constexpr Xid large{600};
  for (const bool streaming : {false, true}) {
    Decoder decoder(64 * kB, streaming);
    decoder.write(large, large, 200, 200); // 40,000 bytes
    decoder.write(top, top, 139, 184);     // 25,576 more
    CHECK(decoder.buffer.memory_bytes() == 139 * 184);
    CHECK(decoder.buffer.streamed(large) == streaming);
    CHECK_FALSE(decoder.buffer.streamed(top));
    CHECK((streaming ? decoder.counters().stream_bytes : decoder.counters().spill_bytes) == 40'000);
  }
}

TEST_CASE("streaming weighs a transaction with its savepoints, spilling each by itself") {
  // 20,000 + 20,000 in two savepoints of one transaction, 25,600 in another transaction
  constexpr Xid other{600}, second{702};
  for (const bool streaming : {false, true}) {
    Decoder decoder(64 * kB, streaming);
    decoder.write(top, sub, 100, 200);
    decoder.write(top, second, 100, 200);
    decoder.write(other, other, 128, 200);
    CHECK(decoder.buffer.memory_bytes() == (streaming ? 25'600 : 40'000));
    CHECK(decoder.buffer.streamed(top) == streaming);
    CHECK(decoder.counters().spill_bytes == (streaming ? 0 : 25'600));
  }
}

TEST_CASE("twenty thousand savepoints of one row spill one by one once the buffer is full") {
  Decoder decoder(64 * kB, false);
  for (std::uint32_t i = 1; i <= 20'000; ++i)
    decoder.write(top, Xid{top.value + i}, 1, 233);
  // 281 rows stay in memory; a real server counted 19,719 as well.
  CHECK(decoder.counters().spill_count == 19'719);
  CHECK(decoder.counters().spill_txns == 19'719);
  const Replay replay = decoder.commit(top);
  CHECK(replay.changes == 20'000);
  CHECK(replay.restored == 19'719);
  CHECK(replay.spilled_members == 19'719);
  CHECK(decoder.counters().spill_count == 19'719);
}

TEST_CASE("the abort of a whole transaction leaves nothing behind") {
  for (const bool streaming : {false, true}) {
    Decoder decoder(64 * kB, streaming);
    decoder.write(top, top, 1'000);
    decoder.write(top, sub, 100);
    decoder.buffer.abort_transaction(top);
    CHECK(decoder.buffer.memory_bytes() == 0);
    CHECK(decoder.buffer.spill_file_bytes() == 0);
    CHECK_FALSE(decoder.buffer.streamed(top));
    CHECK(decoder.buffer.commit(top).changes == 0);
    CHECK(decoder.counters().total_txns == (streaming ? 1 : 0));
  }
}

TEST_CASE("aborts of transactions the buffer does not know are nothing") {
  Decoder decoder(64 * kB, false);
  CHECK(decoder.buffer.abort_subtransaction(sub) == 0);
  CHECK(decoder.buffer.abort_transaction(top) == 0);
  CHECK(decoder.commit(top).changes == 0);
  CHECK_FALSE(decoder.buffer.streamed(top));
  CHECK(decoder.counters().total_txns == 0);
  CHECK_THROWS_AS(ReorderBuffer(0, false, pg17), InvariantViolation);
}

TEST_CASE("counters do not depend on how the decoder groups its changes") {
  // Two transactions and a savepoint interleaved, in a fixed pseudo-random pattern.
  constexpr Xid other{600};
  for (const bool streaming : {false, true}) {
    const auto run = [&](Rows batch) {
      Decoder decoder(64 * kB, streaming);
      std::uint32_t state = 12345;
      for (int i = 0; i < 300; ++i) {
        state = state * 1664525u + 1013904223u;
        const Rows rows = 1 + state % 997;
        const Xid xid = std::array{top, sub, other}[(state >> 16) % 3];
        decoder.write(xid == other ? other : top, xid, rows, xid == other ? 132 : 184, batch);
      }
      decoder.commit(other);
      decoder.commit(top);
      return decoder.counters();
    };
    const SlotCounters one_by_one = run(1);
    CHECK((streaming ? one_by_one.stream_count : one_by_one.spill_count) > 100);
    for (const Rows batch : {Rows{0}, Rows{10}, Rows{333}}) {
      const SlotCounters grouped = run(batch);
      CHECK(grouped.spill_txns == one_by_one.spill_txns);
      CHECK(grouped.spill_count == one_by_one.spill_count);
      CHECK(grouped.spill_bytes == one_by_one.spill_bytes);
      CHECK(grouped.stream_txns == one_by_one.stream_txns);
      CHECK(grouped.stream_count == one_by_one.stream_count);
      CHECK(grouped.stream_bytes == one_by_one.stream_bytes);
      CHECK(grouped.total_txns == one_by_one.total_txns);
      CHECK(grouped.total_bytes == one_by_one.total_bytes);
    }
  }
}

TEST_CASE("half a billion rows take no longer than one eviction") {
  Decoder decoder(64 * kB, false);
  decoder.write(top, top, 500'000'000);
  decoder.commit(top);
  CHECK(decoder.counters().spill_count == 1'400'561); // 500,000,000 / 357, rounded up
  CHECK(decoder.counters().spill_bytes == 92'000'000'000);
}
