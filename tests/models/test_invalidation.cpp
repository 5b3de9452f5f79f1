// Invalidation messages: what each statement leaves behind, whom it reaches in each version, what it makes a
// decoder forget, and the memory it takes meanwhile. Values by hand.
#include "models/ddl.hpp"
#include "models/relation_cache.hpp"
#include "models/reorder_buffer.hpp"
#include "tests/models/sample_tables.hpp"

#include <catch2/catch.hpp>

#include <array>

using namespace replisim;

namespace {

constexpr Bytes MB = 1024 * 1024;
const VersionTraits pg13 = traits_of({13, 18}), pg17_4 = traits_of({17, 4}), pg17_5 = traits_of({17, 5}),
                    pg17 = traits_of({17, 10}), pg18 = traits_of({18, 4});

bool never(Xid) { return false; }

DdlLoad ddl(DdlKind kind, std::int64_t relations = 1) {
  DdlLoad load;
  load.kind = kind;
  load.relations = relations;
  return load;
}

InvalidationsRef messages(std::int64_t count) {
  auto out = std::make_shared<Invalidations>();
  out->messages = count;
  return out;
}

/// A buffer in which transactions can be opened with rows of 184 bytes.
struct Buffer {
  explicit Buffer(Bytes limit_bytes, VersionTraits traits = pg17, bool streaming = false)
      : buffer(limit_bytes, streaming, traits) {}
  Added insert(Xid xid, Rows rows) {
    return buffer.add(xid, {xid, &table, &statement, {1, rows}, 184}, never);
  }
  ReorderBuffer buffer;
  Table table;
  StatementStep statement;
};

} // namespace

TEST_CASE("messages of each statement, as counted on real servers") {
  const auto count = [](DdlKind kind) { return invalidations_of(ddl(kind), nullptr, {}, pg17).messages; };
  CHECK(count(DdlKind::AddTable) == 4);
  CHECK(count(DdlKind::DropMember) == 4);
  CHECK(count(DdlKind::PublicationRename) == 3);
  CHECK(count(DdlKind::PublicationOwner) == 5);
  CHECK(count(DdlKind::Grant) == 3);
  CHECK(count(DdlKind::AlterType) == 2);
  CHECK(count(DdlKind::AddColumn) == 5);
  CHECK(count(DdlKind::CreateIndex) == 12);
  CHECK(count(DdlKind::Analyze) == 12);
  CHECK(count(DdlKind::Truncate) == 21);
  CHECK(count(DdlKind::CreateTable) == 80);
  CHECK(count(DdlKind::DropTable) == 80);
  CHECK(count(DdlKind::TemporaryTable) == 125);
  const Table member;
  CHECK(invalidations_of(ddl(DdlKind::PublicationSet), nullptr, {&member}, pg17).messages == 3);
  CHECK(invalidations_of(ddl(DdlKind::Grant, 20'000), nullptr, {}, pg17).messages == 60'000);
  for (const DdlFacts& row : ddl_facts()) {
    CHECK(find_ddl(row.name) == &row);
    CHECK(facts_of(row.kind).name == row.name);
  }
  CHECK(find_ddl("add_colum") == nullptr);
}

TEST_CASE("which messages discard the whole relation-sync cache and which only members") {
  const Table t;
  DdlLoad add = ddl(DdlKind::AddTable);
  CHECK(invalidations_of(add, &t, {}, pg17).all_entries);
  const Invalidations on_18 = invalidations_of(add, &t, {}, pg18);
  CHECK_FALSE(on_18.all_entries);
  CHECK(on_18.touched == std::vector<Invalidations::Touched>{{&t, 1, true}});
  CHECK(invalidations_of(add, nullptr, {}, pg18).touched.empty());
  CHECK(invalidations_of(ddl(DdlKind::PublicationOwner), nullptr, {&t}, pg17).all_entries);
  CHECK(invalidations_of(ddl(DdlKind::PublicationOwner), nullptr, {&t}, pg18).touched.empty());
  // RENAME on 18: a message a member, of the relation-sync cache alone.
  const Invalidations renamed = invalidations_of(ddl(DdlKind::PublicationRename), nullptr, {&t}, pg18);
  CHECK(renamed.messages == 4);
  CHECK(renamed.relcache == 0);
  CHECK(renamed.touched == std::vector<Invalidations::Touched>{{&t, 1, false}});
  CHECK_FALSE(invalidations_of(ddl(DdlKind::CreateSchema), nullptr, {}, traits_of({15, 19})).all_entries);
  CHECK(invalidations_of(ddl(DdlKind::CreateSchema), nullptr, {}, traits_of({16, 15})).all_entries);
  CHECK(invalidations_of(ddl(DdlKind::CreateSchema), nullptr, {}, pg18).all_entries);
}

TEST_CASE("from 4096 members on one message stands for all relations") {
  Table many;
  many.copies = 4095;
  const DdlLoad set = ddl(DdlKind::PublicationSet);
  CHECK(invalidations_of(set, nullptr, {&many}, pg18).messages == 2 + 4095);
  CHECK_FALSE(invalidations_of(set, nullptr, {&many}, pg18).everything);
  many.copies = 4096;
  CHECK(invalidations_of(set, nullptr, {&many}, pg18).messages == 3);
  CHECK(invalidations_of(set, nullptr, {&many}, pg18).everything);
}

TEST_CASE("DDL of another database is queued and touches nothing here") {
  const Table t;
  DdlLoad other = ddl(DdlKind::AddColumn);
  other.other_database = true;
  const Invalidations found = invalidations_of(other, &t, {}, pg17);
  CHECK(found.total() == 5);
  CHECK(found.messages == 0);
  CHECK(found.touched.empty());
  RelationCache cache;
  cache.use(t, 1);
  CHECK(cache.execute(found) == 0);
  CHECK(cache.use(t, 1).entries == 0);
}

TEST_CASE("the releases that distribute messages, and those that distribute what they received") {
  using D = InvalidationDistribution;
  for (const auto& [major, first, own] :
       std::vector<std::array<int, 3>>{{14, 18, 19}, {15, 13, 14}, {16, 9, 10}, {17, 5, 6}}) {
    CHECK(traits_of({major, first - 1}).distribution == D::SnapshotOnly);
    CHECK(traits_of({major, first}).distribution == D::Redistributed);
    CHECK(traits_of({major, own}).distribution == D::OwnMessages);
  }
  CHECK(traits_of({13, 21}).distribution == D::SnapshotOnly);
  CHECK(traits_of({13, 22}).distribution == D::OwnMessages);
  CHECK(traits_of({12, 22}).distribution == D::SnapshotOnly);
  CHECK(traits_of({18, 0}).distribution == D::OwnMessages);
}

TEST_CASE("a snapshot grows by four bytes with each catalog commit that xmin holds back") {
  // Written to disk a change takes 8 bytes more: 192 + 4 n on 18.
  CHECK(snapshot_change_bytes(pg18.snapshot_struct_bytes, 100'000) + 8 == 400'192);
  CHECK(snapshot_change_bytes(pg17.snapshot_struct_bytes, 0) == 200);
  CHECK(invalidation_change_bytes(4) == 144);
  Bytes sum = 0;
  CatalogHistory history;
  for (std::uint32_t n = 1; n <= 100'000; ++n) {
    history.committed({n + 10});
    sum += snapshot_change_bytes(pg18.snapshot_struct_bytes, history.count()) + 8;
  }
  CHECK(sum == 20'019'400'000);
  history.purge({100'001});
  CHECK(history.count() == 10);
  history.purge({200'000});
  CHECK(history.count() == 0);
}

TEST_CASE("entries are built again once for each alternation of invalidation and use") {
  const Table t, u;
  RelationCache cache;
  CHECK(cache.use(t, 1000).entries == 1);
  CHECK(cache.use(t, 1000).entries == 0);
  Invalidations membership;
  membership.messages = 4;
  membership.relcache = 1;
  membership.all_entries = true;
  for (int i = 0; i < 100; ++i)
    cache.execute(membership);
  RelationCache::Built built = cache.use(t, 1);
  CHECK(built.entries == 1);
  CHECK(built.relations == 0); // another table's message: the relcache entry stays
  membership.touch(&t, 1, true);
  cache.execute(membership);
  built = cache.use(t, 1000);
  CHECK(built.entries == 1);
  CHECK(built.relations == 1);
  CHECK(cache.use(u, 1).entries == 1);
  Invalidations of_u;
  of_u.messages = 5;
  of_u.relcache = 1;
  of_u.touch(&u, 1, true);
  cache.execute(of_u);
  CHECK(cache.use(t, 1).entries == 0);
  cache.reset();
  CHECK(cache.use(t, 1).relations == 1);
  CHECK(cache.use(u, 1).relations == 1);
}

TEST_CASE("small transactions between invalidations each find an invalid entry") {
  const Table t;
  RelationCache cache;
  cache.use(t, 1);
  Invalidations message;
  message.messages = 1;
  message.touch(&t, 1, true);
  const auto three_replays = [&] {
    for (int i = 0; i < 3; ++i) {
      cache.next_replay();
      cache.execute(message); // in line
      cache.execute(message); // and at the end
    }
  };
  three_replays();
  CHECK(cache.use(t, 10, 10).entries == 3);
  three_replays();
  CHECK(cache.use(t, 2, 2).entries == 2);
}

TEST_CASE("each relcache message looks at every cached relation") {
  Table many;
  many.copies = 1000;
  RelationCache cache;
  cache.use(many, 1000);
  CHECK(cache.mapped() == 1000);
  Invalidations elsewhere;
  elsewhere.messages = 5;
  elsewhere.relcache = 2;
  CHECK(cache.execute(elsewhere) == 2000);
  // One that finds its relation removes it: 1000 + 999 + 998.
  Invalidations three;
  three.messages = 15;
  three.relcache = 3;
  three.touch(&many, 3, true);
  CHECK(cache.execute(three) == 2997);
  CHECK(cache.mapped() == 997);
  CHECK(cache.execute(three) == 3 * 997); // at the end of the same transaction: they are gone already
  CHECK(cache.mapped() == 997);
  CHECK(cache.use(many, 1000).entries == 3);
  // What does not fit into the core's own cache, 26,214 entries, costs more, at most twice.
  CHECK(map_scan_weight(26'214) == 26'214);
  CHECK(map_scan_weight(52'428.8) == Approx(52'428.8 * (2 - 0.2032)).epsilon(1e-4)); // h = exp(-2 (1 - h))
  CHECK(map_scan_weight(1e7) == Approx(2e7).epsilon(1e-9));
}

TEST_CASE("a commit hands out a snapshot, and from the fix on its messages") {
  Buffer before(64 * MB, pg17_4), after(64 * MB, pg17);
  for (auto* buffer : {&before, &after})
    for (std::uint32_t xid = 1; xid <= 3; ++xid)
      buffer->insert({xid}, 10);
  CHECK(before.buffer.distribute({9}, 204, nullptr, never).transactions == 3);
  CHECK(before.buffer.memory_bytes() == 3 * (1840 + 204));
  CHECK_FALSE(before.buffer.gathered({1}).own);
  CHECK(after.buffer.distribute({3}, 204, messages(4), never).transactions == 2);
  CHECK(after.buffer.memory_bytes() == 3 * 1840 + 2 * (204 + 144));
  CHECK(after.buffer.catalog_memory_bytes() == 2 * (204 + 144));
  CHECK(after.buffer.gathered({1}).received->messages == 4);
  CHECK_FALSE(after.buffer.gathered({3}).received);
}

TEST_CASE("messages are executed where they stand among the rows, and those in a row at once") {
  Buffer t(64 * MB);
  t.insert({1}, 10);
  t.buffer.distribute({9}, 204, messages(4), never);
  t.buffer.distribute({10}, 208, messages(5), never);
  t.insert({1}, 20);
  t.buffer.distribute({11}, 212, messages(7), never);
  const auto all = t.buffer.gathered({1}).received;
  const Replay replay = t.buffer.commit({1});
  REQUIRE(replay.content.size() == 4);
  CHECK(replay.content[0].rows.count == 10);
  CHECK(replay.content[1].invalidations->messages == 9);
  CHECK(replay.content[2].rows.count == 20);
  CHECK(replay.content[3].invalidations->messages == 7);
  CHECK(all->messages == 16);
  CHECK(replay.changes == 30);
  CHECK(t.buffer.counters().total_bytes == 30 * 184 + 204 + 208 + 212 + 144 + 160 + 192);
}

TEST_CASE("17.5 hands on what it received: messages double with each overlapping commit") {
  Buffer fifth(1024 * MB, pg17_5), tenth(1024 * MB, pg17);
  for (auto* t : {&fifth, &tenth}) {
    t->insert({50}, 1);
    for (std::uint32_t xid = 1; xid <= 10; ++xid)
      t->buffer.add_catalog({xid}, 1, invalidation_change_bytes(4), messages(4), true, never);
    for (std::uint32_t xid = 1; xid <= 10; ++xid) {
      t->buffer.distribute({xid}, 204, t->buffer.gathered({xid}).own, never);
      t->buffer.commit({xid});
      t->buffer.forget({xid});
    }
  }
  // The k-th to commit holds 4 * 2^(k - 1): its own and all of those before it.
  CHECK(fifth.buffer.gathered({50}).own->messages == 4 * (1024 - 1));
  CHECK(tenth.buffer.gathered({50}).received->messages == 4 * 10);
}

TEST_CASE("messages that one allocation cannot hold end the decoding of 17.5") {
  Buffer t(64 * MB, pg17_5);
  t.insert({1}, 1);
  CHECK_FALSE(t.buffer.distribute({9}, 204, messages(most_messages_in_memory), never).beyond_allocation);
  CHECK(t.buffer.distribute({10}, 208, messages(1), never).beyond_allocation);
  CHECK(most_messages_in_memory == 67'108'863);
}

TEST_CASE("a transaction receives 524288 messages, then gives them up and goes on queueing") {
  Buffer t(1024 * MB);
  t.insert({1}, 1);
  CHECK(t.buffer.distribute({9}, 204, messages(524'288), never).overflowed == 0);
  CHECK(t.buffer.gathered({1}).received->messages == 524'288);
  const Bytes before = t.buffer.memory_bytes();
  CHECK(t.buffer.distribute({10}, 208, messages(1), never).overflowed == 1);
  CHECK(t.buffer.gathered({1}).overflowed);
  CHECK_FALSE(t.buffer.gathered({1}).received);
  CHECK(t.buffer.distribute({11}, 212, messages(1), never).overflowed == 0);
  CHECK(t.buffer.memory_bytes() == before + 208 + 96 + 212 + 96);
  CHECK(t.buffer.commit({1}).content.back().invalidations->messages == 524'290);
}

TEST_CASE("distributed changes count toward the limit and evict the largest") {
  // Three transactions of 10, 20 and 30 rows: 11,040 bytes of 12,000.
  Buffer t(12'000);
  for (std::uint32_t xid = 1; xid <= 3; ++xid)
    t.insert({xid}, 10 * xid);
  const Distributed out = t.buffer.distribute({9}, 204, messages(4), never);
  // 348 bytes each: the third one reaches 12,084, and is the largest itself, with its snapshot and messages.
  REQUIRE(out.added.evictions.size() == 1);
  CHECK(out.added.evictions[0].victim == Xid{3});
  CHECK(out.added.evictions[0].changes == 30);
  CHECK(out.added.evictions[0].catalog_changes == 2);
  CHECK(out.added.evictions[0].catalog_bytes == 348);
  CHECK(t.buffer.memory_bytes() == 30 * 184 + 2 * 348);
  CHECK(t.buffer.spill_file_bytes() == 30 * 192 + 348 + 16);
  CHECK(t.buffer.catalog_spilled_bytes() == 348);
  CHECK(t.buffer.counters().spill_bytes == 30 * 184 + 348);
  const Replay replay = t.buffer.commit({3});
  CHECK(replay.restored == 30);
  CHECK(replay.catalog_restored == 2);
  CHECK(replay.changes == 30);
}

TEST_CASE("with streaming a transaction without a row to send is spilled") {
  Buffer t(5'000, pg17, true);
  t.insert({1}, 20);
  CHECK(t.insert({1}, 10).evictions.front().kind == Eviction::Kind::Stream);
  t.buffer.commit({1});
  t.buffer.forget({1});
  t.insert({2}, 28); // 5,152 bytes: streamed, and nothing left
  const auto out = t.buffer.distribute({9}, 204, messages(300), never);
  REQUIRE(out.added.evictions.size() == 1);
  CHECK(out.added.evictions[0].kind == Eviction::Kind::Spill);
  CHECK(out.added.evictions[0].catalog_changes == 2);
  CHECK(t.insert({2}, 28).evictions.front().catalog_changes == 2); // restored with the next chunk
}

TEST_CASE("subtransactions receive nothing of their own, and keep the places when they go") {
  Buffer t(64 * MB);
  t.insert({1}, 5);
  t.buffer.add({1}, {{2}, &t.table, &t.statement, {6, 5}, 184}, never);
  CHECK(t.buffer.distribute({9}, 204, messages(4), never).transactions == 1);
  t.buffer.abort_subtransaction({2});
  const Replay replay = t.buffer.commit({1});
  REQUIRE(replay.content.size() == 2);
  CHECK(replay.content[1].invalidations->messages == 4);
  t.buffer.forget({1});
  CHECK(t.buffer.memory_bytes() == 0);
  CHECK(t.buffer.catalog_memory_bytes() == 0);
}

TEST_CASE("before 14 messages are no WAL of the command and wait for the commit") {
  const DdlLoad grant = ddl(DdlKind::Grant, 2);
  const Invalidations both = invalidations_of(grant, nullptr, {}, pg17);
  // 3 records of 100 bytes for each of 6 messages; from 14 on 2 records with their messages besides.
  CHECK(ddl_wal(grant, both, pg13).statement_bytes == 1800);
  CHECK(ddl_wal(grant, both, pg13).statement_records == 18);
  CHECK(ddl_wal(grant, both, pg17).statement_bytes == 1800 + 2 * 32 + 6 * 16);
  CHECK(ddl_wal(grant, both, pg17).statement_records == 20);
  CHECK(ddl_wal(grant, both, pg13).commit_bytes == ddl_wal(grant, both, pg17).commit_bytes);
  CHECK(catalog_commands(grant) == 2);
}
