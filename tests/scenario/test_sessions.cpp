// Client sessions of subscribers: fields, locks of statements, mistakes.
#include "tests/scenario/scenario_files.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

std::string with_session(const std::string& fields) {
  return sound + "sessions: {w: {server: sub, " + fields + "}}\n";
}

SessionLoad session(const std::string& fields) { return load_text(with_session(fields)).sessions.at(0); }

SessionStep step(const std::string& fields) {
  return session("transaction: [{" + fields + "}]").transaction.at(0);
}

Lines errors(const std::string& fields) { return errors_of(with_session(fields)); }

} // namespace

TEST_CASE("a session, field by field") {
  const SessionLoad plain = session("transaction: [{update: t}]");
  CHECK(plain.name == "w");
  CHECK(plain.server == "sub");
  CHECK(plain.clients == 1);
  CHECK(plain.from_s == 0);
  CHECK(plain.until_s == 0);
  CHECK(plain.times == 0);
  CHECK(plain.every_s == 0);
  CHECK(plain.rate_per_s == 0);
  CHECK(plain.lock_timeout_s == 0);
  CHECK(plain.max_tries == 1);
  CHECK_FALSE(plain.rolls_back);

  const SessionLoad closed =
      session("clients: 5, from: 1s, until: 9s, times: 3, every: 20ms, lock_timeout: 2s, "
              "max_tries: 4, ends: rollback, transaction: [{select: t}]");
  CHECK(closed.clients == 5);
  CHECK(closed.from_s == 1);
  CHECK(closed.until_s == 9);
  CHECK(closed.times == 3);
  CHECK(closed.every_s == Approx(0.02));
  CHECK(closed.lock_timeout_s == 2);
  CHECK(closed.max_tries == 4);
  CHECK(closed.rolls_back);

  const SessionLoad open = session("rate: 50/s, arrivals: poisson, transaction: [{select: t}]");
  CHECK(open.rate_per_s == 50);
  CHECK(open.poisson);
}

TEST_CASE("statements take the locks of their kind") {
  CHECK(step("select: t").mode == LockMode::AccessShare);
  CHECK_FALSE(step("select: t").row_lock.has_value());
  CHECK(step("select: t, for: key share").mode == LockMode::RowShare);
  CHECK(step("select: t, for: key share").row_lock == RowLock::KeyShare);
  CHECK(step("select: t, for: share").row_lock == RowLock::Share);
  CHECK(step("select: t, for: no key update").row_lock == RowLock::NoKeyUpdate);
  CHECK(step("select: t, for: update").row_lock == RowLock::Update);
  CHECK(step("insert: t").mode == LockMode::RowExclusive);
  CHECK_FALSE(step("insert: t").row_lock.has_value());
  CHECK(step("update: t").row_lock == RowLock::NoKeyUpdate);
  CHECK(step("delete: t").row_lock == RowLock::Update);
  CHECK(step("vacuum: t").mode == LockMode::ShareUpdateExclusive);
  CHECK(step("analyze: t").mode == LockMode::ShareUpdateExclusive);
  CHECK(step("create_index: t").mode == LockMode::Share);
  CHECK(step("alter_table: t").mode == LockMode::AccessExclusive);
  CHECK(step("truncate: t").mode == LockMode::AccessExclusive);
  CHECK(step("lock: t").mode == LockMode::AccessExclusive);
  CHECK(step("lock: t, mode: share row exclusive").mode == LockMode::ShareRowExclusive);
  CHECK(step("pause: 3s").kind == SessionStep::Kind::Pause);
  CHECK(step("pause: 3s").takes_s == 3);
}

TEST_CASE("rows of a statement: random ones of the table, of a range, or stated ones") {
  const SessionStep random = step("update: t");
  CHECK(random.rows == 1);
  CHECK(random.first_row == 0);
  CHECK(random.from_row == 1);
  CHECK(random.to_row == 100); // the table's
  const SessionStep range = step("update: t, rows: 3, from_row: 5, to_row: 7, takes: 2ms");
  CHECK(range.rows == 3);
  CHECK(range.from_row == 5);
  CHECK(range.to_row == 7);
  CHECK(range.takes_s == Approx(0.002));
  CHECK(step("delete: t, row: 42, rows: 2").first_row == 42);
}

TEST_CASE("mistakes in sessions are named") {
  CHECK(errors("transaction: []") == Lines{"12:42 sessions.w.transaction: is empty; at least one entry is "
                                           "needed: the statements of one transaction"});
  CHECK(errors("transaction: [{rows: 1}]") == Lines{"12:43 sessions.w.transaction[0]: says nothing to do; a "
                                                    "step is a statement (select, update, ...) or "
                                                    "a pause"});
  CHECK(
      errors("transaction: [{update: t, delete: t}]") ==
      Lines{
          "12:43 sessions.w.transaction[0]: update and delete stand in one step; each is a step of its own"});
  CHECK(errors("transaction: [{update: u}]").size() == 1); // no such table, with the nearest name
  CHECK(errors("transaction: [{update: t, for: update}]") ==
        Lines{"12:60 sessions.w.transaction[0].for: `for` does not go with update"});
  CHECK(errors("transaction: [{select: t, row: 1}]") ==
        Lines{"12:60 sessions.w.transaction[0].row: `row` does not go with select, which locks no rows"});
  CHECK(errors("transaction: [{update: t, row: 1, to_row: 2}]") ==
        Lines{"12:71 sessions.w.transaction[0].to_row: `to_row` does not go with `row`"});
  CHECK(errors("transaction: [{update: t, from_row: 9, to_row: 8}]") ==
        Lines{"12:43 sessions.w.transaction[0]: random rows from 9 to 8: there are none"});
  CHECK(errors("transaction: [{vacuum: t, rows: 1}]") ==
        Lines{"12:61 sessions.w.transaction[0].rows: `rows` does not go with vacuum"});
  CHECK(errors("transaction: [{pause: 1s, takes: 1s}]") ==
        Lines{"12:62 sessions.w.transaction[0].takes: `takes` does not go with pause"});
  CHECK(
      errors("rate: 5/s, every: 1s, transaction: [{select: t}]") ==
      Lines{
          "12:47 sessions.w.every: `every` paces a closed loop and `rate` an open one; a session has one of "
          "them"});
  CHECK(errors("rate: 5/s, times: 2, transaction: [{select: t}]") ==
        Lines{"12:47 sessions.w.times: `times` counts the transactions of a closed loop; with `rate`, "
              "`until` says "
              "when it ends"});
  CHECK(errors("arrivals: poisson, transaction: [{select: t}]") ==
        Lines{"12:39 sessions.w.arrivals: only sessions with a `rate` have arrivals"});
  CHECK(errors("from: 2s, until: 1s, transaction: [{select: t}]") ==
        Lines{"12:46 sessions.w.until: 1s is not after `from`, 2s"});
}

TEST_CASE("sessions are on subscribers") {
  CHECK(errors_of(sound + "sessions: {w: {server: pub, transaction: [{select: t}]}}\n") ==
        Lines{"12:24 sessions.w.server: no subscription is on pub: nothing is applied there that the "
              "sessions could "
              "wait for; what runs on a publisher is `workload`"});
}

TEST_CASE("an empty table has no random rows") {
  const std::string empty = replaced(sound, ", rows: 100", "");
  CHECK(errors_of(empty + "sessions: {w: {server: sub, transaction: [{update: t}]}}\n") ==
        Lines{"12:43 sessions.w.transaction[0]: t is empty at the start: say which rows with `row` or "
              "`to_row`, or how "
              "many there are with `tables.t.rows`"});
  CHECK(errors_of(empty + "sessions: {w: {server: sub, transaction: [{update: t, to_row: 5}]}}\n").empty());
}
