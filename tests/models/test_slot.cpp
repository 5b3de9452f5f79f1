// Slot cursors, what a checkpoint does to slots and WAL, and the lag columns: no clock, no processes.
#include "models/lag_tracker.hpp"
#include "models/version.hpp"
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

namespace {
constexpr LagColumn write_column = LagColumn::Write, flush_column = LagColumn::Flush;
constexpr LagColumn replay_column = LagColumn::Replay;

/// A commit a second: it ends at 10 t when it is sent at t.
void send_until(LagTracker& tracker, int first, int last) {
  for (int t = first; t <= last; ++t)
    tracker.sent({static_cast<std::uint64_t>(10 * t)}, t);
}

double lag(LagTracker& tracker, LagColumn column, std::uint64_t lsn, double now_s) {
  tracker.reported(column, {lsn}, now_s);
  return tracker.lag_s(column).value_or(-1);
}
} // namespace

TEST_CASE("lag columns: a sample a second, taken when a commit is sent, read when it is reported") {
  LagTracker tracker;
  CHECK_FALSE(tracker.lag_s(replay_column).has_value());
  tracker.sent({10}, 100);
  tracker.sent({20}, 100.5); // within a second of the last sample: none
  tracker.sent({30}, 101);
  CHECK(lag(tracker, replay_column, 20, 101.25) == 1.25); // of the commit at 10
  CHECK(lag(tracker, replay_column, 30, 201) == 100);
  CHECK(lag(tracker, replay_column, 30, 300) == 100); // nothing is left to be measured
  CHECK_FALSE(tracker.lag_s(write_column).has_value());
  CHECK(lag(tracker, write_column, 30, 102) == 1); // each column reads for itself
}

TEST_CASE(
    "lag columns: the newest sample a report crosses counts, and a second passes also when all are read") {
  LagTracker tracker;
  send_until(tracker, 0, 9);
  CHECK(lag(tracker, replay_column, 70, 9) == 2);
  CHECK(lag(tracker, replay_column, 90, 9.5) == 0.5);
  tracker.sent({100}, 9.75); // 0.75 s after the last sample, which is read
  CHECK(lag(tracker, replay_column, 100, 20) == 0.5);
}

TEST_CASE(
    "lag columns: between two samples the date of sending is interpolated, a stuck position lags more") {
  LagTracker tracker;
  send_until(tracker, 1, 2);
  CHECK(lag(tracker, replay_column, 5, 3) == 2); // before the first sample: as if that were done now
  CHECK(lag(tracker, replay_column, 10, 4) == 3);
  CHECK(lag(tracker, replay_column, 15, 5) == 3.5); // half way: sent at 1.5
  CHECK(lag(tracker, replay_column, 15, 6) == 4.5); // it has not moved
  CHECK(lag(tracker, replay_column, 9, 7) == 4.5);  // backwards: not believed
}

TEST_CASE("lag columns: once all is read, the next burst is not interpolated from before") {
  LagTracker tracker;
  send_until(tracker, 1, 1);
  CHECK(lag(tracker, replay_column, 10, 1.5) == 0.5);
  send_until(tracker, 100, 100);
  CHECK(lag(tracker, replay_column, 500, 100.25) == 0.25); // not 50.6, half way between 1 and 100
}

TEST_CASE(
    "lag columns: a full ring with overflow entries: the others go on, the stalled one is not forgotten") {
  LagTracker tracker(true, 4); // holds three samples
  send_until(tracker, 1, 8);
  CHECK(lag(tracker, write_column, 80, 8) == 0);
  CHECK(lag(tracker, replay_column, 5, 9) == 8); // its first sample, of 1 s, was put aside
  send_until(tracker, 10, 12);
  CHECK(lag(tracker, write_column, 120, 12.5) == 0.5);
  CHECK(lag(tracker, replay_column, 5, 13) == 12);
  // It has passed the one aside and goes on with the oldest that is left, of 10 s.
  CHECK(lag(tracker, replay_column, 50, 14) == 13);
  CHECK(lag(tracker, replay_column, 55, 15) == Approx(15 - (1 + 9 * 45 / 90.0)));
  CHECK(lag(tracker, replay_column, 110, 16) == 5);
}

TEST_CASE("lag columns: a full ring without overflow entries: the newest sample is overwritten, all stall") {
  LagTracker tracker(false, 4);
  send_until(tracker, 1, 8);                     // 1 and 2 s stay, and the newest one
  CHECK(lag(tracker, write_column, 75, 8) == 6); // that of 2 s
  CHECK(lag(tracker, write_column, 80, 8) == 0);
  send_until(tracker, 9, 12);
  CHECK(lag(tracker, write_column, 120, 13) == 0);  // it stands where the sample is overwritten: not measured
  CHECK(lag(tracker, replay_column, 20, 13) == 11); // of 2 s: the old ones are not lost
  CHECK(lag(tracker, replay_column, 120, 14) == 2);
  CHECK(lag(tracker, flush_column, 120, 14) == 2);
  send_until(tracker, 15, 15);
  CHECK(lag(tracker, write_column, 150, 15.5) == 0.5); // room again
}

TEST_CASE("lag columns: the ring of the server holds 8,191 samples, one a second") {
  for (const bool overflow : {false, true}) {
    LagTracker tracker(overflow);
    send_until(tracker, 1, 8191);
    CHECK(lag(tracker, write_column, 10, 8191) == 8190);
    send_until(tracker, 8192, 9000);
    CHECK(lag(tracker, flush_column, 1'000'000, 9001) == 1);
    CHECK(lag(tracker, replay_column, 10, 9001) == 9000);
    // What is there after the first one: with overflow entries the oldest of the last 8,191.
    CHECK(lag(tracker, replay_column, overflow ? 8'100 : 81'919, 9002) == (overflow ? 8192 : 812));
  }
}

TEST_CASE("catalog_xmin has a candidate of its own") {
  Slot slot("s", Lsn{100}, Lsn{50});
  slot.propose_xmin(7, Lsn{200});
  CHECK(slot.catalog_xmin() == 0);
  slot.propose_xmin(9, Lsn{300}); // one is outstanding
  slot.confirm(Lsn{250});
  CHECK(slot.catalog_xmin() == 7);
  slot.propose_xmin(9, Lsn{240}); // confirmed already
  CHECK(slot.catalog_xmin() == 9);
  slot.propose_xmin(8, Lsn{240}); // never back
  CHECK(slot.catalog_xmin() == 9);
}

TEST_CASE("lag columns: minor releases of November 2025 brought the overflow entries") {
  CHECK(traits_of({18, 1}).lag_overflow_entries);
  CHECK_FALSE(traits_of({18, 0}).lag_overflow_entries);
  CHECK(traits_of({17, 7}).lag_overflow_entries);
  CHECK_FALSE(traits_of({17, 6}).lag_overflow_entries);
  CHECK(traits_of({13, 23}).lag_overflow_entries);
  CHECK_FALSE(traits_of({12, 22}).lag_overflow_entries);
  CHECK(traits_of({19, 0}).lag_overflow_entries);
}
