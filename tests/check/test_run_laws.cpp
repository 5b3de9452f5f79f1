// The laws of a run, told forged sequences: the honest one passes, and each way to break a law is noticed.
#include "models/base/errors.hpp"
#include "sim/check/run_laws.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>

using namespace replisim;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// What the checker says; empty when it is content.
template <class Work>
std::string verdict(const Work& work) {
  try {
    work();
  } catch (const InvariantViolation& violation) {
    return violation.what();
  }
  return {};
}

template <class Work>
bool noticed(const std::string& words, const Work& work) {
  const std::string said = verdict(work);
  INFO("it said: " << said);
  CHECK(said.find(words) != std::string::npos);
  return not said.empty();
}

const WalPositions wal{{100}, {500}, {600}};
/// restart, saved, confirmed, sent, replayed, connections, lost
const SlotPositions slot{{200}, {150}, {300}, {400}, {350}, 1, false};
const BufferSizes sizes{900, 1000, 100, 50, 60, 7, 8};
const ProcessTimes times{1, 0.5, 2, 1, false};

} // namespace

TEST_CASE("WAL: removed, flushed and inserted stay in their order") {
  RunLaws laws;
  CHECK(verdict([&] { laws.check_wal("pub", wal); }).empty());
  CHECK(verdict([&] { laws.check_wal("pub", wal); }).empty());
  CHECK(noticed("WAL of pub: removed up to 501", [] { RunLaws().check_wal("pub", {{501}, {500}, {600}}); }));
  CHECK(noticed("flushed up to 601", [] { RunLaws().check_wal("pub", {{100}, {601}, {600}}); }));
}

TEST_CASE("WAL: nothing goes back, each server by itself") {
  RunLaws laws;
  laws.check_wal("pub", wal);
  CHECK(noticed("removed 100 to 99", [&] { laws.check_wal("pub", {{99}, {500}, {600}}); }));
  CHECK(noticed("flushed 500 to 499", [&] { laws.check_wal("pub", {{100}, {499}, {600}}); }));
  CHECK(noticed("inserted 600 to 599", [&] { laws.check_wal("pub", {{100}, {500}, {599}}); }));
  CHECK(verdict([&] { laws.check_wal("other", {{1}, {2}, {3}}); }).empty());
  CHECK(verdict([&] { laws.check_wal("pub", {{100}, {500}, {601}}); }).empty());
}

TEST_CASE("slots: saved, restart, confirmed and flushed stay in their order") {
  CHECK(verdict([] { RunLaws().check_slot("s", slot, wal); }).empty());
  const auto with = [](auto change) {
    return [change] {
      SlotPositions broken = slot;
      change(broken);
      RunLaws().check_slot("s", broken, wal);
    };
  };
  CHECK(noticed("(saved 201)", with([](auto& s) { s.saved = {201}; })));
  CHECK(noticed("restart_lsn 301", with([](auto& s) { s.restart = {301}; })));
  CHECK(noticed("confirmed_flush_lsn 501", with([](auto& s) { s.confirmed = {501}; })));
  CHECK(noticed("sent 501", with([](auto& s) { s.sent = {501}; })));
  CHECK(noticed("applied 501", with([](auto& s) { s.replayed = {501}; })));
  CHECK(noticed("WAL from 99 on may be needed, 100 is removed", with([](auto& s) { s.saved = {99}; })));
  CHECK(verdict(with([](auto& s) {
          s.saved = {99};
          s.lost = true;
        })).empty());
}

TEST_CASE("slots: positions only go on") {
  const auto then = [](auto change) {
    return [change] {
      RunLaws laws;
      laws.check_slot("s", slot, wal);
      SlotPositions later = slot;
      change(later);
      laws.check_slot("s", later, wal);
    };
  };
  CHECK(verdict(then([](auto&) {})).empty());
  CHECK(noticed("restart_lsn 200 to 199", then([](auto& s) { s.restart = {199}; })));
  CHECK(noticed("goes back", then([](auto& s) { s.saved = {149}; })));
  CHECK(noticed("confirmed_flush_lsn 300 to 299", then([](auto& s) { s.confirmed = {299}; })));
  CHECK(noticed("applied 350 to 349", then([](auto& s) { s.replayed = {349}; })));
  CHECK(verdict(then([](auto& s) { s.sent = {0}; })).empty()); // a new connection begins to count anew
}

TEST_CASE("slots: what was at the beginning counts, too") {
  RunLaws laws;
  laws.begin_slot("s", {{210}, {150}, {300}, {300}, {}, 0, false});
  CHECK(noticed("restart_lsn 210 to 200", [&] { laws.check_slot("s", slot, wal); }));
}

TEST_CASE("slots: only what was sent or applied is confirmed, except over a reconnection") {
  const auto later = [](Lsn confirmed, std::int64_t connections) {
    return [confirmed, connections] {
      RunLaws laws;
      laws.check_slot("s", slot, wal); // sent up to 400
      laws.check_slot("s", {{200}, {150}, confirmed, {410}, {350}, connections, false}, wal);
    };
  };
  CHECK(verdict(later({410}, 1)).empty());
  CHECK(noticed("411 is confirmed, 410 sent", later({411}, 1)));
  CHECK(verdict(later({411}, 2)).empty());
}

TEST_CASE("slots: one that is created begins where it is consistent, though nothing is sent yet") {
  SlotPositions before;
  before.lost = true; // not there
  SlotPositions created = slot;
  created.sent = created.replayed = {};
  created.connections = 1;
  RunLaws laws;
  laws.begin_slot("s", before);
  CHECK(verdict([&] { laws.check_slot("s", created, wal); }).empty());
  created.confirmed = created.confirmed + 1;
  CHECK(noticed("0 applied", [&] { laws.check_slot("s", created, wal); }));
}

TEST_CASE("memory and files are neither negative nor beyond their limits") {
  CHECK(verdict([] { RunLaws::check_sizes("s", sizes); }).empty());
  const auto with = [](auto change) {
    return [change] {
      BufferSizes broken = sizes;
      change(broken);
      RunLaws::check_sizes("s", broken);
    };
  };
  CHECK(noticed("-1 bytes in the reorder buffer", with([](auto& b) { b.memory = -1; })));
  CHECK(noticed("1000 bytes in the reorder buffer", with([](auto& b) { b.memory = 1000; })));
  CHECK(noticed("-1 bytes of catalog changes", with([](auto& b) { b.catalog_memory = -1; })));
  CHECK(noticed("901 bytes of catalog changes", with([](auto& b) { b.catalog_memory = 901; })));
  CHECK(noticed("spill files of -1", with([](auto& b) { b.spill_files = -1; })));
  CHECK(noticed("spill files of 61", with([](auto& b) { b.spill_files = 61; })));
  CHECK(noticed("files of -1 bytes", with([](auto& b) { b.subscriber_files = -1; })));
  CHECK(noticed("files of 9 bytes", with([](auto& b) { b.subscriber_files = 9; })));
}

TEST_CASE("a process's time is busy, starved and blocked, and nothing else") {
  CHECK(verdict([] { RunLaws::check_times("walsender", times, 4); }).empty());
  const auto with = [](auto change) {
    return [change] {
      ProcessTimes broken = times;
      change(broken);
      RunLaws::check_times("walsender", broken, 4);
    };
  };
  CHECK(noticed("walsender: 1.1 s busy", with([](auto& t) { t.busy_s = 1.1; })));
  CHECK(noticed("1.9 s starved", with([](auto& t) { t.starved_s = 1.9; })));
  CHECK(noticed("0.5 s blocked", with([](auto& t) { t.blocked_s = 0.5; })));
  CHECK(noticed("5 s starved", with([](auto& t) { t.starved_s = 5, t.blocked_s = -2; })));
  CHECK(noticed("-1 s busy", with([](auto& t) { t.busy_s = -1, t.starved_s = 4, t.device_s = 0; })));
  CHECK(noticed("-1 s starved", with([](auto& t) { t.starved_s = -1, t.blocked_s = 4; })));
  CHECK(noticed("1.1 of them at a device", with([](auto& t) { t.device_s = 1.1; })));
  CHECK(noticed("nan s busy", with([](auto& t) { t.busy_s = no_number; })));
  CHECK(noticed("nan of them", with([](auto& t) { t.device_s = no_number; })));
  CHECK(verdict(with([](auto& t) { t.may_have_ended = true, t.blocked_s = 0; })).empty());
  CHECK(noticed("1.1 s busy", with([](auto& t) { t.may_have_ended = true, t.busy_s = 1.1; })));
}

TEST_CASE("where nothing is applied, no lock is held") {
  CHECK(verdict([] { RunLaws::check_no_transaction("sub", 0); }).empty());
  CHECK(noticed("oldest transaction is 0.5 s old", [] { RunLaws::check_no_transaction("sub", 0.5); }));
  CHECK(verdict([] { RunLaws::check_no_holders("sub", "t", 0); }).empty());
  CHECK(noticed("1 transactions lock rows of t", [] { RunLaws::check_no_holders("sub", "t", 1); }));
  CHECK(verdict([] { RunLaws::check_locking_transactions("s", 0); }).empty());
  CHECK(noticed("-1 transactions hold locks", [] { RunLaws::check_locking_transactions("s", -1); }));
}
