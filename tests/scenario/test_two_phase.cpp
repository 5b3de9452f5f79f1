// Prepared transactions in scenario files: what they need, and what looks wrong.
#include "scenario_files.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/suspicions.hpp"

#include <catch2/catch.hpp>

using namespace replisim;
using namespace replisim::test;

namespace {

std::string with(const std::string& publisher, const std::string& subscription, const std::string& load) {
  std::string text = replaced(sound, "pub: {host: db, version: 17}", "pub: " + publisher);
  text = replaced(text, "{server: sub, publication: p}", subscription);
  return replaced(text, "{server: pub, transaction", "{server: pub, " + load + "transaction");
}
const std::string roomy = "{host: db, version: 17, settings: {max_prepared_transactions: 10}}";
const std::string two_phase = "{server: sub, publication: p, two_phase: on}";

} // namespace

TEST_CASE("a load is prepared for as long as it says, or not at all") {
  const Scenario scenario = load_text(with(roomy, two_phase, "prepared_for: 5s, "));
  CHECK(scenario.batches.at(0).prepared_for_s == 5);
  CHECK(scenario.batches.at(0).two_phase());
  CHECK(scenario.subscriptions.at("s").two_phase);
  const Scenario plain = load_text(sound);
  CHECK_FALSE(plain.batches.at(0).two_phase());
  CHECK_FALSE(plain.subscriptions.at("s").two_phase);
}

TEST_CASE("two_phase came with version 15") {
  const std::string old = "{host: db, version: 14, settings: {max_prepared_transactions: 10}}";
  const Lines found = errors_of(with(old, two_phase, ""));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0],
             Catch::Contains("subscriptions.s.two_phase: on needs PostgreSQL 15 or later on both sides; "
                             "pub is version 14"));
}

TEST_CASE("PREPARE TRANSACTION needs room on the publisher") {
  const Lines none = errors_of(with("{host: db, version: 17}", two_phase, "prepared_for: 5s, "));
  REQUIRE(none.size() == 1);
  CHECK_THAT(none[0],
             Catch::Contains("workload.w.prepared_for: up to 1 transactions may be prepared on pub at once, "
                             "but its max_prepared_transactions is 0"));
  const Lines few = errors_of(with(roomy, two_phase, "prepared_for: 5s, sessions: 11, "));
  REQUIRE(few.size() == 1);
  CHECK_THAT(few[0], Catch::Contains("(allowed: at least 11)"));
}

TEST_CASE("two_phase without room on the subscriber is suspicious") {
  const auto found = suspicions(load_text(with(roomy, two_phase, "prepared_for: 5s, ")));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0], Catch::Contains("subscriptions.s.two_phase is on, but "
                                       "servers.sub.settings.max_prepared_transactions is 0"));
  CHECK(suspicions(load_text(sound)).empty());
}

TEST_CASE("two_phase together with an initial synchronisation is refused") {
  const Lines found = errors_of(with(
      roomy, "{server: sub, publication: p, two_phase: on, initial_sync: {at: 1s}}", "prepared_for: 5s, "));
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0],
             Catch::Contains("subscriptions.s.two_phase: a server keeps two_phase pending until all tables "
                             "are READY"));
}
