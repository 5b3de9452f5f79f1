// Slot cursors, what a checkpoint does to slots and WAL, and the lag columns: no clock, no processes.
#include "models/lag_tracker.hpp"
#include "models/wal_retention.hpp"

#include <catch2/catch.hpp>

using namespace replisim;

namespace {

/// `segments` WAL segments behind the start, and some bytes.
Lsn at(double segments, Bytes bytes = 0) {
  return {static_cast<std::uint64_t>(static_cast<Bytes>(segments * static_cast<double>(wal_segment_bytes)) +
                                     bytes)};
}

RetentionRules keeping(double segments) {
  RetentionRules rules;
  rules.max_wal_size_bytes = 4 * wal_segment_bytes;
  rules.max_slot_wal_keep_size_bytes =
      segments < 0 ? -1 : static_cast<Bytes>(segments * static_cast<double>(wal_segment_bytes));
  return rules;
}

} // namespace

TEST_CASE("confirmed_flush_lsn never moves back") {
  Slot slot("s", {100}, {0});
  slot.confirm({50});
  CHECK(slot.confirmed_flush_lsn() == Lsn{100});
  slot.confirm({150});
  CHECK(slot.confirmed_flush_lsn() == Lsn{150});
  CHECK(slot.restart_lsn() == Lsn{0});
}

TEST_CASE("restart_lsn moves when its candidate's record is confirmed, and is saved then") {
  Slot slot("s", {100}, {0});
  slot.propose_restart({80}, {200});
  CHECK(slot.restart_lsn() == Lsn{0});
  slot.confirm({199});
  CHECK(slot.restart_lsn() == Lsn{0});
  CHECK(slot.saved_restart_lsn() == Lsn{0});
  slot.confirm({200});
  CHECK(slot.restart_lsn() == Lsn{80});
  CHECK(slot.saved_restart_lsn() == Lsn{80});
}

TEST_CASE("one candidate is outstanding: later ones are dropped until it is confirmed") {
  Slot slot("s", {0}, {0});
  slot.propose_restart({100}, {100});
  slot.propose_restart({200}, {200});
  slot.propose_restart({300}, {300});
  slot.confirm({350});
  CHECK(slot.restart_lsn() == Lsn{100}); // 200 and 300 are forgotten
  slot.propose_restart({400}, {400});
  slot.confirm({400});
  CHECK(slot.restart_lsn() == Lsn{400});
}

TEST_CASE("a candidate that is confirmed already takes effect at once") {
  Slot slot("s", {500}, {10});
  slot.propose_restart({450}, {500});
  CHECK(slot.restart_lsn() == Lsn{450});
}

TEST_CASE("a candidate not ahead of restart_lsn is none, and does not stand in the way of the next") {
  Slot slot("s", {0}, {100});
  slot.propose_restart({100}, {300});
  slot.propose_restart({90}, {300});
  slot.propose_restart({200}, {310});
  slot.confirm({310});
  CHECK(slot.restart_lsn() == Lsn{200});
}

TEST_CASE("a slot remembers since when nobody is connected") {
  Slot slot("s", {0}, {0});
  CHECK_FALSE(slot.active());
  slot.set_active(true, 5);
  CHECK(slot.active());
  slot.set_active(false, 8);
  CHECK(slot.inactive_since_s() == 8);
}

TEST_CASE("retention rules are read from the settings; the checkpoint distance is whole segments") {
  const RetentionRules defaults{Settings{}};
  CHECK(defaults.checkpoint_timeout_s == 300);
  CHECK(defaults.max_slot_wal_keep_size_bytes == -1);
  CHECK(defaults.wal_keep_size_bytes == 0);
  CHECK(defaults.idle_slot_timeout_s == 0);
  // 1 GB is 64 segments; 64 / 1.9 = 33.7.
  CHECK(defaults.checkpoint_distance_bytes() == 33 * wal_segment_bytes);
  RetentionRules tiny = defaults;
  tiny.max_wal_size_bytes = wal_segment_bytes;
  CHECK(tiny.checkpoint_distance_bytes() == wal_segment_bytes);
}

TEST_CASE("a checkpoint loses slots more than max_slot_wal_keep_size behind, by whole segments") {
  Slot at_limit("at_limit", {0}, at(6)), behind("behind", {0}, at(6, -1)), ahead("ahead", {0}, at(8.5));
  const Lsn kept = checkpoint_slots(keeping(4), {&at_limit, &behind, &ahead}, at(10.5), at(9.5), 77);
  CHECK_FALSE(at_limit.lost());
  CHECK_FALSE(ahead.lost());
  REQUIRE(behind.lost());
  CHECK(behind.lost_s() == 77);
  CHECK_THAT(behind.why_lost(), Catch::Contains("more than max_slot_wal_keep_size"));
  CHECK(kept == at(6)); // the lost one holds nothing back
}

TEST_CASE("without a limit no slot is lost, and the oldest one holds all WAL behind it") {
  Slot old("old", {0}, at(0.5)), recent("recent", {0}, at(900));
  CHECK(checkpoint_slots(keeping(-1), {&old, &recent}, at(1000), at(999), 1) == Lsn{0});
  CHECK_FALSE(old.lost());
  CHECK(checkpoint_slots(keeping(-1), {&recent}, at(1000), at(999), 1) == at(900));
}

TEST_CASE("without slots WAL goes up to the checkpoint's start, but for wal_keep_size") {
  RetentionRules rules = keeping(-1);
  CHECK(checkpoint_slots(rules, {}, at(10.5), at(7.25), 1) == at(7));
  rules.wal_keep_size_bytes = 8 * wal_segment_bytes;
  CHECK(checkpoint_slots(rules, {}, at(10.5), at(7.25), 1) == at(2));
  CHECK(checkpoint_slots(rules, {}, at(3), at(3), 1) == Lsn{0});
}

TEST_CASE("wal_keep_size keeps WAL for slots beyond max_slot_wal_keep_size too") {
  RetentionRules rules = keeping(4);
  rules.wal_keep_size_bytes = 8 * wal_segment_bytes;
  Slot slot("s", {0}, at(3));
  CHECK(checkpoint_slots(rules, {&slot}, at(10), at(9), 1) == at(2));
  CHECK_FALSE(slot.lost());
}

TEST_CASE("max_slot_wal_keep_size 0 keeps a slot only within the current segment") {
  Slot here("here", {0}, at(10)), before("before", {0}, at(10, -1));
  CHECK(checkpoint_slots(keeping(0), {&here, &before}, at(10.5), at(10.5), 1) == at(10));
  CHECK_FALSE(here.lost());
  CHECK(before.lost());
}

TEST_CASE("idle_replication_slot_timeout: only of slots without a connection, only at a checkpoint") {
  RetentionRules rules = keeping(-1);
  rules.idle_slot_timeout_s = 60;
  Slot active("active", {0}, at(1)), idle("idle", {0}, at(1)), recent("recent", {0}, at(2));
  active.set_active(true, 0);
  recent.set_active(false, 40);
  checkpoint_slots(rules, {&active, &idle, &recent}, at(5), at(5), 60); // exactly 60 s: not yet
  CHECK_FALSE(idle.lost());
  CHECK(checkpoint_slots(rules, {&active, &idle, &recent}, at(5), at(5), 61) == at(1));
  CHECK_FALSE(active.lost());
  CHECK_FALSE(recent.lost());
  REQUIRE(idle.lost());
  CHECK_THAT(idle.why_lost(), Catch::Contains("more than idle_replication_slot_timeout"));
}

TEST_CASE("a lost slot stays lost, with its first date and reason") {
  Slot slot("s", {0}, at(0));
  checkpoint_slots(keeping(1), {&slot}, at(5), at(5), 10);
  const std::string why = slot.why_lost();
  checkpoint_slots(keeping(1), {&slot}, at(9), at(9), 20);
  CHECK(slot.lost_s() == 10);
  CHECK(slot.why_lost() == why);
}

TEST_CASE("wal_status: reserved, extended, unreserved, lost") {
  const RetentionRules rules = keeping(8); // max_wal_size: 4
  Slot slot("s", {0}, at(2));
  CHECK(wal_status(rules, slot, at(6)) == "reserved");
  CHECK(wal_status(rules, slot, at(6, 1)) == "extended");
  CHECK(wal_status(rules, slot, at(10)) == "extended");
  CHECK(wal_status(rules, slot, at(10, 1)) == "unreserved");
  CHECK(wal_status(keeping(-1), slot, at(1000)) == "extended");
  slot.lose(1, "for a reason");
  CHECK(wal_status(rules, slot, at(6)) == "lost");
}

TEST_CASE("lag columns: a sample a second, taken when a commit is sent, read when it is reported") {
  LagTracker tracker;
  CHECK(tracker.lag_s() == 0);
  tracker.sent({10}, 100);
  tracker.sent({20}, 100.5); // within a second of the last sample: none
  tracker.sent({30}, 101);
  tracker.reported({9}, 101);
  CHECK(tracker.lag_s() == 0);
  tracker.reported({20}, 101.25);
  CHECK(tracker.lag_s() == 1.25); // of the commit at 10
  tracker.reported({20}, 200);
  CHECK(tracker.lag_s() == 1.25); // nothing new was crossed
  tracker.reported({30}, 201);
  CHECK(tracker.lag_s() == 100);
}

TEST_CASE(
    "lag columns: the newest sample a report crosses counts, and a second passes also when all are read") {
  LagTracker tracker;
  for (int i = 0; i < 10; ++i)
    tracker.sent({static_cast<std::uint64_t>(i)}, i);
  tracker.reported({7}, 9);
  CHECK(tracker.lag_s() == 2);
  tracker.reported({9}, 9.5);
  tracker.sent({10}, 9.75); // 0.75 s after the last sample, which is read
  tracker.reported({10}, 20);
  CHECK(tracker.lag_s() == 0.5);
}
